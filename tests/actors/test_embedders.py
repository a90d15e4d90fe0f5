"""The queue before the model of a node."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_actors.embedders import EmbedderActor, EmbedQueue
from memforest_actors.reply import opened
from memforest_ray.config import Settings
from memforest_ray.errors import InvalidInput
from memforest_ray.models.embedder import Vectors
from tests.actors.tiny import TinyEmbedder


class _Recorder(TinyEmbedder):
    """Keeps the chunks in the order in which the model saw them; one text may be poison."""

    def __init__(self, poison: str = "") -> None:
        self.chunks: list[list[str]] = []
        self._poison = poison

    async def embed(self, texts: Sequence[str]) -> Vectors:
        await asyncio.sleep(0)
        self.chunks.append(list(texts))
        if self._poison in texts:
            raise InvalidInput("poison")
        return await super().embed(texts)


async def test_a_question_waits_for_one_chunk_only() -> None:
    """An urgent text that comes during bulk is next."""
    model = _Recorder()
    queue = EmbedQueue(model, chunk=2)
    bulk = asyncio.ensure_future(queue.embed([f"t{number}" for number in range(20)], "ann", urgent=False))
    await asyncio.sleep(0)
    await queue.embed(["question"], "bob", urgent=True)
    seen = len(model.chunks)
    await bulk
    assert seen <= 2
    assert len(model.chunks) == 11


async def test_owners_take_turns() -> None:
    """A forest with much does not hold up forests with little."""
    model = _Recorder()
    queue = EmbedQueue(model, chunk=1)
    much = asyncio.ensure_future(queue.embed(["big"] * 50, "ann", urgent=False))
    await asyncio.gather(*(queue.embed(["small"], f"user {number}", urgent=False) for number in range(9)))
    assert len(model.chunks) < 25
    await much


async def test_a_failing_call_fails_alone() -> None:
    """The error reaches who asked; the queue goes on."""
    queue = EmbedQueue(_Recorder(poison="bad"), chunk=2)
    first, second = await asyncio.gather(
        queue.embed(["bad", "x", "y"], "ann", urgent=False),
        queue.embed(["good"], "bob", urgent=False),
        return_exceptions=True,
    )
    assert isinstance(first, InvalidInput)
    np.testing.assert_array_equal(second, await TinyEmbedder().embed(["good"]))


async def test_a_caller_that_gave_up_is_skipped() -> None:
    """A cancelled call takes no more of the model's time."""
    model = _Recorder()
    queue = EmbedQueue(model, chunk=1)
    given_up = asyncio.ensure_future(queue.embed(["x"] * 50, "ann", urgent=False))
    await asyncio.sleep(0)
    given_up.cancel()
    await queue.embed(["y"], "bob", urgent=False)
    assert len(model.chunks) <= 3


@given(st.lists(st.lists(st.text(max_size=5), max_size=7), max_size=5), st.integers(1, 4))
def test_rows_come_back_in_order(jobs: list[list[str]], chunk: int) -> None:
    """Whatever is asked at once, each caller gets the vectors of his texts in his order."""

    async def run() -> list[Vectors]:
        queue = EmbedQueue(TinyEmbedder(), chunk)
        return await asyncio.gather(
            *(queue.embed(texts, str(number % 2), urgent=number % 3 == 0) for number, texts in enumerate(jobs))
        )

    async def expect() -> list[Vectors]:
        return [await TinyEmbedder().embed(texts) for texts in jobs]

    for expected, actual in zip(asyncio.run(expect()), asyncio.run(run()), strict=True):
        np.testing.assert_array_equal(expected, actual)


async def test_the_actor_opens_its_model_at_the_first_call() -> None:
    """A factory that cannot be loaded is an answer, not a crash."""
    broken = EmbedderActor("tests.actors.tiny:nothing", Settings())
    with pytest.raises(InvalidInput):
        opened(await broken.fingerprint())
    sound = EmbedderActor("tests.actors.tiny:embedder", Settings())
    assert opened(await sound.fingerprint()) == TinyEmbedder.fingerprint
    assert opened(await sound.embed(["x"], "ann", True)).shape == (1, 8)
