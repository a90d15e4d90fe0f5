"""Cues: what a statement says of a thing, and of whose."""

import pytest

from memforest_ray.index.rows import index_words
from memforest_ray.query.timing.cues import Cue, cues, marked, regards


def _cues(text: str, thing: str, speaker: str = "user") -> list[Cue]:
    return [cue for cue, _ in cues(marked(text, speaker, frozenset(index_words(thing))))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user: The rent goes up.", "The § goes up."),
        ("user's rent is 950 euros.", "@'s § is 950 euros."),
        ("user: I paid my rent, I'm broke.", "@ paid @'s §, @ am broke."),
        ("Ann: Ann's rents are high.", "@'s § are high."),
        ("user pays rent to Ann.", "@ pays § to Ann."),
        ("user: §12 of the lease", " 12 of the lease"),
    ],
)
def test_marks(text: str, expected: str) -> None:
    """The thing in any form, whoever speaks by name or pronoun; the name in front goes."""
    assert marked(text, "Ann" if text.startswith("Ann") else "user", frozenset(index_words("rent"))) == expected


@pytest.mark.parametrize(
    ("text", "thing", "expected"),
    [
        ("user stopped eating fish.", "fish", Cue.ENDED),
        ("user gave up on the Italian course.", "Italian", Cue.ENDED),
        ("user is not vegan any more.", "vegan", Cue.ENDED),
        ("user no longer drinks coffee.", "coffee", Cue.ENDED),
        ("user paid their sister back.", "sister", Cue.ENDED),
        ("user sold the piano last week.", "piano", Cue.ENDED),
        ("Iceland is off.", "Iceland", Cue.ENDED),
        ("The trip fell through.", "trip", Cue.ENDED),
        ("Bruno died on Tuesday.", "Bruno", Cue.ENDED),
        ("The rent goes up to 1,020.", "rent", Cue.CHANGED),
        ("The client cut the budget to 32k.", "budget", Cue.CHANGED),
        ("The concert was moved to May.", "concert", Cue.CHANGED),
        ("Dmitri takes over payments.", "payments", Cue.CHANGED),
        ("Bo is captain from now on.", "captain", Cue.NOW),
        ("user has a new dentist.", "dentist", Cue.NOW),
        ("user does not eat fish.", "fish", Cue.DENIED),
    ],
)
def test_what_is_said_of_it(text: str, thing: str, expected: Cue) -> None:
    """Ends, changes, how it is now, and that it is not so."""
    assert _cues(text, thing) == [expected]


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("user's sister sold her car.", "sister"),
        ("user lost their cello bow.", "cello"),
        ("The meeting is over at five.", "meeting"),
        ("Enzo left the window open.", "Enzo"),
        ("user left early, the captain was late.", "captain"),
        ("user doesn't know where the key is.", "key"),
        ("user stopped at the shop. Fish was cheap.", "fish"),
        ("The rent is due on Friday.", "rent"),
    ],
)
def test_what_is_said_of_something_else(text: str, thing: str) -> None:
    """A cue stands in the clause of the thing, and says it of the thing."""
    assert _cues(text, thing) == []


@pytest.mark.parametrize(
    ("before", "own", "expected"),
    [
        ("", True, True),
        ("@ ", True, True),
        ("The ", True, True),
        ("And so ", True, True),
        ("Emil ", True, True),
        ("@'s sister ", True, False),
        ("my brother ", True, False),
        ("Priya ", True, False),
        ("She ", True, False),
        ("She ", False, True),
        ("@'s § ", True, True),
    ],
)
def test_of_whom_it_is_said(before: str, own: bool, expected: bool) -> None:
    """Of whoever speaks or is asked about, unless somebody else is the subject."""
    assert regards(before, {"emil"}, own=own) is expected


def test_a_long_statement_is_marked_and_not_kept() -> None:
    """As a short one is."""
    text = f"user paid rent {'again and ' * 80}again"
    assert marked(text, "user", frozenset(index_words("rent"))) == text.replace("user", "@").replace("rent", "§")
