"""Summaries by a model: one question per node, all that are ready at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memforest_ray.models.asking import Asked, Unusable, ask
from memforest_ray.models.chat import ChatModel
from memforest_ray.models.prompts.summarise import SUMMARISE
from memforest_ray.models.waves import wave
from memforest_ray.trees.summaries import Source, SummaryReply, SummaryRequest

__all__ = ["ModelSummarizer", "node_text"]


@dataclass(frozen=True, slots=True)
class ModelSummarizer:
    """Implements `Summarizer` over a chat model. `owner` shares the model fairly with other owners."""

    chat: ChatModel
    owner: str = ""

    @property
    def model(self) -> str:
        """Names model and prompt version: part of every summary's inputs."""
        return f"{self.chat.model}/{SUMMARISE.version}"

    @property
    def source(self) -> Source:
        """Written by a model."""
        return "model"

    def for_owner(self, owner: str) -> "ModelSummarizer":
        """The same for another owner."""
        return replace(self, owner=owner)

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        return await wave(map(self._summarise, requests))

    async def _summarise(self, request: SummaryRequest) -> SummaryReply:
        asked = await self._ask(request)
        if asked.truncated:
            # Never the same question again: a shorter answer is asked for.
            again = await self._ask(replace(request, chars_max=request.chars_max // 2))
            asked = replace(again, usage=asked.usage + again.usage)
        return SummaryReply(
            node_id=request.node_id,
            text=None if asked.truncated else asked.value,
            failure=asked.failure,
            usage=asked.usage,
        )

    async def _ask(self, request: SummaryRequest) -> Asked[str]:
        return await ask(self.chat, SUMMARISE.request(node_text(request), owner=self.owner), _summary)


def node_text(request: SummaryRequest) -> str:
    """The children's texts, numbered; further lines of one stand under its first."""
    notes = (f"{number}. {text.replace(chr(10), chr(10) + '  ')}" for number, text in enumerate(request.texts, start=1))
    return "\n".join((f"At most {request.chars_max} characters.", *notes))


def _summary(value: Mapping[str, Any]) -> str:
    text = value.get("summary")
    if not isinstance(text, str) or not text.strip():
        raise Unusable('"summary" is not text, or is empty')
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
