"""`memforest query` and `memforest ask`: evidence, and an answer from it."""

from typing import Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.evidence import draw_answer, draw_result
from memforest_ray.cli.failures import OK
from memforest_ray.cli.screen import clean
from memforest_ray.errors import InvalidInput

__all__ = ["ask", "query"]

UserArgument = Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The question.")]
KOption = Annotated[int | None, typer.Option("--k", metavar="N", help="Return at most N pieces of evidence.")]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="NAME", help="How to search the trees: flat, root, embed, llm, planner, planner+embed."
    ),
]
AsOfOption = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="Use only what was known at TIME.")]
SinceOption = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only what happened at TIME or later.")
]
UntilOption = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what happened before TIME.")]
AskedOption = Annotated[
    str | None,
    typer.Option("--asked", metavar="TIME", help='When the question is asked: what "last week" counts from.'),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        "--zone", metavar="NAME", help="The time zone of the question, such as Europe/Vienna or +05:30; default UTC."
    ),
]
ExpandOption = Annotated[
    str | None, typer.Option("--expand", metavar="HOW", help="facts, or complete: the K best trees in full.")
]
AtLeastOption = Annotated[
    int | None, typer.Option("--at-least", metavar="VERSION", help="Answer from this version, or a newer one.")
]
SnapshotOption = Annotated[
    str | None, typer.Option("--snapshot", metavar="NAME", help="Answer from the state saved under NAME.")
]
KindOption = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="KIND", help="Only this kind: fact, cell, or a kind of fact (state, event, plan, ...)."
    ),
]
SpeakerOption = Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Only what NAME said.")]
RoleOption = Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Only what was said in this role.")]
SessionOption = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Only what was said in this session.")
]
EntityOption = Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Only facts about NAME.")]
MetaOption = Annotated[
    list[str] | None,
    typer.Option("--meta", metavar="KEY=VALUE", help="Only sessions with this metadata; repeatable."),
]
FamilyOption = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="NAME", help="Only trees of this family: session, entity or scene; repeatable."),
]
TokensOption = Annotated[
    int | None, typer.Option("--tokens", metavar="N", help="Return evidence of at most N tokens in total.")
]
RerankOption = Annotated[bool, typer.Option("--rerank", help="Have a chat model grade the best pieces of evidence.")]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show what was searched, and what each score is made of.")
]


def query(
    call: Call,
    user: UserArgument,
    text: TextArgument,
    *,
    k: KOption = None,
    mode: ModeOption = None,
    as_of: AsOfOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    asked: AskedOption = None,
    zone: ZoneOption = None,
    expand: ExpandOption = None,
    at_least: AtLeastOption = None,
    snapshot: SnapshotOption = None,
    kind: KindOption = None,
    speaker: SpeakerOption = None,
    role: RoleOption = None,
    session: SessionOption = None,
    entity: EntityOption = None,
    meta: MetaOption = None,
    family: FamilyOption = None,
    tokens: TokensOption = None,
    rerank: RerankOption = False,
    explain: ExplainOption = False,
) -> int:
    """Find evidence for a question, best first."""
    options = _given(
        k=k, mode=mode, as_of=as_of, since=since, until=until, asked=asked, zone=zone, expand=expand,
        at_least=at_least, snapshot=snapshot, kind=kind, speaker=speaker, role=role, session=session, entity=entity,
        metadata=_pairs(meta), families=family or None, token_budget=tokens, rerank=rerank or None,
        explain=explain or None,
    )  # fmt: skip
    with call.client() as client:
        result = client.user(user).query(text, **options)
    data = {"user": user, "question": text, **result.to_json()}
    call.answer(data, lambda screen: draw_result(screen, user, result, explain=explain))
    return OK


def ask(
    call: Call,
    user: UserArgument,
    text: TextArgument,
    *,
    k: KOption = None,
    mode: ModeOption = None,
    as_of: AsOfOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    asked: AskedOption = None,
    zone: ZoneOption = None,
    expand: ExpandOption = None,
    at_least: AtLeastOption = None,
    snapshot: SnapshotOption = None,
    kind: KindOption = None,
    speaker: SpeakerOption = None,
    role: RoleOption = None,
    session: SessionOption = None,
    entity: EntityOption = None,
    meta: MetaOption = None,
    family: FamilyOption = None,
    tokens: TokensOption = None,
    rerank: RerankOption = False,
) -> int:
    """Answer a question from memory alone, citing the evidence. The answer is shown as it is written."""
    options = _given(
        k=k, mode=mode, as_of=as_of, since=since, until=until, asked=asked, zone=zone, expand=expand,
        at_least=at_least, snapshot=snapshot, kind=kind, speaker=speaker, role=role, session=session, entity=entity,
        metadata=_pairs(meta), families=family or None, token_budget=tokens, rerank=rerank or None,
    )  # fmt: skip
    told: list[str] = []

    def show(piece: str) -> None:
        told.append(piece)
        call.stdout.write(clean(piece))
        call.stdout.flush()

    with call.client() as client:
        answer = client.user(user).ask(text, on_text=None if call.json else show, **options)
    if told:
        call.stdout.write("\n")
    whole = "".join(told).strip() == answer.text.strip()
    data = {"user": user, "question": text, **answer.to_json()}
    call.answer(data, lambda screen: draw_answer(screen, user, answer, told=whole))
    return OK


def _given(**options: Any) -> dict[str, Any]:
    """Those that were given: the others have their defaults in the library."""
    return {name: value for name, value in options.items() if value is not None}


def _pairs(listed: list[str] | None) -> dict[str, str] | None:
    """What `--meta` asks for. Raises InvalidInput."""
    pairs = {}
    for each in listed or ():
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise InvalidInput(f"--meta {each!r} must be KEY=VALUE")
        pairs[key] = value
    return pairs or None
