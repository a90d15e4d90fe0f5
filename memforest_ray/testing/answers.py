"""A summariser and a judge that do what a test tells them; as with a model, each answer is a call and has a cost."""

import asyncio
from collections.abc import Callable, Sequence

from memforest_ray.facts.verdicts import Judgement, Question
from memforest_ray.models.usage import Usage
from memforest_ray.trees.selection import select_lines
from memforest_ray.trees.summaries import Source, SummaryReply, SummaryRequest

__all__ = ["ScriptedJudge", "ScriptedSummarizer"]


class ScriptedSummarizer:
    """Implements `Summarizer`. `asked` records every request that it was shown."""

    model = "scripted-1"
    source: Source = "model"

    def __init__(self) -> None:
        self.asked: list[SummaryRequest] = []
        self._told = asyncio.Event()
        self.gate = asyncio.Event()
        """Requests that are `held` wait until it is set."""
        self.held: Callable[[SummaryRequest], bool] = lambda request: False
        self.failure: Callable[[SummaryRequest], str | None] = lambda request: None
        """Why a request comes to nothing; None for one that does not."""
        self.error: Exception | None = None
        """What is raised, if anything."""

    async def shown(self, requests: int) -> None:
        """Wait until so many requests were made."""
        while len(self.asked) < requests:
            self._told.clear()
            await self._told.wait()

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        self.asked.extend(requests)
        self._told.set()
        if any(map(self.held, requests)):
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return [self._reply(request) for request in requests]

    def _reply(self, request: SummaryRequest) -> SummaryReply:
        reason = self.failure(request)
        lines = [line for text in request.texts for line in text.splitlines()]
        text = "In short: " + "\n".join(select_lines(lines, request.chars_max - 10))
        usage = Usage(1, prompt_tokens=100, completion_tokens=20)
        return SummaryReply(request.node_id, None if reason else text, reason, usage)


class ScriptedJudge:
    """Implements `Judge`. `asked` records every question."""

    model = "scripted-1"

    def __init__(self, same: Callable[[Question], bool | None] = lambda question: False) -> None:
        self.same = same
        """Whether a pair is one statement; None: no answer."""
        self.asked: list[Question] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        self.asked.extend(questions)
        await self.gate.wait()
        return [
            Judgement(self.same(question), usage=Usage(1, prompt_tokens=50, completion_tokens=2))
            for question in questions
        ]
