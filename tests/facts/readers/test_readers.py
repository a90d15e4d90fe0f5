"""Reading a chat file: detection, errors, ids."""

from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import FORMATS, Conversation, read_conversations
from memforest_ray.facts.sessions import Session, Turn, admit
from memforest_ray.facts.words import word_set

Read = Callable[..., list[Conversation]]
HELLO = [{"role": "user", "content": "Hello"}]


def test_every_format_has_a_name() -> None:
    """The formats that can be named, in alphabetical order."""
    assert FORMATS == (
        "chatgpt",
        "claude",
        "langchain",
        "locomo",
        "longmemeval",
        "native",
        "openai",
        "sharegpt",
        "slack",
        "whatsapp",
    )


REFUSED: list[tuple[str, object, str]] = [
    ("chat.json", "", "the file is empty"),
    ("chat.json", " \n", "the file is empty"),
    ("chat.json", "[]", "no turns in it"),
    ("chat.json", "null", "no turns in it"),
    ("chat.json", "7", "its format is not recognised"),
    ("chat.json", '{"a": 1}', "its format is not recognised; name it, one of chatgpt, claude"),
    ("chat.json", '{"messages": []}', "no turns in it, read as openai"),
    ("chat.json", {"sessions": [{"turns": []}]}, "no turns in it, read as native"),
    ("chat.json", '{"messages": [\n  {"role": }]}', "invalid JSON at line 2, column 12: Expecting value"),
    ("chat.json", '{"role": "user", "content": "a"}\n{"role"', "invalid JSON at line 2, column 8"),
    ("chat.jsonl", '{"role": "user", "content": "a"}\nso', "invalid JSON at line 2, column 1"),
    ("chat.json", "[" * 100_000, "nested too deeply"),
    ("chat.json", "[" + "1" * 5_000 + "]", "invalid JSON at line 1"),
    ("chat.json", "just words", "invalid JSON at line 1, column 1"),
    ("chat.txt", "just words", "its format is not recognised: it is no chat export of WhatsApp, and no JSON"),
    ("chat.json", "caf\xe9".encode("latin-1"), "neither UTF-8 nor UTF-16 text (byte 3)"),
    ("chat.json", "Hello".encode("utf-16")[:-1], "neither UTF-8 nor UTF-16 text (byte 10)"),
    ("chat.json", [{"role": "user", "content": "a"}, 7], "messages[1] must be an object, not int"),
    ("chat.json", [{"role": "user"}], "messages[0] has no content"),
    ("chat.json", [{"role": "user", "content": 7}], "messages[0].content must be text or a list of parts, not int"),
]


