"""Atoms: identity, order and time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.atoms import Atom, atom_id, needs_judge, place, text_key, times_agree
from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.testing.facts import day, mention


def _atom(*mentions: Mention) -> Atom:
    return Atom.of(atom_id(mentions[0]), mentions)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Bob\tmoved \n to Davis ", "bob moved to davis"),
        ("Jose\u0301", "josé"),
        ("STRAẞE ﬁn", "strasse fin"),
        ("\u3000东京 ２０２０", "东京 2020"),
        ("\ud800 x", "\ud800 x"),
        ("", ""),
    ],
)
def test_text_key(text: str, expected: str) -> None:
    """NFKC, casefold, white space folded."""
    assert text_key(text) == expected


@given(st.text())
def test_text_key_ignores_white_space_around(text: str) -> None:
    """Any text has a key, the same when indented."""
    assert text_key(f" {text}\n") == text_key(text)


def test_one_atom() -> None:
    """Spelling, session and place do not make another atom of a state of unknown time."""
    assert atom_id(mention("Bob likes tea", said=1)) == atom_id(mention("bob  LIKES tea", "s2", 7, 3, said=9))


@pytest.mark.parametrize(
    "other",
    [
        mention("Bob likes tea."),
        mention("Bob likes tea", speaker="Ana"),
        mention("Bob likes tea", kind=Kind.PREFERENCE),
        mention("Bob likes tea", event=day(3)),
    ],
)
def test_another_atom(other: Mention) -> None:
    """Text, speaker, kind and interval do."""
    assert atom_id(mention("Bob likes tea")) != atom_id(other)


@pytest.mark.parametrize("kind", [Kind.EVENT, Kind.TRANSITION, Kind.PLAN])
def test_what_happens_on_another_day_is_another_atom(kind: Kind) -> None:
    """Of unknown time, the source day stands in the interval's place; without one, the session."""
    told = [
        mention("Bob ran", said=1, kind=kind),
        mention("Bob ran", said=2, kind=kind),
        mention("Bob ran", said=None, kind=kind),
        mention("Bob ran", "s2", said=None, kind=kind),
    ]
    assert len({atom_id(m) for m in told}) == 4
    assert atom_id(told[0]) == atom_id(mention("Bob ran", "s9", 5, said=1, kind=kind))
    assert [place(m) for m in told] == [1, 2, "s1", "s2"]


def test_the_least_mention_leads() -> None:
    """Mentions are ordered by source time (unknown last), session, turn and number, never by arrival or id."""
    told = [
        mention("Bob likes tea", "s1", 0, 0, said=1),
        mention("Bob likes tea", "s1", 0, 1, said=1),
        mention("Bob likes tea", "s1", 2, 0, said=1),
        mention("Bob likes tea", "s2", 0, 0, said=1),
        mention("Bob likes tea", "s0", 0, 0, said=4),
        mention("Bob likes tea", "s0", 1, 0, said=None),
    ]
    atom = _atom(*reversed(told))
    assert atom.mentions == tuple(told)
    assert atom.entry == ((False, told[0].source_ms, "s1", 0, 0, "bob likes tea"), atom.id)


def test_known_intervals_agree_when_equal() -> None:
    """Two known times agree only when they are the same."""
    one = _atom(mention("Bob ran", kind=Kind.EVENT, event=day(3)))
    assert times_agree(one, _atom(mention("Bob jogged", kind=Kind.STATE, event=day(3))))
    assert not times_agree(one, _atom(mention("Bob jogged", kind=Kind.EVENT, event=day(4))))


@pytest.mark.parametrize("kind", [Kind.STATE, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.DETAIL])
def test_what_holds_agrees_with_any_time(kind: Kind) -> None:
    """One unknown time is enough for what holds."""
    unknown = _atom(mention("Bob is well", kind=kind, said=9))
    assert times_agree(unknown, _atom(mention("Bob feels well", kind=kind, event=day(3))))
    assert times_agree(_atom(mention("Bob feels well", kind=kind)), unknown)


@pytest.mark.parametrize("kind", [Kind.EVENT, Kind.TRANSITION, Kind.PLAN])
def test_what_happens_agrees_on_the_day_it_was_said(kind: Kind) -> None:
    """An unknown time of what happens agrees only with what was said the same day."""
    known = _atom(
        mention("Bob ran today", said=3, kind=kind, event=day(3)),
        mention("Bob ran today", "s2", said=5, kind=kind, event=day(3)),
    )
    assert [times_agree(_atom(mention("Bob ran", "s3", said=n, kind=kind)), known) for n in (3, 4, 5)] == [
        True,
        False,
        True,
    ]


def test_needs_judge() -> None:
    """A judge is asked where time leaves it open and the words do not decide."""
    likes = _atom(mention("Bob likes tea"))
    assert needs_judge(likes, _atom(mention("Bob loves tea")))
    assert not needs_judge(likes, _atom(mention("Bob likes tea.")))
    assert not needs_judge(_atom(mention("X", event=day(1))), _atom(mention("Y", event=day(2))))
