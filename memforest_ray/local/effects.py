"""Does what a writer asks for: has models called between the steps, which run in a thread."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memforest_ray.facts.candidates import Extractor
from memforest_ray.forest.effects import Effect, Embed, Extract, Steps
from memforest_ray.forest.intents import Usage
from memforest_ray.models.embedder import Embedder
from memforest_ray.trees.summaries import RefreshPlan, Summarizer, SummaryReply

__all__ = ["Models", "embedded", "run"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Models:
    """What a forest asks of models, behind protocols: in this process or in pools."""

    extractor: Extractor
    summarizer: Summarizer
    embedder: Embedder


async def run(steps: Steps[T], models: Models, vectors: Mapping[str, Any]) -> T:
    """What `steps` come to; `vectors` are known already, by text."""
    known = dict(vectors)
    reply: Any = None
    while True:
        effect, result = await asyncio.to_thread(_step, steps, reply)
        if effect is None:
            return result  # type: ignore[no-any-return]  # what a finished generator returned: T
        reply = await _do(effect, models, known)


def _step(steps: Steps[Any], reply: Any) -> tuple[Effect | None, Any]:
    """One step: an effect, or the result. (StopIteration must not leave a thread.)"""
    try:
        return steps.send(reply), None
    except StopIteration as stop:
        return None, stop.value


async def _do(effect: Effect, models: Models, vectors: dict[str, Any]) -> Any:
    if isinstance(effect, Extract):
        return await models.extractor.extract(effect.cells)
    if isinstance(effect, Embed):
        vectors.update(await embedded(models.embedder, [text for text in effect.texts if text not in vectors]))
        return [vectors[text] for text in effect.texts]
    return await _refresh(effect.plan, models.summarizer)


async def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, Any]:
    """Vectors by text."""
    return dict(zip(texts, await embedder.embed(texts), strict=True)) if texts else {}


async def _refresh(plan: RefreshPlan, summarizer: Summarizer) -> Usage:
    """Whatever is ready at once, until nothing is left; what that has cost."""
    replies: list[SummaryReply] = []
    running: set[asyncio.Task[list[SummaryReply]]] = set()
    try:
        while not plan.finished:
            if requests := plan.ready():
                running.add(asyncio.create_task(summarizer.summarise(requests)))
            finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in finished:
                replies += task.result()
                _take_in(plan, task.result(), summarizer)
    finally:
        for task in running:
            task.cancel()
    return Usage.of(replies)


def _take_in(plan: RefreshPlan, replies: Sequence[SummaryReply], summarizer: Summarizer) -> None:
    for reply in replies:
        if reply.text is None:
            plan.failed(reply.node_id, reply.failure or "no answer")
        else:
            plan.done(reply.node_id, reply.text, summarizer.source)