@pytest.mark.parametrize(("name", "content", "message"), REFUSED)
def test_refused_files(write: Callable[[str, object], Path], name: str, content: object, message: str) -> None:
    """What cannot be read is refused at the call, in one line that names the file and the cause."""
    path = write(name, content)
    with pytest.raises(InvalidInput) as caught:
        read_conversations(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert message in caught.value.message
    assert "\n" not in caught.value.message


def test_a_missing_file(tmp_path: Path) -> None:
    """The error names the file that is not there."""
    with pytest.raises(InvalidInput, match=r"none\.json: there is no such file"):
        read_conversations(tmp_path / "none.json")


def test_a_directory(tmp_path: Path) -> None:
    """A directory is not a file of chats."""
    with pytest.raises(InvalidInput, match="this is a directory"):
        read_conversations(str(tmp_path))


def test_an_impossible_name() -> None:
    """A name that no file can have is refused like any other."""
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_conversations("a\0b.json")


def test_an_unknown_format(tmp_path: Path) -> None:
    """The error lists the formats there are, or names the one that is meant; the file is not even opened."""
    with pytest.raises(InvalidInput, match="unknown format 'xml'; known: auto, chatgpt, claude"):
        read_conversations(tmp_path / "none.json", format="xml")
    with pytest.raises(InvalidInput, match="did you mean 'openai'"):
        read_conversations(tmp_path / "none.json", format="openia")
    with pytest.raises(InvalidInput, match=r"unknown format \['openai'\]"):
        read_conversations(tmp_path / "none.json", format=["openai"])  # type: ignore[arg-type]


def test_a_source_that_is_no_path() -> None:
    """Is refused as input, not as a fault of the program."""
    with pytest.raises(InvalidInput, match="the source must be the path of a file, not 5"):
        read_conversations(5)  # type: ignore[arg-type]


def test_a_format_named_wrongly(read: Read) -> None:
    """A named format is believed, and what it misses is said."""
    with pytest.raises(InvalidInput, match=r"\[0\] holds no `session_1`"):
        read(HELLO, format="locomo")
    with pytest.raises(InvalidInput, match="no turns in it, read as whatsapp"):
        read(HELLO, format="whatsapp")


def test_a_byte_order_mark(read: Read) -> None:
    """UTF-8 with a byte order mark is UTF-8."""
    (conversation,) = read(b'\xef\xbb\xbf[{"role": "user", "content": "Hello"}]')
    assert conversation.sessions[0].turns == [Turn("Hello")]


@pytest.mark.parametrize("mark", ["\ufeff".encode("utf-16-le"), "\ufeff".encode("utf-16-be")])
def test_utf_16(read: Read, mark: bytes) -> None:
    """What Windows' shell writes into a file is read, in either order of bytes."""
    codec = "utf-16-le" if mark[0] == 0xFF else "utf-16-be"
    (conversation,) = read(mark + '[{"role": "user", "content": "Grüße"}]'.encode(codec))
    assert conversation.sessions[0].turns == [Turn("Grüße")]


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.ndjson", "chat.txt"])
def test_json_lines(read: Read, name: str) -> None:
    """Values by line are a list, whatever the file is called; blank lines do not count."""
    (conversation,) = read('{"role": "user", "content": "a\u2028b"}\r\n\n{"role": "assistant", "content": "c"}\n', name)
    assert [turn.text for turn in conversation.sessions[0].turns] == ["a\u2028b", "c"]


def test_missing_session_ids(read: Read) -> None:
    """A session without an id is named by the file and its place in it, empty ones counted."""
    (conversation,) = read([{"messages": HELLO}, {"messages": []}, {"messages": HELLO, "id": 5}, {"messages": HELLO}])
    assert [session.id for session in conversation.sessions] == ["chat#0", "5", "chat#3"]
    assert conversation.id == "chat"


def test_shared_session_ids(read: Read) -> None:
    """Sessions that share an id are told apart when their turns differ; sent twice, they stay the same."""
    others = [[{"role": "user", "content": text}] for text in ("Bye", "Hello", "Ciao", "Bye")]
    items = [{"id": "s", "messages": messages} for messages in (HELLO, *others)]
    (conversation,) = read([*items, {"id": "s~2", "messages": [{"role": "user", "content": "taken"}]}])
    assert [(session.id, session.turns[0].text) for session in conversation.sessions] == [
        ("s", "Hello"),
        ("s~3", "Bye"),
        ("s", "Hello"),
        ("s~4", "Ciao"),
        ("s~3", "Bye"),
        ("s~2", "taken"),
    ]


def test_a_repeated_system_prompt_is_kept(read: Read) -> None:
    """Dialogue is kept whole; what is worth a fact is decided later."""
    system = {"role": "system", "content": "Be kind. " * 300}
    (conversation,) = read([system, *HELLO, system])
    assert [turn.role for turn in conversation.sessions[0].turns] == ["system", "user", "system"]


@pytest.mark.parametrize("text", ["", " ", "👍", "hello \0 world", "x\ud800", "क्‍ष", "y" * 400_000])
def test_texts_arrive_whole(read: Read, text: str) -> None:
    """Blank, odd and huge texts pass through the file and the door."""
    (conversation,) = read([{"role": "user", "content": text}])
    kept = admit(conversation.sessions[0]).record.turns[0].text
    assert kept == text.replace("\ud800", "\ufffd")


SAMPLES: dict[str, Any] = {
    "chatgpt": [
        {
            "current_node": "b",
            "mapping": {
                "a": {"message": None, "children": ["b"]},
                "b": {
                    "parent": "a",
                    "message": {
                        "id": "b",
                        "author": {"role": "user", "name": "Ana"},
                        "create_time": 5.5,
                        "content": {"content_type": "text", "parts": ["Hi", {"content_type": "image_asset_pointer"}]},
                        "metadata": {},
                    },
                },
            },
        }
    ],
    "claude": [
        {
            "uuid": "u",
            "created_at": "2024-03-01T09:00:00Z",
            "chat_messages": [
                {
                    "sender": "human",
                    "text": "Hi",
                    "attachments": [{"file_name": "n", "extracted_content": "w"}],
                    "files": [{"file_name": "k"}],
                }
            ],
        }
    ],
    "langchain": [{"type": "human", "data": {"content": "Hi", "name": "Ana", "tool_calls": [{"name": "f"}]}}],
    "locomo": {
        "session_1_date_time": "1:05 pm on 2 March, 2022",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Hi", "blip_caption": "a lake"}],
    },
    "longmemeval": [
        {
            "question_id": "q",
            "haystack_dates": ["2023/05/20 (Sat) 02:21"],
            "haystack_session_ids": ["a"],
            "haystack_sessions": [[{"role": "user", "content": "Hi"}]],
        }
    ],
    "native": [{"id": "s", "time": 5, "zone": "UTC", "metadata": {"a": "b"}, "turns": [{"text": "Hi", "id": "t"}]}],
    "openai": {
        "id": "s",
        "messages": [
            {"role": "user", "name": "Ana", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
        ],
    },
    "sharegpt": [{"id": "x", "conversations": [{"from": "human", "value": "Hi"}]}],
    "slack": [
        {
            "type": "message",
            "ts": "1683554160.0",
            "user": "U1",
            "text": "Hi <@U1>",
            "user_profile": {"real_name": "Ana"},
            "files": [{"name": "a.png"}],
        }
    ],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_format_is_told_from_the_shape(read: Read, name: str) -> None:
    """Each format is recognised without being named, and says the same as when it is."""
    (conversation,) = read(SAMPLES[name])
    assert [conversation] == read(SAMPLES[name], format=name)
    assert conversation.sessions[0].turns[0].text.startswith("Hi")
    assert admit(conversation.sessions[0]).record.id == conversation.sessions[0].id


JUNK: tuple[Any, ...] = (None, True, -1, 1e400, "", "\ud800", [], {}, [7], {"a": 1}, [[]])


def replaced(value: Any, junk: Any) -> Iterator[Any]:
    """`value` with `junk` in each of its places in turn."""
    yield junk
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        for other in replaced(item, junk):
            changed = copy(value)
            changed[key] = other
            yield changed


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_samples_are_read_or_refused(read: Read, name: str) -> None:
    """Whatever stands in any place of a file, reading and admitting raise nothing but InvalidInput, in one line."""
    for junk in JUNK:
        for value in replaced(SAMPLES[name], junk):
            try:
                for conversation in read(value, format=name):
                    for session in conversation.sessions:
                        admit(session)
            except InvalidInput as error:
                assert "\n" not in error.message  # noqa: PT017 - most damage is harmless, and raises nothing


KEYS = sorted(
    word_set("""
        id role content text type messages data name parts from value conversations mapping message sessions turns
        time chat_messages sender session_1 conversation haystack_sessions ts user files tool_calls author
        current_node parent attachments metadata zone
    """)
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(json_values, st.sampled_from(["auto", *FORMATS]))
def test_any_json_is_read_or_refused(read: Read, value: Any, name: str) -> None:
    """No JSON value raises anything but InvalidInput; what is read is made of sessions with turns."""
    try:
        conversations = read(value, format=name)
    except InvalidInput:
        return
    sessions = [session for conversation in conversations for session in conversation.sessions]
    assert sessions
    assert all(isinstance(session, Session) and session.turns for session in sessions)
