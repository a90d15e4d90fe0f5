"""The errors' own words: what was meant by a name that nobody knows."""

import pytest

from memforest_ray.errors import meant

KNOWN = ("as_of", "k", "mode", "session", "zone")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("mod", "did you mean 'mode'?"),
        ("MODE", "did you mean 'mode'?"),
        ("asof", "did you mean 'as_of'?"),
        ("top_k", "did you mean 'k'?"),
        ("session_id", "did you mean 'session'?"),
        ("colour", "known: as_of, k, mode, session, zone"),
        ("", "known: as_of, k, mode, session, zone"),
    ],
)
def test_the_nearest_name_or_all(word: str, told: str) -> None:
    """One spelled alike, else one that stands in it, else all there are."""
    assert told == meant(word, KNOWN)


def test_what_all_begin_with_makes_none_alike() -> None:
    """Or every name would be near every other."""
    known = ["APP_STORE", "APP_LEVEL"]
    assert meant("APP_STOER", known, "APP_") == "did you mean 'APP_STORE'?"
    assert meant("APP_QQQQQ", known, "APP_") == "known: APP_LEVEL, APP_STORE"
