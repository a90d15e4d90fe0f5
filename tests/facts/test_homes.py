"""What somebody moved to: a place to live in, or a tool, a day, a team."""

import pytest

from memforest_ray.facts.attributes import attribute_of
from memforest_ray.facts.homes import is_home, names_no_place

HOMES = {
    "We moved to Miami last month": "Miami",
    "Two weeks ago we moved to Miami": "Miami",
    "We finally moved to San Luis, CA": "San Luis, CA",
    "We just moved to New York City": "New York City",
    "we moved to miami last year": "miami",
    "We've moved to Stoke-on-Trent, closer to my parents": "Stoke-on-Trent",
    "We moved to Oslo because the rent was lower": "Oslo",
    "We moved to a small house in Graz": "Graz",
    "We moved into our new apartment in Lisbon": "Lisbon",
    "We moved to Davis when the kids were small": "Davis",
    "We moved from Boston to Davis": "Davis",
    "We relocated to Oslo": "Oslo",
    "We finally settled in Kiel": "Kiel",
    "I settled down in Kiel": "Kiel",
    "We moved back to Oslo": "Oslo",
    "We moved to Washington, D.C. in 2019": "Washington, D.C",
    "In May we moved to St. Louis": "St. Louis",
    "We moved to Austin, Texas": "Austin, Texas",
    "We'd moved to Rio de Janeiro in 2010": "Rio de Janeiro",
    "We moved to Saint-Étienne last year": "Saint-Étienne",
    "I moved to LA": "LA",
    "I moved to PARIS": "PARIS",
    "I MOVED TO PARIS": "PARIS",
    "I moved to SLC.": "SLC",
    "I moved to KL": "KL",
    "I moved to Spring, Texas": "Spring, Texas",
    "I moved to Berlin for the platform team": "Berlin",
}
NO_HOMES = [
    "We moved to Miami",  # nothing says what it is
    "We moved to Kubernetes last year",
    "We just moved to Slack",
    "We finally moved to GitHub Actions",
    "We moved to PostgreSQL in 2021",
    "We moved from Jenkins to Bazel last week",
    "We moved from GitLab to Drone",
    "we moved to kafka last year",
    "Last month we moved to Honeycomb for all our servers",
    "We moved to Trefoil, the new CI tool, last month",
    "We moved to AWS two years ago",
    "We moved to S3 last week",
    "We moved to Next.js yesterday",
    "We moved to Thursday this week",
    "We moved to Chapter Four today",
    "Our team moved to Teams",
    "I moved to Linux last year",
    "We settled in Teams",
    "I moved to AWS",
    "I moved to HR last year",
    "I moved to S3",
    "I moved to GitHub, Jenkins",
    "I moved to Marketing in May",
]


@pytest.mark.parametrize("clause", HOMES)
def test_where_people_live(clause: str) -> None:
    """A name like a town's, and something that speaks for a home."""
    found = attribute_of(clause)
    assert found is not None
    assert (found.name, found.value, found.subject) == ("residence", HOMES[clause], "I")


@pytest.mark.parametrize("clause", NO_HOMES)
def test_what_is_no_home(clause: str) -> None:
    """Tools, days and departments; and where nothing speaks for a home."""
    assert attribute_of(clause) is None


@pytest.mark.parametrize(
    ("clause", "said", "home"),
    [
        ("We moved to Miami", "How is the new house?\nWe moved to Miami", True),
        ("Last spring we moved to Trefoil", "What do you use for CI?\nLast spring we moved to Trefoil", False),
        ("We moved to Davis to be near my parents", "I lead a team.\nWe moved to Davis to be near my parents", True),
    ],
)
def test_what_else_was_said_decides(clause: str, said: str, home: bool) -> None:
    """Words of home or of software in the talk; those of the clause itself weigh more."""
    assert is_home(clause.split(" to ")[1], clause, said) is home
    assert (attribute_of(clause, said) is not None) is home


@pytest.mark.parametrize(
    ("name", "no_place"),
    [("Graz", False), ("McKinney", False), ("Aix-en-Provence", False), ("GitHub", True), ("S3", True), ("", True)],
)
def test_names_by_their_form(name: str, no_place: bool) -> None:
    """Capitals and digits within a word are of no town."""
    assert names_no_place(name) is no_place
