"""Summaries by a model: what it is shown, what becomes of its answers."""

from memforest_ray.ids import NodeId, ScopeId
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.prompts.summarise import SUMMARISE
from memforest_ray.models.usage import Usage
from memforest_ray.testing.chat import ScriptedChat, cut, says, unusable
from memforest_ray.trees.summaries import SummaryReply, SummaryRequest
from memforest_ray.trees.summarising import ModelSummarizer, node_text

REQUEST = SummaryRequest(
    NodeId("n1"), ScopeId("entity:bob"), ("2019 Bob lived in Davis.\n2020 He had a dog.", "2021 Miami."), None, None, 1
)


def test_what_a_summariser_is_shown() -> None:
    """The children in order, further lines of one under its first, and how long it may get."""
    assert node_text(REQUEST) == (
        "At most 800 characters.\n1. 2019 Bob lived in Davis.\n  2020 He had a dog.\n2. 2021 Miami."
    )


async def test_summaries_in_order_with_what_they_cost() -> None:
    """Blank lines and edges are taken off."""
    chat = ScriptedChat(says(summary=" Davis, then Miami. \n\n Now Miami."))
    assert (
        await ModelSummarizer(chat).for_owner("me").summarise([REQUEST, REQUEST])
        == [
            SummaryReply(
                NodeId("n1"), "Davis, then Miami.\nNow Miami.", usage=Usage(1, prompt_tokens=10, completion_tokens=5)
            )
        ]
        * 2
    )
    assert {(each.system, each.owner) for each in chat.asked} == {(SUMMARISE.system, "me")}


async def test_what_is_no_summary_is_asked_for_once_more() -> None:
    """Then it has failed, with the reason, and something else stands in."""
    (reply,) = await ModelSummarizer(ScriptedChat(says(summary=""), unusable("odd"))).summarise([REQUEST])
    assert (reply.text, reply.failure, reply.usage.calls) == (None, "odd", 2)


async def test_a_summary_that_is_cut_off_is_asked_for_at_half_the_length() -> None:
    """Never the same question again."""
    chat = ScriptedChat(cut(), says(summary="Miami."))
    (reply,) = await ModelSummarizer(chat).summarise([REQUEST])
    assert (reply.text, reply.usage.calls) == ("Miami.", 2)
    assert chat.asked[1].text.startswith("At most 400 characters.")


async def test_a_summary_that_is_cut_off_twice_has_failed() -> None:
    """A part of a sentence is no summary."""
    (reply,) = await ModelSummarizer(ScriptedChat(cut())).summarise([REQUEST])
    assert (reply.text, reply.failure, reply.usage.calls) == (None, "the answer was cut off at its limit", 2)


async def test_nobody_summarises() -> None:
    """A failure is a value."""
    (reply,) = await ModelSummarizer(ScriptedChat(ChatReply(None, "down", answered=False))).summarise([REQUEST])
    assert (reply.text, reply.failure) == (None, "down")


def test_what_it_writes_is_a_model_s() -> None:
    """Prompt and model are part of every summary's inputs."""
    summarizer = ModelSummarizer(ScriptedChat(says()))
    assert (summarizer.source, summarizer.model) == ("model", f"scripted/{SUMMARISE.version}")
