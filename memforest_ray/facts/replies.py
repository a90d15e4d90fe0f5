"""An extractor's reply -> candidates: checked item by item, set right where only one thing can be meant.

What is wrong in a way that leaves the meaning open (no text, a field that nobody asked for) makes the whole reply
unusable, so that the model is asked again. What has one sensible reading (a number as text, a kind that does not
exist, a confidence out of range) is given it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from memforest_ray.facts.candidates import CANDIDATES_MAX, DOMAINS, Candidate, Kind, TurnInput
from memforest_ray.facts.clauses import content_words
from memforest_ray.facts.reported_times import reported_time
from memforest_ray.facts.words import stem
from memforest_ray.models.asking import Unusable
from memforest_ray.models.prompts.extract import EXAMPLE

__all__ = ["candidates_of", "most_sure"]

_TEXT_CHARS_MAX: Final = 2_000
"""A statement longer than this is no statement: the model repeats itself or the dialogue."""
_ENTITIES_MAX: Final = 16
_NAME_CHARS_MAX: Final = 100
_ATTRIBUTE_WORDS_MAX: Final = 4
_TOPICS_MAX: Final = 5
_CONFIDENCE_MAX: Final = 9
_LASTING: Final = frozenset({Kind.STATE, Kind.TRANSITION, Kind.PREFERENCE, Kind.CONSTRAINT})


def _texts(value: Any) -> list[str]:
    """Texts of a list; anything else is no text."""
    items = value if isinstance(value, list) else [value]
    return [" ".join(item.split()) if isinstance(item, str) else "" for item in items]


_LISTED: Final = re.compile(r"\D{0,12}\d{1,6}(?:\s?(?:,|&|and)\s?\d{1,6}){0,20}\W{0,2}", re.ASCII)
"""`2`, `turn 2`, `1, 2 and 4`: numbers of turns that are written as text."""
_NOTHING: Final = re.compile(
    r"(?:n/?a|none|null|nothing|no (?:relevant |new |notable )?(?:facts?|information|statements?)"
    r"(?: (?:found|here|given|provided|available|worth remembering|to (?:note|extract|remember|report)))?"
    r"(?: in (?:the|this|these) \w+)?)\W*",
    re.IGNORECASE,
)
"""What some models put in place of a statement where there is none."""
_ONESELF: Final = frozenset({"i", "me", "my", "myself", "the speaker", "speaker"})


def _numbers(value: Any) -> list[int]:
    """Whole numbers, also where they are written as text."""
    items = value if isinstance(value, list) else [value]
    return [
        int(number)
        for item in items
        if isinstance(item, int | str) and _LISTED.fullmatch(str(item).strip())
        for number in re.findall(r"\d+", str(item), re.ASCII)
    ]


def _confidence(value: Any) -> int:
    """From 0 to 9; what lies between 0 and 1 was meant as a share."""
    if isinstance(value, str) and re.fullmatch(r"\s*\d(?:\.\d+)?\s*", value, re.ASCII):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _CONFIDENCE_MAX
    if 0 < value < 1:
        return round(value * _CONFIDENCE_MAX)
    return int(min(max(value, 0), _CONFIDENCE_MAX)) if value == value else 0  # noqa: PLR0124 - only NaN is not itself


def _kind(value: Any) -> Kind:
    try:
        return Kind(str(value).strip().lower())
    except ValueError:
        return Kind.DETAIL


def _domain(value: Any) -> str:
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if word in DOMAINS else "other"


class _Fact(BaseModel):
    """One item as it is asked for (`models/prompts/extract.py`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    t: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_TEXT_CHARS_MAX)]
    k: Annotated[Kind, BeforeValidator(_kind)]
    n: Annotated[list[int], BeforeValidator(_numbers)]
    s: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    e: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    d: Annotated[str, BeforeValidator(_domain)] = "other"
    w: Annotated[list[str], BeforeValidator(_texts)] = Field(default_factory=list)
    c: Annotated[int, BeforeValidator(_confidence)] = _CONFIDENCE_MAX


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    facts: list[_Fact]


