"""Does what a writer asks for: has models called between the steps, which run in a thread."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from memforest_ray.effects import Finished, step
from memforest_ray.facts.candidates import Extractor
from memforest_ray.facts.verdicts import Judge, Judgement, PairKey, Question
from memforest_ray.forest import effects
from memforest_ray.forest.effects import Embed, Extract, JudgeFrom, Prefetch, Refresh, Steps
from memforest_ray.models.chat import ChatModel
from memforest_ray.models.embedder import Embedder
from memforest_ray.models.usage import Usage
from memforest_ray.trees.summaries import RefreshPlan, Summarizer, SummaryReply, SummaryRequest, summary_inputs

__all__ = ["Known", "Models", "PlanPrefetcher", "Prefetcher", "embedded", "prefetched", "run"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Models:
    """What a forest asks of models, behind protocols: in this process or in pools."""

    extractor: Extractor
    summarizer: Summarizer
    embedder: Embedder
    judge: Judge | None = None
    """None: statements are one only where their words are."""
    chat: ChatModel | None = None
    """Plans, ranks and answers at query time; None: that is done without a model."""

    @property
    def defers(self) -> bool:
        """Whether summaries take model calls, which nobody's turn waits for."""
        return self.summarizer.source == "model"


@dataclass(slots=True)
class Known:
    """What models have said already, by what they were asked: who asks the same later has it without a call."""

    vectors: dict[str, Any] = field(default_factory=dict)
    """By text."""
    verdicts: dict[PairKey, bool] = field(default_factory=dict)
    unanswered: set[PairKey] = field(default_factory=set)
    """Pairs that found no judge: they are not shown to one again in the same write."""
    summaries: dict[str, str] = field(default_factory=dict)
    """By inputs (`summary_inputs`)."""
    coming: "asyncio.Future[dict[str, Any]] | None" = None
    """Vectors that are being made, by text: all but the rest of the work need not wait for them."""

    def absorb(self, other: "Known") -> None:
        """Know what `other` knows, too."""
        self.vectors.update(other.vectors)
        self.verdicts.update(other.verdicts)
        self.unanswered.update(other.unanswered)
        self.summaries.update(other.summaries)
        self.coming = other.coming or self.coming


Prefetcher: TypeAlias = Callable[[Sequence[SummaryRequest]], object]
"""Asks for summaries before those that stand in for them are published."""
PlanPrefetcher: TypeAlias = Callable[[Callable[[], RefreshPlan]], None]
"""Does so for a plan, of which it is given what makes it: that takes a while."""
_Others: TypeAlias = Extract | Embed | JudgeFrom | effects.Judge


async def run(
    steps: Steps[T],
    models: Models,
    known: Known | None = None,
    *,
    asking: bool = True,
    prefetch: Prefetcher | None = None,
    prefetch_plan: PlanPrefetcher | None = None,
    doubting: Callable[[], None] | None = None,
) -> T:
    """What `steps` come to. What is `known` is not asked for again; without `asking` no judge is asked at all.

    `doubting` is called before one is: until it has answered nobody knows whether it comes as planned.
    """
    known = known or Known()
    reply: Any = None
    while True:
        effect = await asyncio.to_thread(step, steps, reply)
        if isinstance(effect, Finished):
            return effect.result
        if isinstance(effect, Prefetch):
            reply = None if prefetch_plan is None else prefetch_plan(effect.plan)
        elif isinstance(effect, Refresh):
            reply = await _summarised(effect.plan, models, known, prefetch)
        else:
            if isinstance(effect, effects.Judge) and doubting is not None:
                doubting()
            reply = await _do(effect, models, known, asking=asking)


async def _do(effect: _Others, models: Models, known: Known, *, asking: bool) -> Any:
    if isinstance(effect, Extract):
        return await models.extractor.extract(effect.cells)
    if isinstance(effect, Embed):
        if known.coming is not None and not known.vectors.keys() >= set(effect.texts):
            known.vectors.update(await asyncio.shield(known.coming))
        new = [text for text in effect.texts if text not in known.vectors]
        known.vectors.update(await embedded(models.embedder, new))
        return [known.vectors[text] for text in effect.texts]
    if isinstance(effect, JudgeFrom):
        return None if models.judge is None else models.embedder.fingerprint.equivalent
    return await _judged(effect.questions, models.judge if asking else None, known)


async def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, Any]:
    """Vectors by text."""
    return dict(zip(texts, await embedder.embed(texts), strict=True)) if texts else {}


async def _judged(questions: Sequence[Question], judge: Judge | None, known: Known) -> list[Judgement]:
    """What is known, and for the rest one wave; without a judge that stays open."""
    settled = known.verdicts.keys() | known.unanswered
    new = [question for question in questions if question.pair.key not in settled]
    told = {key: Judgement(equivalent) for key, equivalent in known.verdicts.items()}
    if judge is not None and new:
        answers = {question.pair.key: answer for question, answer in zip(new, await judge.judge(new), strict=True)}
        told |= answers
        for key, answer in answers.items():
            if answer.equivalent is None:
                known.unanswered.add(key)
            else:
                known.verdicts[key] = answer.equivalent
    return [told.get(question.pair.key) or Judgement(None) for question in questions]


async def _summarised(plan: RefreshPlan, models: Models, known: Known, prefetch: Prefetcher | None) -> Usage:
    if not models.defers:
        return await _refresh(plan, models.summarizer)
    waiting = await prefetched(plan, prefetch)
    return await asyncio.to_thread(_stand_in, plan, waiting, models.summarizer.model, known)


async def prefetched(plan: RefreshPlan, prefetch: Prefetcher | None) -> list[SummaryRequest]:
    """The first requests of a plan, each prefetched as soon as it is known."""
    requests = plan.ready(hasten=False)
    if prefetch is not None:
        prefetch(requests)
        hastened = await asyncio.to_thread(plan.ready)
        prefetch(hastened)
        requests += hastened
    return requests


def _stand_in(plan: RefreshPlan, requests: Sequence[SummaryRequest], model: str, known: Known) -> Usage:
    """Summaries that are known; stand-ins for those that would take a call. `requests` are the first that are ready."""
    while requests:
        for request in requests:
            text = known.summaries.get(summary_inputs(request.texts, model))
            if text is None:
                plan.postponed(request.node_id)
            else:
                plan.done(request.node_id, text)
        requests = plan.ready(hasten=False)
    return Usage()


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
    return Usage.total(reply.usage for reply in replies)


def _take_in(plan: RefreshPlan, replies: Sequence[SummaryReply], summarizer: Summarizer) -> None:
    for reply in replies:
        if reply.text is None:
            plan.failed(reply.node_id, reply.failure or "no answer")
        else:
            plan.done(reply.node_id, reply.text, summarizer.source)
