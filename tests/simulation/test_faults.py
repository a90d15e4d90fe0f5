"""Faults: as often as asked for, the same for the same seed."""

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.simulation.faults import Faults, parse_rates

BODIES = [f"request {number}".encode() for number in range(2_000)]


def test_the_same_seed_gives_the_same_faults_in_any_order() -> None:
    """A fault belongs to a request, not to its turn."""
    rates = parse_rates("500=0.2,reset=0.1")
    forward, backward = Faults(rates, 1), Faults(rates, 1)
    assert [forward.of(body) for body in BODIES] == [backward.of(body) for body in reversed(BODIES)][::-1]
    assert [Faults(rates, 2).of(body) for body in BODIES] != [Faults(rates, 1).of(body) for body in BODIES]


def test_shares_are_kept() -> None:
    """Within what chance allows, and counted."""
    faults = Faults(parse_rates("500=0.2,reset=0.1"), 3)
    found = [faults.of(body) for body in BODIES]
    assert (faults.met["500"], faults.met["reset"]) == (found.count("500"), found.count("reset"))
    assert 330 < faults.met["500"] < 470
    assert 140 < faults.met["reset"] < 260


def test_the_same_request_may_pass_the_next_time() -> None:
    """Else no retry would help."""
    faults = Faults(parse_rates("500=0.5"), 4)
    assert {faults.of(b"again") for _ in range(20)} == {None, "500"}


def test_one_share_is_spread_over_all_that_passes() -> None:
    """Silence takes a time-out each, so it has to be asked for."""
    rates = parse_rates("0.12")
    assert rates == dict.fromkeys(("429", "500", "reset", "truncate", "junk", "whitespace"), pytest.approx(0.02))


@pytest.mark.parametrize("text", ["often", "500", "500=x", "404=0.1", "500=-1", "500=0.7,429=0.4", "2"])
def test_shares_that_cannot_be_are_refused(text: str) -> None:
    """With what can."""
    with pytest.raises(InvalidInput):
        parse_rates(text)


def test_no_faults_without_rates() -> None:
    """The default."""
    assert (parse_rates(""), Faults({}).of(b"x")) == ({}, None)
