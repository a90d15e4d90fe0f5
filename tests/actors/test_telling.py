"""The gateway as a plain class: an answer that is told while it is written."""

from typing import Any

import pytest

from memforest_actors import refs
from memforest_actors.gateway import GatewayActor
from memforest_ray.config import Settings
from memforest_ray.errors import InvalidInput, LLMUnavailable
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local.effects import Models
from memforest_ray.local.models import OpenModels
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.prompts.answer import ANSWER
from memforest_ray.models.usage import Usage
from memforest_ray.testing.answering import AnsweringChat, silent
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer


async def _nothing() -> None:
    """Neither warming nor closing takes anything."""


def _open(chat: Any) -> OpenModels:
    return OpenModels(Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(), chat=chat), _nothing, _nothing)


def talking(settings: Settings, members: int) -> OpenModels:
    """A model that says something."""
    return _open(AnsweringChat(lambda _: "Bees [1]."))


def dumb(settings: Settings, members: int) -> OpenModels:
    """A model that is down."""
    return _open(AnsweringChat(silent))


class _Whole:
    """A model that cannot be read while it writes."""

    model = "whole"

    async def chat(self, requests: Any) -> list[ChatReply]:
        return [ChatReply({"text": "Bees [1]."}) for _ in requests]


def whole(settings: Settings, members: int) -> OpenModels:
    """A model that answers at once."""
    return _open(_Whole())


def none(settings: Settings, members: int) -> OpenModels:
    """No chat model."""
    return _open(None)


async def _told(monkeypatch: pytest.MonkeyPatch, factory: str) -> list[Any]:
    async def nodes() -> list[str]:
        return ["here"]

    monkeypatch.setattr(refs, "nodes", nodes)
    gateway = GatewayActor(f"{__name__}:{factory}", Settings())
    return [piece async for piece in gateway.tell(ANSWER.request("Question: Who hums?"), "ann")]


async def test_pieces_come_first_and_the_reply_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letter by letter from a model that can be read, whole from one that cannot; with what it has cost."""
    cost = Usage(calls=1, prompt_tokens=4, completion_tokens=1)
    assert await _told(monkeypatch, "talking") == [*"Bees [1].", ("ok", cost)]
    assert await _told(monkeypatch, "whole") == ["Bees [1].", ("ok", Usage())]


@pytest.mark.parametrize(("factory", "error"), [("dumb", LLMUnavailable), ("none", InvalidInput)])
async def test_an_error_ends_it(monkeypatch: pytest.MonkeyPatch, factory: str, error: type[Exception]) -> None:
    """As a reply: no caller sees Ray's wrapping of it."""
    [(kind, raised)] = await _told(monkeypatch, factory)
    assert kind == "error"
    assert isinstance(raised, error)
