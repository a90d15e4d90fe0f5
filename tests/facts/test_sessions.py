"""The door: admission, alignment, growth."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.sessions import (
    Alignment,
    Relation,
    Session,
    SessionRecord,
    Turn,
    TurnRecord,
    admit,
    align,
    grown,
)
from memforest_ray.ids import SessionId, TurnId, digest

DAY_MS = 86_400_000


def record_of(*turns: TurnRecord, time_ms: int | None = None) -> SessionRecord:
    return SessionRecord(SessionId("s"), turns, time_ms)


def said(text: str, time_ms: int | None = None) -> TurnRecord:
    return TurnRecord("user", "Ana", text, time_ms)


def spelled(letters: str) -> SessionRecord:
    """A session with one turn for each letter."""
    return record_of(*map(said, letters))


# ---- admit


def test_admit_keeps_what_was_given() -> None:
    """Turns keep speaker, role, text, time and id; the session its time, zone and metadata, as text."""
    session = Session(
        id="s1",
        turns=[Turn("Hi", speaker="Ana", id="t1", time=date(1970, 1, 2)), Turn("Hello", role="assistant")],
        time=0,
        zone="Europe/Madrid",
        metadata={"b": 2, "a": "x"},  # type: ignore[dict-item]
    )
    admitted = admit(session)
    expected = SessionRecord(
        SessionId("s1"),
        (
            TurnRecord("user", "Ana", "Hi", DAY_MS - 3_600_000, TurnId("t1")),
            TurnRecord("assistant", "assistant", "Hello"),
        ),
        0,
        "Europe/Madrid",
        (("a", "x"), ("b", "2")),
    )
    assert expected == admitted.record
    assert admitted.naive_times == 1
    assert admitted.undated_turns == 0


def test_admit_counts_undated_and_naive() -> None:
    """Without any time of the session, turns without their own are undated; naive times are counted each."""
    turns = [Turn("a", time="2024-01-02"), Turn("b"), Turn("c", time="2024-01-02T10:00Z"), Turn("d")]
    admitted = admit(Session("s", turns))
    assert (admitted.naive_times, admitted.undated_turns) == (1, 2)
    assert [admitted.record.source_ms(0), admitted.record.source_ms(1)] == [1_704_153_600_000, None]


@pytest.mark.parametrize("text", ["", "   ", "👍", "ok", "hello \x00 world", "क्‍ष", "a\n" * 200, "x" * 400_000])
def test_texts_are_kept_whole(text: str) -> None:
    """Empty, one-word and huge turns, NUL and zero-width joiners go through unchanged and can be stored."""
    kept = admit(Session("s", [Turn(text)])).record.turns[0].text
    assert text == kept
    assert text == msgpack.unpackb(msgpack.packb(kept))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\ud83d\ude00!", "😀!"), ("\ud800😀", "\ufffd😀")],
)
def test_surrogates_become_storable(text: str, expected: str) -> None:
    """Halves of a pair are joined, lone ones replaced, in texts and names, and the rest stays."""
    turn = admit(Session("s", [Turn(text, speaker=f"Ana{text}")])).record.turns[0]
    assert (expected, f"Ana{expected}") == (turn.text, turn.speaker)
    assert expected == turn.text.encode().decode()


def test_missing_parts_have_defaults() -> None:
    """No text is empty text; no role is user; no speaker is the role; white space in names is folded."""
    turns = [
        Turn(None, role="tool"),  # type: ignore[arg-type]
        Turn("x", role=" "),
        Turn("x", speaker="  Ana \n Li "),
        Turn("x", speaker="", role="assistant"),
    ]
    kept = admit(Session("s", turns)).record.turns
    assert [(turn.role, turn.speaker, turn.text) for turn in kept] == [
        ("tool", "tool", ""),
        ("user", "user", "x"),
        ("user", "Ana Li", "x"),
        ("assistant", "assistant", "x"),
    ]


def test_default_ids_are_computed_not_stored() -> None:
    """A turn's id is `<session>#<index>` unless given; given as just that, it is the default."""
    kept = admit(Session("s", [Turn("a"), Turn("b", id="s#1"), Turn("c", id="mine")])).record
    assert tuple(turn.id for turn in kept.turns) == (None, None, "mine")
    assert [kept.turn_id(i) for i in range(3)] == ["s#0", "s#1", "mine"]


