"""One run of a verb: the options that all verbs share, the client it uses, and where its output goes.

The one place where the command line meets the client (`open_client`).
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_args, get_type_hints

import typer

from memforest_ray.cli.failures import INTERRUPTED, exit_code, lookup, sentence, stopped
from memforest_ray.cli.screen import clean, console, json_text
from memforest_ray.errors import InvalidInput, MemForestError, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.client import Client, User
    from memforest_ray.config import Settings
    from memforest_ray.forest.overviews import Stats

__all__ = [
    "Call",
    "FormatOption",
    "JsonOption",
    "OpIdOption",
    "RuntimeOption",
    "StoreOption",
    "TimeOption",
    "expect_memory",
    "open_client",
    "verb",
]

StoreOption = Annotated[
    str | None, typer.Option("--store", metavar="URL", help="Where memories are kept (MEMFOREST_STORE).")
]
RuntimeOption = Annotated[
    str | None,
    typer.Option("--runtime", metavar="ray|local", help="Where memories run (MEMFOREST_RUNTIME)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout; everything else on stderr.")]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="chatgpt, claude, langchain, locomo, longmemeval, native, openai, sharegpt, slack or whatsapp; detected "
        "unless given.",
    ),
]
"""Of verbs that read conversations."""
TimeOption = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="TIME", help="When sessions without a time took place: 2024-05-20, 2024-05-20T18:30."
    ),
]
"""Of verbs that make conversations memory."""
OpIdOption = Annotated[
    str | None,
    typer.Option("--op-id", metavar="ID", help="Names this write: run again with the same ID, it is done only once."),
]
"""Of verbs that write once; one that is not given is drawn, so that whoever is cut off can be told of it."""

_COMMON: dict[str, tuple[Any, Any]] = {
    "store": (StoreOption, None),
    "runtime": (RuntimeOption, None),
    "json": (JsonOption, False),
}


def open_client(**given: Any) -> "Client":
    """The client that a verb works with; `given` are settings."""
    from memforest_ray.client import connect

    return connect(**given)


def expect_memory(memory: "User") -> "Stats":
    """What a memory holds. Raises NotFound where there is none: the library's reads find one that is empty."""
    counts = memory.stats()
    if not counts["exists"]:
        raise NotFound.memory(memory.id)
    return counts


@dataclass(frozen=True, slots=True)
class Call:
    """One run of a verb."""

    given: dict[str, Any] = field(default_factory=dict)
    """Settings named on the command line."""
    json: bool = False
    op_id: str | None = None
    """Of the one write that the verb makes."""
    user: str | None = None
    """Whose memory the verb is about, if it is about one."""
    changes: bool = True
    """Whether the verb may change anything."""
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)

    @contextmanager
    def client(self) -> Iterator["Client"]:
        """A client with the settings in force. Raises InvalidInput for a store that ends with us.

        Whatever it was asked stands when it is closed: should the store fail then, that is told and no failure.
        """
        self.durable_store()
        self.configure_logs()
        client = open_client(**self.given)
        try:
            yield client
        except BaseException:
            with suppress(StoreUnavailable):  # what failed first is what is to be told
                client.close()
            raise
        try:
            client.close()
        except StoreUnavailable as error:
            self.say(self.sentence(error))

    def configure_logs(self) -> None:
        """Have log lines go to stderr, as the settings say."""
        from memforest_ray.logs import configure

        settings = self.settings()
        configure(settings.log_format, settings.log_level)

    def durable_store(self) -> str:
        """The address of the store in force. Raises InvalidInput for one that ends with this process."""
        store = self.settings().store
        if store.startswith("memory://"):
            raise InvalidInput(f"the store {store} lasts as long as one process, so nothing written here could be read")
        return store

    def settings(self) -> "Settings":
        """The settings in force. Raises InvalidInput."""
        from memforest_ray.config import load_settings

        return load_settings(**self.given)

    def answer(self, data: Any, draw: Callable[["Console"], None]) -> None:
        """Give the result: `data` as JSON when that was asked for, else drawn."""
        if self.json:
            self.stdout.write(json_text(data) + "\n")
            self.stdout.flush()
        else:
            self._draw(draw)

    def _draw(self, draw: Callable[["Console"], None]) -> None:
        """On a terminal as it is; elsewhere without the blanks that fill its lines there."""
        if self.stdout.isatty():
            draw(console(self.stdout))
            return
        draw(console(drawn := StringIO()))
        self.stdout.write(re.sub(r" +$", "", drawn.getvalue(), flags=re.MULTILINE))
        self.stdout.flush()

    def say(self, line: str) -> None:
        """One line to the person at the terminal, on stderr."""
        self.stderr.write(f"memforest: {clean(line)}\n")
        self.stderr.flush()

    def no_memory(self, user: str | None) -> str:
        """Where none was found: more often than not another store was meant, or another user."""
        return f"user {user!r} has no memory in {self.settings().store}; {lookup('user')}"

    def sentence(self, error: MemForestError) -> str:
        """What happened, what was kept and what to do; the same words of every verb that met no memory."""
        if isinstance(error, NotFound) and error.what == "user":
            return self.no_memory(error.detail.get("user", self.user))
        return sentence(error, self.op_id, self.user, changes=self.changes)

    def fail(self, error: MemForestError) -> int:
        """Report an error that ended the verb. The exit code."""
        self.say(self.sentence(error))
        named = {"kind": error.kind, "message": str(error)}
        self._emit_error({**named, **error.detail, **named})  # first, and whatever the details are called
        return exit_code(error)

    def stop(self, line: str = "") -> int:
        """Say what an interrupt left behind, and how to go on. The exit code."""
        line = line or stopped(self.op_id)
        self.say(line)
        self._emit_error({"kind": "interrupted", "message": line} | ({"op_id": self.op_id} if self.op_id else {}))
        return INTERRUPTED

    def _emit_error(self, error: dict[str, Any]) -> None:
        """A script gets its one object from a failure, too."""
        if self.json:
            self.stdout.write(json_text({"error": error}) + "\n")
            self.stdout.flush()


