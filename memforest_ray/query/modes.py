"""Modes: the ways down the recalled trees, by name. Each is one small strategy behind one interface."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from memforest_ray.errors import InvalidInput, meant
from memforest_ray.query.allowed import Allowed
from memforest_ray.query.browse import Browse, Browsed, embed, flat, roots
from memforest_ray.query.guided import llm, planner, planner_embed
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import RecalledTree
from memforest_ray.query.steps import Steps

__all__ = ["MODES", "Mode", "mode_of"]


class Mode(Protocol):
    """Finds leaves in recalled trees; asks models where it needs them."""

    def __call__(self, inquiry: Inquiry, trees: Sequence[RecalledTree], allowed: Allowed) -> Steps[Browsed]: ...


def _alone(browse: Browse) -> Mode:
    """A way that needs no model."""

    def steps(inquiry: Inquiry, trees: Sequence[RecalledTree], allowed: Allowed) -> Steps[Browsed]:
        yield from ()
        return browse(inquiry, trees)

    return steps


MODES: Final[Mapping[str, Mode]] = {
    "embed": _alone(embed),
    "flat": _alone(flat),
    "llm": llm,
    "planner": planner,
    "planner+embed": planner_embed,
    "root": _alone(roots),
}


def mode_of(name: str) -> Mode:
    """The strategy of that name. Raises InvalidInput for an unknown one."""
    found = MODES.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidInput(f"unknown mode {name!r}; {meant(str(name), MODES)}", mode=name)
    return found