def test_missing_id_takes_the_default() -> None:
    """An id of None is missing, and the default stands in; a blank id is not missing but wrong."""
    missing: Any = None
    assert admit(Session(missing, [Turn("a")]), default_id="chat#0").record.id == "chat#0"
    with pytest.raises(InvalidInput):
        admit(Session("", [Turn("a")]), default_id="chat#0")


REFUSED: list[tuple[Any, str]] = [
    ({"id": "s"}, "must be a Session, not dict"),
    (Session(None, [Turn("a")]), "id: must be text, not None"),  # type: ignore[arg-type]
    (Session(7, [Turn("a")]), "id: must be text, not int"),  # type: ignore[arg-type]
    (Session("", [Turn("a")]), "id: must not be blank"),
    (Session(" \t", [Turn("a")]), "id: must not be blank"),
    (Session("\ud800", [Turn("a")]), "lone surrogate"),
    (Session("s", []), "session 's' has no turns"),
    (Session("s", "abc"), "turns: must be a sequence of Turn, not str"),  # type: ignore[arg-type]
    (Session("s", None), "turns: must be a sequence of Turn, not None"),  # type: ignore[arg-type]
    (Session("s", [Turn("a"), {"text": "b"}]), "turn 1: must be a Turn, not dict"),  # type: ignore[list-item]
    (Session("s", [Turn(["a"])]), "turn 0, text: must be text, not list"),  # type: ignore[arg-type]
    (Session("s", [Turn(b"a")]), "turn 0, text: must be text, not bytes"),  # type: ignore[arg-type]
    (Session("s", [Turn("a", speaker=3)]), "turn 0, speaker: must be text, not int"),  # type: ignore[arg-type]
    (Session("s", [Turn("a", role=3)]), "turn 0, role: must be text, not int"),  # type: ignore[arg-type]
    (Session("s", [Turn("a", id="")]), "turn 0, id: must not be blank"),
    (Session("s", [Turn("a", id="x"), Turn("b", id="x")]), "turns 0 and 1 have the same id 'x'"),
    (Session("s", [Turn("a"), Turn("b", id="s#0")]), "turns 0 and 1 have the same id 's#0'"),
    (Session("s", [Turn("a"), Turn("b", time="soon")]), "turn 1, time: 'soon' cannot be read as a time"),
    (Session("s", [Turn("a", time=True)]), "turn 0, time: a time must be"),
    (Session("s", [Turn("a")], time="whenever"), "session 's', time: 'whenever' cannot"),
    (Session("s", [Turn("a")], zone="Mars"), "zone: unknown time zone 'Mars'"),
    (Session("s", [Turn("a")], zone=5), "zone: must be text, not int"),  # type: ignore[arg-type]
    (Session("s", [Turn("a")], metadata=["x"]), "metadata: must be a mapping, not list"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("session", "message"), REFUSED)
def test_refused_input(session: Any, message: str) -> None:
    """What cannot be used is refused in one sentence that names the turn and the field."""
    with pytest.raises(InvalidInput) as caught:
        admit(session)
    assert message in caught.value.message
    assert "\n" not in caught.value.message


def test_a_session_of_5000_turns() -> None:
    """Long sessions are normal."""
    assert len(admit(Session("s", [Turn(f"line {i}") for i in range(5_000)])).record.turns) == 5_000


# ---- align


@pytest.mark.parametrize(
    ("stored", "incoming", "expected"),
    [
        ("abc", "abc", Alignment(Relation.DUPLICATE, 0, 3)),
        ("abcd", "bc", Alignment(Relation.DUPLICATE, 1, 2)),
        ("abcd", "d", Alignment(Relation.DUPLICATE, 3, 1)),
        ("abc", "abcde", Alignment(Relation.GROWTH, 0, 3)),
        ("abc", "cde", Alignment(Relation.GROWTH, 2, 1)),
        ("aaa", "aaaa", Alignment(Relation.GROWTH, 0, 3)),
        ("abab", "ababab", Alignment(Relation.GROWTH, 0, 4)),
        ("xabab", "ababc", Alignment(Relation.GROWTH, 1, 4)),
        ("abc", "acd", Alignment(Relation.CONFLICT)),
        ("abc", "def", Alignment(Relation.CONFLICT)),
        ("cd", "abcd", Alignment(Relation.CONFLICT)),
        ("abc", "ac", Alignment(Relation.CONFLICT)),
    ],
)
def test_align(stored: str, incoming: str, expected: Alignment) -> None:
    """A stored run is a duplicate, the longest overlap with the stored end grows it, the rest conflicts."""
    assert expected == align(spelled(stored), spelled(incoming))


def test_role_and_speaker_make_another_turn() -> None:
    """The same words from another speaker, or in another role, are another turn."""
    for other in (TurnRecord("user", "Bob", "a"), TurnRecord("assistant", "Ana", "a")):
        assert Relation.CONFLICT is align(spelled("a"), record_of(other)).relation


def test_times_count_only_when_both_are_known() -> None:
    """A known time never contradicts an unknown one; two known ones must be equal."""
    stored = record_of(said("ok", 1), said("ok"), said("ok", 3))
    assert Alignment(Relation.DUPLICATE, 0, 2) == align(stored, record_of(said("ok", 1), said("ok", 2)))
    assert Alignment(Relation.DUPLICATE, 1, 2) == align(stored, record_of(said("ok", 2), said("ok")))
    assert Alignment(Relation.GROWTH, 2, 1) == align(stored, record_of(said("ok", 3), said("ok", 4)))
    assert Relation.CONFLICT is align(stored, record_of(said("ok", 4), said("ok", 5), said("ok", 6))).relation
    assert Alignment(Relation.GROWTH, 1, 2) == align(stored, record_of(said("ok", 4), said("ok"), said("ok", 6)))


def secret(turn: TurnRecord) -> str:
    return digest("key", turn.key)


def test_holes_meet_the_turns_they_were() -> None:
    """A forgotten turn is recognised by its keyed hash, when the key is at hand."""
    whole = spelled("abcd")
    holed = record_of(whole.turns[0], TurnRecord("", "", "", hole=secret(whole.turns[1])), *whole.turns[2:])
    assert Alignment(Relation.DUPLICATE, 0, 4) == align(holed, whole, hole_key=secret)
    assert Alignment(Relation.GROWTH, 0, 4) == align(holed, spelled("abcde"), hole_key=secret)
    assert Relation.CONFLICT is align(holed, spelled("axcd"), hole_key=secret).relation
    assert Relation.CONFLICT is align(holed, whole).relation
    assert Alignment(Relation.DUPLICATE, 0, 4) == align(holed, holed)
    assert Alignment(Relation.DUPLICATE, 2, 2) == align(holed, spelled("cd"))


def naive_align(stored: Sequence[TurnRecord], incoming: Sequence[TurnRecord]) -> Alignment:
    """What `align` should say, by trying every place."""

    def fits(start: int, count: int) -> bool:
        pairs = zip(stored[start : start + count], incoming, strict=False)
        return all(a.key == b.key and (a.time_ms == b.time_ms or None in {a.time_ms, b.time_ms}) for a, b in pairs)

    size = len(incoming)
    for start in range(len(stored) - size + 1):
        if fits(start, size):
            return Alignment(Relation.DUPLICATE, start, size)
    for start in range(max(0, len(stored) - size + 1), len(stored)):
        if fits(start, len(stored) - start):
            return Alignment(Relation.GROWTH, start, len(stored) - start)
    return Alignment(Relation.CONFLICT)


some_turns = st.lists(
    st.builds(said, st.sampled_from("ab"), st.sampled_from([None, None, 1, 2])), min_size=1, max_size=9
)


@given(some_turns, some_turns)
def test_align_agrees_with_the_naive_search(stored: list[TurnRecord], incoming: list[TurnRecord]) -> None:
    """On random sessions of few distinct turns the fast search finds what trying every place finds."""
    assert naive_align(stored, incoming) == align(record_of(*stored), record_of(*incoming))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.data())
