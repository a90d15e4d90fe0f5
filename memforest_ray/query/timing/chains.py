"""Chains: the states of one subject and attribute in the order of time, and which of them a question asks for."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from memforest_ray.facts.attributes import attribute_named
from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.letters import UPPER
from memforest_ray.facts.patterns import RELATION
from memforest_ray.facts.words import fold, word_set
from memforest_ray.ids import FactId
from memforest_ray.index.rows import chain_name, index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.question import Question
from memforest_ray.query.timing.entries import UNDATED_MS, Entry, in_order
from memforest_ray.trees.routing import entity_key

__all__ = ["Chain", "asked_states", "asks_no_more", "chain_of", "chains", "speaks_of", "subjects", "whose"]

_LINKED: Final = frozenset({Kind.STATE, Kind.TRANSITION, Kind.PREFERENCE, Kind.CONSTRAINT})
"""Kinds that say what is, or became, the case; a plan has not happened."""
_PETS: Final = word_set("bird cat dog fish hamster horse parrot pet rabbit turtle")
_SEVERAL: Final = _PETS | word_set("allergy brother daughter hobby sister son")
"""Attributes of which somebody has several at once: a new one is no sign that the old one is gone."""
_LIVING: Final = _PETS | word_set("boss brother daughter father mother partner roommate sister son")
"""Attributes whose values are names of the living: "Rex died" ends what Rex was to somebody."""
_LIFE: Final = "life"
_RELATED: Final = re.compile(
    rf"\b(?:(?P<owner>[{UPPER}][\w-]*)['’]s|[Mm]y|[Oo]ur) (?:\w+ )?(?P<noun>{RELATION})\b"
    rf"(?:,? (?P<name>[{UPPER}][\w-]+))?"
)
_WRITTEN: Final = re.compile(rf"(?<!^)\b[{UPPER}][\w'’-]*[\w](?: [{UPPER}][\w'’-]*\w)*")
_ASKS_WHO: Final = re.compile(
    r"\b(?:who|whom|names?|named|called|have|has|got)\b|^\W*what(?: is| was|'s)(?: [\w'’]+){2}\W*$", re.IGNORECASE
)
"""What asks for nothing but who somebody's husband or cat is."""
_ALL: Final = re.compile(r"\b(?:any(?! ?more| longer)|anything|all|no allergies)\b", re.IGNORECASE)
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
    (
        "job",
        r"\bwhat (?:does|do) \w+(?: \w+)? do\W*$|\b(job|position|title|profession|occupation|role|do for a living"
        r"|work as)\b|职业|职位|पेशा",
    ),
    (
        "partner",
        r"(?<!ex-)(?<!ex )\b(partner|husband|wife|spouse|boyfriend|girlfriend|dating|married to)\b|丈夫|妻子|पति|पत्नी",
    ),
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
class Chain:
    """Entries in order of time; the last is how it is now."""

    subject: str
    attribute: str
    entries: tuple[Entry, ...]

    @property
    def name(self) -> str:
        """The subject as it was spelt first."""
        spelt = (entry.mention.candidate for entry in self.entries)
        return next((each.subject for each in spelt if each.subject and each.attribute != _LIFE), self.subject)

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

    @property
    def several(self) -> bool:
        """Whether its entries stand beside each other: what one must not eat or do does not end with the next such."""
        kinds = {entry.mention.candidate.kind for entry in self.entries}
        return fold(self.attribute) in _SEVERAL or Kind.CONSTRAINT in kinds

    def standing(self, topic: str) -> tuple[Entry, ...]:
        """How it is now, the newest first; where several things are so, those that the topic asks about, else all.

        "Is she allergic to nuts?" asks about nuts, and the last that was said of them is the answer, be it a no.
        """
        if not self.several:
            return (self.entries[-1],)
        told = frozenset().union(*(entry.words if entry.denies else index_words(entry.value) for entry in self.entries))
        asked = _beyond(topic, self.name, self.attribute) & told
        about = [entry for entry in self.entries if asked & entry.words]
        return (about[-1],) if about else tuple(reversed(_undenied(self.entries)))


def _undenied(entries: Sequence[Entry]) -> list[Entry]:
    """Of several things those that nobody has denied since; where nothing is left, the denial."""
    held: list[Entry] = []
    for entry in entries:
        if entry.denies:
            left = [each for each in held if not entry.words.issuperset(index_words(each.value))]
            held = [] if left == held and _denies_all(entry, held) else left
        else:
            held = [*(each for each in held if each.value != entry.value), entry]
    return held or [entries[-1]]


def _denies_all(entry: Entry, held: Sequence[Entry]) -> bool:
    """Whether a denial that names none of several things means them: "our dog died", of the one dog they had."""
    return _ALL.search(entry.mention.candidate.text) is not None or (entry.ends and len(held) == 1)


def chains(inquiry: Inquiry, topic: str) -> Iterator[Chain]:
    """Chains that the topic asks for: the attributes it speaks of, of the people it names, else of whoever matches."""
    for subject, attribute in _asked(inquiry, topic):
        chain = chain_of(inquiry, subject, attribute)
        if chain is not None:
            yield chain


def whose(inquiry: Inquiry, topic: str) -> str | None:
    """A topic with a name where it asks something of "Ana's cat"; None where nobody has said who that is.

    It is as it was where it asks for nothing but the name.
    """
    asked = {*_attributes(_near(inquiry), topic)} - {"name", "pet"}
    for match in reversed(list(_RELATED.finditer(topic))):
        attribute = attribute_named(match["noun"])
        if asked <= {attribute, match["noun"].lower()} and _ASKS_WHO.search(topic):
            continue
        owner = entity_key(match["owner"] or inquiry.question.own)
        names = [match["name"]] if match["name"] else _called(inquiry, owner, attribute)
        if not names:
            return None
        topic = topic[: match.start()] + " and ".join(names) + topic[match.end() :]
    return topic


