"""Why a hit ranks where it does."""

from math import log

import pytest

from memforest_ray.query.rank import Ranking
from memforest_ray.testing.memory import Memory, days


def _kitchen(memory: Memory) -> Memory:
    memory.say(
        "s1", "2023-05-08", ("Ann", "Which spice do you put in?"), ("Bob", "Always cardamom"), ("Ann", "Lovely tea!")
    )
    memory.state("s1", 1, "Bob always puts in cardamom", entities=("Bob",))
    memory.told("s2", "2023-06-01", "Bob bought a kayak", event=days("2023-05-31"))
    memory.told("s3", "2023-08-01", "Bob bought a kayak", event=days("2023-05-31"))
    memory.told("s4", "2021-01-01", "Bob bought a canoe", event=days("2020-12-31"))
    return memory


@pytest.mark.parametrize(
    "question", ["Which spice does Bob use?", "When did Bob buy the kayak?", "What did Bob buy in May 2023?", "tea"]
)
@pytest.mark.parametrize("mode", ["flat", "embed"])
def test_the_parts_add_up_to_the_score(memory: Memory, question: str, mode: str) -> None:
    """Of facts and of dialogue, whatever was asked: bias and parts are the score's log-odds."""
    ranking = Ranking()
    hits = _kitchen(memory).ask(question, k=50, explain=True, mode=mode)
    assert {hit.kind for hit in hits} == {"fact", "cell"}
    for hit in hits:
        assert hit.why is not None
        logit = (ranking.bias + sum(value for _, value in hit.why.parts)) / ranking.temperature
        assert logit == pytest.approx(log(hit.score / (1 - hit.score)), abs=1e-2 + 2e-6 / hit.score)


def test_untimely_facts_say_what_it_cost_them(memory: Memory) -> None:
    """Before the kayak: the kayak itself is of another time."""
    hits = _kitchen(memory).ask("What did Bob buy before he bought the kayak?", explain=True, k=50)
    [kayak] = [hit for hit in hits if hit.text == "Bob bought a kayak"]
    assert not kayak.timely
    assert kayak.why is not None
    assert dict(kayak.why.parts)["untimely"] == -Ranking().untimely
    [canoe] = [hit for hit in hits if hit.text == "Bob bought a canoe"]
    assert canoe.timely


def test_it_names_the_mention_and_the_time(memory: Memory) -> None:
    """Which of two tellings is shown, and which of its times counts."""
    hits = _kitchen(memory).ask("When did Bob buy the kayak?", explain=True, k=50)
    [kayak] = [hit.why for hit in hits if hit.text == "Bob bought a kayak"]
    [tea] = [hit.why for hit in hits if hit.text.endswith("Lovely tea!")]
    assert kayak is not None
    assert tea is not None
    assert (kayak.mention, kayak.mentions, kayak.time) == ("s2#0", 2, "event")
    assert (tea.mention, tea.mentions, tea.time) == ("s1#2", 1, "source")
    assert kayak.to_json()["parts"].keys() >= {"fact", "window", "turn", "cell"}


def test_nothing_is_explained_unasked(memory: Memory) -> None:
    """It costs something."""
    assert [hit.why for hit in _kitchen(memory).ask("tea", k=50)] == [None] * len(memory.ask("tea", k=50))
