"""`memforest doctor`: which settings are in force, and whether what we depend on answers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK, PARTIAL, UNAVAILABLE, sentence
from memforest_ray.cli.screen import clean
from memforest_ray.errors import InvalidInput, MemForestError

if TYPE_CHECKING:
    from rich.console import Console

    from memforest_ray.config import Settings
    from memforest_ray.local.examination import Examination

__all__ = ["doctor"]

NOBODY = "memforest doctor"
"""A user id for a read that finds nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one probe found."""

    probe: str
    ok: bool
    message: str


def doctor(
    call: Call,
    *,
    user: Annotated[
        str | None, typer.Option("--user", "-u", metavar="USER", help="With --deep: whose memory to verify.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Verify one memory: every checksum, every reference, its snapshots.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="With --deep: rebuild derived data, such as graphs, first.")
    ] = False,
) -> int:
    """Check settings and dependencies, or verify one memory.

    Prints the settings in force and probes store, runtime and models. Nothing of a memory is changed, but with
    --rebuild its derived data.
    """
    settings = call.settings()
    if deep or user is not None or rebuild:
        if user is None or not deep:
            raise InvalidInput(
                "--deep and --user go together: `memforest doctor --user USER --deep`; nothing was changed"
            )
        return _examine(call, settings, user, rebuild=rebuild)
    probes: dict[str, Callable[[], str]] = {
        "store": lambda: _probe_store(settings),
        "embedder": lambda: _probe_embedder(settings),
        **({"llm": lambda: _probe_llm(settings)} if settings.remote_chat else {}),
        "runtime": lambda: _probe_runtime(call, settings),
    }
    findings = [_find(name, probe) for name, probe in probes.items()]
    in_force = settings.model_dump(mode="json")
    call.answer(
        {"settings": in_force, "probes": [asdict(finding) for finding in findings], "packages": _versions()},
        lambda screen: _draw(screen, in_force, findings),
    )
    return OK if all(finding.ok for finding in findings) else UNAVAILABLE


def _examine(call: Call, settings: "Settings", user: str, *, rebuild: bool) -> int:
    """Read the whole memory of `user` and tell what is wrong with it. Raises CorruptState, NotFound, Overloaded."""
    import asyncio

    found, rebuilt = asyncio.run(_examined(settings, user, rebuild=rebuild))
    data = {
        "user": user,
        "version": found.version,
        "objects": found.objects,
        "findings": list(found.findings),
        "graphs": asdict(found.derived),
        **({} if rebuilt is None else {"rebuilt": rebuilt}),
    }
    call.answer(data, lambda screen: _draw_examination(screen, data))
    return OK if found.sound else PARTIAL


async def _examined(settings: "Settings", user: str, *, rebuild: bool) -> "tuple[Examination, dict[str, int] | None]":
    """What was found, after what is derived was made anew, if that is wanted: rows by what each graph is of."""
    from memforest_ray.ambient import SystemRandom
    from memforest_ray.ids import UserId
    from memforest_ray.index.neighbours import GraphRules
    from memforest_ray.local import derived
    from memforest_ray.local.examination import examine
    from memforest_ray.storage.open import open_store

    store, rebuilt = open_store(settings.store), None
    if rebuild:
        rules = GraphRules(settings.graph_rows_min, settings.forest_graph_rows_min)
        rebuilt = await derived.rebuild(store, UserId(user), rules, SystemRandom())
    return await examine(store, UserId(user)), rebuilt


def _draw_examination(screen: "Console", data: dict[str, Any]) -> None:
    from rich.text import Text

    for finding in data["findings"]:
        screen.print(Text(f"  FAIL {clean(finding)}", style="bold red"))
    graphs = data["graphs"]
    if graphs["damaged"]:
        screen.print(
            f"  damaged graphs: {graphs['damaged']} (rebuilt when the memory is next opened, or now with --rebuild)",
            soft_wrap=True,
        )
    for name, rows in data.get("rebuilt", {}).items():
        screen.print(Text(clean(f"  rebuilt: graph of {name}, {rows:,} rows")))
    verdict = f"{len(data['findings'])} findings" if data["findings"] else "no problems found"
    screen.print(
        Text(clean(f"{data['user']}, version {data['version']}: {data['objects']} objects verified; {verdict}"))
    )


def _find(name: str, probe: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, probe())
    except MemForestError as error:
        return Finding(name, False, sentence(error))


def _probe_store(settings: "Settings") -> str:
    """Writes one small object and removes it. Raises StoreUnavailable, InvalidInput."""
    import asyncio

    from memforest_ray.ambient import SystemRandom
    from memforest_ray.storage.open import open_store, probe

    store = open_store(settings.store)
    asyncio.run(probe(store, SystemRandom()))
    return f"conditional writes work at {store.url}"


def _probe_embedder(settings: "Settings") -> str:
    """One text embedded. Raises LLMUnavailable, InvalidInput."""
    import asyncio

    from memforest_ray.ambient import SystemClock, SystemRandom
    from memforest_ray.local.models import open_models

    # The embedder alone: whether a chat model answers is another probe's business.
    quiet = settings if settings.remote_embedder else settings.model_copy(update={"backend": "offline"})
    opened = open_models(quiet.model_copy(update={"embed_threads": 1}), SystemClock(), SystemRandom())

    async def embedded() -> int:
        rows = await opened.models.embedder.embed(["Where did I leave my keys?"])
        await opened.close()
        return int(rows.shape[1])

    dimension = asyncio.run(embedded())
    return f"{opened.models.embedder.fingerprint.model} gives vectors of {dimension} dimensions"


def _probe_llm(settings: "Settings") -> str:
    """One small question. Raises LLMUnavailable, InvalidInput."""
    import asyncio

    from memforest_ray.ambient import SystemClock, SystemRandom
    from memforest_ray.errors import LLMUnavailable
    from memforest_ray.models.backend import Backend
    from memforest_ray.models.prompts.judge import JUDGE

    clock = SystemClock()
    backend = Backend(settings, clock, SystemRandom())
    began = clock.elapsed()

    async def asked() -> str | None:
        (reply,) = await backend.chat([JUDGE.request("A: It rains.\nB: It rains.", urgent=True)])
        await backend.close()
        return reply.failure

    failure = asyncio.run(asked())
    if failure is not None:
        raise LLMUnavailable(f"{backend.model} gave no usable answer: {failure}; nothing was changed")
    return f"{backend.model} answered in {clock.elapsed() - began:.1f} s"


def _probe_runtime(call: Call, settings: "Settings") -> str:
    """A read of a user whom nobody has: all of the path to a forest, and nothing written."""
    from memforest_ray.ambient import SystemClock

    clock = SystemClock()
    began = clock.elapsed()
    with call.client() as client:
        client.user(NOBODY).stats()
    return f"{settings.runtime} answered a read in {clock.elapsed() - began:.1f} s, start included"


def _versions() -> dict[str, str | None]:
    return {name: _version(name) for name in ("memforest-ray", "ray", "numpy", "onnxruntime", "obstore")}


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _shown(value: Any) -> str:
    """A setting's value; lists as their items, and what is not set as such."""
    if value in (None, "", [], {}):
        return "(not set)"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _draw(screen: "Console", settings: dict[str, Any], findings: list[Finding]) -> None:
    from rich.text import Text

    screen.print(Text("settings", style="bold"))
    for name, value in settings.items():
        screen.print(Text(clean(f"  {name} = {_shown(value)}")), soft_wrap=True)
    screen.print(Text("probes", style="bold"))
    for finding in findings:
        mark = Text("  ok   " if finding.ok else "  FAIL ", style="green" if finding.ok else "bold red")
        screen.print(mark + Text(clean(f"{finding.probe}: {finding.message}")), soft_wrap=True)
