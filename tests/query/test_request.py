"""What is asked."""

import pickle
from typing import Any

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.query.request import Filters, QueryRequest
from memforest_ray.testing.memory import instant


def test_times_are_read_in_any_form() -> None:
    """Text, in the zone that is named, or numbers."""
    request = QueryRequest.of(
        "Who?", as_of="2023-05-08", since=1_600_000_000, until="2024-01-02T00:00:00", zone="Asia/Tokyo"
    )
    assert request.as_of_ms == instant("2023-05-08T00:00:00+09:00")
    assert request.since_ms == 1_600_000_000_000
    assert request.until_ms == instant("2024-01-02T00:00:00+09:00")


def test_filters_and_bounds_are_kept() -> None:
    """Each under its own name."""
    request = QueryRequest.of("Who?", k=3, mode="flat", kind="fact", speaker="Bob", token_budget=7, families=["entity"])
    assert (request.k, request.mode, request.token_budget) == (3, "flat", 7)
    assert request.filters == Filters(kind="fact", speaker="Bob")
    assert request.families == frozenset({"entity"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": " "}, "the question is empty"),
        ({"text": None}, "the question is empty"),
        ({"text": "why " * 1_001}, "the question has 4,004 characters, more than 4,000"),
        ({"metadata": {1: "a", "b": "c"}}, "the filter 'metadata' must map text to text"),
        ({"k": 0}, "k is 0"),
        ({"k": "ten"}, "k is 'ten'"),
        ({"k": 2.5}, "k is 2.5"),
        ({"at_least": -1}, "at_least is -1"),
        ({"at_least": "new"}, "at_least is 'new'"),
        ({"families": "user"}, "unknown tree family 'user'"),
        ({"kind": "summary"}, "unknown kind 'summary'"),
        ({"speaker": 5}, "the filter 'speaker' must be text, not 5"),
        ({"session": 5}, "the filter 'session' must be text, not 5"),
        ({"zone": 5}, "unknown time zone 5"),
        ({"k": 10**9}, "k is 1000000000"),
        ({"since": "2023-01-02", "until": "2023-01-01"}, "`until` must be later than `since`"),
        ({"families": ["user"]}, "unknown tree family 'user'"),
        ({"expand": "all"}, "unknown expansion 'all'"),
        ({"token_budget": 0}, "the token budget is 0"),
        ({"as_of": "yesterdayish"}, "yesterdayish"),
        ({"zone": "Nowhere/Town"}, "unknown time zone 'Nowhere/Town'"),
        ({"depth": 3}, "unknown option 'depth'"),
        ({"k": True}, "k is True"),
        ({"token_budget": "5"}, "the token budget is '5'"),
        ({"token_budget": 2.5}, "the token budget is 2.5"),
        ({"families": 3}, "the option 'families' must list names of tree families, not 3"),
        ({"families": [3]}, "the option 'families' must list names of tree families"),
        ({"rerank": "no"}, "the option 'rerank' is 'no'"),
        ({"explain": 1}, "the option 'explain' is 1"),
        ({"at_least": False}, "at_least is False"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, Any], message: str) -> None:
    """One sentence, naming the option."""
    with pytest.raises(InvalidInput, match=message):
        QueryRequest.of(options.pop("text", "Who?"), **options)


def test_one_family_needs_no_list() -> None:
    """Its name will do."""
    assert QueryRequest.of("Who?", families="entity").families == frozenset({"entity"})


def test_a_request_crosses_process_borders() -> None:
    """It pickles to its equal."""
    for request in (
        QueryRequest.of("Who?", since="2023-01-02", speaker="Bob"),
        QueryRequest("Who?", filters=Filters()),
    ):
        assert pickle.loads(pickle.dumps(request)) == request


def test_metadata_has_one_form() -> None:
    """Whatever the order in which it is given."""
    one, other = (
        QueryRequest.of("Who?", metadata={"a": "1", "b": "2"}),
        QueryRequest.of("Who?", metadata={"b": "2", "a": "1"}),
    )
    assert one == other
    assert one.filters.metadata == (("a", "1"), ("b", "2"))
    assert pickle.loads(pickle.dumps(one)) == one
