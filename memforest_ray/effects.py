"""Effects: what code that does nothing itself asks of whoever runs it, and what running it takes.

Such code is a generator of *steps*. It yields an effect, is sent the answer, and returns what it has come to: so it
needs no model, clock or I/O, and whoever runs it decides how, when and in which thread these are had.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

__all__ = ["Answered", "Finished", "carried_out", "step"]

E = TypeVar("E")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A_co = TypeVar("A_co", covariant=True)


class Answered(Generic[A_co]):
    """An effect that is answered with an `A`: `answer = yield from effect` has it done, as `await` would."""

    __slots__ = ()

    def __iter__(self) -> Generator[Self, Any, A_co]:
        """The one step of it. What is sent is taken at its word: here the type of an answer is stated once."""
        answer: A_co = yield self
        return answer


@dataclass(frozen=True, slots=True)
class Finished(Generic[T_co]):
    """Steps are at their end."""

    result: T_co


def step(steps: Generator[E, Any, T], answer: Any) -> E | Finished[T]:
    """One step: the next effect, or what the steps have come to. `answer` is that of the last effect; at first None.

    A value, since StopIteration cannot leave a thread.
    """
    try:
        return steps.send(answer)
    except StopIteration as stop:
        return Finished(stop.value)


def carried_out(steps: Generator[E, Any, T], answer: Callable[[E], Any]) -> T:
    """What steps come to where every effect is answered at once."""
    asked = step(steps, None)
    while not isinstance(asked, Finished):
        asked = step(steps, answer(asked))
    return asked.result