def candidates_of(value: Mapping[str, Any], turns: Sequence[TurnInput], zone: str | None) -> list[Candidate]:
    """The candidates in a reply about `turns`, which it numbers from 1. Raises Unusable."""
    try:
        facts = _Reply.model_validate(value).facts
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise Unusable(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    facts = [fact for fact in facts if not _NOTHING.fullmatch(fact.t)]
    if any(fact.t in EXAMPLE for fact in facts) and not _tell_of_example(turns):
        raise Unusable("an item is of the example, not of the turns")
    found = [candidate for fact in facts if (candidate := _candidate(fact, turns, zone)) is not None]
    if facts and not found:
        raise Unusable(f"no item names a turn from 1 to {len(turns)}")
    return most_sure(found)


def _tell_of_example(turns: Sequence[TurnInput]) -> bool:
    """Whether the turns may say what the example of the prompt says."""
    said = " ".join(turn.text for turn in turns)
    return "Porto" in said or "lift" in said


def most_sure(candidates: Sequence[Candidate]) -> list[Candidate]:
    """At most as many as a cell may give, each statement once, in order; the least sure go."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.text.casefold(), candidate)
    distinct = list(first.values())
    ranked = sorted(range(len(distinct)), key=lambda place: -distinct[place].confidence)
    return [distinct[place] for place in sorted(ranked[:CANDIDATES_MAX])]


def _candidate(fact: _Fact, turns: Sequence[TurnInput], zone: str | None) -> Candidate | None:
    """The candidate, or None when it names no turn that is there: then nobody can be said to have said it."""
    sources = [turns[number - 1] for number in sorted(set(fact.n)) if 1 <= number <= len(turns)]
    if not sources:
        if len(turns) != 1:
            return None
        sources = list(turns)
    words, first, last = (*fact.w, "", "", "")[:3]
    speaker = sources[0].speaker
    subject, attribute, value = _holding(fact, sources[0])
    entities = tuple(_names((speaker, *(name for name in fact.e if not _is_speaker(name, sources[0])))))
    return Candidate(
        text=fact.t,
        kind=fact.k,
        speaker=speaker,
        role=sources[0].role,
        turns=tuple(sorted({turn.index for turn in sources})),
        subject=subject,
        attribute=attribute,
        value=value,
        entities=entities,
        topics=_topics(fact.t, entities),
        domain=fact.d,
        confidence=(fact.c + 1) / (_CONFIDENCE_MAX + 1),
        event=reported_time(words, first, last, sources, zone),
    )


def _is_speaker(name: str, turn: TurnInput) -> bool:
    """Whether a name is how a model calls whoever speaks: "I", or "the user" of a turn in that role."""
    folded = name.casefold()
    return folded in _ONESELF or folded.removeprefix("the ") == turn.role


def _holding(fact: _Fact, turn: TurnInput) -> tuple[str | None, str | None, str | None]:
    """Subject, attribute and value of what lasts; nothing where one of the first two is missing."""
    subject, attribute, value = (*fact.s, "", "", "")[:3]
    subject = turn.speaker if _is_speaker(subject, turn) else subject
    attribute = attribute.lower()
    if fact.k not in _LASTING or not subject or not attribute or len(attribute.split()) > _ATTRIBUTE_WORDS_MAX:
        return None, None, None
    return subject[:_NAME_CHARS_MAX], attribute[:_NAME_CHARS_MAX], value or None


def _names(names: Sequence[str]) -> list[str]:
    """Each name once, in order; what is longer than a name is none."""
    distinct: dict[str, str] = {}
    for name in names:
        if name and len(name) <= _NAME_CHARS_MAX:
            distinct.setdefault(name.casefold(), name)
    return list(distinct.values())[:_ENTITIES_MAX]


def _topics(text: str, entities: Sequence[str]) -> tuple[str, ...]:
    """Stems of the first words of content that are no names."""
    names = frozenset(part for name in entities for part in name.lower().split())
    words = content_words(text, names)
    return tuple(dict.fromkeys(stem(word) for word in words if len(word) > 2))[:_TOPICS_MAX]
