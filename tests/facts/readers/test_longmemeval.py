"""LongMemEval haystacks."""

from collections.abc import Callable
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn, admit

Read = Callable[..., list[Conversation]]


def instance() -> dict[str, Any]:
    """An invented instance with all the fields of the format."""
    return {
        "question_id": "q7",
        "question_type": "single-session-user",
        "question": "SECRET?",
        "answer": "SECRET",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer_session_ids": ["SECRET"],
        "haystack_session_ids": ["a", "b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 03:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I keep bees.", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
            ],
            [{"role": "user", "content": "It rains."}],
        ],
    }


def test_an_instance(read: Read) -> None:
    """Sessions with their ids and dates, roles as speakers; questions and answers are not read."""
    (conversation,) = read([instance()])
    assert conversation == Conversation(
        "q7",
        (
            Session("a", [Turn("I keep bees."), Turn("Nice.", role="assistant")], "2023/05/20 (Sat) 02:21"),
            Session("b", [Turn("It rains.")], "2023/05/21 (Sun) 03:00"),
        ),
    )
    assert "SECRET" not in repr(conversation)
    assert admit(conversation.sessions[0]).record.time_ms == 1_684_549_260_000


def test_without_ids_and_dates(read: Read) -> None:
    """Missing ids come from the question's, missing dates stay unknown."""
    bare = {key: value for key, value in instance().items() if not key.startswith(("haystack_s", "haystack_d"))}
    (conversation,) = read([bare | {"haystack_sessions": instance()["haystack_sessions"]}])
    assert [(session.id, session.time) for session in conversation.sessions] == [("q7#0", None), ("q7#1", None)]


def test_uneven_columns(read: Read) -> None:
    """Dates that do not match the sessions are refused, not guessed at."""
    with pytest.raises(InvalidInput, match="q7: haystack_dates must be a list of 2"):
        read([instance() | {"haystack_dates": ["2023/05/20 (Sat) 02:21"]}])
