"""The rule extractor: candidates from a cell without any model.

At most one candidate per clause. It is a real mode with its own recall, not a mock: what is sure is resolved (who
speaks, when, whose attribute), everything else keeps its words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from memforest_ray.facts.attributes import Attribute, naming_of
from memforest_ray.facts.candidates import CANDIDATES_MAX, Candidate, CellInput, Extraction, Kind, TurnInput
from memforest_ray.facts.clauses import content_words
from memforest_ray.facts.expressions import Found, find_times
from memforest_ray.facts.inputs import SILENT_ROLES
from memforest_ray.facts.kinds import domain_of, kind_of
from memforest_ray.facts.names import Speakers, inner_names, names_in
from memforest_ray.facts.remembered import without_remembered
from memforest_ray.facts.retelling import retell
from memforest_ray.facts.sayings import Saying, sayings
from memforest_ray.facts.times import LIFETIME, EventTime, Precision
from memforest_ray.facts.words import stem, word_set

__all__ = ["RuleExtractor", "spoken_turns"]

_TOPICS_MAX: Final = 5
_REPEATED_CHARS: Final = 2_000
"""A text of this length that stands in a cell twice is a prompt, not an utterance."""
_LIFETIME_MS: Final = LIFETIME // timedelta(milliseconds=1)
_DAY_MS: Final = timedelta(days=1) // timedelta(milliseconds=1)
_LIMITS: Final = ("before", "until", "till", "by", "after")
_UNTIL: Final = re.compile(r"\b(?:until|till|til)\b[^.,;]*$", re.IGNORECASE)
_DUE: Final = re.compile(r"\b(?:by|until|till|til)\s(?:the\s)?$", re.IGNORECASE)
_DUE_IN: Final = re.compile(r"(?:by|until|till|til)\b", re.IGNORECASE)
_THEN: Final = re.compile(r"[\s.,;]*(?:and\s+)?then\b", re.IGNORECASE)
_YOU: Final = word_set("you your you're you've yours you'll you'd")
_NO_TOPICS: Final = word_set(
    "last next year years week weeks month months time yesterday today ago made went took gave"
)


class RuleExtractor:
    """Implements `Extractor`. Needs no history: a cell's candidates depend on the cell alone."""

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        return [Extraction(cell.cell_id, _candidates(cell)) for cell in cells]


def _candidates(cell: CellInput) -> tuple[Candidate, ...]:
    speakers = Speakers(cell.names or tuple(dict.fromkeys(turn.speaker for turn in cell.turns)))
    said = "\n".join(turn.text for turn in cell.turns)
    known = inner_names(said)
    found: dict[tuple[str, str], Candidate] = {}
    for turn in spoken_turns(cell.turns):
        times = find_times(turn.text, turn.source_ms, cell.zone)
        for saying in sayings(turn, speakers, said):
            names = names_in(saying.statement + saying.speaking_on, speakers, cell.recurring, known)
            candidate = _candidate(saying, speakers, names, times)
            for each in (candidate, *_naming(candidate, saying, speakers)):
                found.setdefault((each.speaker, each.text), each)
    return _best(list(found.values()))


def spoken_turns(turns: tuple[TurnInput, ...]) -> list[TurnInput]:
    """Turns that somebody says: no prompts, no tool results, nothing long that is said twice, nothing remembered."""
    texts = [turn.text for turn in turns]
    said = [
        turn
        for turn in turns
        if turn.role.lower() not in SILENT_ROLES and (len(turn.text) < _REPEATED_CHARS or texts.count(turn.text) == 1)
    ]
    return [turn for each in said for turn in _without_remembered(each)]


def _without_remembered(turn: TurnInput) -> Iterator[TurnInput]:
    """The turn without what it quotes from a memory; none where it says nothing else."""
    left = without_remembered(turn.text)
    if left == turn.text:
        yield turn
    elif left.strip():
        yield replace(turn, text=left)


