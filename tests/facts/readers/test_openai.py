"""OpenAI and Anthropic messages."""

from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation, read_messages
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]
HELLO = {"role": "user", "content": "Hello"}


def turns_of(conversations: list[Conversation]) -> list[Turn]:
    (conversation,) = conversations
    (session,) = conversation.sessions
    return list(session.turns)


def test_roles_names_and_times(read: Read) -> None:
    """Every role is kept as it is; a name is the speaker's; a time is taken where there is one."""
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "Ana", "content": "Hi", "timestamp": 1683554160},
        {"role": "assistant", "content": "Hello", "created_at": ""},
        {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "clear"}'},
    ]
    assert turns_of(read(messages)) == [
        Turn("Be brief.", role="developer"),
        Turn("Hi", speaker="Ana", role="user", time=1683554160),
        Turn("Hello", role="assistant"),
        Turn('{"sky": "clear"}', role="tool"),
    ]


CONTENTS: list[tuple[Any, str]] = [
    ("plain", "plain"),
    (None, ""),
    ("", ""),
    ([], ""),
    (["one", "two"], "one\ntwo"),
    ([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "http://x/y"}}], "Look:\n[image]"),
    ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:x"}], "a\n[image]"),
    ([{"type": "text", "text": {"value": "thread", "annotations": []}}], "thread"),
    ([{"type": "image", "source": {}, "alt": "a red kite"}], "[image: a red kite]"),
    ([{"type": "input_audio", "input_audio": {"data": "AA"}}], "[audio]"),
    ([{"type": "audio", "transcript": "spoken words"}], "spoken words"),
    ([{"type": "file", "file": {}, "filename": "plan.pdf"}], "[file: plan.pdf]"),
    ([{"type": "refusal", "refusal": "I cannot."}], "I cannot."),
    ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"}], "Yes"),
    ([{"type": "tool_use", "name": "search", "input": {}}], "[tool call: search]"),
    ([{"type": "hologram"}], "[hologram]"),
    ({"type": "text", "text": "alone"}, "alone"),
]


@pytest.mark.parametrize(("content", "expected"), CONTENTS)
def test_contents(read: Read, content: Any, expected: str) -> None:
    """Text parts are kept, everything else is noted, nothing is fetched."""
    assert turns_of(read([{"role": "user", "content": content}])) == [Turn(expected)]


def test_what_a_tool_found_is_the_tools(read: Read) -> None:
    """The user did not say it, though Anthropic's API sends it as his message; a text beside it he did say."""
    found = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "42"}]}
    assert turns_of(read([{"role": "user", "content": [found]}])) == [Turn("42", role="tool")]
    said = [found, {"type": "text", "text": "Is that right?"}]
    assert turns_of(read([{"role": "user", "content": said}])) == [Turn("42\nIs that right?")]


def test_tool_calls_are_noted(read: Read) -> None:
    """A message without content names the tools that it calls, in either form of the API."""
    calls = [{"type": "function", "function": {"name": "weather", "arguments": "{}"}}, {"name": "clock"}]
    messages = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "assistant", "content": "Wait.", "tool_calls": calls[:1]},
        {"role": "assistant", "function_call": {"name": "old"}},
    ]
    assert [turn.text for turn in turns_of(read(messages))] == [
        "[tool call: weather]\n[tool call: clock]",
        "Wait.\n[tool call: weather]",
        "[tool call: old]",
    ]


def test_a_session_with_a_head(read: Read) -> None:
    """An object with messages gives its id, time, zone and metadata to the session."""
    head = {"id": "s1", "created": 5, "zone": "Europe/Madrid", "metadata": {"topic": "x"}, "messages": [HELLO]}
    assert read(head) == [Conversation("chat", (Session("s1", [Turn("Hello")], 5, "Europe/Madrid", {"topic": "x"}),))]


@pytest.mark.parametrize("content", [[[HELLO], [HELLO]], [{"messages": [HELLO]}, {"messages": [HELLO]}]])
def test_several_sessions(read: Read, content: Any) -> None:
    """Lists of messages, bare or in objects, are sessions of one conversation."""
    (conversation,) = read(content)
    assert [session.id for session in conversation.sessions] == ["chat#0", "chat#1"]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": 7, "content": "x"}, r"messages\[0\]\.role must be text, not int"),
        ({"role": "user", "name": [], "content": "x"}, r"messages\[0\]\.name must be text, not list"),
        ({"role": "user", "content": [7]}, r"messages\[0\]\.content\[0\] must be text or an object, not int"),
        ({"role": "user", "content": [{"type": "text", "text": 7}]}, r"content\[0\]\.text must be text, not int"),
        ({"role": "user", "content": "", "tool_calls": ["x"]}, r"tool_calls\[0\] must be an object, not str"),
    ],
)
def test_wrong_types(read: Read, message: Any, expected: str) -> None:
    """A field of the wrong type is named."""
    with pytest.raises(InvalidInput, match=expected):
        read([message])


def test_items_of_the_responses_api(read: Read) -> None:
    """Calls and what they gave back are kept with their roles; what a model thought to itself is not."""
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "How warm is it?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "weather", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "21 C"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "21 degrees."}]},
    ]
    assert [(turn.role, turn.text) for turn in turns_of(read(items))] == [
        ("user", "How warm is it?"),
        ("assistant", "[tool call: weather]"),
        ("tool", "21 C"),
        ("assistant", "21 degrees."),
    ]


def test_messages_of_gemini(read: Read) -> None:
    """Parts in place of content, and a model in place of an assistant."""
    messages = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "hello"}]}]
    assert [(turn.role, turn.text) for turn in turns_of(read(messages))] == [("user", "hi"), ("assistant", "hello")]


def test_messages_at_hand_need_no_file() -> None:
    """A session of its own, with what the messages do not say; who sent what is read as from a file."""
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "I keep bees."},
        {"role": "assistant", "content": [{"type": "text", "text": "How many hives?"}]},
        {"type": "reasoning", "summary": []},
        {"role": "user", "name": "Eve", "content": "Seven."},
    ]
    session = read_messages(messages, "s1", speaker="Ana", time="2024-05-20")
    assert (session.id, session.time) == ("s1", "2024-05-20")
    assert [(turn.speaker, turn.role, turn.text) for turn in session.turns] == [
        ("Ana", "user", "I keep bees."),
        (None, "assistant", "How many hives?"),
        ("Eve", "user", "Seven."),
    ]
    assert read_messages(messages, "s1").time is None


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([], "no turns in these messages"),
        ("hello", "messages must be a list of messages, not str"),
        ({"role": "user"}, "messages must be a list of messages, not dict"),
        ([{"role": "user", "content": "a"}, 7], r"messages\[1\] must be an object, not int"),
        ([{"role": "user"}], r"messages\[0\] has no content"),
    ],
)
def test_messages_that_are_none(messages: Any, told: str) -> None:
    """The first that cannot be read is named."""
    with pytest.raises(InvalidInput, match=told):
        read_messages(messages, "s1")
