"""Following: whether a statement says how a thing is after what an older one says of it.

It must be of the same thing, which is more than the same words: of the same owner ("my sister's rent" is another), and
of no other kind ("the Arabic exam"). And it must say something new of it: that it ended or was changed (`cues`), or
what the question asks for, in a form in which a state is told: "the key is at ..." where a place is asked for.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.letters import UPPER
from memforest_ray.facts.words import fold, word_set
from memforest_ray.index.rows import index_words
from memforest_ray.query.timing.cues import OWN, THING, Cue, cues, marked, regards
from memforest_ray.query.timing.things import Shape, Thing

__all__ = ["Told", "called", "changes", "ends", "follows", "says_how"]

_TIME_UNITS: Final = (
    "am|pm|o'clock|days?|weeks?|months?|years?|hours?|minutes?|times|th|st|nd|rd|%|percent"
    "|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
)
_NUMBER: Final = re.compile(rf"(?<![\w.,])\d(?:[\d.,]*\d)?k?(?!\w)(?![\s-]*(?:{_TIME_UNITS}))", re.IGNORECASE)
"""An amount, and no time of day, date or duration."""
_BE: Final = r"(?:is|are|['’]s|was|were|will be|has been)"
_HEAD: Final = re.compile(
    rf"{THING}(?=\s(?:{_BE}|will|now|at|to|of|from|costs?|stands?|goes|went|has)\b|['’]s\b|\W*$|[.,;:!])", re.IGNORECASE
)
"""The thing itself, and not what is of it ("the rent deposit")."""
_WHERE: Final = r"(?:in|at|under|on|behind|near|with|next to|inside|by|beside|above|between|below)"
# How a state is told: where the thing is, who it is, when it is.
_PLACED: Final = re.compile(
    rf"{THING} (?:{_BE}|lives?|stays?|hangs?|stands?|lies|sits?|meets?|sleeps?|runs?|takes place) "
    rf"(?:(?:now|kept|hidden|moved|hanging|parked|back|still|always) )*{_WHERE}\b"
    rf"|\b(?:keeps?|kept|put|hid|moved|left|parked|stored?) (?:(?:the|our|their|{OWN}['’]s) )?{THING} "
    rf"(?:\w+ )?{_WHERE}\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    rf"{THING} (?:is|are)(?: now| called| named)* [{UPPER}]"
    rf"|(?:^|[,.;!] )(?:(?:now|then) )?(?:[{UPPER}][\w'’-]* ){{1,2}}(?:now )?\w+ "
    rf"(?:(?:the|our|a|an|as|for|over|now|{OWN}['’]s) )*{THING}"
)
# What gives the thing a name: "the barista is called Enzo", "my dog Bruno", "Bo is captain".
_CALLED: Final = re.compile(
    rf"{THING}(?:,|(?: (?:is|are|was)|['’]s)(?: now| called| named| a| an| the)*)? "
    rf"(?P<is>[{UPPER}][\w-]*(?: [{UPPER}][\w-]*)*)"
    rf"|(?P<before>(?:[{UPPER}][\w-]* )+)(?:is|was) (?:(?:now|the|our|{OWN}['’]s) )*{THING}"
)
_DATED: Final = re.compile(
    rf"{THING} (?:{_BE}|meets?|starts?|begins?|takes place)"
    r"(?: now| planned| scheduled| set| due| moved| postponed| fixed)* (?:on|for|at|in|to|from)\b",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(
    r"\b(?:at|on|in|to) (?:\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|half|quarter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|the (?:morning|afternoon|evening))\b",
    re.IGNORECASE,
)
"""A time that returns, or is of no day."""
_GIVEN: Final = re.compile(
    rf"{THING} (?:{_BE}|has|have)(?: now| called| named)* (?:an?\b|the\b|{OWN}['’]s|[{UPPER}]|\d)"
    rf"|\w {_BE} (?:now )?(?:(?:the|our|{OWN}['’]s) )?{THING}|\b[Nn]ew {THING}"
)
"""What it is now, and not what it is like: "dirty"."""
_STATED: Final = {Shape.PLACE: _PLACED, Shape.NAME: _NAMED, Shape.TIME: _DATED}
# What stands before the thing: whose it is, and of what sort.
_OWNER: Final = re.compile(
    rf"(?<![\w@-])(?P<whose>[\w@-]+)['’]s (?:[\w-]+ )??{THING}|\b(?P<its>his|her|their|your) (?:[\w-]+ )??{THING}",
    re.IGNORECASE,
)
_SORT: Final = re.compile(
    rf"(?:\b(?:the|an?|our|this|that|his|her|their)|['’]s) (?P<word>[\w-]+) {THING}", re.IGNORECASE
)
_MOVED: Final = re.compile(r"\bmov(?:ed|es|ing)\b", re.IGNORECASE)
"""A change after which a thing is elsewhere ..."""
_HANDED: Final = re.compile(
    r"\b(?:t(?:ook|akes?|aking|aken) over|replac(?:ed|es|ing)|chang(?:ed|es|ing)|switch(?:ed|es|ing)|swap(?:ped|s))\b",
    re.IGNORECASE,
)
"""... or somebody else's."""
_SAID: Final = re.compile(rf"{THING} {_BE}|\b{_BE} (?:[\w{OWN}'’]+ ){{0,2}}?{THING}", re.IGNORECASE)
_ITS: Final = frozenset({"his", "her", "their"})
_OTHER: Final = frozenset({"other", "another"})
_NO_SORTS: Final = word_set("new old current monthly usual whole own next same present actual real final little")
"""Words before a thing that make no other of it."""
_MIND: Final = re.compile(r"\bchanged (?:my|his|her|their|our) minds?\b", re.IGNORECASE)
_OF_MIND: Final = frozenset({Kind.PREFERENCE, Kind.PLAN})
"""What is over when somebody changes their mind."""
_ONCE: Final = re.compile(
    r"\b(?:was|were|used to|had been|back then|at the time|previously|formerly|originally)\b", re.IGNORECASE
)
"""What tells of an earlier time."""
_NAME: Final = re.compile(rf"\b[{UPPER}][\w-]+")


