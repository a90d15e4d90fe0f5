"""One question, asked at most twice."""

from collections.abc import Mapping
from typing import Any

import pytest

from memforest_ray.models.asking import Asked, Unusable, ask
from memforest_ray.models.chat import ChatReply, ChatRequest
from memforest_ray.models.usage import Usage
from memforest_ray.testing.chat import ScriptedChat, cut, says, unusable

REQUEST = ChatRequest("judge", "Fixed.", "Is it?", {}, 8)


def number(value: Mapping[str, Any]) -> int:
    if not isinstance(value.get("n"), int):
        raise Unusable("n is no number " + "x" * 500)
    return int(value["n"])


async def test_a_good_answer_is_read() -> None:
    """With what it cost."""
    asked = await ask(ScriptedChat(says(n=3)), REQUEST, number)
    assert asked == Asked(3, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=5))


async def test_the_second_question_says_what_was_wrong_with_the_first_answer() -> None:
    """Behind the same text and under the same fixed part, shortened; the costs add up."""
    chat = ScriptedChat(says(n="three"), says(n=3))
    asked = await ask(chat, REQUEST, number)
    first, second = chat.asked
    assert (asked.value, asked.usage.calls) == (3, 2)
    assert (second.system, second.schema, second.text[: len(first.text)]) == (first.system, first.schema, first.text)
    assert "n is no number" in second.text
    assert len(second.text) < 350


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (unusable("refused", repairable=False), Asked(None, "refused")),
        (ChatReply(None, "down", answered=False), Asked(None, "down", answered=False)),
        (cut(), Asked(None, "the answer was cut off at its limit", truncated=True)),
        (cut(n=1), Asked(1, "the answer was cut off at its limit", truncated=True)),
    ],
    ids=["refused", "down", "cut", "cut late"],
)
async def test_what_other_words_would_not_change_is_asked_once(reply: ChatReply, expected: Asked[int]) -> None:
    """A refusal, silence, an answer that was cut off."""
    chat = ScriptedChat(reply)
    asked = await ask(chat, REQUEST, number)
    assert (asked.value, asked.failure, asked.answered, asked.truncated) == (
        expected.value,
        expected.failure,
        expected.answered,
        expected.truncated,
    )
    assert len(chat.asked) == 1


async def test_what_was_cut_off_and_cannot_be_read_is_not_asked_again() -> None:
    """It would be cut off again."""
    chat = ScriptedChat(cut(n="x"))
    asked = await ask(chat, REQUEST, number)
    assert (asked.value, asked.truncated, len(chat.asked)) == (None, True, 1)


async def test_twice_is_enough() -> None:
    """The last reason is kept, and shortened."""
    chat = ScriptedChat(unusable("first"), says(n="x"))
    asked = await ask(chat, REQUEST, number)
    assert (asked.value, len(asked.failure or ""), len(chat.asked)) == (None, 200, 2)
