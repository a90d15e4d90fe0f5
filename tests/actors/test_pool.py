"""Choice of members, loss and return."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from memforest_actors.options import Patience
from memforest_actors.pool import Member, Pool, PooledEmbedder, PooledExtractor, PooledSummarizer
from memforest_actors.refs import Gone
from memforest_ray.errors import ClusterUnavailable, LLMUnavailable
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.ids import CellId
from memforest_ray.testing.clock import SeededRandom
from tests.actors.tiny import TinyEmbedder

QUICK = Patience(retry_first_s=0.001, retry_last_s=0.002, activation_s=0.2, pool_call_s=1.0)

Answer = Callable[[str, tuple[Any, ...]], Awaitable[Any]]


class _Fake:
    """A member that answers with a function, and can be dead."""

    def __init__(self, name: str, answer: Answer, *, dead: bool = False) -> None:
        self.name = name
        self.calls = 0
        self.dead = dead
        self._answer = answer

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        self.calls += 1
        if self.dead:
            raise Gone(self.name)
        return await self._answer(method, arguments)

    async def pid(self, within_s: float) -> int | None:
        return None if self.dead else 1


def _pool(*members: _Fake, successors: Sequence[_Fake] = ()) -> Pool:
    """Lost members are replaced by `successors` in turn, or looked up again in vain."""
    rest = list(successors)

    def reopen(member: _Fake) -> Callable[[], Awaitable[Member]]:
        async def found() -> Member:
            return rest.pop(0) if rest else member

        return found

    return Pool("embedder", [(member, reopen(member)) for member in members], SeededRandom(), QUICK)


async def _echo(_: str, arguments: tuple[Any, ...]) -> Any:
    await asyncio.sleep(0)
    return list(arguments[0])


async def test_the_least_busy_is_asked() -> None:
    """Calls at once are shared evenly."""
    members = [_Fake(name, _echo) for name in "abc"]
    pool = _pool(*members)
    await asyncio.gather(*(pool.call("x", [number]) for number in range(30)))
    assert [member.calls for member in members] == [10, 10, 10]


async def test_a_lost_member_sits_out_and_another_answers() -> None:
    """The call moves on; later calls do not try the dead one."""
    dead, alive = _Fake("a", _echo, dead=True), _Fake("b", _echo)
    pool = _pool(dead, alive)
    for number in range(5):
        assert await pool.call("x", [number]) == [number]
    assert (dead.calls, pool.sound) == (1, 1)


async def test_a_successor_takes_the_seat() -> None:
    """With one member lost, the call waits for its successor."""
    successor = _Fake("a", _echo)
    pool = _pool(_Fake("a", _echo, dead=True), successors=[successor])
    assert await pool.call("x", [1]) == [1]
    assert (successor.calls, pool.sound) == (1, 1)


async def test_nobody_left() -> None:
    """When no member comes back in time the error names the pool."""
    pool = _pool(_Fake("a", _echo, dead=True))
    with pytest.raises(ClusterUnavailable, match="embedder"):
        await pool.call("x", [1])


async def test_members_that_die_of_a_call() -> None:
    """A call under which every process is lost is given up after a few."""
    pool = _pool(*(_Fake(str(number), _echo, dead=True) for number in range(9)))
    with pytest.raises(ClusterUnavailable, match="lost under one call"):
        await pool.call("x", [1])


async def test_a_members_error_is_its_answer() -> None:
    """An error of ours is raised, not tried elsewhere."""

    async def refuse(_: str, __: tuple[Any, ...]) -> Any:
        raise LLMUnavailable("no answer")

    members = [_Fake(name, refuse) for name in "ab"]
    with pytest.raises(LLMUnavailable):
        await _pool(*members).call("x", [1])
    assert sum(member.calls for member in members) == 1


async def test_batches_keep_their_order() -> None:
    """Items are cut into batches, shared out, and come back in order."""
    members = [_Fake(name, _echo) for name in "ab"]
    batches = await _pool(*members).spread("x", range(10), 4)
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert await _pool(*members).spread("x", [], 4) == []


async def test_pooled_extractor() -> None:
    """One extraction per cell, in order, one remote call for many."""

    async def extract(_: str, arguments: tuple[Any, ...]) -> Any:
        return [Extraction(cell.cell_id) for cell in arguments[0]]

    member = _Fake("a", extract)
    cells = [CellInput(CellId(f"c{number}"), (), None) for number in range(40)]
    found = await PooledExtractor(_pool(member)).extract(cells)
    assert [each.cell_id for each in found] == [cell.cell_id for cell in cells]
    assert member.calls == 3


async def test_pooled_embedder() -> None:
    """Vectors come back in order and writable; few texts are urgent, many are not; none is no call."""
    urgent: list[bool] = []

    async def embed(method: str, arguments: tuple[Any, ...]) -> Any:
        if method == "fingerprint":
            return TinyEmbedder.fingerprint
        urgent.append(arguments[2])
        return await TinyEmbedder().embed(arguments[0])

    embedder = await PooledEmbedder.open(_pool(_Fake("a", embed)), "ann")
    texts = [f"text {number}" for number in range(300)]
    np.testing.assert_array_equal(await TinyEmbedder().embed(texts), await embedder.embed(texts))
    assert (await embedder.embed(["question"])).shape == (1, 8)
    assert (await embedder.embed([])).shape == (0, 8)
    assert urgent == [False, False, True]


async def test_pooled_summarizer() -> None:
    """It shows what its member says it is."""

    async def card(_: str, __: tuple[Any, ...]) -> Any:
        return "model-1", "model"

    summarizer = await PooledSummarizer.open(_pool(_Fake("a", card)))
    assert (summarizer.model, summarizer.source) == ("model-1", "model")
