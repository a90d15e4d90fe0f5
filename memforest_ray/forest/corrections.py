"""Corrections: statements that somebody put in the place of what an extractor understood.

A correction is a mention beside those of the cell that it corrects. It lives as long as the turns that it is about:
when their cell is read anew it moves over, and when one of them is forgotten it goes.
"""

from collections.abc import Iterator
from dataclasses import replace

from memforest_ray.commit.version import Version
from memforest_ray.errors import InvalidInput, NotFound
from memforest_ray.facts.atoms import atom_id, text_key
from memforest_ray.facts.candidates import CANDIDATES_MAX, Candidate, Mention
from memforest_ray.facts.canonical import Fact, Facts, FactsEdit
from memforest_ray.facts.cells import Cell
from memforest_ray.facts.expressions import find_times
from memforest_ray.facts.instants import parse_instant
from memforest_ray.facts.names import Speakers, names_in
from memforest_ray.facts.sessions import SessionRecord, storable
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.forest.dialogue import keyed
from memforest_ray.forest.errands import Correct
from memforest_ray.forest.work import Work
from memforest_ray.ids import AtomId, digest

__all__ = ["TEXT_CHARS_MAX", "corrected", "corrections"]

TEXT_CHARS_MAX = 2_000
"""A fact is a statement, not a document."""
_DAY_MS = 86_400_000
_NUMBER_DIGITS = 8


def corrected(version: Version, write: Correct) -> tuple[FactsEdit, AtomId]:
    """What a correction does to the facts, and the atom that it adds. Raises NotFound, InvalidInput."""
    fact = version.find_fact(write.fact)
    if fact is None:
        raise NotFound(f"there is no fact {write.fact!r}; nothing was changed", what="fact", fact=write.fact)
    mention = _mention(version, fact, write)
    atom = atom_id(mention)
    if atom in fact.atoms:
        raise InvalidInput("the fact already says that; nothing was changed", fact=fact.id)
    edit = version.facts.withhold(fact.id, keyed(version.secret, "withheld"))
    # Somebody may take a correction back: what was withheld by it is to be shown again.
    edit = edit.then(edit.facts.readmit([atom]))
    edit = edit.then(edit.facts.edit([mention]))
    if edit.facts.get(atom) is None:
        raise InvalidInput(
            "the new text says the same as a statement that was corrected or forgotten; nothing was changed",
            fact=fact.id,
        )
    return edit, atom


def corrections(work: Work, facts: Facts) -> Iterator[Mention]:
    """Corrections of cells that are no more, in the cells that their turns are in now, if those stand as they stood."""
    for cell in work.dead.values():
        held = [told for told in facts.of_cell(cell.id) if told.candidate.corrected_from is not None]
        home = _home(work, cell) if held else None
        if home is not None:
            for told in held:
                if _stands(work, told):
                    yield Mention.of(home.id, home.session_id, told.number, told.source_ms, told.candidate)


def _home(work: Work, cell: Cell) -> Cell | None:
    """The new cell that holds the first turn of a dead one."""
    first = cell.spans[0]
    for born in work.born.values():
        if born.session_id == cell.session_id and any(
            span.turn == first.turn and span.start == first.start for span in born.spans
        ):
            return born
    return None


def _stands(work: Work, told: Mention) -> bool:
    before = work.version.sessions[told.session_id].turns
    now = work.dialogue.sessions[told.session_id].turns
    return all(turn < len(now) and now[turn] == before[turn] for turn in told.candidate.turns)


def _mention(version: Version, fact: Fact, write: Correct) -> Mention:
    told = fact.mentions[0]
    candidate = _candidate(version.sessions[told.session_id], fact, told, write)
    said = digest(candidate.text, candidate.speaker, *(candidate.event.interval if candidate.event else ()))
    # Behind all that an extractor may find in the cell, and the same for the same correction.
    number = CANDIDATES_MAX + int(said[:_NUMBER_DIGITS], 16)
    return Mention.of(told.cell_id, told.session_id, number, told.source_ms, candidate)


def _candidate(session: SessionRecord, fact: Fact, told: Mention, write: Correct) -> Candidate:
    text = " ".join(storable(write.text).split())
    if not text or len(text) > TEXT_CHARS_MAX:
        raise InvalidInput(f"a corrected text has 1 to {TEXT_CHARS_MAX} characters; nothing was changed")
    old, said = told.candidate, text_key(text)
    speakers = Speakers(tuple(dict.fromkeys(turn.speaker for turn in session.turns if turn.hole is None)))
    kept = [name for name in fact.entities if text_key(name) in said or name in {old.speaker, old.subject}]
    value = write.value if write.value is not None else _value(fact, text)
    stated = fact.attribute is not None and value is not None and text_key(value) in said
    return replace(
        old,
        text=text,
        subject=fact.subject if stated else old.subject,
        attribute=fact.attribute if stated else None,
        value=value if stated else None,
        entities=tuple(dict.fromkeys((*kept, *names_in(text, speakers)))),
        topics=tuple(topic for topic in old.topics if topic in said),
        confidence=1.0,
        event=fact.event if write.event_time is None else _event(write.event_time, told.source_ms, session.zone),
        corrected_from=fact.id,
    )


def _value(fact: Fact, text: str) -> str | None:
    """The fact's value, or what stands in its place where the text is otherwise the same ("moved to ...")."""
    place = fact.text.lower().find((fact.value or "").lower())
    before, after = fact.text[:place], fact.text[place + len(fact.value or "") :]
    value = text.removeprefix(before).removesuffix(after).strip()
    same = place >= 0 and text.startswith(before) and text.endswith(after)
    return value if same and value and fact.value and text_key(fact.value) not in text_key(text) else fact.value


def _event(given: str | tuple[int, int], base_ms: int | None, zone: str | None) -> EventTime:
    if isinstance(given, str):
        return _of_words(given.strip(), base_ms, zone)
    start_ms, end_ms = given
    if end_ms <= start_ms:
        raise InvalidInput("event_time ends before it starts; nothing was changed")
    whole_day = end_ms - start_ms == _DAY_MS and start_ms % _DAY_MS == 0
    precision = Precision.DAY if whole_day else Precision.INSTANT if end_ms - start_ms == 1 else Precision.RANGE
    return EventTime(start_ms, end_ms, precision, "", None)


def _of_words(words: str, base_ms: int | None, zone: str | None) -> EventTime:
    """A time in words ("May 2021", "last week"), or an instant as it is written."""
    for found in find_times(words, base_ms, zone):
        if found.event.expression == words:
            return found.event
    start_ms = parse_instant(words, zone).ms
    return EventTime(start_ms, start_ms + 1, Precision.INSTANT, words, None)
