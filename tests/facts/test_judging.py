"""Judging by a model: what it is shown of a pair, what becomes of its answers."""

from memforest_ray.facts.judging import ModelJudge, pair_text
from memforest_ray.facts.verdicts import Judgement, Pair, Question
from memforest_ray.ids import AtomId
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.models.usage import Usage
from memforest_ray.testing.chat import ScriptedChat, says, unusable
from memforest_ray.testing.facts import day, mention

PAIR = Pair(AtomId("f1"), AtomId("f2"), 0.95)
QUESTION = Question(
    PAIR, mention("Bob lives\nin Davis.", said=10, event=day(9)), mention("Davis is Bob's home.", said=None)
)


def test_what_a_judge_is_shown() -> None:
    """Both texts with their times, one line each, the lesser first."""
    assert pair_text(QUESTION) == (
        "A: Bob lives in Davis. (state of 1970-01-10, said 1970-01-11 by Bob)\n"
        "B: Davis is Bob's home. (state of unknown, said unknown by Bob)"
    )


async def test_verdicts_in_order_with_what_they_cost() -> None:
    """One question a pair: a verdict depends on the pair alone."""
    chat = ScriptedChat(says(same=True), says(same=False))
    found = await ModelJudge(chat).for_owner("me").judge([QUESTION, QUESTION])
    assert found == [
        Judgement(True, usage=Usage(1, prompt_tokens=10, completion_tokens=5)),
        Judgement(False, usage=Usage(1, prompt_tokens=10, completion_tokens=5)),
    ]
    assert [request.owner for request in chat.asked] == ["me", "me"]


async def test_what_is_no_verdict_is_asked_for_once_more() -> None:
    """Then the pair stays open, with the reason."""
    (found,) = await ModelJudge(ScriptedChat(says(same="yes"), unusable("empty"))).judge([QUESTION])
    assert (found.equivalent, found.failure, found.usage.calls) == (None, "empty", 2)


async def test_nobody_judges() -> None:
    """A failure is a value."""
    (found,) = await ModelJudge(ScriptedChat(ChatReply(None, "down", answered=False))).judge([QUESTION])
    assert (found.equivalent, found.failure) == (None, "down")


def test_the_model_s_name_changes_with_the_prompt() -> None:
    """It is part of cache keys."""
    assert ModelJudge(ScriptedChat(says())).model == f"scripted/{JUDGE.version}"