def verb(function: Callable[..., int], *, changes: bool = True) -> Callable[..., int]:
    """`function(call, ...)` as a command: with the shared options, its errors as lines and exit codes.

    `changes`: whether it may change anything.
    """

    @wraps(function)
    def command(ctx: typer.Context, **options: Any) -> int:
        call = replace(_call(ctx.obj or {}, options), changes=changes)
        if "op_id" in options:
            options["op_id"] = call.op_id
        try:
            # What a library prints on the way must not stand between a script and its JSON.
            with redirect_stdout(call.stderr):
                return function(call, **options)
        except MemForestError as error:
            return call.fail(error)
        except KeyboardInterrupt as error:
            return call.stop(str(error))

    signature = _signature(function)
    command.__signature__ = signature  # type: ignore[attr-defined] # PEP 362
    command.__annotations__ = {name: item.annotation for name, item in signature.parameters.items()}
    return command


def _signature(function: Callable[..., int]) -> inspect.Signature:
    """What typer reads: the verb's own parameters without `call`, and the shared options after them."""
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in _COMMON.items()
    ]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, declared in inspect.signature(function).parameters.items()
        if name != "call"
        for parameter in _unpacked(declared)
    ]
    return inspect.Signature([context, *own, *shared], return_annotation=int)


def _unpacked(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """`**options: Unpack[Fields]` as a parameter for each field, False or None unless given; others as they are."""
    if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
        return [parameter]
    (fields,) = get_args(parameter.annotation)
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=annotation,
            default=False if get_args(annotation)[0] is bool else None,
        )
        for name, annotation in get_type_hints(fields, include_extras=True).items()
    ]


def _drawn() -> str:
    from memforest_ray.ambient import SystemRandom

    return SystemRandom().nonce()


def _call(before: dict[str, Any], options: dict[str, Any]) -> Call:
    """The call that the shared options describe; those after the verb win over those before it."""
    later = {name: options.pop(name) for name in _COMMON}
    chosen = {name: before.get(name) if value is None else value for name, value in later.items() if name != "json"}
    given = {name: value for name, value in chosen.items() if value is not None}
    op_id = (options["op_id"] or _drawn()) if "op_id" in options else None
    return Call(given, json=bool(later["json"] or before.get("json")), op_id=op_id, user=options.get("user"))