def test_windows_rebuild_the_session(numbers: list[int], data: st.DataObject) -> None:
    """Windows that overlap the stored end, dated so that turns differ, grow it into the whole."""
    turns = [said(str(number), i) for i, number in enumerate(numbers)]
    stored = record_of(*turns[: data.draw(st.integers(1, len(turns)))])
    while len(stored.turns) < len(turns):
        have = len(stored.turns)
        first, last = data.draw(st.integers(0, have - 1)), data.draw(st.integers(have + 1, len(turns)))
        window = record_of(*turns[first:last])
        stored = grown(stored, window, align(stored, window))
    assert record_of(*turns) == stored


def test_align_is_linear_in_repetition() -> None:
    """Two sessions of 20,000 equal turns are aligned without trying every place for every place."""
    for time_ms in (None, 7):
        many = [said("a", time_ms)] * 20_000
        stored, incoming = record_of(*many, said("b", time_ms)), record_of(*many, said("c", time_ms))
        assert Relation.CONFLICT is align(stored, incoming).relation
    stored, incoming = record_of(*many, said("a", 8)), record_of(*many, said("a", 9))
    assert Relation.CONFLICT is align(stored, incoming).relation


# ---- grown


def test_growth_keeps_the_head_and_shares_the_turns() -> None:
    """The grown record has the stored session's time and its very turns, then the new ones."""
    stored, incoming = replace(spelled("ab"), time_ms=5), replace(spelled("bc"), time_ms=5)
    record = grown(stored, incoming, align(stored, incoming))
    assert replace(spelled("abc"), time_ms=5) == record
    assert stored.turns[0] is record.turns[0]


