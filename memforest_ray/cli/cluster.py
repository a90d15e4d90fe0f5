"""`memforest up` and `memforest down`: a warm Ray cluster on this machine."""

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.errors import InvalidInput

__all__ = ["down", "up"]


def up(call: Call) -> int:
    """Start a Ray cluster on this machine that later commands join; once is enough."""
    report = _ray_runtime().up(call.settings())
    call.answer(report, lambda screen: screen.print(_sentence(report)))
    return OK


def down(call: Call) -> int:
    """Stop the cluster that `memforest up` started, and no other. Memories stay in the store."""
    report = _ray_runtime().down()
    call.answer(report, lambda screen: screen.print(_sentence(report)))
    return OK


def _ray_runtime() -> Any:
    """The module behind the runtime `ray`, found by name: the library imports no runtime."""
    found = entry_points(group="memforest.runtimes", name="ray")
    if not found:
        raise InvalidInput(
            "the runtime `ray` is not installed; nothing was changed; reinstall the package (pip install memforest-ray)"
        )
    return import_module(next(iter(found)).module)


def _sentence(report: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in report.items())
