"""ShareGPT conversations."""

from collections.abc import Callable

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Turn

Read = Callable[..., list[Conversation]]
ITEM = {
    "id": "x1",
    "conversations": [
        {"from": "system", "value": "Be kind."},
        {"from": "human", "value": "Hi"},
        {"from": "gpt", "value": "Hello"},
        {"from": "function_response", "value": "42"},
    ],
}


@pytest.mark.parametrize(("content", "name"), [([ITEM], "chat.json"), ([ITEM], "chat.jsonl"), (ITEM, "chat.json")])
def test_an_item(read: Read, content: object, name: str) -> None:
    """JSON and JSON lines, `from` told as a role."""
    (conversation,) = read(content, name)
    assert conversation.id == conversation.sessions[0].id == "x1"
    assert conversation.sessions[0].turns == [
        Turn("Be kind.", role="system"),
        Turn("Hi", role="user"),
        Turn("Hello", role="assistant"),
        Turn("42", role="tool"),
    ]


def test_items_are_different_people(read: Read) -> None:
    """Each item is a conversation; without an id it is named by file and place."""
    plain = {"conversations": [{"role": "user", "content": "Hey"}]}
    assert [c.id for c in read([ITEM, plain], "chat.jsonl")] == ["x1", "chat#1"]


def test_a_message_without_value(read: Read) -> None:
    """A message that says nothing at all is refused with its place."""
    with pytest.raises(InvalidInput, match=r"\[0\]\.conversations\[0\] has no value"):
        read([{"conversations": [{"from": "human"}]}])
