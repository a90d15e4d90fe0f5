"""Chains: the states of one subject and attribute in the order of time, and which of them a question asks for."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.words import fold
from memforest_ray.ids import FactId
from memforest_ray.index.rows import chain_name, index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.trees.routing import entity_key

__all__ = ["Chain", "Entry", "asked_states", "asks_no_more", "chain_of", "chains", "subjects"]

_LINKED: Final = frozenset({Kind.STATE, Kind.TRANSITION, Kind.PREFERENCE})
"""Kinds that say what is, or became, the case; a plan has not happened."""
_NEAR: Final = 32
"""Best facts whose chains a question may mean without naming their attribute."""

_CUES: Final = (
    (
        "residence",
        r"\b(live[sd]?|living|reside\w*|residence|home|address|stay(ed|ing)?|based|city|town)\b|住|居|रहत|रहन|घर",
    ),
    (
        "employer",
        r"\b(work(s|ed|ing)?\b(?! (out|on|through|with|hard|towards?)\b)|employe[rd]\w*|company|job|boss|firm)\b"
        r"|工作|上班|公司|काम|नौकरी",
    ),
    ("job", r"\b(job|position|title|profession|occupation|role|do for a living|work as)\b|职业|职位|पेशा"),
    ("partner", r"\b(partner|husband|wife|spouse|boyfriend|girlfriend|dating|married to)\b|丈夫|妻子|पति|पत्नी"),
    ("phone", r"\b(phone|number|mobile|cell)\b|电话|手机|फ़ोन"),
    ("email", r"\be-?mail\b|邮箱|ईमेल"),
    ("pet", r"\b(pet|dog|cat)s?\b|宠物"),
    ("diet", r"\b(diet|eats?|vegan|vegetarian)\b|饮食"),
    ("school", r"\b(study|studie[sd]|studying|school|university|college|major)\b|学校|大学"),
    ("car", r"\b(car|drives?|drove|vehicle)\b|车"),
    ("age", r"\b(how old|age)\b|几岁|多大"),
    ("allergy", r"\ballerg(y|ies|ic)\b|过敏"),
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

    @property
    def ends(self) -> bool:
        """Whether nothing is so from here on, as after "I quit my job"."""
        candidate = self.mention.candidate
        return candidate.value is None and candidate.kind is Kind.TRANSITION


@dataclass(frozen=True, slots=True)
class Chain:
    """Entries in order of time; the last is how it is now."""

    subject: str
    attribute: str
    entries: tuple[Entry, ...]

    @property
    def name(self) -> str:
        """The subject as it was spelt first."""
        return self.entries[0].mention.candidate.subject or self.subject

    @property
    def runs(self) -> tuple[tuple[Entry, ...], ...]:
        """Adjacent entries of one value, together: "moved to Davis" and "lives in Davis" are one state."""
        runs: list[list[Entry]] = []
        for entry in self.entries:
            if runs and runs[-1][-1].value == entry.value:
                runs[-1].append(entry)
            else:
                runs.append([entry])
        return tuple(map(tuple, runs))


def chains(inquiry: Inquiry, topic: str) -> Iterator[Chain]:
    """Chains that the topic asks for: the attributes it speaks of, of the people it names, else of whoever matches."""
    for subject, attribute in _asked(inquiry, topic):
        chain = chain_of(inquiry, subject, attribute)
        if chain is not None:
            yield chain


def asked_states(inquiry: Inquiry, topic: str) -> frozenset[int]:
    """Numbers of the chains that the topic may ask for, also among what this query does not look at."""
    known = inquiry.version.index.registers.chains
    names = (chain_name(*pair) for pair in _asked(inquiry, topic))
    found = (known.get(name) for name in names if name is not None)
    return frozenset(number for number in found if number is not None)


def _asked(inquiry: Inquiry, topic: str) -> list[tuple[str, str]]:
    """Subjects and attributes of what the topic asks for."""
    near = _near(inquiry)
    attributes = list(_attributes(near, topic))
    if not attributes:
        return []
    named = subjects(inquiry)
    asked = [(subject, attribute) for subject in named for attribute in attributes]
    return asked + [pair for pair in near if not named and pair[1] in attributes]


def _attributes(near: Sequence[tuple[str, str]], topic: str) -> Iterator[str]:
    terms = set(index_words(topic))
    own = {attribute for _, attribute in near if terms.issuperset(index_words(attribute) or [""])}
    yield from sorted(own)
    for attribute, cues in _CUES:
        if attribute not in own and re.search(cues, topic, re.IGNORECASE):
            yield attribute


def asks_no_more(topic: str, subject: str, attribute: str) -> bool:
    """Whether a topic is nothing but a subject and an attribute ("where does Bob work"), so that no other is meant."""
    rest = topic
    for cues in (cues for name, cues in _CUES if name == attribute):
        rest = re.sub(cues, " ", rest, flags=re.IGNORECASE)
    return set(index_words(rest)) <= {*index_words(subject), *index_words(attribute)}


def _near(inquiry: Inquiry) -> list[tuple[str, str]]:
    """Subject and attribute of the facts that match best, the best first."""
    statements = inquiry.corpus.statements
    names = inquiry.version.index.registers.chains.names
    best = strongest(inquiry.facts + inquiry.words, _NEAR)
    order = best[np.argsort(-(inquiry.facts + inquiry.words)[best], kind="stable")]
    found = (names[number] for number in statements.chains[order] if number >= 0)
    return [(subject, attribute) for subject, _, attribute in (name.partition("\n") for name in dict.fromkeys(found))]


def subjects(inquiry: Inquiry) -> list[str]:
    """Whom the question names, as keys: speakers, and words written as names."""
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
    entries = _merged(sorted(_settled(list(_entries(inquiry, (FactId(ids[row]) for row in rows), name))), key=_place))
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


def _settled(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Entries with what others say about when they began.

    "I moved to Porto last month", said in February, is some day of January. Where on the 8th something else was said to
    be so, it was after that.
    """
    said = [(entry.start_ms, entry.value) for entry in entries if entry.mention.candidate.event is None]
    for entry in entries:
        event, source_ms = entry.mention.candidate.event, entry.mention.source_ms
        if event is None or source_ms is None:
            yield entry
            continue
        end_ms = min(event.end_ms, source_ms)
        end_ms = min(
            (at for at, value in said if value == entry.value and entry.start_ms < at < end_ms), default=end_ms
        )
        other = [at for at, value in said if value != entry.value and entry.start_ms <= at < end_ms]
        yield replace(entry, start_ms=max(other)) if other else entry


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