def _called(inquiry: Inquiry, owner: str, relation: str) -> list[str]:
    """The names of those who are this to somebody; none where a last word says that there is nobody."""
    chain = chain_of(inquiry, owner, relation)
    standing = chain.standing("") if chain else ()
    return [entry.mention.candidate.value for entry in standing if entry.mention.candidate.value]


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
    named = subjects(inquiry, topic)
    asked = [(subject, attribute) for subject in named for attribute in attributes]
    return asked + [pair for pair in near if not named and pair[1] in attributes]


def _attributes(near: Sequence[tuple[str, str]], topic: str) -> Iterator[str]:
    terms = set(index_words(topic))
    own = {attribute for _, attribute in near if terms.issuperset(index_words(attribute) or [""])}
    yield from sorted(own)
    for attribute, cues in _CUES:
        if attribute not in own and re.search(cues, topic, re.IGNORECASE):
            yield attribute


def speaks_of(topic: str, attribute: str) -> bool:
    """Whether a topic asks for an attribute in words of its own, whoever's it is: "where does she live"."""
    return any(name == attribute and re.search(cues, topic, re.IGNORECASE) for name, cues in _CUES)


def asks_no_more(topic: str, subject: str, attribute: str) -> bool:
    """Whether a topic is nothing but a subject and an attribute ("where does Bob work"), so that no other is meant."""
    return not _beyond(topic, subject, attribute)


def _beyond(topic: str, subject: str, attribute: str) -> frozenset[str]:
    """The words of a topic that are not of the subject and the attribute."""
    rest = topic
    for cues in (cues for name, cues in _CUES if name == attribute):
        rest = re.sub(cues, " ", rest, flags=re.IGNORECASE)
    return frozenset(index_words(rest)) - {*index_words(subject), *index_words(attribute)}


def _near(inquiry: Inquiry) -> list[tuple[str, str]]:
    """Subject and attribute of the facts that match best, the best first."""
    statements = inquiry.corpus.statements
    names = inquiry.version.index.registers.chains.names
    best = strongest(inquiry.facts + inquiry.words, _NEAR)
    order = best[np.argsort(-(inquiry.facts + inquiry.words)[best], kind="stable")]
    found = (names[number] for number in statements.chains[order] if number >= 0)
    return [(subject, attribute) for subject, _, attribute in (name.partition("\n") for name in dict.fromkeys(found))]


def subjects(inquiry: Inquiry, topic: str | None = None) -> list[str]:
    """Whom the question names, as keys: speakers, and words written as names.

    With a `topic` that `whose` has put names into, whom that names.
    """
    put = topic is not None and _RELATED.search(inquiry.question.text) is not None
    question = replace(Question.of(topic), own=inquiry.question.own) if put and topic else inquiry.question
    speakers = [name for name in inquiry.speakers.values() if question.names(name)]
    written = _WRITTEN.findall(question.text)
    named = [name.removesuffix("'s").removesuffix("’s") for name in written]
    return list(dict.fromkeys(entity_key(name) for name in (*sorted(speakers), *named)))


def chain_of(inquiry: Inquiry, subject: str, attribute: str) -> Chain | None:
    """The chain of a subject and attribute as far as this query may know it; None when there is none."""
    told = list(_told(inquiry, subject, attribute))
    if fold(attribute) in _LIVING:
        values = sorted({entry.mention.candidate.value or "" for entry in told})
        told += [death for value in values for death in _told(inquiry, value, _LIFE)]
    dated = [entry for entry in told if entry.is_dated]
    entries = _merged(_living(in_order(dated or _undated(inquiry, told))))
    return Chain(subject, attribute, entries) if entries else None


def _living(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries without what is told of the dead after they died: that is no state."""
    dead: set[str] = set()
    for entry in entries:
        if entry.mention.candidate.attribute == _LIFE:
            dead.add(fold(entry.mention.candidate.subject or ""))
        if entry.value not in dead:
            yield entry


def _undated(inquiry: Inquiry, told: Sequence[Entry]) -> Sequence[Entry]:
    """Entries of which no time is known, where a question names none: those of one session, or of one value."""
    alone = len({entry.mention.session_id for entry in told}) == 1 or len({entry.value for entry in told}) == 1
    return told if alone and not (inquiry.reading.names_time or inquiry.reading.anchors) else ()


def _told(inquiry: Inquiry, subject: str, attribute: str) -> Iterator[Entry]:
    """Everything that tells an attribute of a subject, in no order."""
    name = chain_name(subject, attribute)
    number = None if name is None else inquiry.version.index.registers.chains.get(name)
    if name is not None and number is not None:
        rows = inquiry.corpus.statements.facts[inquiry.corpus.statements.chains == number]
        ids = inquiry.version.index.facts.ids
        yield from _entries(inquiry, (FactId(ids[row]) for row in rows), name)


def _entries(inquiry: Inquiry, ids: Iterable[FactId], name: str) -> Iterator[Entry]:
    for number in ids:
        fact = inquiry.fact(number)
        for mention in () if fact is None else fact.mentions:
            said, candidate = mention.source_ms, mention.candidate
            known = said if candidate.event is None else candidate.event.start_ms
            start = UNDATED_MS if known is None else known
            links = candidate.kind in _LINKED and chain_name(candidate.subject, candidate.attribute) == name
            if fact is not None and links:
                yield Entry(start, fact, mention)


def _merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Adjacent mentions of one fact as one entry."""
    kept: list[Entry] = []
    for entry in entries:
        if not kept or kept[-1].fact.id != entry.fact.id:
            kept.append(entry)
    return tuple(kept)
