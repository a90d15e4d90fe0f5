"""Chains: the states of one subject and attribute in the order of time, and the entry of one that a question wants."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.expressions import find_times
from memforest_ray.facts.words import fold
from memforest_ray.ids import FactId
from memforest_ray.index.rows import chain_name, index_words
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.recall import strongest
from memforest_ray.query.temporal import Direction, TimeReading
from memforest_ray.trees.leaves import day_of
from memforest_ray.trees.routing import entity_key, entity_scope
from memforest_ray.trees.tree import Leaf

__all__ = ["Chain", "Entry", "Pick", "chain_of", "pick"]

_LINKED: Final = frozenset({Kind.STATE, Kind.TRANSITION, Kind.PREFERENCE})
"""Kinds that say what is, or became, the case; a plan has not happened."""

_NEIGHBOURS: Final = 32
"""Leaves on each side of a happening that are looked at when no attribute is asked for."""
_NEIGHBOURS_GIVEN: Final = 3
"""Of these, how many are put first."""
_ANCHOR_CANDIDATES: Final = 16
"""Best matches of a happening's words among which its kind and likeness decide."""
_ANCHOR_SHARE_MIN: Final = 0.5
"""Share of a happening's words that a fact must hold to be it."""

_CUES: Final = (
    (
        "residence",
        r"\b(live[sd]?|living|reside\w*|residence|home|address|stay(ed|ing)?|based|city|town)\b|住|居|रहत|रहन|घर",
    ),
    ("employer", r"\b(work(s|ed|ing)?( at| for)?|employe[rd]\w*|company|job|boss|firm)\b|工作|上班|公司|काम|नौकरी"),
    ("job", r"\b(job|position|title|profession|occupation|role|do for a living|work as)\b|职业|职位|पेशा"),
    ("partner", r"\b(partner|husband|wife|spouse|boyfriend|girlfriend|dating|married to)\b|丈夫|妻子|पति|पत्नी"),
    ("phone", r"\b(phone|number|mobile|cell)\b|电话|手机|फ़ोन"),
    ("email", r"\be-?mail\b|邮箱|ईमेल"),
    ("pet", r"\b(pet|dog|cat)s?\b|宠物"),
    ("diet", r"\b(diet|eats?|vegan|vegetarian)\b|饮食"),
    ("school", r"\b(study|studie[sd]|studying|school|university|college|major)\b|学校|大学"),
    ("car", r"\b(car|drives?|drove|vehicle)\b|车"),
)
"""Words of a question that ask for an attribute. An attribute's own name always does."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of a chain: what was so from when on, by adjacent mentions of one fact."""

    start_ms: int
    fact: Fact
    mention: Mention
    """The first of them."""

    @property
    def value(self) -> str:
        """What the attribute is from here on."""
        return fold(self.mention.candidate.value or self.mention.candidate.text)


@dataclass(frozen=True, slots=True)
class Chain:
    """Entries in order of time; the last is how it is now."""

    subject: str
    attribute: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """A fact that time puts first."""

    fact: Fact
    mention: Mention
    note: str


def pick(inquiry: Inquiry, reading: TimeReading, neighbour: float) -> tuple[Pick, ...]:
    """What the question's words about time single out, the best first; nothing when they single out nothing."""
    if reading.direction is None:
        return ()
    chains = list(_chains(inquiry, reading.topic))
    if not reading.anchors:
        return tuple(found for chain in chains[:1] for found in _from_end(chain, reading.direction))
    spans = [_span_of(inquiry, anchor) for anchor in reading.anchors]
    if any(span is None for span in spans):
        return ()
    known = [span for span in spans if span is not None]
    for chain in chains[:1]:
        return tuple(_measured(chain, reading, known))
    happening = known[0].fact
    if happening is None or reading.direction is Direction.BETWEEN:
        return ()  # a bare date has no neighbours of its own: everything lies before or after it
    return tuple(_neighbours(inquiry, reading, happening, neighbour))


@dataclass(frozen=True, slots=True)
class _Span:
    """When an anchor is, and the fact that says so, if it is one."""

    start_ms: int
    end_ms: int
    fact: Fact | None


