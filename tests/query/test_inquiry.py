"""One question held against one version."""

from typing import Any

import pytest

from memforest_ray.ids import FactId, SessionId
from memforest_ray.query.inquiry import AS_LIKENESS, Inquiry, inquire
from memforest_ray.query.request import QueryRequest
from memforest_ray.testing.memory import Memory, instant, word_vector


def _inquiry(memory: Memory, text: str, **options: Any) -> Inquiry:
    return inquire(memory.version, QueryRequest.of(text, **options), word_vector(text))


def test_words_stand_in_for_vectors_that_say_nothing(memory: Memory) -> None:
    """Row by row: an English question against a Chinese fact, and a question that the embedder does not know."""
    memory.told("s1", "2023-05-01", "我养蜜蜂", speaker="小明")
    memory.told("s2", "2023-05-01", "Bob keeps bees")
    chinese = _inquiry(memory, "谁养蜜蜂?")
    assert not chinese.has_vector
    assert chinese.facts.tolist() == pytest.approx([min(AS_LIKENESS * float(share), 1) for share in chinese.words])
    english = _inquiry(memory, "Who keeps bees?")
    assert english.has_vector
    assert sorted(value > 0 for value in english.facts.tolist()) == [False, True]


def test_the_time_of_asking_is_the_latest_known(memory: Memory) -> None:
    """Unless it is given, or an instant to look back from is."""
    memory.told("s1", "2023-05-01", "Bob keeps bees")
    memory.told("s2", None, "Bob keeps hens")
    assert _inquiry(memory, "bees").asked_ms == instant("2023-05-01")
    assert _inquiry(memory, "bees", as_of="2024-01-01").asked_ms == instant("2024-01-01")
    assert _inquiry(memory, "bees", as_of="2024-01-01", asked="2025-01-01").asked_ms == instant("2025-01-01")


def test_what_is_not_to_be_seen_has_no_number(memory: Memory) -> None:
    """Later facts, unknown ids, other turns."""
    memory.told("s1", "2023-05-01", "Bob keeps bees")
    memory.told("s2", "2023-06-01", "Bob keeps hens")
    early = _inquiry(memory, "bees", as_of="2023-05-15")
    later = next(fact for fact in memory.version.facts if fact.session_id == "s2")
    assert early.fact_number(later.id) == -1
    assert early.fact(later.id) is None
    assert early.fact(FactId("fgone")) is None
    assert early.place_number(SessionId("s1"), 0) == 0
    assert early.place_number(SessionId("s2"), 0) == early.place_number(SessionId("s9"), 0) == -1


def test_speakers_are_those_of_what_may_be_seen(memory: Memory) -> None:
    """Not of what came later."""
    memory.told("s1", "2023-05-01", "Bob keeps bees")
    memory.told("s2", "2023-06-01", "Ann keeps hens", speaker="Ann")
    assert sorted(_inquiry(memory, "bees").speakers.values()) == ["Ann", "Bob"]
    assert list(_inquiry(memory, "bees", as_of="2023-05-15").speakers.values()) == ["Bob"]
