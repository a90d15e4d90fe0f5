"""What the writer asks its driver to do. The forest decides, the driver does: no I/O, clock or model in here.

A writer is a generator: it yields an effect, is sent the answer, and returns what it has written.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from memforest_ray.facts.candidates import CellInput
from memforest_ray.facts.verdicts import Question
from memforest_ray.trees.summaries import RefreshPlan

__all__ = ["Effect", "Embed", "Extract", "Foretell", "Judge", "JudgeFrom", "Refresh", "Steps"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extract:
    """Find candidates in these cells, all at once. Answer: one `Extraction` for each, in order."""

    cells: tuple[CellInput, ...]


@dataclass(frozen=True, slots=True)
class Embed:
    """Make vectors of these distinct texts. Answer: fp16 rows, in order."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeFrom:
    """Answer: the cosine from which two statements are shown to a judge; None where nobody judges."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Have these pairs judged, all at once. Answer: a `Judgement` for each, in order."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Foretell:
    """Which summaries of entities' trees are going to be asked for can be found out now, beside what follows.

    Answer: nothing; the work goes on at once.
    """

    plan: Callable[[], RefreshPlan]
    """Makes a plan of these alone, in any thread."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """Have summaries written until `plan` is finished, whatever is ready at once; or give it up, so that extractive
    ones stand in, marked stale, and the others follow as a commit of their own.

    Answer: their `Usage`.
    """

    plan: RefreshPlan


Effect = Extract | Embed | JudgeFrom | Judge | Foretell | Refresh
Steps = Generator[Effect, Any, T]
