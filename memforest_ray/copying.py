"""Copying: how one memory is merged into another, as its caller sees it.

Two forests take part and neither waits in the other's lane: the source is asked to pin itself, the destination reads it
from the store and commits, the pin is given back. The pin is renewed meanwhile; should it expire all the same, the
destination notices before it commits, and the merge is made again under the same operation id.
"""

import asyncio
from contextlib import suppress
from typing import Any, Protocol, Self

from memforest_ray.ambient import Random
from memforest_ray.errors import InvalidInput, MemForestError, NotFound, Overloaded
from memforest_ray.forest.errands import LOAN_MS, Merged
from memforest_ray.ids import OpId, UserId

__all__ = ["Caller", "merged"]

_ROUNDS_MAX = 5
"""Times that a merge is made again because its pin had expired."""
RENEW_S = LOAN_MS / 3000
"""A third of a loan: two renewals may fail."""


class Caller(Protocol):
    """Makes calls of forests."""

    @property
    def random(self) -> Random:
        """Draws operation ids."""

    async def call(self, user: UserId, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        """What the forest of `user` answers: a write where there is an `op_id`, else a read of version `seen` or newer.

        Raises errors of `memforest_ray.errors`.
        """


async def merged(
    caller: Caller, user: UserId, source: UserId, op_id: OpId, *, replacing: bool, wait: str, seen: int
) -> Merged:
    """Merge `source` into the memory of `user`. Raises errors of both; what was pinned is let go of in any case."""
    if user == source:
        raise InvalidInput("a memory cannot be merged into itself; nothing was changed")
    asked = {"source": source, "replacing": replacing, "wait": wait}
    try:
        return await _copied(caller, user, source, op_id, asked, seen)
    except (NotFound, Overloaded) as refusal:
        # It may have been done before there was nothing to copy any more, or nothing to be had just now: that is told.
        try:
            told: Merged = await caller.call(user, "merge", asked, op_id=op_id, seen=seen)
        except Overloaded as error:
            raise (refusal if "loan" in error.detail else error) from error
        return told


async def _copied(
    caller: Caller, user: UserId, source: UserId, op_id: OpId, asked: dict[str, Any], seen: int
) -> Merged:
    for left in reversed(range(_ROUNDS_MAX)):
        async with _Loan(caller, source, user, op_id) as loan:
            try:
                told: Merged = await caller.call(user, "merge", asked, op_id=op_id, seen=seen)
            except Overloaded as error:
                if "loan" not in error.detail or not left:
                    raise
            else:
                loan.landed = not told.duplicate
                await _noted(caller, user, told)
                return told
    raise AssertionError("the last round returns or raises")


async def _noted(caller: Caller, user: UserId, told: Merged) -> None:
    """Have those whose memories came along at second hand note who holds a copy, as far as they can be asked."""
    for upstream in told.through:
        if upstream != user:
            with suppress(MemForestError):
                async with _Loan(caller, upstream, user, told.op_id) as loan:
                    loan.landed = True  # nothing is read from there


class _Loan:
    """A pin on the source for as long as the block takes."""

    def __init__(self, caller: Caller, source: UserId, borrower: UserId, loan: OpId) -> None:
        self._caller = caller
        self._source = source
        self._lend = {"loan": loan, "borrower": borrower}
        self._loan = loan
        self.landed = False
        """Whether what was read under it has been committed; else it may be on its way, whatever was told."""
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._ask("lend", self._lend)
        self._renewing = asyncio.create_task(self._renew())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        # The copy stands or has failed whatever comes of this: a pin that is not given back expires.
        with suppress(MemForestError):
            await self._ask("return", {"loan": self._loan, "landed": self.landed})

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEW_S)
            with suppress(MemForestError):
                await self._ask("lend", self._lend)

    async def _ask(self, verb: str, arguments: dict[str, Any]) -> None:
        name = OpId(self._caller.random.nonce())
        await self._caller.call(self._source, verb, arguments, op_id=name, seen=0)