def _best(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    """At most as many as a cell may give: the surest, in the order in which they were said."""
    ranked = sorted(range(len(candidates)), key=lambda place: (-candidates[place].confidence, place))
    return tuple(candidates[place] for place in sorted(ranked[:CANDIDATES_MAX]))


def _candidate(saying: Saying, speakers: Speakers, names: tuple[str, ...], times: list[Found]) -> Candidate:
    turn, statement = saying.turn, saying.statement
    event = _event(saying, times)
    text, confidence = _text(saying, speakers)
    candidate = Candidate(
        text=text,
        kind=_kind(saying, event),
        speaker=turn.speaker,
        role=turn.role,
        turns=(turn.index,),
        entities=_entities(turn.speaker, names, statement, speakers),
        topics=_topics(saying, speakers, names),
        domain=domain_of(statement),
        confidence=confidence,
        event=event,
    )
    return candidate if saying.attribute is None else _with_attribute(candidate, saying.attribute, speakers)


def _text(saying: Saying, speakers: Speakers) -> tuple[str, float]:
    """The statement in the third person or quoted, and how sure it is to be what was meant."""
    speaker = saying.turn.speaker
    if saying.clause.image:
        return f"{speaker} shared an image: {saying.statement}", 0.4
    text, sure = retell(saying.statement, speaker, speakers.other(speaker))
    if saying.speaking_on:
        text += ("" if text[-1] in ".!?" else ".") + saying.speaking_on
    return text, 0.7 if sure else 0.5


def _kind(saying: Saying, event: EventTime | None) -> Kind:
    source_ms = saying.turn.source_ms
    if saying.clause.image:
        return Kind.DETAIL
    if event is None or source_ms is None:
        return kind_of(saying.statement, dated_past=False, dated_future=False)
    future = event.start_ms > source_ms
    past = not future and event.end_ms - _DAY_MS <= source_ms
    return kind_of(saying.statement, dated_past=past, dated_future=future)


def _with_attribute(candidate: Candidate, attribute: Attribute, speakers: Speakers) -> Candidate:
    subject = _subject(attribute.subject, candidate.speaker, speakers)
    if subject is None:
        return candidate
    return replace(
        candidate,
        kind=attribute.kind,
        subject=subject,
        attribute=attribute.name,
        value=attribute.value,
        confidence=0.9,
    )


def _naming(candidate: Candidate, saying: Saying, speakers: Speakers) -> Iterator[Candidate]:
    """Who it is that turned two: "My cat Pixel turned two" says two things for sure, and each has its chain.

    Of other attributes the statement itself says well enough who that is: "Ana's husband Tom moved to Oslo".
    """
    told, naming = saying.attribute, naming_of(saying.statement)
    if told is None or told.name != "age" or naming is None or naming.attribute.value != told.subject:
        return
    text = f"{candidate.speaker}'s {naming.noun} is called {told.subject}."
    yield _with_attribute(replace(candidate, text=text, event=None), naming.attribute, speakers)


def _subject(named: str, speaker: str, speakers: Speakers) -> str | None:
    if named.lower() == "i":
        return speaker
    if named.lower() == "you":
        return speakers.other(speaker)
    return speakers.called(named) or named


def _entities(speaker: str, names: tuple[str, ...], statement: str, speakers: Speakers) -> tuple[str, ...]:
    """Who speaks, who is spoken of, and whom "you" means."""
    found = dict.fromkeys((speaker, *names))
    other = speakers.other(speaker)
    if other and not _YOU.isdisjoint(statement.lower().split()):
        found.setdefault(other)
    return tuple(found)


def _topics(saying: Saying, speakers: Speakers, names: tuple[str, ...]) -> tuple[str, ...]:
    """Stems of the first words of content that are no names."""
    parts = frozenset(part for name in names for part in name.lower().split())
    said = content_words(saying.statement, speakers.folded | parts | _NO_TOPICS)
    return tuple(dict.fromkeys(stem(word) for word in said if len(word) > 2))[:_TOPICS_MAX]


def _event(saying: Saying, times: list[Found]) -> EventTime | None:
    """The first time of a saying that is not the limit of something ("before 9 June").

    Without one, when what comes before it was over: "I lived in Boston until 2019, then I moved to Davis".
    Of what was true once and is not any more: the limit, since it ended then ("lived in Davis until January 2022");
    without one, all the time before it was said.
    """
    here = [found for found in times if saying.clause.start <= found.start < saying.end]
    for found in here:
        if not _is_limit(saying.turn.text, found) or _is_due(saying, found):
            return found.event
    if not here and (over := _over_before(saying, times)):
        return over
    attribute, source_ms = saying.attribute, saying.turn.source_ms
    if attribute is None or not attribute.past or source_ms is None:
        return None
    if here:
        return here[0].event
    return EventTime(source_ms - _LIFETIME_MS, source_ms, Precision.RANGE, "used to", source_ms)


def _is_due(saying: Saying, found: Found) -> bool:
    """Whether it is a limit that lies ahead: "due by Friday", "closed until Thursday"."""
    source_ms, text = saying.turn.source_ms, saying.turn.text
    limit = _DUE.search(text, max(0, found.start - 12), found.start) or _DUE_IN.match(found.event.expression)
    return source_ms is not None and limit is not None and found.event.start_ms > source_ms - _DAY_MS


def _over_before(saying: Saying, times: list[Found]) -> EventTime | None:
    text, start = saying.turn.text, saying.clause.start
    last = next((found for found in reversed(times) if found.end <= start), None)
    if last is None or not _UNTIL.search(text[max(0, last.start - 12) : last.end]):
        return None
    then = _THEN.match(text, last.end)
    return last.event if then and not text[then.end() : start].strip() else None


def _is_limit(text: str, found: Found) -> bool:
    before = text[max(0, found.start - 12) : found.start].lower().split()
    return found.event.expression.lower().startswith(_LIMITS) or (bool(before) and before[-1] in _LIMITS)