def _from_end(chain: Chain, direction: Direction) -> Iterator[Pick]:
    """The first, the current or the previous entry."""
    runs = _runs(chain.entries)
    if direction is Direction.FIRST:
        yield _pick(chain, runs[0][0], "first")
    elif direction is Direction.CURRENT:
        yield _pick(chain, runs[-1][-1], "current")
    elif direction is Direction.PREVIOUS and len(runs) > 1:
        yield _pick(chain, runs[-2][-1], "previous")


def _runs(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Adjacent entries of one value, together: "moved to Davis" and "lives in Davis" are one state."""
    runs: list[list[Entry]] = []
    for entry in entries:
        if runs and runs[-1][-1].value == entry.value:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _measured(chain: Chain, reading: TimeReading, spans: Sequence[_Span]) -> Iterator[Pick]:
    """The entry before, after or between happenings. What holds the happening itself is none of them."""
    told = {span.fact.id for span in spans if span.fact is not None}
    barred = {entry.value for entry in chain.entries if entry.fact.id in told}
    free = [entry for entry in chain.entries if entry.value not in barred]
    note = f"{reading.direction} {' and '.join(day_of(span.start_ms) for span in spans)}"
    if reading.direction is Direction.BEFORE:
        found = [entry for entry in free if entry.start_ms < spans[0].start_ms][-1:]
    elif reading.direction is Direction.AFTER:
        found = [entry for entry in free if entry.start_ms >= spans[0].start_ms][:1]
    else:
        low, high = sorted(span.start_ms for span in spans[:2])
        found = [entry for entry in free if low <= entry.start_ms < high]
    for entry in found:
        yield _pick(chain, entry, note)


def _pick(chain: Chain, entry: Entry, note: str) -> Pick:
    return Pick(entry.fact, entry.mention, f"{note}: {chain.attribute}")


def _chains(inquiry: Inquiry, topic: str) -> Iterator[Chain]:
    """Chains that the topic asks for: the attributes it speaks of, of the people it names, else of whoever matches."""
    attributes = list(_attributes(inquiry, topic))
    for subject in _subjects(inquiry):
        for attribute in attributes:
            chain = chain_of(inquiry, subject, attribute)
            if chain is not None:
                yield chain
    for subject, attribute in _near(inquiry):
        if attribute in attributes and not _subjects(inquiry):
            chain = chain_of(inquiry, subject, attribute)
            if chain is not None:
                yield chain


def _attributes(inquiry: Inquiry, topic: str) -> Iterator[str]:
    terms = set(index_words(topic))
    own = {attribute for _, attribute in _near(inquiry) if terms.issuperset(index_words(attribute) or [""])}
    yield from sorted(own)
    for attribute, cues in _CUES:
        if attribute not in own and re.search(cues, topic, re.IGNORECASE):
            yield attribute


def _near(inquiry: Inquiry) -> list[tuple[str, str]]:
    """Subject and attribute of the facts that match best, the best first."""
    statements = inquiry.corpus.statements
    names = inquiry.version.index.registers.chains.names
    best = strongest(inquiry.facts + inquiry.words, _NEIGHBOURS)
    order = best[np.argsort(-(inquiry.facts + inquiry.words)[best], kind="stable")]
    found = (names[number] for number in statements.chains[order] if number >= 0)
    return [(subject, attribute) for subject, _, attribute in (name.partition("\n") for name in dict.fromkeys(found))]


def _subjects(inquiry: Inquiry) -> list[str]:
    """Whom the question names: speakers, and words written as names."""
    question = inquiry.question
    speakers = [name for name in inquiry.speakers.values() if question.names(name)]
    written = re.findall(r"(?<!^)\b[A-Z][\w'’-]*[\w](?: [A-Z][\w'’-]*\w)*", question.text)
    named = [name.removesuffix("'s").removesuffix("’s") for name in written]
    return list(dict.fromkeys(entity_key(name) for name in (*sorted(speakers), *named)))


def chain_of(inquiry: Inquiry, subject: str, attribute: str) -> Chain | None:
    """The chain of a subject and attribute as far as this query may know it; None when there is none."""
    name = chain_name(subject, attribute)
    number = None if name is None else inquiry.version.index.registers.chains.get(name)
    if name is None or number is None:
        return None
    rows = inquiry.corpus.statements.facts[inquiry.corpus.statements.chains == number]
    ids = inquiry.version.index.facts.ids
    entries = _merged(sorted(_entries(inquiry, (FactId(ids[row]) for row in rows), name), key=_place))
    return Chain(subject, attribute, entries) if entries else None


def _entries(inquiry: Inquiry, ids: Iterable[FactId], name: str) -> Iterator[Entry]:
    for number in ids:
        fact = inquiry.fact(number)
        for mention in () if fact is None else fact.mentions:
            said, candidate = mention.source_ms, mention.candidate
            start = said if candidate.event is None else candidate.event.start_ms
            links = candidate.kind in _LINKED and chain_name(candidate.subject, candidate.attribute) == name
            if fact is not None and start is not None and links:
                yield Entry(start, fact, mention)


def _place(entry: Entry) -> tuple[int, int, str, int, int]:
    mention = entry.mention
    said = entry.start_ms if mention.source_ms is None else mention.source_ms
    return entry.start_ms, said, mention.session_id, mention.candidate.turns[0], mention.number


def _merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Adjacent mentions of one fact as one entry."""
    kept: list[Entry] = []
    for entry in entries:
        if not kept or kept[-1].fact.id != entry.fact.id:
            kept.append(entry)
    return tuple(kept)


def _span_of(inquiry: Inquiry, anchor: str) -> _Span | None:
    """When an anchor is: the time it names, else that of the fact which tells it."""
    times = find_times(anchor, inquiry.asked_ms, inquiry.request.zone)
    if times and not index_words(_without(anchor, times[0].start, times[0].end)):
        return _Span(*times[0].event.interval, None)
    fact = _happening(inquiry, anchor)
    if fact is None:
        return None
    event = fact.event
    if event is not None:
        return _Span(*event.interval, fact)
    return None if fact.source_ms is None else _Span(fact.source_ms, fact.source_ms + 1, fact)


def _without(text: str, start: int, end: int) -> str:
    return text[:start] + " " + text[end:]


def _happening(inquiry: Inquiry, anchor: str) -> Fact | None:
    """The fact that tells of `anchor`: its words first, then that it happened, then its likeness."""
    terms = list(dict.fromkeys(index_words(anchor)))
    if not terms:
        return None
    statements = inquiry.corpus.statements
    share = statements.coverage(terms)
    ranked = share + 0.3 * inquiry.facts
    best = [number for number in strongest(ranked, _ANCHOR_CANDIDATES) if share[number] >= _ANCHOR_SHARE_MIN]
    ids = inquiry.version.index.facts.ids
    found: list[tuple[float, Fact]] = []
    for number in best:
        fact = inquiry.fact(FactId(ids[statements.facts[number]]))
        if fact is not None and fact.kind is not Kind.PLAN:
            happened = 0.2 * (fact.kind in (Kind.TRANSITION, Kind.EVENT)) + 0.2 * _concerns(inquiry, fact)
            found.append((float(ranked[number]) + happened, fact))
    return min(found, key=lambda entry: (-round(entry[0], 6), fact_order(entry[1])))[1] if found else None


def _concerns(inquiry: Inquiry, fact: Fact) -> bool:
    """Whether the fact is of someone whom the question names."""
    return any(inquiry.question.names(name) for name in (fact.subject or "", fact.speaker) if name)


def _neighbours(inquiry: Inquiry, reading: TimeReading, happening: Fact, neighbour: float) -> Iterator[Pick]:
    """The leaves beside a happening that are most like the question, the most alike first."""
    order = fact_order(happening)
    found: list[tuple[float, Leaf]] = []
    for subject in _subjects(inquiry):
        tree = inquiry.version.trees.get(entity_scope(subject))
        if tree is not None:
            beside = tree.before if reading.direction is Direction.BEFORE else tree.after
            found.extend((inquiry.likeness_of(FactId(leaf.item)), leaf) for leaf in beside(order, _NEIGHBOURS))
    found.sort(key=lambda entry: (-round(entry[0], 6), entry[1].order))
    for likeness, leaf in islice(found, _NEIGHBOURS_GIVEN):
        fact = inquiry.fact(FactId(leaf.item))
        if likeness >= neighbour and fact is not None:
            yield Pick(fact, fact.mentions[0], f"{reading.direction} {day_of(order[0])}")
