"""Vectors from an endpoint: batches, forms of answers, trouble."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from memforest_ray.errors import InvalidInput, LLMUnavailable
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.embedder import Fingerprint
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.openai_embedder import OpenAIEmbedder, fingerprint_of
from memforest_ray.models.permits import Permits
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint, error

Answering = Callable[[dict[str, Any]], HttpResponse | None]


async def at_once(_: float) -> None:
    """Nobody waits between tries."""
    await asyncio.sleep(0)


def row(text: str) -> list[float]:
    """Three numbers that tell texts apart; not of unit length."""
    return [float(len(text)), float(text.count("a")), 2.0]


def vectors(asked: dict[str, Any], *, coded: bool = True) -> HttpResponse:
    """An answer in the form that was asked for, the last text first."""
    items = []
    for index, text in enumerate(asked["input"]):
        plain = row(text)
        told = base64.b64encode(np.array(plain, "<f4").tobytes()).decode() if coded else plain
        items.append({"index": index, "embedding": told})
    return HttpResponse.of({"data": items[::-1]})


@asynccontextmanager
async def embedder(answer: Answering, texts_max: int = 2) -> AsyncIterator[tuple[OpenAIEmbedder, ScriptedEndpoint]]:
    clock, random = ManualClock(), SeededRandom()
    async with ScriptedEndpoint(answer=answer) as server:
        one = OpenAIEmbedder(
            [Endpoint(server.url, "small")],
            Connections(clock, 5.0),
            Permits({server.url: 8}, clock, random, sleep=at_once),
            random,
            fingerprint_of("small", 3, {}),
            texts_max=texts_max,
            hedges=Hedges(clock, 0.0),
            sleep=at_once,
        )
        try:
            yield one, server
        finally:
            await one.close()


async def test_rows_of_unit_length_in_order() -> None:
    """In batches of like length, each text once; what has no letters is a row of zeros."""
    async with embedder(vectors) as (one, server):
        rows = await one.embed(["banana", "b", " ", "banana", "aa"])
        assert rows.dtype == np.float16
        assert rows.shape == (5, 3)
        assert np.allclose(np.linalg.norm(rows.astype(float), axis=1), [1, 1, 0, 1, 1], atol=1e-3)
        assert np.allclose(rows[0], np.array([6, 3, 2]) / 7, atol=1e-3)
        assert np.array_equal(rows[0], rows[3])
        assert sorted(asked["input"] for asked in server.asked) == [["b", "aa"], ["banana"]]
        assert {(asked["model"], asked["encoding_format"]) for asked in server.asked} == {("small", "base64")}


async def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    """Nor on what it is asked for with."""
    async with embedder(vectors) as (one, _):
        assert np.array_equal((await one.embed(["banana", "b"]))[0], (await one.embed(["banana"]))[0])


async def test_no_texts_no_call() -> None:
    """An empty answer has the right width."""
    async with embedder(vectors) as (one, server):
        assert ((await one.embed([])).shape, (await one.embed([""])).shape, server.asked) == ((0, 3), (1, 3), [])


async def test_numbers_in_plain_lists_are_read() -> None:
    """Servers may not know base64, whether they say so or not."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        if asked["encoding_format"] == "base64":
            return error(400, "encoding_format must be float")
        return vectors(asked, coded=False)

    async with embedder(lambda asked: vectors(asked, coded=False)) as (one, _):
        assert (await one.embed(["aa"])).any()
    async with embedder(answer) as (one, server):
        assert (await one.embed(["aa"])).any()
        assert len(server.asked) == 2


async def test_lone_surrogates_are_sayable() -> None:
    """No server takes them."""
    async with embedder(vectors) as (one, server):
        await one.embed(["a \ud83d b"])
        assert server.asked[0]["input"] == ["a ? b"]


async def test_a_batch_that_is_too_long_is_halved_and_a_text_shortened() -> None:
    """Until it fits; every text has its row."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        if sum(map(len, asked["input"])) > 600:
            return error(400, "maximum context length exceeded")
        return vectors(asked)

    async with embedder(answer, texts_max=4) as (one, _):
        rows = await one.embed(["a" * 2000, "b" * 400, "c" * 300, "d"])
        assert np.linalg.norm(rows.astype(float), axis=1) == pytest.approx(1, abs=1e-3)


async def test_trouble_that_passes_is_waited_for() -> None:
    """As with chat."""
    troubles = [error(429, "slow"), error(500, "boom"), HttpResponse.of({"data": []})]

    def answer(asked: dict[str, Any]) -> HttpResponse:
        return troubles.pop(0) if troubles else vectors(asked)

    async with embedder(answer) as (one, server):
        assert (await one.embed(["aa"])).any()
        assert len(server.asked) == 4


@pytest.mark.parametrize(
    "trouble",
    [
        error(500, "boom"),
        error(401, "wrong key"),
        error(400, "odd text"),
        HttpResponse.of({"data": [{"index": 0, "embedding": "not base64!"}]}),
        HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, "x", 2.0]}]}),
        HttpResponse.of({"data": [{"index": 5, "embedding": [1.0, 1.0, 1.0]}]}),
        HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, float("nan"), 1.0]}]}),
        HttpResponse.of({"data": [None]}),
        HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}),
    ],
    ids=["500", "key", "odd", "base64", "words", "index", "nan", "none", "dimension"],
)
async def test_no_vectors_is_an_error_that_names_the_embedder(trouble: HttpResponse) -> None:
    """Whether nobody answers or what is answered is no vector: never the chat model's fault."""
    async with embedder(lambda asked: trouble) as (one, _):
        with pytest.raises(LLMUnavailable) as caught:
            await one.embed(["aa"])
        assert caught.value.detail["role"] == "embed"


def test_thresholds_belong_to_the_model() -> None:
    """Named ones replace the known ones; a name that is none is refused."""
    assert fingerprint_of("m", 8, {"equivalent": 0.9}) == Fingerprint("m", 8, 0.9, 0.70, 0.58, 0.88, 0.45)
    with pytest.raises(InvalidInput, match="no 'equal', only equivalent, neighbour"):
        fingerprint_of("m", 8, {"equal": 0.9})
