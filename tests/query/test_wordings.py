"""How a question is put to the embedder: as it stands, and as whoever it names would say it."""

import numpy as np
import pytest

from memforest_ray.query.request import QueryRequest
from memforest_ray.query.wordings import nameless, vector_of, wordings
from memforest_ray.testing.memory import Memory

NAMES = ("user", "assistant", "Bob", "Anne-Marie Ode", "Will Smith", "李明", "José")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Bob buy the kayak?", "When did I buy the kayak?"),
        ("What colour is Bob's kayak?", "What colour is my kayak?"),
        ("what did BOB’s sister say?", "what did my sister say?"),
        ("Where did Anne-Marie Ode live?", "Where did I live?"),
        ("Where did Anne-Marie live?", "Where did I live?"),
        ("Where does Smith work?", "Where does I work?"),
        ("What do Bob and José have in common?", "What do I and I have in common?"),
        ("李明住在哪里?", "住在哪里?"),
        ("What does Jose play at Café Zoë?", "What does I play at Cafe Zoe?"),
        ("Will it rain on the Bobsled track?", None),
        ("Who bought the kayak?", None),
        ("What did the user ask the assistant about kayaks?", None),
        ("Who is Bob?", None),
        ("Bob?", None),
        ("", None),
    ],
)
def test_names_give_way_to_the_first_person(text: str, expected: str | None) -> None:
    """Whole words only, also parts of a name; nothing where no name is, or nothing else is asked for."""
    assert nameless(text, NAMES) == expected


def test_nobody_speaks() -> None:
    """A memory without speakers has no names to leave out."""
    assert nameless("When did Bob buy the kayak?", ()) is None


def test_who_speaks_later_is_no_name_yet(memory: Memory) -> None:
    """With `as_of` a question is put as it would have been then."""
    memory.told("s1", "2023-05-08", "Bob bought a kayak")
    memory.told("s2", "2023-07-08", "Ann sold the kayak", speaker="Ann")
    asked = "When did Ann sell Bob's kayak?"
    now = wordings(memory.version, QueryRequest.of(asked))
    assert now == (asked, "When did I sell my kayak?")
    then = wordings(memory.version, QueryRequest.of(asked, as_of="2023-06-01"))
    assert then == (asked, "When did Ann sell my kayak?")


def test_a_likeness_is_the_mean_of_both() -> None:
    """Of the wordings whose vectors are known."""
    one, other, item = (np.array(row, np.float32) for row in ([1, 0], [0, 1], [0.6, 0.8]))
    found = vector_of(["a", "b"], {"a": one, "b": other})
    assert found is not None
    assert found @ item == pytest.approx((one @ item + other @ item) / 2)
    assert np.array_equal(vector_of(["a", "b"], {"a": one, "b": 0 * other}), one)  # type: ignore[arg-type]  # it is there
    assert vector_of(["a"], {"a": 0 * one}) is None
    assert vector_of([], {}) is None
