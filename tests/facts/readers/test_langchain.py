"""LangChain messages."""

from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Turn

Read = Callable[..., list[Conversation]]
EXPECTED = [Turn("Be kind.", role="system"), Turn("Hi", speaker="Ana"), Turn("Hello", role="assistant")]


def constructed(kind: str, **fields: str) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": fields}


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"type": "system", "data": {"content": "Be kind."}},
            {"type": "human", "data": {"content": "Hi", "name": "Ana"}},
            {"type": "ai", "data": {"content": "Hello", "tool_calls": []}},
        ],
        [
            {"type": "system", "content": "Be kind."},
            {"type": "human", "content": "Hi", "name": "Ana"},
            {"type": "AIMessageChunk", "content": [{"type": "text", "text": "Hello"}]},
        ],
        [
            constructed("SystemMessage", content="Be kind."),
            constructed("HumanMessage", content="Hi", name="Ana"),
            constructed("AIMessage", content="Hello"),
        ],
    ],
    ids=["dicts", "flat", "constructors"],
)
def test_the_forms_of_messages(read: Read, messages: list[dict[str, Any]]) -> None:
    """Dicts, flat objects and serialised constructors are the same messages; bare or under `messages`."""
    for content in (messages, {"messages": messages}):
        (conversation,) = read(content)
        assert conversation.sessions[0].turns == EXPECTED


def test_tools_and_chat_roles(read: Read) -> None:
    """Tool calls and images are noted, tool results keep their role, a chat message brings its own."""
    image = {"type": "image_url", "image_url": {"url": "http://x"}}
    messages = [
        {"type": "human", "data": {"content": [{"type": "text", "text": "See"}, image]}},
        {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "search", "args": {}}]}},
        {"type": "tool", "data": {"content": "found"}},
        {"type": "chat", "data": {"content": "Hm", "role": "critic"}},
    ]
    (conversation,) = read(messages)
    assert [(turn.role, turn.text) for turn in conversation.sessions[0].turns] == [
        ("user", "See\n[image]"),
        ("assistant", "[tool call: search]"),
        ("tool", "found"),
        ("critic", "Hm"),
    ]
