"""Sayings: which clauses of a turn are kept, and which of them belong together."""

import pytest

from memforest_ray.facts.candidates import TurnInput
from memforest_ray.facts.names import Speakers
from memforest_ray.facts.sayings import Saying, sayings


def said(text: str) -> list[Saying]:
    return sayings(TurnInput(0, "Ana", "user", text, None), Speakers(("Ana", "Ben")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, Ben! I fixed the old boat yesterday. How are you?", ["I fixed the old boat yesterday."]),
        ("That's so cool! I sold my boat.", ["I sold my boat."]),
        ("You did great. The ferry to Rome was late again.", ["The ferry to Rome was late again."]),
        ("You did a great job with that old boat!", ["You did a great job with that old boat!"]),
        ("Why did you sell the boat?", []),
        ("Haha, ok!", []),
        ("42 ships today", ["42 ships today"]),
        (
            "The interview went well. Anna will call by Friday.",
            ["The interview went well.", "Anna will call by Friday."],
        ),
        ("The bank refused. So I asked my aunt.", ["The bank refused.", "I asked my aunt."]),
        ("Sure. The old boat sank near Rome.", ["The old boat sank near Rome."]),
        ("我修好了船。谢谢！", ["我修好了船。"]),
    ],
)
def test_what_is_kept(text: str, expected: list[str]) -> None:
    """Statements stay; praise stays only where there is nothing else."""
    assert [saying.statement for saying in said(text)] == expected


def test_what_speaks_on_joins_what_stands_before() -> None:
    """A sentence without a noun of its own joins, up to a bound; a new statement does not."""
    first, second = said("I ran a race in Rome. It was hot. They cheered. I keep bees near the river.")
    assert (first.statement, first.speaking_on) == ("I ran a race in Rome.", " It was hot. They cheered.")
    assert second.statement == "I keep bees near the river."
    assert len(said("I ran a race in Rome. " + "It was a very hot day near the old river. " * 20)) > 1


def test_where_a_saying_ends() -> None:
    """Its end is that of the last sentence that joined, so that its time is found there too."""
    text = "I ran a race in Rome. It was last week."
    (saying,) = said(text)
    assert (saying.clause.start, saying.end) == (0, len(text))


def test_the_first_word() -> None:
    """The first word decides much; an empty statement has none."""
    assert [saying.first for saying in said("Well, I'm tired of the old boat")] == ["i'm"]
    assert Saying(TurnInput(0, "Ana", "user", "", None), said("The old boat sank.")[0].clause, "", (), None).first == ""