@dataclass(frozen=True)
class Told:
    """A statement, and what it holds of the words of a thing."""

    fact: Fact
    number: int
    """Among the corpus's facts."""
    holds: frozenset[str]
    said_ms: int
    """When it was said last."""

    @property
    def order(self) -> tuple[int, str, int]:
        """Its place among others: by when it was said, in one session by the turn."""
        mention = self.fact.mentions[-1]
        return self.said_ms, mention.session_id, mention.candidate.turns[0]

    @cached_property
    def names(self) -> frozenset[str]:
        """Words of it that are written as names, but that of whoever speaks."""
        said = self.fact.text.removeprefix(f"{self.fact.speaker}: ")
        own = index_words(self.fact.speaker)
        return frozenset(term for name in _NAME.findall(said) for term in index_words(name)).difference(own)

    def marked(self, words: frozenset[str]) -> str:
        """Its text with marks for these words, and for the speaker."""
        return marked(self.fact.text, self.fact.speaker, words)


def follows(later: Told, older: Told, thing: Thing) -> bool:
    """Whether the later statement says how the thing is after what the older one says of it."""
    event = later.fact.event
    if not later.holds >= older.holds & thing.people or (event is not None and event.end_ms <= older.said_ms):
        return False
    if not thing.nouns and older.fact.kind in _OF_MIND and _MIND.search(later.fact.text):
        return bool(older.holds & thing.people)
    meant = older.holds & (thing.nouns or (thing.acts if thing.shape is Shape.WHETHER else frozenset()))
    if meant and later.holds >= meant:
        return _is_same(later.marked(meant), older.marked(meant), later, older) and _is_news(later, older, thing, meant)
    named = called(older, thing)
    return bool(named) and any(
        cue is Cue.ENDED and regards(before, _subjects(older, thing), own=_is_own(older.marked(meant)))
        for cue, before in cues(later.marked(named))
    )


def ends(later: Told, older: Told, thing: Thing) -> bool:
    """Whether a statement that follows another says that the thing ended."""
    meant = older.holds & thing.nouns
    return bool(meant) and any(cue is Cue.ENDED for cue, _ in cues(later.marked(meant)))


def changes(told: Told, thing: Thing) -> bool:
    """Whether a statement tells of a change, so that something else was so before it."""
    meant = told.holds & thing.nouns
    return bool(meant) and any(cue >= Cue.CHANGED for cue, _ in cues(told.marked(meant)))


def says_how(told: Told, thing: Thing) -> bool:
    """Whether a statement says how the thing is, or does what is asked of it: more than "The deadline stays"."""
    held = told.holds & thing.acts
    return bool(held) or _SAID.search(told.marked(told.holds & thing.nouns)) is not None


