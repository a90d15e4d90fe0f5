"""ChatGPT's export."""

from collections.abc import Callable
from typing import Any

from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]


def node(parent: str | None, *children: str, message: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"message": message, "parent": parent, "children": list(children)}


def message(name: str, role: str, *parts: object, **more: Any) -> dict[str, Any]:
    kind = {"content_type": "text" if all(isinstance(part, str) for part in parts) else "multimodal_text"}
    return {"id": name, "author": {"role": role}, "content": kind | {"parts": list(parts)}, "recipient": "all"} | more


def chat(**more: Any) -> dict[str, Any]:
    """An invented chat: two answers to one question, the second of which was open last."""
    return {
        "title": "Bees",
        "create_time": 1683554160.25,
        "conversation_id": "c1",
        "current_node": "d",
        "mapping": {
            "root": node(None, "sys"),
            "sys": node("root", "a", message=message("sys", "system", "")),
            "a": node("sys", "b", "c", message=message("a", "user", "Do bees sleep?", create_time=1683554161.5)),
            "b": node("a", message=message("b", "assistant", "No.", create_time=1683554190.0)),
            "c": node("a", "d", message=message("c", "assistant", "Yes.", create_time=1683554170.0)),
            "d": node("c", message=message("d", "user", {"content_type": "image_asset_pointer"}, "This one?")),
        },
    } | more


def test_the_open_branch(read: Read) -> None:
    """The branch of the current node is read from the root on; empty and null messages are left out."""
    assert read([chat()], "conversations.json") == [
        Conversation(
            "conversations",
            (
                Session(
                    "c1",
                    [
                        Turn("Do bees sleep?", time=1683554161.5, id="a"),
                        Turn("Yes.", role="assistant", time=1683554170.0, id="c"),
                        Turn("[image]\nThis one?", id="d"),
                    ],
                    1683554160.25,
                    metadata={"title": "Bees"},
                ),
            ),
        )
    ]


def test_the_latest_leaf_when_none_is_named(read: Read) -> None:
    """Without a current node the leaf that was written last is followed."""
    for current in (None, "lost"):
        (conversation,) = read([chat(current_node=current)])
        assert [turn.id for turn in conversation.sessions[0].turns] == ["a", "b"]


def test_chats_are_sessions_of_one_person(read: Read) -> None:
    """The chats of an export share a conversation; those without messages are left out."""
    empty = chat(conversation_id="c2", mapping={"root": node(None)})
    (conversation,) = read([chat(), empty, chat(conversation_id="c3")])
    assert [session.id for session in conversation.sessions] == ["c1", "c3"]


def test_hidden_tools_and_loops(read: Read) -> None:
    """Hidden messages and thoughts are left out, tool calls named, a loop of parents ends."""
    hidden = {"is_visually_hidden_from_conversation": True}
    thoughts = {"id": "e", "author": {"role": "assistant"}, "content": {"content_type": "thoughts", "text": "hm"}}
    code = {"content_type": "code", "text": "1 + 1"}
    mapping = {
        "a": node("e", message=message("a", "user", "profile", metadata=hidden)),
        "b": node("a", message=message("b", "assistant", "x", recipient="python") | {"content": code}),
        "c": node("b", message=message("c", "tool", "2")),
        "e": node("c", message=thoughts),
    }
    (conversation,) = read([chat(mapping=mapping, current_node="e")])
    assert [(turn.role, turn.text) for turn in conversation.sessions[0].turns] == [
        ("assistant", "[tool call: python]\n1 + 1"),
        ("tool", "2"),
    ]