def test_growth_at_another_time_dates_the_new_turns() -> None:
    """A later window with a time of its own says when its new turns were said."""
    stored, incoming = replace(spelled("ab"), time_ms=5), replace(spelled("bc"), time_ms=900)
    record = grown(stored, incoming, align(stored, incoming))
    assert [record.source_ms(i) for i in range(3)] == [5, 5, 900]


def test_growth_refuses_a_taken_turn_id() -> None:
    """An id is unique in the whole session, not only in what is sent."""
    stored = record_of(said("a"), replace(said("b"), id=TurnId("x")))
    incoming = record_of(said("b"), replace(said("c"), id=TurnId("x")))
    with pytest.raises(InvalidInput, match="turns 1 and 2 have the same id 'x'"):
        grown(stored, incoming, align(stored, incoming))


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (Session("s", [Turn("a")], time="2023-05-08T23:30-05:00"), "-05:00"),
        (Session("s", [Turn("a", time="2023-05-08T23:30+05:30"), Turn("b")]), "+05:30"),
        (Session("s", [Turn("a"), Turn("b", time="2023-05-08T23:30+05:30")]), None),
        (Session("s", [Turn("a")], time="2023-05-08T23:30-05:00", zone="Europe/Madrid"), "Europe/Madrid"),
        (Session("s", [Turn("a")], time="2023-05-08T23:30Z"), None),
        (Session("s", [Turn("a")], time="2023-05-08T23:30", zone="-05:00"), "-05:00"),
        (Session("s", [Turn("a")], time=datetime(2023, 5, 8, tzinfo=timezone(timedelta(hours=9)))), "+09:00"),
    ],
)
def test_an_offset_tells_the_zone(session: Session, expected: str | None) -> None:
    """Who writes 23:30-05:00 lives there: the day is his, not that of UTC. A given zone counts more."""
    assert expected == admit(session).record.zone
