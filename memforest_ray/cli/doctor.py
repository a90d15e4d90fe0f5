"""`memforest doctor`: which settings are in force, and whether what we depend on answers."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK, PARTIAL, UNAVAILABLE, sentence
from memforest_ray.cli.screen import clean
from memforest_ray.errors import InvalidInput, MemForestError

if TYPE_CHECKING:  # for speed: `--help` loads neither the client nor rich
    from rich.console import Console

    from memforest_ray.config import Settings

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
        str | None, typer.Option("--user", "-u", metavar="U", help="With --deep: whose memory to examine.")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Examine one memory: every checksum, every reference, its snapshots.")
    ] = False,
) -> int:
    """Print the settings in force, and probe store, runtime and embedder; or examine one memory, changing nothing."""
    settings = call.settings()
    if deep or user is not None:
        if user is None or not deep:
            raise InvalidInput("--deep and --user go together: `memforest doctor --user U --deep`; nothing was changed")
        return _examine(call, settings, user)
    probes: dict[str, Callable[[], str]] = {
        "store": lambda: _probe_store(settings),
        "embedder": lambda: _probe_embedder(settings),
        "runtime": lambda: _probe_runtime(call, settings),
    }
    findings = [_find(name, probe) for name, probe in probes.items()]
    in_force = settings.model_dump(mode="json")
    call.answer(
        {"settings": in_force, "probes": [asdict(finding) for finding in findings], "packages": _versions()},
        lambda screen: _draw(screen, in_force, findings),
    )
    return OK if all(finding.ok for finding in findings) else UNAVAILABLE


def _examine(call: Call, settings: "Settings", user: str) -> int:
    """Read the whole memory of `user` and tell what is wrong with it. Raises CorruptState, NotFound."""
    import asyncio  # noqa: PLC0415 - for speed

    from memforest_ray.ids import UserId  # noqa: PLC0415 - for speed
    from memforest_ray.local.examination import examine  # noqa: PLC0415 - for speed
    from memforest_ray.storage.open import open_store  # noqa: PLC0415 - for speed

    found = asyncio.run(examine(open_store(settings.store), UserId(user)))
    data = {"user": user, "version": found.version, "objects": found.objects, "findings": list(found.findings)}
    call.answer(data, lambda screen: _draw_examination(screen, data))
    return OK if found.sound else PARTIAL


def _draw_examination(screen: "Console", data: dict[str, Any]) -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    for finding in data["findings"]:
        screen.print(Text(f"  FAIL {clean(finding)}", style="bold red"))
    verdict = f"{len(data['findings'])} findings" if data["findings"] else "everything fits"
    screen.print(
        Text(clean(f"{data['user']}, version {data['version']}: {data['objects']} objects are whole; {verdict}"))
    )


def _find(name: str, probe: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, probe())
    except MemForestError as error:
        return Finding(name, False, sentence(error))


def _probe_store(settings: "Settings") -> str:
    """Writes one small object and removes it. Raises StoreUnavailable, InvalidInput."""
    import asyncio  # noqa: PLC0415 - for speed

    from memforest_ray.ambient import SystemRandom  # noqa: PLC0415 - for speed
    from memforest_ray.storage.open import open_store, probe  # noqa: PLC0415 - for speed

    store = open_store(settings.store)
    asyncio.run(probe(store, SystemRandom()))
    return f"{store.url} keeps conditional writes"


def _probe_embedder(settings: "Settings") -> str:
    import asyncio  # noqa: PLC0415 - for speed

    from memforest_ray.models.offline import OnnxEmbedder  # noqa: PLC0415 - for speed

    embedder = OnnxEmbedder(settings.embed_folder, threads=1)
    rows = asyncio.run(embedder.embed(["Where did I leave my keys?"]))
    return f"{embedder.fingerprint.model} gives {rows.shape[1]} dimensions"


def _probe_runtime(call: Call, settings: "Settings") -> str:
    """A read of a user whom nobody has: all of the path to a forest, and nothing written."""
    from memforest_ray.ambient import SystemClock  # noqa: PLC0415 - for speed

    clock = SystemClock()
    began = clock.elapsed()
    with call.client() as client:
        client.user(NOBODY).stats()
    return f"{settings.runtime} answered a read in {clock.elapsed() - began:.1f} s, start included"


def _versions() -> dict[str, str | None]:
    return {name: _version(name) for name in ("memforest-ray", "ray", "numpy", "onnxruntime", "obstore")}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _draw(screen: "Console", settings: dict[str, Any], findings: list[Finding]) -> None:
    from rich.text import Text  # noqa: PLC0415 - for speed

    screen.print(Text("settings", style="bold"))
    for name, value in settings.items():
        screen.print(Text(f"  {name} = {clean(str(value))}"))
    screen.print(Text("probes", style="bold"))
    for finding in findings:
        mark = Text("  ok   " if finding.ok else "  FAIL ", style="green" if finding.ok else "bold red")
        screen.print(mark + Text(f"{finding.probe}: {clean(finding.message)}"))
