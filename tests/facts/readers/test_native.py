"""Our own format."""

from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]
SESSION: dict[str, Any] = {
    "id": "s1",
    "time": "2024-01-02T10:00:00",
    "zone": "Europe/Madrid",
    "metadata": {"place": "kitchen"},
    "turns": [
        {"speaker": "Ana", "role": "user", "text": "Hi", "time": 1704189600, "id": "t1"},
        {"text": "Hello"},
    ],
}
READ = Session(
    "s1",
    [Turn("Hi", speaker="Ana", time=1704189600, id="t1"), Turn("Hello")],
    "2024-01-02T10:00:00",
    "Europe/Madrid",
    {"place": "kitchen"},
)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"id": "ana", "sessions": [SESSION]}, "ana"),
        ([{"id": "ana", "sessions": [SESSION]}], "ana"),
        ({"conversations": [{"id": "ana", "sessions": [SESSION]}]}, "ana"),
        ({"sessions": [SESSION]}, "chat"),
        ([SESSION], "chat"),
        (SESSION, "chat"),
    ],
)
def test_shapes(read: Read, content: object, name: str) -> None:
    """A conversation, a session, or lists of them."""
    assert read(content) == [Conversation(name, (READ,))]


def test_several_conversations(read: Read) -> None:
    """Each conversation is its own; missing ids are made of file, place and conversation."""
    plain = {"sessions": [{"turns": [{"text": "a"}]}, {"turns": [{"text": "b"}]}]}
    conversations = read([{"id": "ana", "sessions": [SESSION]}, plain])
    assert [c.id for c in conversations] == ["ana", "chat#1"]
    assert [s.id for s in conversations[1].sessions] == ["chat#1#0", "chat#1#1"]


def test_group_chats_keep_their_names(read: Read) -> None:
    """Who said it is kept, however many there are."""
    turns = [{"speaker": name, "text": "hi"} for name in ("Ana", "Bo", "Chi", "Ana")]
    (conversation,) = read({"turns": turns})
    assert [turn.speaker for turn in conversation.sessions[0].turns] == ["Ana", "Bo", "Chi", "Ana"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"sessions": [{"turns": [{"speaker": "Ana"}]}]}, r"chat: sessions\[0\]\.turns\[0\] has no text"),
        ({"sessions": [{"turns": "x"}]}, r"chat: sessions\[0\]\.turns must be a list, not str"),
        ({"sessions": [{"turns": [{"text": "a", "speaker": 1}]}]}, r"turns\[0\]\.speaker must be text, not int"),
        ({"sessions": [{"turns": [], "metadata": [1]}]}, r"metadata must be an object, not list"),
        ([SESSION, "x"], r"\[1\] must be an object, not str"),
    ],
)
def test_wrong_shapes(read: Read, content: object, message: str) -> None:
    """What does not fit is refused with its place."""
    with pytest.raises(InvalidInput, match=message):
        read(content)
