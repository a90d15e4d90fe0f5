"""Slack's export."""

from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]


def said(ts: str, text: str, user: str = "U1", **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": ts} | more


def test_a_channel(read: Read) -> None:
    """Messages by time, a session a day, names for user ids where the export tells, joins left out."""
    messages = [
        said("1683554160.000200", "&lt;b&gt; for <@U2>, not <@U9>", user_profile={"real_name": "Ana"}),
        said("1683554100.000100", "first", "U2", user_profile={"display_name": "Bo"}),
        said("1683554170.000300", "joined", subtype="channel_join"),
        said("1683650000.000100", "next day", "U3", files=[{"name": "a.png"}]),
        said("1683650001.000100", "beep", "", bot_id="B1", username="robot"),
    ]
    assert read(messages, "garden.json") == [
        Conversation(
            "garden",
            (
                Session(
                    "garden#2023-05-08",
                    [
                        Turn("first", speaker="Bo", time=1683554100000, id="1683554100.000100"),
                        Turn("<b> for @Bo, not @U9", speaker="Ana", time=1683554160000, id="1683554160.000200"),
                    ],
                ),
                Session(
                    "garden#2023-05-09",
                    [
                        Turn("next day\n[file: a.png]", speaker="U3", time=1683650000000, id="1683650000.000100"),
                        Turn("beep", "robot", "assistant", 1683650001000, "1683650001.000100"),
                    ],
                ),
            ),
        )
    ]


def test_the_folder_names_the_channel(read: Read) -> None:
    """A file named by its day belongs to the channel of its folder."""
    (conversation,) = read([said("1683554160.000200", "hi")], "garden/2023-05-08.json")
    assert (conversation.id, conversation.sessions[0].id) == ("garden", "garden#2023-05-08")


@pytest.mark.parametrize("ts", ["soon", None, "nan"])
def test_a_time_that_is_none(read: Read, ts: Any) -> None:
    """A message without a time is refused, since its day is unknown."""
    with pytest.raises(InvalidInput):
        read([said(ts, "hi")])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see <https://a.example/x|the plan>", "see the plan (https://a.example/x)"),
        ("see <https://a.example/x>", "see https://a.example/x"),
        ("see <https://a.example|https://a.example>", "see https://a.example"),
        ("ask <mailto:ana@a.example|Ana>", "ask Ana (ana@a.example)"),
        ("in <#C1|general>, <!here> and <!subteam^S1|@team>", "in #general, @here and @team"),
        ("a &lt;b&gt; &amp; c", "a <b> & c"),
        ("1 < 2 > 0", "1 < 2 > 0"),
    ],
)
def test_links_and_places_read_as_they_are_shown(read: Read, text: str, shown: str) -> None:
    """Not with the marks and ids by which the export tells them apart from text."""
    (conversation,) = read([said("1683554161.000200", text)], "general.json")
    assert [turn.text for session in conversation.sessions for turn in session.turns] == [shown]
