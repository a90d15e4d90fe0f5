"""Answers of models, kept until what they were asked for is committed: a write that is tried again pays once.

They hold a user's text, so they stand under the user's caches, which every erasure empties, in objects named by the
epoch that wrote them. Kind `answers`. Head: entries. Body: packed map of name -> row. An entry lives from the answer
to the commit; nothing depends on one being there.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from memforest_ray.ambient import Clock, Random
from memforest_ray.commit.doubt import put_part
from memforest_ray.commit.frames import off_loop, pack, seal, shaped, unpack, unseal
from memforest_ray.errors import CorruptState, MemForestError
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.store import Missing, ObjectStore

__all__ = ["Responses"]

_log = logging.getLogger(__name__)

_ENTRIES_MAX: Final = 20_000
"""In memory and in the store; beyond it the oldest objects go."""
_AGE_MS_MAX: Final = 24 * 3600 * 1000
"""Of an object: nobody tries a write again after a day."""


@dataclass(eq=False, slots=True)
class _Bundle:
    """One object, and which of its entries are still of use."""

    key: str
    names: set[str] = field(default_factory=set)


class Responses:
    """The answers of one forest. `epoch` tells under which one the forest is ours; None while it is not."""

    def __init__(
        self, store: ObjectStore, keys: UserKeys, clock: Clock, random: Random, epoch: Callable[[], int | None]
    ) -> None:
        self._store = store
        self._keys = keys
        self._clock = clock
        self._random = random
        self._epoch = epoch
        self._rows: dict[str, Any] = {}
        self._unwritten: set[str] = set()
        self._bundles: list[_Bundle] = []
        self._loading: asyncio.Task[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._storing = asyncio.Lock()
        self.generation = 0
        """Rises with every erasure: an answer to what was asked before one is not kept after it."""

    def __len__(self) -> int:
        """Answers that are kept now."""
        return len(self._rows)

    async def known(self, names: Iterable[str]) -> dict[str, Any]:
        """The answers under these names. The first call reads what an earlier owner has left."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        await asyncio.shield(self._loading)
        return {name: self._rows[name] for name in names if name in self._rows}

    def put(self, answers: Mapping[str, Any], generation: int) -> None:
        """Keep answers (msgpack types) to what was asked in `generation`; they are stored behind the caller's back."""
        if generation != self.generation or len(self._rows) + len(answers) > _ENTRIES_MAX:
            return
        self._rows.update(answers)
        self._unwritten.update(answers)
        self._wake()

    def settle(self, names: Iterable[str]) -> None:
        """What these answered is committed: the entries go, and objects of which nothing is left."""
        gone = set(names)
        for name in gone:
            self._rows.pop(name, None)
        self._unwritten -= gone
        for bundle in self._bundles:
            bundle.names -= gone
        self._wake()

    @asynccontextmanager
    async def erasing(self) -> AsyncIterator[None]:
        """While something is erased: all answers are forgotten, and none is stored until it is over."""
        self.generation += 1
        self._rows.clear()
        self._unwritten.clear()
        async with self._storing:
            yield
            self._bundles.clear()  # the erasure has emptied the caches

    async def flushed(self) -> None:
        """Wait until everything that can be stored is, and what is spent is removed."""
        if self._loading is not None:
            await asyncio.shield(self._loading)
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])

    def _wake(self) -> None:
        wanted = bool(self._unwritten) and self._epoch() is not None
        spent = any(not bundle.names for bundle in self._bundles)
        if (wanted or spent) and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._write_all())

    async def _write_all(self) -> None:
        """Everything that came while the last object was written makes the next."""
        try:
            while await self._write_one():
                pass
        except MemForestError as error:
            _log.warning("answers of %s are not kept: %s", self._keys.hash[:12], error.kind)

    async def _write_one(self) -> bool:
        """One object, or one removal; whether there was anything to do."""
        async with self._storing:
            spent = [bundle for bundle in self._bundles if not bundle.names]
            for bundle in spent:
                await self._store.delete(bundle.key)
                self._bundles.remove(bundle)
            epoch = self._epoch()
            names, self._unwritten = self._unwritten, set()
            rows = {name: self._rows[name] for name in names if name in self._rows}
            if epoch is None or not rows:
                self._unwritten |= rows.keys()
                return False
            key = self._keys.answers_object(epoch, self._clock.now_ms(), self._random.nonce())
            body = await asyncio.to_thread(pack, rows)
            # Listed before it is there: an object that may or may not have landed is removed with the others.
            self._bundles.append(_Bundle(key, set(rows) & self._rows.keys()))
            await put_part(self._store, key, seal("answers", key, {"entries": len(rows)}, body))
            return True

    async def _load(self) -> None:
        """What an earlier owner has left. Damaged or old objects are removed."""
        oldest_ms = self._clock.now_ms() - _AGE_MS_MAX
        try:
            listed = [key async for key in self._store.list(self._keys.answers)]
            ours = {bundle.key for bundle in self._bundles}
            for key in listed:
                if key in ours:
                    continue
                rows = await self._read(key) if self._keys.written_ms(key) >= oldest_ms else {}
                self._rows = {**rows, **self._rows}
                self._bundles.append(_Bundle(key, set(rows)))
        except MemForestError as error:
            _log.warning("kept answers of %s cannot be read: %s", self._keys.hash[:12], error.kind)
        self._wake()

    async def _read(self, key: str) -> dict[str, Any]:
        try:
            body = (await self._store.get(key)).body
            return await off_loop(len(body), _decode, body, key)
        except (Missing, CorruptState):
            return {}


def _decode(raw: bytes, key: str) -> dict[str, Any]:
    rows = unpack(unseal(raw, key, "answers").body, key)
    with shaped(key):
        return {str(name): row for name, row in rows.items()}