def called(told: Told, thing: Thing) -> frozenset[str]:
    """Words of the name that a statement gives the thing: "the barista is called Enzo", "my dog Bruno"."""
    meant = told.holds & thing.nouns
    match = _CALLED.search(told.marked(meant)) if meant and told.names else None
    return frozenset() if match is None else frozenset(index_words(match["is"] or match["before"])) & told.names


def _is_news(later: Told, older: Told, thing: Thing, meant: frozenset[str]) -> bool:
    """Whether it says that the thing ended or was changed, or gives it a new state."""
    text = later.marked(meant)
    shape = _shape(thing, older.marked(meant))
    own = _is_own(older.marked(meant))
    for cue, before in cues(text):
        mine = cue is Cue.CHANGED or shape is Shape.NAME or regards(before, _subjects(older, thing), own=own)
        if mine and (cue is Cue.ENDED or _answers(cue, shape, later, text, thing)):
            return True
    same = later.holds >= older.holds
    return same and later.fact.kind is not Kind.EVENT and _states(shape, later, text)


def _answers(cue: Cue, shape: Shape, later: Told, text: str, thing: Thing) -> bool:
    """Whether with its cue a statement gives what is asked for."""
    if cue is Cue.DENIED:
        return shape is Shape.WHETHER and later.fact.kind is not Kind.EVENT
    if shape is Shape.WHETHER:
        return True
    if cue is Cue.CHANGED:
        return _is_changed(shape, later, text)
    if shape is Shape.OPEN:
        return bool(later.holds & thing.acts) or _GIVEN.search(text) is not None
    return _states(shape, later, text)


def _is_changed(shape: Shape, later: Told, text: str) -> bool:
    """Whether a change is one of what is asked for."""
    if shape is Shape.AMOUNT:
        return _NUMBER.search(text) is not None
    if shape is Shape.TIME:
        return later.fact.event is not None
    if shape is Shape.PLACE:
        return _MOVED.search(text) is not None
    return shape is Shape.OPEN or (bool(later.names) and _HANDED.search(text) is not None)


def _states(shape: Shape, later: Told, text: str) -> bool:
    """Whether a statement tells a state of the thing in the form that is asked for, and not how it was once."""
    if _ONCE.search(text):
        return False
    if shape is Shape.AMOUNT:
        return _HEAD.search(text) is not None and _NUMBER.search(text) is not None
    if shape is Shape.TIME and later.fact.event is None and not _CLOCK.search(text):
        return False
    pattern = _STATED.get(shape)
    return pattern is not None and pattern.search(text) is not None


def _shape(thing: Thing, older: str) -> Shape:
    """What is asked for: "What is my rent?" asks for an amount, where the older statement gives one."""
    if thing.shape is Shape.OPEN and (head := _HEAD.search(older)) and _NUMBER.search(older, head.end()):
        return Shape.AMOUNT
    return thing.shape


def _is_same(later: str, older: str, told: Told, before: Told) -> bool:
    """Whether two marked statements speak of one thing: of one owner, and of one sort."""
    if not _is_owners(_owner(later, told), _owner(older, before), told, before):
        return False
    sort = _sort(later)
    return not sort or sort == _sort(older)


def _is_owners(whose: str, other: str, told: Told, before: Told) -> bool:
    """Whether two owners are one: of "the rent" and "my rent", said by one person, neither is another's."""
    mine = {"", fold(told.fact.speaker)} if told.fact.speaker == before.fact.speaker else {""}
    return whose == other or {whose, other} <= mine or (other not in mine and whose in _ITS)


def _owner(text: str, told: Told) -> str:
    """Whose the thing is, as far as it is said."""
    match = _OWNER.search(text)
    if match is None:
        return ""
    whose = match["whose"] or fold(match["its"])
    retold = whose == "their" and _is_own(text)  # "I moved my bike" is kept as "Ann moved their bike"
    return fold(told.fact.speaker if whose == OWN or retold else whose)


def _sort(text: str) -> str:
    """The word of content right before the thing, if it makes another of it."""
    match = _SORT.search(text)
    word = "" if match is None else fold(match["word"])
    return word if word in _OTHER or (word not in _NO_SORTS and index_words(word)) else ""


def _is_own(text: str) -> bool:
    """Whether a marked statement is about whoever says it."""
    return text.startswith(OWN)


def _subjects(older: Told, thing: Thing) -> frozenset[str]:
    """Words that may be the subject of what follows."""
    return older.names | thing.people | thing.nouns
