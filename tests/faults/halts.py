"""Where a process sends itself a signal: models and a store that count the events of a phase."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal, TypeVar, get_args

from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.storage.store import ObjectStore, Stored
from memforest_ray.trees.summaries import SelectionSummarizer, SummaryReply, SummaryRequest

__all__ = ["PHASES", "Halt", "HaltingExtractor", "HaltingStore", "HaltingSummarizer", "Phase"]

T = TypeVar("T")
Phase = Literal["extracting", "refreshing", "claiming", "landing", "checkpointing", "erasing"]
"""claiming: around the change of a manifest that takes the forest. landing: before a slot is created, and when it
stands and nobody knows yet, in turn. checkpointing: around each part, and the manifest that lists it. erasing: around
every change made by a forget."""
PHASES: tuple[Phase, ...] = get_args(Phase)
Moment = Literal["before", "after"]


class Halt:
    """Counts the events of one phase, and sends `signal` to this process at number `event`."""

    def __init__(self, phase: str, event: int, signal: int, say: Callable[[str], None]) -> None:
        self._phase = phase
        self._left = event
        self._signal = signal
        self._say = say
        self.forgetting = False
        """Whether a forget is under way."""
        self._parts_written = False

    def reached(self, phase: Phase, place: str) -> None:
        """An event has come; `place` is what is told of it before the signal."""
        if phase != self._phase:
            return
        self._left -= 1
        if not self._left:
            self._say(place)
            os.kill(os.getpid(), self._signal)

    def stored(self, moment: Moment, verb: str, key: str) -> None:
        """A change of the store is about to be made, or was made and is not answered yet."""
        place = f"{moment} {verb} of {key.split('/', 3)[-1]}"
        if self.forgetting:
            self.reached("erasing", place)
        elif "/seg/" in key or (self._parts_written and key.endswith("/M")):
            self.reached("checkpointing", place)
            self._parts_written = "/seg/" in key or moment == "before"
        elif key.endswith("/M"):
            self.reached("claiming", place)
        elif "/wal/" in key:
            self.reached("landing", place)


class HaltingExtractor:
    """Implements `Extractor`; may halt in the middle of a call."""

    def __init__(self, halt: Halt) -> None:
        self._halt = halt
        self._inner = RuleExtractor()

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        found = await self._inner.extract(cells)
        self._halt.reached("extracting", "in extract")
        return found


class HaltingSummarizer(SelectionSummarizer):
    """Implements `Summarizer`; may halt in the middle of a call."""

    def __init__(self, halt: Halt) -> None:
        self._halt = halt

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        replies = await super().summarise(requests)
        self._halt.reached("refreshing", "in summarise")
        return replies


class HaltingStore:
    """Implements `ObjectStore` over another one; may halt before and after each change."""

    def __init__(self, inner: ObjectStore, halt: Halt) -> None:
        self.url = inner.url
        self._inner = inner
        self._halt = halt

    async def get(self, key: str) -> Stored:
        return await self._inner.get(key)

    async def create(self, key: str, body: bytes) -> str:
        return await self._change("create", key, self._inner.create(key, body))

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        return await self._change("swap", key, self._inner.swap(key, body, tag))

    async def delete(self, key: str) -> None:
        await self._change("delete", key, self._inner.delete(key))

    async def overwrite(self, key: str, body: bytes) -> None:
        await self._change("overwrite", key, self._inner.overwrite(key, body))

    async def list(self, prefix: str) -> AsyncIterator[str]:
        async for key in self._inner.list(prefix):
            yield key

    async def _change(self, verb: str, key: str, change: Awaitable[T]) -> T:
        self._halt.stored("before", verb, key)
        answer = await change
        self._halt.stored("after", verb, key)
        return answer
