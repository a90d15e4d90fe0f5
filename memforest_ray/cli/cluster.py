"""`memforest up` and `memforest down`: a warm Ray cluster on this machine."""

from importlib import import_module
from typing import Any

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.errors import InvalidInput

__all__ = ["down", "up"]


def up(call: Call) -> int:
    """Start a local Ray cluster that later commands join."""
    report = _ray_runtime().up(call.settings())
    call.answer(report, lambda screen: screen.print(_up(report), soft_wrap=True))
    return OK


def down(call: Call) -> int:
    """Stop the cluster that `memforest up` started. Memories stay in the store."""
    report = _ray_runtime().down()
    call.answer(report, lambda screen: screen.print(_down(report), soft_wrap=True))
    return OK


def _ray_runtime() -> Any:
    """The module behind the runtime `ray`, found by name: the library imports no runtime."""
    from importlib.metadata import entry_points

    found = entry_points(group="memforest.runtimes", name="ray")
    if not found:
        raise InvalidInput(
            "the runtime `ray` is not installed; nothing was changed; reinstall the package (pip install memforest-ray)"
        )
    return import_module(next(iter(found)).module)


def _up(report: dict[str, Any]) -> str:
    place = f"Ray at {report['address']} (process {report['pid']})"
    if not report["started"]:
        return f"{place} is up already; every command on this machine joins it"
    return f"{place} is up and warm; every command on this machine joins it until `memforest down`"


def _down(report: dict[str, Any]) -> str:
    if not report["stopped"]:
        return "nothing to stop: no cluster was started with `memforest up`"
    return f"Ray at {report['address']} (process {report['pid']}) is stopped; memories stay in the store"
