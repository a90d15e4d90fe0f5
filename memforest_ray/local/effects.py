"""Does what a writer asks for: has models called between the steps, which run in a thread."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from memforest_ray.facts.candidates import Extractor
from memforest_ray.facts.verdicts import Judge, Judgement, PairKey, Question
from memforest_ray.forest import effects
from memforest_ray.forest.effects import Effect, Embed, Extract, Foretell, JudgeFrom, Refresh, Steps
from memforest_ray.forest.intents import Usage
from memforest_ray.models.chat import ChatModel
from memforest_ray.models.embedder import Embedder
from memforest_ray.trees.summaries import RefreshPlan, Summarizer, SummaryReply, SummaryRequest, summary_inputs

__all__ = ["Foretold", "Known", "Models", "Planning", "embedded", "foretold", "run"]

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


Planning: TypeAlias = Callable[[Callable[[], RefreshPlan]], None]
"""Is given what makes the plan of summaries that are going to be asked for; it takes a while."""
_Others: TypeAlias = Extract | Embed | JudgeFrom | effects.Judge

Foretold: TypeAlias = Callable[[Sequence[SummaryRequest]], object]
"""Is told which summaries are going to be asked for when those that stand in are published."""


async def run(
    steps: Steps[T],
    models: Models,
    known: Known | None = None,
    *,
    asking: bool = True,
    foretell: Foretold | None = None,
    planning: Planning | None = None,
    doubting: Callable[[], None] | None = None,
) -> T:
    """What `steps` come to. What is `known` is not asked for again; without `asking` no judge is asked at all.

    `doubting` is called before one is: until he has answered nobody knows whether it comes as planned.
    """
    known = known or Known()
    reply: Any = None
    while True:
        effect, result = await asyncio.to_thread(_step, steps, reply)
        if effect is None:
            return result  # type: ignore[no-any-return]  # what a finished generator returned: T
        if isinstance(effect, Foretell):
            reply = None if planning is None else planning(effect.plan)
        elif isinstance(effect, Refresh):
            reply = await _summarised(effect.plan, models, known, foretell)
        else:
            if isinstance(effect, effects.Judge) and doubting is not None:
                doubting()
            reply = await _do(effect, models, known, asking=asking)


def _step(steps: Steps[Any], reply: Any) -> tuple[Effect | None, Any]:
    """One step: an effect, or the result. (StopIteration must not leave a thread.)"""
    try:
        return steps.send(reply), None
    except StopIteration as stop:
        return None, stop.value


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


async def _summarised(plan: RefreshPlan, models: Models, known: Known, foretell: Foretold | None) -> Usage:
    if not models.defers:
        return await _refresh(plan, models.summarizer)
    waiting = await foretold(plan, foretell)
    return await asyncio.to_thread(_stand_in, plan, waiting, models.summarizer.model, known)


async def foretold(plan: RefreshPlan, foretell: Foretold | None) -> list[SummaryRequest]:
    """The first requests of a plan, told of as soon as each is known."""
    requests = plan.ready(hasten=False)
    if foretell is not None:
        foretell(requests)
        hastened = await asyncio.to_thread(plan.ready)
        foretell(hastened)
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
    return Usage.of(replies)


def _take_in(plan: RefreshPlan, replies: Sequence[SummaryReply], summarizer: Summarizer) -> None:
    for reply in replies:
        if reply.text is None:
            plan.failed(reply.node_id, reply.failure or "no answer")
        else:
            plan.done(reply.node_id, reply.text, summarizer.source)
