"""Judging by a model: one question per pair, all of them at once.

One pair a question, so that a verdict depends on the pair alone and not on what else was asked with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from memforest_ray.facts.candidates import Mention
from memforest_ray.facts.times import to_datetime
from memforest_ray.facts.verdicts import Judgement, Question
from memforest_ray.models.asking import Unusable, ask
from memforest_ray.models.chat import ChatModel
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.models.waves import wave

__all__ = ["ModelJudge", "pair_text"]


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Implements `Judge` over a chat model. `owner` shares the model fairly with other owners."""

    chat: ChatModel
    owner: str = ""

    @property
    def model(self) -> str:
        """Names model and prompt version."""
        return f"{self.chat.model}/{JUDGE.version}"

    def for_owner(self, owner: str) -> "ModelJudge":
        """The same for another owner."""
        return replace(self, owner=owner)

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        return await wave(map(self._judge, questions))

    async def _judge(self, question: Question) -> Judgement:
        request = JUDGE.request(pair_text(question), owner=self.owner)
        asked = await ask(self.chat, request, _verdict)
        return Judgement(
            equivalent=asked.value,
            failure=asked.failure,
            usage=asked.usage,
        )


def pair_text(question: Question) -> str:
    """The pair as a model is shown it."""
    return f"A: {_statement(question.first)}\nB: {_statement(question.second)}"


def _statement(mention: Mention) -> str:
    """One statement with its times."""
    candidate = mention.candidate
    event = candidate.event
    when = "unknown"
    if event is not None:
        first, last = event.start, event.end - timedelta(milliseconds=1)
        when = f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    said = "unknown" if mention.source_ms is None else f"{to_datetime(mention.source_ms):%Y-%m-%d}"
    return f"{' '.join(candidate.text.split())} ({candidate.kind.value} of {when}, said {said} by {candidate.speaker})"


def _verdict(value: Mapping[str, Any]) -> bool:
    same = value.get("same")
    if not isinstance(same, bool):
        raise Unusable('"same" is neither true nor false')
    return same
