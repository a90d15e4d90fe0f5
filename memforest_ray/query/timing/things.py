"""Things: what a question asks something of, apart from people, and what form an answer has."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memforest_ray.facts.letters import UPPER
from memforest_ray.facts.words import word_set
from memforest_ray.index.rows import index_words
from memforest_ray.query.whom import whom

__all__ = ["Shape", "Thing", "asks_present", "asks_whether_done", "thing_of"]


class Shape(StrEnum):
    """The form of what answers a question."""

    AMOUNT = "amount"
    PLACE = "place"
    NAME = "name"
    TIME = "time"
    WHETHER = "whether"
    """Yes or no."""
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Thing:
    """What is asked of, in words as the index keeps them."""

    nouns: frozenset[str]
    acts: frozenset[str]
    """What is done with it, or it does: "owe", "call"."""
    people: frozenset[str]
    """Of whom, where these are named and do not speak."""
    shape: Shape

    @property
    def words(self) -> tuple[str, ...]:
        """All of them, in one order."""
        return (*sorted(self.nouns), *sorted(self.acts), *sorted(self.people))


_SHAPES: Final = tuple(
    (shape, re.compile(pattern, re.IGNORECASE))
    for shape, pattern in (
        (Shape.AMOUNT, r"\bhow (?:many|much|old|long|tall|far|big|large|high|heavy|expensive)\b"),
        (Shape.PLACE, r"^\W*(?:\w+ )?where\b"),
        (Shape.NAME, r"^\W*(?:\w+ )?(?:who|whose|whom)\b"),
        (Shape.TIME, r"^\W*(?:when|(?:on |at |in )?(?:what|which) (?:time|date|day|month|year)|until when)\b"),
        (
            Shape.WHETHER,
            r"^\W*(?:is|are|am|was|were|do|does|did|has|have|had|can|could|should|will|would|must|may)(?:n['’]t)?\b",
        ),
    )
)
_SUBJECT: Final = (
    r"(?:(?:i|you|we|they|he|she|it)|(?:my|our|your|his|her|their|the|\w+['’]s) (?:\w+ )??\w+"
    rf"|(?-i:[{UPPER}][\w-]*)(?: (?-i:[{UPPER}])[\w-]*)*)"
)
_ADVERBS: Final = r"(?:(?:still|now|currently|actually|really|also|usually|always) )*"
_DETERMINERS: Final = word_set("the a an my our your his her their this that")
_NO_NOUN: Final = "".join(rf"(?<!\b{word} )" for word in sorted(_DETERMINERS)) + r"(?<!['’]s )\b"
"""Not behind what makes it a noun: "the wedding", "Ann's painting"."""
_AUXILIARY: Final = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|must)\b"
_ACT: Final = re.compile(
    rf"\b(?:do|does|did|should|can|could|will|would|must)(?:n['’]t)? {_SUBJECT} {_ADVERBS}(?P<done>\w+)"
    rf"|^\W*(?:who|what) {_ADVERBS}(?!{_AUXILIARY})(?P<does>\w+\b)(?! {_AUXILIARY})"
    rf"|{_NO_NOUN}(?P<doing>\w{{2,}}ing)\b|\b(?P<named>called|named|planned|scheduled)\b",
    re.IGNORECASE,
)
_NO_NOUNS: Final = word_set(
    "kind type sort name names colour color much many money amount number time date day now currently current "
    "nowadays still originally original initially initial first moment present today anymore longer ever previous "
    "previously former formerly earlier latest"
)
"""Words of a question that say what is asked of a thing, or of which time, and name none."""
_NO_NOUN_STEMS: Final = frozenset(term for word in _NO_NOUNS for term in index_words(word))

_PRESENT: Final = re.compile(
    r"^\W*(?:(?:for|with|to|at|in|on|until|of|by) )?"
    r"(?:(?:is|are|am|do|does|has|have|should|must|can|may)(?:n['’]t)?\b"
    r"|(?:where|who|what|which|how|whose|whom|when|why)(?:['’](?:s|re|m)\b|\b.{0,24}?\b(?:is|are|am|do|does|should)\b)"
    r"|(?:who|what|which \w+)\s+(?:still |now |currently )?(?!(?:was|has|does|is|this)\b)[a-z]+s\b)",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:did|didn['’]t|was|were|wasn['’]t|weren['’]t|had|been|used to|ever)\b", re.IGNORECASE)

_DONE: Final = re.compile(r"^\W*(?:why )?(?:did|didn['’]t)\b", re.IGNORECASE)


def asks_present(text: str) -> bool:
    """Whether a question is about how it is now: "Where is the key?", "Who owns it?", "Has she still got it?"."""
    return _PRESENT.search(text) is not None and _PAST.search(text) is None


def asks_whether_done(text: str) -> bool:
    """Whether a question is about something that was to be done: "Did she go?", "Why didn't she go?"."""
    return _DONE.search(text) is not None


def thing_of(text: str, topic: str, speakers: Collection[str]) -> Thing:
    """What a question asks something of; `topic` is the text without its words about time. Never raises."""
    acts = frozenset(_acts(topic))
    names = {word for name in speakers for word in index_words(name)}
    people = {word for name in whom(topic).people for word in index_words(name)} - names
    nouns = set(index_words(topic)) - names - people - acts - _NO_NOUN_STEMS
    return Thing(frozenset(nouns), acts - names - people, frozenset(people), _shape(text))


def _acts(topic: str) -> Iterator[str]:
    for match in _ACT.finditer(topic):
        yield from index_words(next(filter(None, match.groups()), ""))


def _shape(text: str) -> Shape:
    return next((shape for shape, pattern in _SHAPES if pattern.search(text)), Shape.OPEN)
