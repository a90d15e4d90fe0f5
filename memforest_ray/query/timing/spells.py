"""Spells: how long something was so, by the chain that tells of it: "How long did Bob live in Davis?".

A state lasts from where its run begins to where the next one does. Of what was only said to be so it is not known when
it began: then it has lasted at least as long.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.letters import UPPER
from memforest_ray.ids import FactId
from memforest_ray.index.rows import index_words
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.timing.chains import Chain, asks_no_more, chains, subjects
from memforest_ray.query.timing.entries import NEWS, Entry
from memforest_ray.trees.leaves import day_of
from memforest_ray.trees.routing import entity_key

__all__ = ["EARLIER", "End", "Spell", "spell_of"]

EARLIER: Final = "or earlier"
"""How a note ends that tells a time before which it may have been."""
_HOW_LONG: Final = re.compile(
    r"\bhow (?:long|much time|many (?:days|weeks|months|years))(?P<still>\s(?:has|have|is|are|do|does)\b|['’]s)?"
    r"(?(still)|\s(?:did|had|was|were)\b)(?P<asked>.*)",
    re.IGNORECASE | re.DOTALL,
)
_WITHOUT: Final = re.compile(
    r"\bwithout (?:an? |any )?(?P<what>\w+)|\b(?:unemployed|jobless|out of work|between jobs)\b", re.IGNORECASE
)
_LIMIT: Final = re.compile(r"\b(?:before|after|until|till|since|when|while|between)\b.*", re.IGNORECASE | re.DOTALL)
_TELLS_ITSELF: Final = re.compile(
    r"\bfor (?:(?:about|almost|over|nearly|only|more than) )?\w+ (?:\w+ )?(?:day|week|month|year|decade)s?\b"
    r"|\b(?:days|weeks|months|years) now\b",
    re.IGNORECASE,
)
"""What a statement says that tells how long it has been so, so that nothing is to be measured."""
_ASKING: Final = frozenset(index_words("long many much time total altogether far already stay"))
_NAME: Final = re.compile(rf"(?<!^)\b[{UPPER}][\w-]*")
_SINCE: Final = re.compile(r"(?:since|from)\b", re.IGNORECASE)
_STARTING: Final = tuple(index_words("start begin join hire get land find day"))
_STARTS_MAX: Final = 256
"""Statements of one person that are read for a new start."""
_STARTED: Final = re.compile(
    r"\b(?:start(?:ed|s|ing)?|began|joined|hired|got|landed|found|first day)\b"
    r".{0,20}\b(?:at|with|by|as|job|position|work(?:ing)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class End:
    """Where a spell begins or ends: the statement, and what a hit says of it."""

    fact: Fact
    mention: Mention
    note: str


@dataclass(frozen=True, slots=True)
class Spell:
    """A state with its ends; one that lasts still has only the first."""

    ends: tuple[End, ...] = ()
    missing: str = ""
    """What was asked for and is not told."""


def spell_of(inquiry: Inquiry) -> Spell | None:
    """How long that was so which a question asks for; None where it does not ask so, or no chain tells it."""
    text = inquiry.question.text
    asked = _HOW_LONG.search(text)
    if asked is None:
        return None
    without = _WITHOUT.search(text)
    named = set(subjects(inquiry))
    for chain in chains(inquiry, text if without is None else without["what"] or "job"):
        if chain.subject in named or not named:
            still = asked["still"] is not None
            found = _lasting(chain, _LIMIT.sub("", asked["asked"]), still) if without is None else _idle(inquiry, chain)
            if found is not None:
                return found
    return None


def _lasting(chain: Chain, asked: str, still: bool) -> Spell | None:
    """The run of a chain that is asked for: the last of the value that is named, else the one that is so."""
    said = set(index_words(asked))
    runs = chain.runs
    named = [place for place, run in enumerate(runs) if _names(said, run[0]) and not run[0].ends]
    taken = _ASKING.union(*(index_words(runs[place][0].value) for place in named))
    rest = " ".join(word for word in asked.split() if not set(index_words(word)) <= taken or not index_words(word))
    if not asks_no_more(rest, chain.name, chain.attribute):
        return None if named else _unknown(chain, rest)
    if not named and (not still or runs[-1][0].ends):
        return None
    place = named[-1] if named else len(runs) - 1
    if any(_TELLS_ITSELF.search(entry.mention.candidate.text) for entry in runs[place]):
        return None
    return _measured(runs[place][0], runs[place + 1][0] if place + 1 < len(runs) else None)


def _names(said: Collection[str], entry: Entry) -> bool:
    words = set(index_words(entry.value))
    return bool(words) and words <= set(said)


def _unknown(chain: Chain, rest: str) -> Spell | None:
    """That nothing is told of a value, where that is all that the question asks for beside the chain."""
    values = [word for word in _NAME.findall(rest) if not set(index_words(word)) <= _own(chain)]
    plain = " ".join(word for word in rest.split() if not any(value in word for value in values))
    if not values or not asks_no_more(plain, chain.name, chain.attribute):
        return None
    return Spell(missing=f"no {chain.attribute} of {chain.name} is remembered for: {' '.join(values)}")


def _own(chain: Chain) -> set[str]:
    return set(index_words(chain.name))


def _measured(first: Entry, after: Entry | None) -> Spell | None:
    """From where a run begins to where the next one does; up to now where none does."""
    event = first.mention.candidate.event
    if not first.is_dated or (event is not None and event.open_start):
        return None
    began = _end(first, "since" if after is None else "from", limit=_is_bare(first))
    return Spell((began,) if after is None else (began, _end(after, "to")))


def _end(entry: Entry, which: str, *, limit: bool = False) -> End:
    note = f"{which} {day_of(entry.start_ms)}"
    return End(entry.fact, entry.mention, note if _is_dated(entry) and not limit else f"{note} {EARLIER}")


def _is_bare(entry: Entry) -> bool:
    """Whether a change is told with no word about when, nor as news: it was over then, for however long."""
    candidate = entry.mention.candidate
    return candidate.event is None and not entry.ends and NEWS.search(candidate.text) is None


def _is_dated(entry: Entry) -> bool:
    """Whether it is told when it came to be so, not only that it was."""
    candidate = entry.mention.candidate
    return candidate.kind is Kind.TRANSITION or (
        candidate.event is not None and _SINCE.match(candidate.event.expression) is not None
    )


def _idle(inquiry: Inquiry, chain: Chain) -> Spell | None:
    """From the last end of something to where the next begins."""
    runs = chain.runs
    for place in reversed(range(len(runs))):
        left = runs[place][-1]
        if left.ends:
            after = runs[place + 1][0] if place + 1 < len(runs) else None
            began = _end(left, "from")
            if after is not None:
                return Spell((began, _end(after, "to")))
            started = _started(inquiry, chain, left) if chain.attribute == "employer" else None
            return _measured(left, None) if started is None else Spell((began, started))
    return None


def _started(inquiry: Inquiry, chain: Chain, left: Entry) -> End | None:
    """What tells of a new job though it makes no chain: "I started at the hospital on Monday."."""
    statements, ids = inquiry.corpus.statements, inquiry.version.index.facts.ids
    own = [number for number, name in inquiry.speakers.items() if entity_key(name) == chain.subject]
    told_later = np.isin(statements.speakers, own) & (statements.starts > left.start_ms)
    later = np.flatnonzero(told_later & (statements.coverage(_STARTING) > 0))
    for number in later[np.argsort(statements.starts[later], kind="stable")][:_STARTS_MAX].tolist():
        fact = inquiry.fact(FactId(ids[statements.facts[number]]))
        told = fact is not None and fact.kind is not Kind.PLAN and entity_key(fact.speaker) == chain.subject
        if fact is not None and told and _STARTED.search(fact.text):
            return End(fact, fact.mentions[0], f"to {day_of(int(statements.starts[number]))}")
    return None
