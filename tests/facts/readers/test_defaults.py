"""What a reader is told that a file does not say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import TimeLike
from memforest_ray.facts.readers import Conversation, read_conversations
from memforest_ray.facts.readers.defaults import Defaults
from memforest_ray.facts.sessions import Session, Turn, admit

Read = Callable[..., list[Conversation]]
CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I keep bees."},
    {"role": "assistant", "content": "How many hives?"},
    {"role": "user", "name": "Eve", "content": "Seven."},
]


def test_who_the_user_is(read: Read) -> None:
    """Only who has no name gets one: others, and other roles, stay what they are."""
    [named] = read(CHAT, speaker="Ana")
    assert [turn.speaker for turn in named.sessions[0].turns] == [None, "Ana", None, "Eve"]
    [plain] = read(CHAT)
    assert [turn.speaker for turn in plain.sessions[0].turns] == [None, None, None, "Eve"]
    [native] = read({"turns": [{"text": "Hi.", "speaker": "user"}, {"text": "Ho.", "speaker": "Bo"}]}, speaker="Ana")
    assert [turn.speaker for turn in native.sessions[0].turns] == ["Ana", "Bo"]


def test_when_it_was(read: Read) -> None:
    """What has a time of its own keeps it; without anybody's word a time stays unknown."""
    chats = {
        "sessions": [
            {"id": "bare", "turns": [{"text": "Hi."}]},
            {"id": "dated", "time": "2023-05-08", "turns": [{"text": "Hi."}]},
            {"id": "turns", "turns": [{"text": "Hi.", "time": "2023-05-09"}]},
            {"id": "some", "turns": [{"text": "Hi.", "time": "2023-05-09"}, {"text": "Ho."}]},
        ]
    }
    [told] = read(chats, time="2024-05-20")
    assert [session.time for session in told.sessions] == ["2024-05-20", "2023-05-08", None, "2024-05-20"]
    assert [session.time for session in read(chats)[0].sessions] == [None, "2023-05-08", None, None]
    assert [admit(session).undated_turns for session in told.sessions] == [0, 0, 0, 0]


def test_each_conversation_of_a_file(read: Read) -> None:
    """Several chats of one file are told the same."""
    items = [{"id": name, "conversations": [{"from": "human", "value": "Hi."}]} for name in ("a", "b")]
    told = read(items, speaker="Ana", time="2024-05-20")
    assert [(c.sessions[0].time, c.sessions[0].turns[0].speaker) for c in told] == [("2024-05-20", "Ana")] * 2


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"speaker": " "}, "speaker: must be a name, not ' '"),
        ({"speaker": 7}, "speaker: must be a name, not 7"),
        ({"time": "yesterday"}, "time: 'yesterday' cannot be read as a time"),
        ({"time": "2024"}, "time: '2024' is not a time: day, month and year are needed, as in '2024-12-31'"),
    ],
)
def test_what_is_no_name_and_no_time(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    """Is refused before the file is opened."""
    with pytest.raises(InvalidInput) as caught:
        read_conversations(tmp_path / "none.json", **given)
    assert caught.value.message.startswith(told)


@pytest.mark.parametrize("time", [None, "2024-05-20"])
def test_nothing_told_changes_nothing(time: TimeLike) -> None:
    """A session that says all by itself is the same."""
    session = Session("s1", [Turn("Hi.", "Bo", time="2023-05-08")])
    assert Defaults(speaker="Ana", time=time).on(session) == session
