"""Planned: a move or a new job whose day is over, of which nobody has said whether it came to be.

Who told in June of moving to Kiel in August, and has said nothing of a home since, lives in Kiel or does not: what is
known is told beside the last state, with its own words.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.letters import UPPER
from memforest_ray.ids import FactId
from memforest_ray.index.rows import index_words
from memforest_ray.index.table import Integers
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.timing.chains import asks_no_more, chain_of, speaks_of, subjects, whose
from memforest_ray.query.timing.temporal import told_ahead
from memforest_ray.trees.leaves import day_of
from memforest_ray.trees.routing import entity_key

__all__ = ["Planned", "planned"]

_NEAR: Final = 64
"""Statements of one person that are read for a plan, and for what became of it; the latest."""
_TO: Final = rf"(?P<to>[{UPPER}][\w'’-]*)"
_PLANS: Final = {
    "residence": re.compile(rf"\b(?:mov(?:e|es|ing)|relocat(?:e|es|ing))(?: back)? to {_TO}"),
    "employer": re.compile(
        r"\b(?:(?:start|begin)(?:s|ning|ing)?(?: work(?:ing)?| (?:an?|the|his|her|their)(?: new)? (?:job|position))? "
        rf"(?:at|with)|join(?:s|ing)?) {_TO}"
    ),
}
"""By attribute, how a statement says what it is to be, and of which value."""
_HOOKS: Final = tuple(index_words("move relocate start begin join"))
_UNSURE: Final = re.compile(
    r"\b(?:not|never|maybe|perhaps|might|may|could|would|should|hop(?:e|es|ing)|wish\w*|want\w*|think\w*|consider\w*"
    r"|dream\w*|help\w*|if|unless)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What makes of a plan a wish, or denies it."""
_OFF: Final = re.compile(
    r"\b(?:not|never|no longer|cancel\w*|called off|instead|fell through|turned down|decided against)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
"""What says of a plan that nothing came of it."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan whose day is over."""

    fact: Fact
    note: str


def planned(inquiry: Inquiry, topic: str) -> Planned | None:
    """The last plan for the home or the job that the topic asks for, where no state has been told for its day or later.

    None where several people are asked for, or more than the home or the job.
    """
    attributes = [attribute for attribute in _PLANS if speaks_of(topic, attribute)]
    over = _over(inquiry) if attributes else None
    named = None if over is None else whose(inquiry, topic)
    if over is None or named is None:
        return None
    people = subjects(inquiry, named)
    for attribute in attributes if len(people) == 1 else ():
        found = _overdue(inquiry, people[0], attribute, over)
        if found is not None and asks_no_more(named, found.speaker, attribute):
            return Planned(found, f"planned for {day_of(found.event.start_ms if found.event else None)}: {attribute}")
    return None


def _over(inquiry: Inquiry) -> NDArray[np.bool_] | None:
    """Statements of a move or a start that lay ahead and whose day is over; None where there is none."""
    statements = inquiry.corpus.statements
    if inquiry.asked_ms is None:
        return None
    ahead = told_ahead(statements.starts, statements.sources) & (statements.ends <= inquiry.asked_ms)
    over: NDArray[np.bool_] = ahead & (statements.coverage(_HOOKS) > 0)
    return over if over.any() else None


def _overdue(inquiry: Inquiry, subject: str, attribute: str, over: NDArray[np.bool_]) -> Fact | None:
    statements = inquiry.corpus.statements
    own = [number for number, name in inquiry.speakers.items() if entity_key(name) == subject]
    theirs = over & np.isin(statements.speakers, own)
    if not theirs.any():
        return None
    people = set(map(entity_key, inquiry.speakers.values()))
    chain = chain_of(inquiry, subject, attribute)
    if chain is not None:
        theirs &= statements.starts > chain.entries[-1].start_ms
    for number in _latest(statements.starts, np.flatnonzero(theirs)):
        fact = _fact(inquiry, number)
        match = None if fact is None else _plan_in(fact, attribute)
        if fact is not None and match is not None and entity_key(match["to"]) not in people:
            known = chain is not None and index_words(match["to"]) == index_words(chain.entries[-1].value)
            return None if known or _is_off(inquiry, own, number, match["to"]) else fact
    return None


def _plan_in(fact: Fact, attribute: str) -> "re.Match[str] | None":
    """What a statement says for sure that its speaker is to do, be it of a home or of a job."""
    theirs = fact.text.startswith(f"{fact.speaker} ") and not _UNSURE.search(fact.text)
    return _PLANS[attribute].search(fact.text) if theirs else None


def _is_off(inquiry: Inquiry, own: list[int], plan: int, value: str) -> bool:
    """Whether its own people have said since that nothing came of it."""
    statements = inquiry.corpus.statements
    later = np.isin(statements.speakers, own) & (statements.sources > statements.sources[plan])
    held = np.flatnonzero(later & (statements.matches([*index_words(value), *_HOOKS]) > 0))
    facts = (_fact(inquiry, number) for number in _latest(statements.sources, held))
    return any(fact is not None and _OFF.search(fact.text) is not None for fact in facts)


def _latest(times: Integers, numbers: Integers) -> list[int]:
    """The last of these facts, the latest first."""
    latest: list[int] = numbers[np.argsort(-times[numbers], kind="stable")][:_NEAR].tolist()
    return latest


def _fact(inquiry: Inquiry, number: int) -> Fact | None:
    return inquiry.fact(FactId(inquiry.version.index.facts.ids[inquiry.corpus.statements.facts[number]]))
