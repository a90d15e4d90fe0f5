"""A model server that misbehaves, through client, extractor and driver: what the caller of an ingest is told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from memforest_ray.config import Settings
from memforest_ray.errors import LLMUnavailable
from memforest_ray.facts.extraction import ModelExtractor
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.local.effects import Models
from memforest_ray.local.models import open_models
from memforest_ray.models.answers import PADDED, STARVED
from memforest_ray.models.backend import Backend
from memforest_ray.models.dialects import STOPS
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.query.request import QueryRequest
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint, completion, error
from memforest_ray.testing.forests import Forests, TestForest, check_forest
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer

Answering = Callable[[int, str], HttpResponse | None]
"""Number of the call, from 1, and what was asked."""


def item(text: str, number: int = 1, **more: Any) -> dict[str, Any]:
    return {"t": text, "k": "detail", "n": [number], "s": [], "e": [], "d": "other", "w": [], "c": 9, **more}


def good(asked: str) -> HttpResponse:
    """One statement, which tells the question apart."""
    return completion({"facts": [item(f"Bob said: {asked[-24:]}")]})


@asynccontextmanager
async def forest_over(answer: Answering, **settings: Any) -> AsyncIterator[tuple[TestForest, ScriptedEndpoint]]:
    """A forest whose extractor asks that server; nobody waits between tries."""
    calls = 0

    def numbered(asked: dict[str, Any]) -> HttpResponse | None:
        nonlocal calls
        calls += 1
        return answer(calls, asked["messages"][1]["content"])

    clock = ManualClock()

    async def at_once(seconds: float) -> None:
        clock.advance(seconds)
        await asyncio.sleep(0)

    async with ScriptedEndpoint(answer=numbered) as server:
        given = Settings(llm_urls=(server.url,), llm_model="tiny", **settings)
        backend = Backend(given, clock, SeededRandom(), sleep=at_once)
        models = Models(ModelExtractor(backend.of("extract")), SelectionSummarizer(), HashEmbedder())
        try:
            yield Forests(models=models).open(), server
        finally:
            await backend.close()


def session(cells: int, first: str = "I saw a heron by the river.") -> Session:
    """So many cells of two turns each; the first holds a heron."""
    turns = [first, *(f"This is line number {number}." for number in range(1, 2 * cells))]
    return Session("s1", [Turn(text, "Bob") for text in turns], time="2023-05-08T10:00:00Z")


async def told(forest: TestForest, given: Session) -> Receipt:
    """The receipt of a write after which the forest is sound, and the dialogue found."""
    receipt = await forest.ingest(given)
    check_forest(await forest.version())
    hits = await forest.read("query", request=QueryRequest("heron", k=50))
    assert any("s1#0" in hit.turn_ids for hit in hits)
    return receipt


def bodies(server: ScriptedEndpoint) -> list[str]:
    return [json.dumps(asked) for asked in server.asked]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "the answer was empty"),
        ("Sure! Here are the facts.", "the answer holds no JSON object"),
        (json.dumps(EXTRACT.schema), "facts: Field required"),
        ({"facts": [item("x") | {"t": None}]}, "facts.0.t: Input should be a valid string"),
        ({"facts": [{"k": "detail"}]}, "facts.0.t: Field required"),
        ({"facts": [item("x", note="more")]}, "note"),
        ({"statements": []}, "facts: Field required"),
        ([item("x")], "facts: Field required"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_one_repair_and_then_a_failed_cell(said: Any, reason: str) -> None:
    """Never "no facts"; the reason is in the receipt, and both calls with their tokens."""
    async with forest_over(lambda *_: completion(said)) as (forest, server):
        receipt = await told(forest, session(1))
        assert (len(server.asked), len(set(bodies(server)))) == (2, 2)
        assert [reason in why for why in receipt.failed_cells.values()] == [True], receipt.failed_cells
        assert (receipt.usage["extract"].calls, receipt.usage["extract"].completion_tokens) == (2, 10)
        assert receipt.facts_added == 0


async def test_what_stands_around_an_answer_costs_nothing() -> None:
    """Thoughts and a fence."""
    said = f"<think>ok</think>\n```json\n{json.dumps({'facts': [item('Bob saw a heron.')]})}\n```"
    async with forest_over(lambda *_: completion(said)) as (forest, server):
        receipt = await told(forest, session(1))
        assert (receipt.facts_added, receipt.failed_cells, len(server.asked)) == (1, {}, 1)


async def test_of_an_answer_cut_off_the_whole_items_are_kept_and_the_rest_is_asked_for() -> None:
    """A and B stay; what was said after them is asked about in halves, never with the same bytes."""
    cut = json.dumps({"facts": [item("A is so."), item("B is so.")]})[:-2] + ', {"te'

    def answer(number: int, asked: str) -> HttpResponse:
        return completion(cut, finish="length") if number == 1 else good(asked)

    async with forest_over(answer) as (forest, server):
        receipt = await told(forest, session(1))
        assert (receipt.facts_added, receipt.failed_cells) == (4, {})
        assert len(set(bodies(server))) == len(server.asked) == 3


async def test_a_cell_that_is_cut_off_every_time_ends_as_a_failed_cell() -> None:
    """After a bounded number of calls, all of which are counted."""
    async with forest_over(lambda *_: completion('{"facts": [{"te', finish="length")) as (forest, server):
        receipt = await told(forest, session(1, "A heron, and so on. " * 100))
        assert (list(receipt.failed_cells.values()), receipt.facts_added) != ([], 1)
        assert "cut off" in next(iter(receipt.failed_cells.values()))
        assert 2 <= len(server.asked) == receipt.usage["extract"].calls <= 16
        assert receipt.usage["extract"].completion_tokens == 5 * len(server.asked)
        assert len(set(bodies(server))) == len(server.asked)


@pytest.mark.parametrize("finish", ["length", "stop"])
async def test_an_answer_that_is_white_space_is_known_bounded_and_counted(finish: str) -> None:
    """Up to its limit, or to where the server was told to stop."""
    padded: dict[str, Any] = {"message": {"content": "\n" * 500 if finish == "length" else ""}, "finish_reason": finish}
    padded |= {"stop_reason": None if finish == "length" else STOPS[0]}
    answer = HttpResponse.of({"choices": [padded], "usage": {"completion_tokens": 1500}})
    async with forest_over(lambda *_: answer) as (forest, server):
        receipt = await told(forest, session(1))
        assert list(receipt.failed_cells.values()) == [PADDED]
        assert (len(server.asked), receipt.usage["extract"].completion_tokens) == (2, 3000)


async def test_thoughts_that_use_up_the_budget_say_so() -> None:
    """With what can be done about it."""
    async with forest_over(lambda *_: completion("", finish="length")) as (forest, server):
        receipt = await told(forest, session(1))
        assert (list(receipt.failed_cells.values()), len(server.asked)) == ([STARVED], 1)


@pytest.mark.parametrize("cells", [20, 1])
async def test_a_cell_that_a_server_refuses_is_named_and_the_others_land(cells: int) -> None:
    """Also when it is the only one: its dialogue is there, and asking again would not help."""

    def answer(_: int, asked: str) -> HttpResponse:
        return error(400, "blocked", code="content_filter") if "heron" in asked else good(asked)

    async with forest_over(answer) as (forest, server):
        receipt = await told(forest, session(cells))
        assert (receipt.cells, len(receipt.failed_cells), len(server.asked)) == (cells, 1, cells)
        assert "content_filter" in next(iter(receipt.failed_cells.values())) or "blocked" in str(receipt.failed_cells)


TROUBLES: dict[str, HttpResponse | None] = {
    "429": error(429, "slow down"),
    "429 and when to come again": error(429, "slow down", Retry_After="3"),
    "500": error(500, "boom"),
    "reset": HttpResponse(body=completion({"facts": []}).body, cut=9),
    "silence": None,
}


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_that_passes_costs_calls_and_nothing_else(trouble: str) -> None:
    """Calls from the seventh on meet it; every cell lands, none twice. (Eight that break in a row are a dead end.)"""
    last = 20 if trouble.startswith("429") else 13

    def answer(number: int, asked: str) -> HttpResponse | None:
        return TROUBLES[trouble] if 7 <= number <= last else good(asked)

    # On a busy machine good answers come late, too: given up, they would be more calls.
    patience_s = 1.0 if TROUBLES[trouble] is None else 60.0
    async with forest_over(answer, llm_timeout_s=patience_s, llm_permits=4) as (forest, server):
        receipt = await told(forest, session(20))
        assert (receipt.cells, receipt.failed_cells, receipt.facts_added) == (20, {}, 20)
        usage = receipt.usage["extract"]
        assert (usage.calls, usage.retries, usage.completion_tokens) == (14 + last, last - 6, 100)
        assert len(server.asked) == 14 + last


async def test_what_is_down_is_named() -> None:
    """The embedder while the model answers, and the other way round; nothing was committed."""

    def answer(asked: dict[str, Any]) -> HttpResponse:
        return good("x") if "messages" in asked else error(401, "wrong key")

    async with ScriptedEndpoint(answer=answer) as up, ScriptedEndpoint(error(401, "no key")) as down:
        both = {"llm_model": "tiny", "embed_model": "small", "embed_dimension": 3}
        for urls, embeds in (
            ({"llm_urls": (up.url,), "embed_urls": (down.url,)}, True),
            ({"llm_urls": (down.url,), "embed_urls": (up.url,)}, False),
        ):
            opened = open_models(Settings(**both, **urls), ManualClock(), SeededRandom())  # type: ignore[arg-type]  # by name
            forest = Forests(models=opened.models).open()
            with pytest.raises(LLMUnavailable, match=down.url) as caught:
                await forest.ingest(session(2))
            assert (caught.value.detail.get("role") == "embed") == embeds
            assert (await forest.version()).number == 0
            await opened.close()
