"""Following: whether one statement says how a thing is after another."""

import pytest

from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.canonical import Facts
from memforest_ray.ids import CellId, SessionId
from memforest_ray.index.rows import index_words
from memforest_ray.query.timing.following import Told, called, changes, ends, follows, says_how
from memforest_ray.query.timing.things import Thing, thing_of

DAY_MS = 86_400_000


def _told(text: str, thing: Thing, day: int = 1, speaker: str = "user", kind: Kind = Kind.STATE) -> Told:
    candidate = Candidate(text=text, kind=kind, speaker=speaker, role="user", turns=(0,))
    mention = Mention.of(CellId(f"c{day}"), SessionId(f"s{day}"), 0, day * DAY_MS, candidate)
    (fact,) = Facts().edit([mention]).facts
    return Told(fact, day, frozenset(index_words(text)) & frozenset(thing.words), day * DAY_MS)


def _thing(question: str) -> Thing:
    return thing_of(question, question, ["user", "Ann"])


@pytest.mark.parametrize(
    ("question", "older", "later", "expected"),
    [
        ("How much is my rent?", "user's rent is 950 euros.", "user: The rent is 1,020 euros.", True),
        ("How much is my rent?", "user's rent is 950 euros.", "user's rent is due at 9 am.", False),
        ("How much is my rent?", "user's rent is 950 euros.", "user: The rent was 800 euros.", False),
        ("How much is my rent?", "user's rent is 950 euros.", "user: The rent deposit is 2,000 euros.", False),
        ("How much is my rent?", "user's rent is 950 euros.", "user's garage rent is 60 euros.", False),
        ("How much is my rent?", "user's rent is 950 euros.", "user's new rent is 1,020 euros.", True),
        ("Where is my bike?", "user's bike is in the cellar.", "user keeps their bike in the yard.", True),
        ("Where is my bike?", "user's bike is in the cellar.", "user: Her bike is in the yard.", False),
        ("When is the concert?", "user: The concert is on 3 July.", "user: The concert is on Sundays now.", True),
        ("What is my car?", "user's car is a red Volvo.", "user's car is dirty now.", False),
        ("What is my car?", "user's car is a red Volvo.", "user's car is a blue Fiat now.", True),
        ("Where is the printer?", "user: The printer is in the hall.", "user: The other printer is in Oslo.", False),
        ("Do I like the sea?", "user likes the sea.", "user didn't go to the sea this year.", False),
        ("When is the choir?", "user: The choir is on Mondays.", "user: The choir meets on Thursdays.", True),
        ("When is the concert?", "user: The concert is on 3 July.", "user: The concert is sold out.", False),
        ("Who is the captain?", "user: The captain is Femi.", "user: The captain is Bo.", True),
        ("Who is the captain?", "user: The captain is Femi.", "user: The captain is tired.", False),
        ("Is the shop open?", "user: The shop is open.", "user: The shop is not open.", True),
        ("Where is the shop?", "user: The shop is in Elm Street.", "user: The shop is not open.", False),
    ],
)
def test_two_statements_of_one_thing(question: str, older: str, later: str, *, expected: bool) -> None:
    """The later one follows where it is of the same thing and gives what is asked for."""
    thing = _thing(question)
    assert follows(_told(later, thing, day=2), _told(older, thing), thing) is expected


def test_an_event_is_no_state() -> None:
    """What happened once says nothing of how it is, whatever number is in it."""
    thing = _thing("How much is my rent?")
    older = _told("user's rent is 950 euros.", thing)
    assert not follows(_told("user: The rent is 1,020 euros.", thing, 2, kind=Kind.EVENT), older, thing)


def test_the_same_words_of_somebody_else() -> None:
    """Of two who speak each has a rent; of what is nobody's both may speak."""
    thing = _thing("How much is the rent?")
    mine, theirs = _told("user's rent is 950 euros.", thing), _told("Ann's rent is 1,020 euros.", thing, 2, "Ann")
    assert not follows(theirs, mine, thing)
    of_all = (_told("user: The rent is 950.", thing), _told("Ann: The rent is 1,020.", thing, 2, "Ann"))
    assert follows(of_all[1], of_all[0], thing)


def test_the_name_of_a_thing() -> None:
    """Given by the statement itself; what is said of the name is said of the thing."""
    thing = _thing("What is my dog called?")
    older = _told("user's dog is called Bruno.", thing)
    assert called(older, thing) == {"bruno"}
    assert follows(_told("user: Bruno died on Tuesday.", thing, 2, kind=Kind.EVENT), older, thing)
    assert not called(_told("user took the dog to Bruno.", thing), thing)


def test_a_changed_mind() -> None:
    """Ends a preference or a plan of the one who is asked about."""
    thing = _thing("What does Emil like?")
    older = _told("user: Emil likes dinosaurs.", thing, kind=Kind.PREFERENCE)
    later = _told("user: Emil has changed his mind.", thing, 2)
    assert follows(later, older, thing)
    assert not follows(later, _told("user: Emil is five.", thing), thing)
    assert not follows(_told("user: Ada has changed her mind.", thing, 2), older, thing)


def test_what_ends_and_what_says_how_it_is() -> None:
    """A deadline that stays says neither."""
    thing = _thing("What is the deadline?")
    older = _told("user: The deadline is in August.", thing)
    assert says_how(older, thing)
    assert not says_how(_told("user: Deadline stays.", thing), thing)
    assert changes(_told("user: The deadline was moved to May.", thing), thing)
    assert not changes(older, thing)
    assert ends(_told("user: The deadline is off.", thing, 2), older, thing)
    assert not ends(_told("user: The deadline is in May.", thing, 2), older, thing)
