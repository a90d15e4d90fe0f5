"""The options of a question, declared once for `query` and `ask`."""

from typing import Annotated, Any, TypedDict

import typer

from memforest_ray.errors import InvalidInput

__all__ = ["Explained", "Question", "library_options"]


class Question(TypedDict):
    """What `query` and `ask` take besides the user and the text, in the order of `--help`.

    Each is called as in `AsyncUser.query`; `verb` makes an option of every field.
    """

    k: Annotated[int | None, typer.Option("--k", metavar="N", help="Return at most N pieces of evidence.")]
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode", metavar="NAME", help="How to search the trees: flat, root, embed, llm, planner, planner+embed."
        ),
    ]
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="Use only what was known at TIME.")]
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only what happened at TIME or later.")]
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened before TIME.")]
    asked: Annotated[
        str | None,
        typer.Option("--asked", metavar="TIME", help='When the question is asked: what "last week" counts from.'),
    ]
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone",
            metavar="NAME",
            help="The time zone of the question, such as Europe/Vienna or +05:30; default UTC.",
        ),
    ]
    expand: Annotated[
        str | None, typer.Option("--expand", metavar="HOW", help="facts, or complete: the K best trees in full.")
    ]
    at_least: Annotated[
        int | None, typer.Option("--at-least", metavar="VERSION", help="Answer from this version, or a newer one.")
    ]
    snapshot: Annotated[
        str | None, typer.Option("--snapshot", metavar="NAME", help="Answer from the state saved under NAME.")
    ]
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="KIND", help="Only this kind: fact, cell, or a kind of fact (state, event, plan, ...)."
        ),
    ]
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Only what NAME said.")]
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Only what was said in this role.")]
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Only what was said in this session.")]
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Only facts about NAME.")]
    metadata: Annotated[
        list[str] | None,
        typer.Option("--metadata", "--meta", metavar="KEY=VALUE", help="Only sessions with this metadata; repeatable."),
    ]
    families: Annotated[
        list[str] | None,
        typer.Option(
            "--families",
            "--family",
            metavar="NAME",
            help="Only trees of this family: session, entity or scene; repeatable.",
        ),
    ]
    token_budget: Annotated[
        int | None,
        typer.Option("--token-budget", "--tokens", metavar="N", help="Return evidence of at most N tokens in total."),
    ]
    rerank: Annotated[bool, typer.Option("--rerank", help="Have a chat model grade the best pieces of evidence.")]


class Explained(Question):
    """A question whose evidence may say why it was found."""

    explain: Annotated[bool, typer.Option("--explain", help="Show what was searched, and what each score is made of.")]


def library_options(given: Question) -> dict[str, Any]:
    """Those that were given, as the client takes them: the others have their defaults there. Raises InvalidInput."""
    options = {**given, "metadata": _pairs(given["metadata"])}
    return {name: value for name, value in options.items() if not (value is None or value is False or value == [])}


def _pairs(listed: list[str] | None) -> dict[str, str] | None:
    """What `--metadata` asks for. Raises InvalidInput."""
    pairs = {}
    for each in listed or ():
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise InvalidInput(f"--metadata {each!r} must be KEY=VALUE")
        pairs[key] = value
    return pairs or None
