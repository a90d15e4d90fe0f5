"""What a writer asks its driver to do. The forest decides, the driver does: no I/O, clock or model in here."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memforest_ray.commit.version import Vector
from memforest_ray.effects import Answered
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.verdicts import Judgement, Question
from memforest_ray.models.usage import Usage
from memforest_ray.trees.summaries import RefreshPlan

__all__ = ["Effect", "Embed", "Extract", "Judge", "JudgeFrom", "Prefetch", "Refresh", "Steps"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extract(Answered[Sequence[Extraction]]):
    """Find candidates in these cells, all at once. Answer: one `Extraction` for each, in order."""

    cells: tuple[CellInput, ...]


@dataclass(frozen=True, slots=True)
class Embed(Answered[Sequence[Vector]]):
    """Make vectors of these distinct texts. Answer: fp16 rows, in order."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeFrom(Answered[float | None]):
    """Answer: the cosine from which two statements are shown to a judge; None where nobody judges."""


@dataclass(frozen=True, slots=True)
class Judge(Answered[Sequence[Judgement]]):
    """Have these pairs judged, all at once. Answer: a `Judgement` for each, in order."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Prefetch(Answered[None]):
    """Summaries of entities' trees can be asked for now, beside what follows: very likely they will be wanted.

    Answer: nothing; the work goes on at once.
    """

    plan: Callable[[], RefreshPlan]
    """Makes a plan of these alone, in any thread."""


@dataclass(frozen=True, slots=True)
class Refresh(Answered[Usage]):
    """Have summaries written until `plan` is finished, whatever is ready at once; or give it up, so that extractive
    ones stand in, marked stale, and the others follow as a commit of their own.

    Answer: their `Usage`.
    """

    plan: RefreshPlan


Effect = Extract | Embed | JudgeFrom | Judge | Prefetch | Refresh
Steps = Generator[Effect, Any, T]
"""A write under way (`memforest_ray.effects`): comes to a `T`."""
