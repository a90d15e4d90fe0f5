"""Kinds and domains, by words."""

import pytest

from memforest_ray.facts.candidates import DOMAINS, Kind
from memforest_ray.facts.kinds import domain_of, kind_of


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I'm allergic to nuts", Kind.CONSTRAINT),
        ("I can't eat gluten", Kind.CONSTRAINT),
        ("I can't wait to go", Kind.PLAN),
        ("I'm going to paint the fence", Kind.PLAN),
        ("We'll sail on", Kind.PLAN),
        ("I moved to Davis", Kind.TRANSITION),
        ("I no longer sing", Kind.TRANSITION),
        ("I quit smoking", Kind.TRANSITION),
        ("I really love old maps", Kind.PREFERENCE),
        ("She hates rain", Kind.PREFERENCE),
        ("My favorite tree is the oak", Kind.PREFERENCE),
        ("Sounds like a storm", Kind.DETAIL),
        ("I went to the clinic", Kind.EVENT),
        ("We painted the fence", Kind.EVENT),
        ("I'm tired of rain", Kind.STATE),
        ("My kids are excited about it", Kind.STATE),
        ("I have two cats", Kind.STATE),
        ("Old maps everywhere", Kind.DETAIL),
        ("我喜欢茶", Kind.PREFERENCE),
        ("我打算去上海", Kind.PLAN),
    ],
)
def test_kinds(clause: str, expected: Kind) -> None:
    """The strongest sign decides."""
    assert kind_of(clause, dated_past=False, dated_future=False) is expected


def test_a_date_decides() -> None:
    """What is dated before is an event, what is dated after is a plan."""
    assert kind_of("Choir practice", dated_past=True, dated_future=False) is Kind.EVENT
    assert kind_of("Choir practice", dated_past=False, dated_future=True) is Kind.PLAN
    assert kind_of("He will, he said", dated_past=True, dated_future=False) is Kind.EVENT


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I cooked dinner with a new recipe", "food"),
        ("Our trip to the beach", "travel"),
        ("My boss gave me a deadline at work", "work"),
        ("我在公司工作", "work"),
        ("Blue", "other"),
        ("", "other"),
    ],
)
def test_domains(clause: str, expected: str) -> None:
    """Most words decide; without any it is other."""
    assert domain_of(clause) == expected
    assert domain_of(clause) in DOMAINS
