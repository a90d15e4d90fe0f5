"""The program: its verbs, and what becomes of bad usage."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from memforest_ray.cli import (
    ask,
    cluster,
    doctor,
    estimate,
    forget,
    ingest,
    load,
    merge,
    portable,
    show,
    sim_llm,
    snapshots,
    upkeep,
    warm,
)
from memforest_ray.cli.call import Call, JsonOption, RuntimeOption, StoreOption, verb
from memforest_ray.cli.failures import BROKEN_PIPE, OK, USAGE
from memforest_ray.cli.screen import clean, json_text

__all__ = ["run"]

# Newer releases of typer carry a click of their own; in all of them this is its UsageError.
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]

VERBS = (
    ingest.ingest,
    load.load,
    ask.query,
    ask.ask,
    show.show,
    show.users,
    show.stats,
    forget.forget,
    merge.merge,
    upkeep.correct,
    upkeep.changes,
    snapshots.save,
    snapshots.restore,
    snapshots.snapshots,
    portable.export,
    portable.import_,
    cluster.up,
    cluster.down,
    doctor.doctor,
    estimate.estimate,
    upkeep.repair,
    upkeep.resummarise,
    upkeep.rescene,
    upkeep.rebuild,
    upkeep.reembed,
    warm.warm,
    sim_llm.sim_llm,
)

READING = frozenset(
    {
        ask.query,
        ask.ask,
        show.show,
        show.users,
        show.stats,
        upkeep.changes,
        portable.export,
        doctor.doctor,
        estimate.estimate,
        warm.warm,
    }
)
"""Verbs that change nothing: of these nobody has to be told so."""

EPILOG = """\b
To begin with:
  memforest ingest chat.json --user alice
  memforest query alice "Where does Bob live now?"

`memforest COMMAND --help` explains a command. MEMFOREST_RUNTIME=local runs without Ray.

Exit codes: 0 ok, 2 usage or input, 3 partial (failures named), 4 a dependency is unavailable.
"""

app = typer.Typer(
    name="memforest",
    epilog=EPILOG,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for function in VERBS:
    name = function.__name__.rstrip("_").replace("_", "-")  # `import` is a word of Python's
    app.command(name)(verb(function, changes=function not in READING))


@app.callback(invoke_without_command=True)
def program(
    ctx: typer.Context,
    store: StoreOption = None,
    runtime: RuntimeOption = None,
    json: JsonOption = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> int:
    """Agent memory that is fresh when a write returns, faithful in time and cheap to keep."""
    # Options that stand before the verb; a verb's own win.
    ctx.obj = {"store": store, "runtime": runtime, "json": json}
    if version:
        typer.echo(json_text({"version": _version()}) if json else f"memforest {_version()}")
        raise typer.Exit(OK)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
    return OK


def run(arguments: Sequence[str]) -> int:
    """Do what `arguments` say. The exit code."""
    _let_any_text_through()
    try:
        # Not its `main`, which makes of an interrupt an exit without a word.
        with _command().make_context("memforest", list(arguments)) as context:
            code = _command().invoke(context)
        sys.stdout.flush()
    except typer.Exit as leaving:
        return leaving.exit_code
    except USAGE_ERROR as error:
        return _refuse(error, as_json="--json" in arguments)
    except KeyboardInterrupt:  # while words were still being read: what comes later ends in its verb
        return Call(json="--json" in arguments).stop()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else OK


@cache
def _command() -> Any:  # of the click that typer carries, if it carries one
    """All verbs, as they are called; made once, however often the program is called in one process."""
    return typer.main.get_command(app)


def _refuse(error: Exception, *, as_json: bool) -> int:
    """One line about bad usage, on stderr; a script gets its one object, too."""
    context = getattr(error, "ctx", None)
    path = "memforest" if context is None else context.command_path
    reason = " ".join(clean(error.format_message()).split()).rstrip(".")  # type: ignore[attr-defined] # a click error
    reason = reason.replace("Value error, ", "")  # what pydantic puts before the words of a check
    reads = path.removeprefix("memforest ") in {"memforest", *(function.__name__ for function in READING)}
    nothing = "" if reads else "; nothing was changed"
    line = f"{reason}{nothing}; see `{path} --help`"
    sys.stderr.write(f"memforest: {line}\n")
    if as_json:
        sys.stdout.write(json_text({"error": {"kind": "usage", "message": line}}) + "\n")
    return USAGE


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("memforest-ray")
    except PackageNotFoundError:
        return "(not installed: run from a source tree)"


def _let_any_text_through() -> None:
    """Text that a terminal's encoding lacks is escaped; it does not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
