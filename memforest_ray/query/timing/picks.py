"""Picks: the facts that a question's words about time single out, and those that they rule out."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.ids import FactId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.table import UNKNOWN, Integers
from memforest_ray.index.vectors import Asked, similarities
from memforest_ray.query.inquiry import Inquiry, fact_order
from memforest_ray.query.timing.amounts import amounts
from memforest_ray.query.timing.bearings import EXACT, Bearings, Span
from memforest_ray.query.timing.chains import Chain, asks_no_more, chains, subjects, whose
from memforest_ray.query.timing.directions import Direction
from memforest_ray.query.timing.entries import Entry
from memforest_ray.query.timing.planned import planned
from memforest_ray.query.timing.spells import spell_of
from memforest_ray.query.timing.successions import standing
from memforest_ray.query.timing.temporal import TimeReading, says_no_more, told_ahead, within
from memforest_ray.trees.leaves import day_of
from memforest_ray.trees.routing import entity_key, entity_scope
from memforest_ray.trees.tree import OrderKey

__all__ = ["Pick", "Picked", "pick"]

_NEIGHBOURS: Final = 32
"""Leaves on one side of a happening that are looked at when no attribute is asked for."""
_NEIGHBOURS_GIVEN: Final = 3
"""Of these, how many are put first."""
_MEANT: Final = 0.5
"""Share of the best score that an entry of a chain must have, where no happening says what is meant."""
_HAPPENED: Final = frozenset({Kind.EVENT, Kind.TRANSITION})
_AS_GOOD: Final = 0.8
"""Share of the best score from which a neighbour may be what is asked for."""
_ALIKE_SCORE: Final = 0.5
"""Share of the best score from which another fact may be the same thing at another time ..."""
_ALIKE: Final = 0.7
"""... and the cosine with it from which it is: "ran the race in 52 minutes" and "in 49 minutes" have .97, "ran the
race yesterday" and "49:57 at the race yesterday" .79 ..."""
_ALIKE_SHARE: Final = 0.8
"""... and the part of what the best holds of the question's words that it must hold, too."""
_TELLS_BOTH: Final = re.compile(r"\b(?:before|after|prior to|until|since|following|then)\b|之[前后]|以[前后]|पहले|बाद")
"""What a statement says that tells of a happening and of what was before or after it."""
_WHENCE: Final = re.compile(r"\bfrom\b|从", re.IGNORECASE)
"""What a change says that tells how it was before it."""
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Pick:
    """A fact that time puts first."""

    fact: Fact
    mention: Mention
    note: str
    certain: bool = False
    """Whether it is of exactly the subject and the attribute that are asked for."""


@dataclass(frozen=True, slots=True)
class Picked:
    """What time makes of the facts."""

    picks: tuple[Pick, ...] = ()
    """Singled out, the best first."""
    untimely: frozenset[FactId] = frozenset()
    """Ruled out: the happening itself, and the other states of a chain."""
    excluded: NDArray[np.bool_] | None = field(default=None, compare=False)
    """By number of the fact: known to lie on the wrong side."""
    elsewhere: NDArray[np.bool_] | None = field(default=None, compare=False)
    """The same, known to lie outside an interval that is named: they rank lower already, since others gain by it."""
    missing: str = ""
    """What was looked for along a chain and is not there."""


def pick(inquiry: Inquiry, bearings: Bearings, scores: Floats, neighbour: float) -> Picked:
    """What the question's words about time single out and rule out; `scores` are those of the corpus's facts."""
    reading = bearings.reading
    if reading.direction in EXACT:
        unknown = "; ".join(f"it is not remembered when this was: {anchor}" for anchor in bearings.unfound)
        return Picked(tuple(_ends(bearings.spans)), missing=unknown)
    picked = _of_states(inquiry, bearings, scores)
    if succeeded := _succeeded(inquiry, reading, scores, picked):
        return succeeded
    if announced := _announced(inquiry, reading, picked):
        return announced
    if picked is not None:
        return picked
    if not reading.anchors:
        alike = tuple(_alike(inquiry, scores, reading.direction))
        return Picked(alike, excluded=_wrong_way(inquiry, reading), elsewhere=_elsewhere(inquiry, reading))
    return _beside_happening(inquiry, bearings, scores, neighbour) if bearings.spans else Picked()


def _of_states(inquiry: Inquiry, bearings: Bearings, scores: Floats) -> Picked | None:
    """What amounts, spells and chains make of it; None where it asks for none of them."""
    reading = bearings.reading
    if not (reading.anchors or reading.intervals) and (told := amounts(inquiry, reading.direction, scores)):
        return Picked((Pick(told.fact, told.mention, told.note),), told.others)
    if spell := spell_of(inquiry):
        ends = tuple(Pick(end.fact, end.mention, end.note, True) for end in spell.ends)
        return Picked(ends, missing=spell.missing)
    return _of_chains(inquiry, bearings, scores)


def _of_chains(inquiry: Inquiry, bearings: Bearings, scores: Floats) -> Picked | None:
    """What chains make of it, with a name in the place of "Ana's cat"; None where none of them is meant."""
    reading = bearings.reading
    if reading.ahead or not (reading.direction or reading.intervals):  # a chain holds no plans
        return None
    topic = whose(inquiry, reading.topic)
    if topic is None:
        return None
    named = replace(bearings, reading=replace(reading, topic=topic))
    found = _asked_for(inquiry, named, scores)
    return _joined([_of_chain(chain, named) for chain in found]) if found else None


def _succeeded(inquiry: Inquiry, reading: TimeReading, scores: Floats, picked: Picked | None) -> Picked | None:
    """What follows the state that was picked, or the best statement where none was; None where nothing does."""
    picks = () if picked is None else picked.picks
    if len(picks) > 1 or (picks and reading.direction is not Direction.CURRENT):
        return None
    told = standing(inquiry, reading, scores, picks[0].fact.id if picks else None)
    if not told:
        return None
    certain = any(each.certain for each in picks)
    found = tuple(Pick(fact, fact.mentions[-1], note, certain) for fact, note in told)
    untimely = frozenset[FactId]() if picked is None else picked.untimely
    return Picked(found, untimely.difference(each.fact.id for each in found), _wrong_way(inquiry, reading))


def _announced(inquiry: Inquiry, reading: TimeReading, picked: Picked | None) -> Picked | None:
    """What was picked with the plan beside it whose day is over, which may have become so; None where there is none."""
    if reading.direction is not Direction.CURRENT or reading.ahead or (picked is not None and len(picked.picks) > 1):
        return None
    found = planned(inquiry, reading.topic)
    if found is None:
        return None
    plan = Pick(found.fact, found.fact.mentions[0], found.note, certain=True)
    return Picked((plan,)) if picked is None else replace(picked, picks=(*picked.picks, plan), missing="")


def _asked_for(inquiry: Inquiry, bearings: Bearings, scores: Floats) -> list[Chain]:
    """Of each subject the first chain that the question means; nothing where it asks for no state."""
    reading = bearings.reading
    found: dict[str, Chain] = {}
    for chain in chains(inquiry, reading.topic):
        if reading.anchors:
            meant = bool(bearings.spans or _named(chain, reading.anchors))
        else:
            meant = _is_meant(inquiry, chain, reading.topic, scores)
        if meant:
            found.setdefault(chain.subject, chain)
    if not found:
        return []
    return list(found.values()) if len(subjects(inquiry, reading.topic)) > 1 else list(found.values())[:1]


def _joined(each: Sequence[Picked]) -> Picked:
    """What several chains single out and rule out."""
    picks = tuple(pick for picked in each for pick in picked.picks)
    untimely = frozenset().union(*(picked.untimely for picked in each)) - {pick.fact.id for pick in picks}
    return Picked(picks, untimely, missing="; ".join(picked.missing for picked in each if picked.missing))


def _is_meant(inquiry: Inquiry, chain: Chain, topic: str, scores: Floats) -> bool:
    """Whether a chain speaks of what is asked for: "the name of the band that Ann saw" does not mean Ann's name."""
    if asks_no_more(topic, chain.name, chain.attribute):
        return True
    numbers = [number for entry in chain.entries if (number := inquiry.fact_number(entry.fact.id)) >= 0]
    return bool(numbers) and float(scores[numbers].max()) >= _MEANT * float(scores.max())


def _of_chain(chain: Chain, bearings: Bearings) -> Picked:
    """Entries of a chain, and all of it that was not meant."""
    reading = bearings.reading
    entries = _measured(chain, bearings) if reading.anchors else _from_end(chain, bearings)
    certain = asks_no_more(reading.topic, chain.name, chain.attribute)
    picks = tuple(Pick(entry.fact, entry.mention, f"{note}: {chain.attribute}", certain) for entry, note in entries)
    others = {entry.fact.id for entry in chain.entries} | {fact.id for fact in bearings.happenings}
    missing = f"no {chain.attribute} of {chain.name} is remembered {_sought(reading)}"
    return Picked(picks, frozenset(others - {each.fact.id for each in picks}), missing="" if picks else missing)


def _sought(reading: TimeReading) -> str:
    """For what time one is looked for, in words that go on a sentence."""
    if reading.direction is Direction.PREVIOUS:
        return "from before the one there is"
    return f"for: {'; '.join(reading.phrases)}" if reading.phrases else "for that time"


def _from_end(chain: Chain, bearings: Bearings) -> Iterator[tuple[Entry, str]]:
    """The first, the current or the previous entry; or what was so in the time that is named."""
    runs, direction = chain.runs, bearings.reading.direction
    if direction is Direction.FIRST:
        yield runs[0][0], "first"
    elif direction is Direction.PREVIOUS:
        if len(runs) > 1:
            yield _last_held(runs[:-1]), "previous"
        elif _says_whence(runs[0][0]):
            yield runs[0][0], "previous"
    elif bearings.reading.intervals:
        since, until = bearings.reading.intervals[0]
        if since is not None and until is not None:
            for entry in _in_force(chain.entries, since, until):
                yield entry, f"at {_days(since, until)}"
    elif direction in (Direction.CURRENT, Direction.LAST):
        for entry in chain.standing(bearings.reading.topic):
            yield entry, "current"


def _in_force(entries: Sequence[Entry], since: int, until: int) -> list[Entry]:
    """What became so in a time, and what was so when it began."""
    inside = [entry for entry in entries if since < entry.start_ms < until]
    return inside + [entry for entry in entries if entry.start_ms <= since][-1:]


def _days(since: int, until: int) -> str:
    first, last = day_of(since), day_of(until - 1)
    return first if first == last else f"{first} to {last}"


def _measured(chain: Chain, bearings: Bearings) -> Iterator[tuple[Entry, str]]:
    """The entry before, after, between or at happenings. What holds the happening itself is none of them."""
    direction, spans = bearings.reading.direction, bearings.spans
    told = {fact.id for fact in bearings.happenings}
    barred = {entry.value for entry in chain.entries if entry.fact.id in told} | _named(chain, bearings.reading.anchors)
    if direction in (Direction.BEFORE, Direction.AFTER) and barred:
        beside = _beside(chain, barred, direction)
        yield from ((entry, f"{direction} {day_of(start_ms)}") for entry, start_ms in beside)
        return
    found: list[Entry] = []
    if direction is Direction.AT and spans:
        found = _in_force(chain.entries, spans[0].start_ms, spans[0].end_ms)
    elif direction is Direction.BETWEEN and spans:
        low, high = sorted(span.start_ms for span in spans[:2])
        found = [entry for entry in _in_force(chain.entries, low, high) if entry.value not in barred]
    elif direction is Direction.BEFORE:
        found = [entry for entry in chain.entries if entry.start_ms < spans[0].start_ms][-1:]
    elif direction is Direction.AFTER:
        found = [entry for entry in chain.entries if entry.start_ms >= spans[0].start_ms][:1]
    note = f"{direction} {' and '.join(day_of(span.start_ms) for span in spans)}"
    yield from ((entry, note) for entry in found)


def _named(chain: Chain, anchors: Iterable[str]) -> set[str]:
    """Values of the chain that anchors name ("before moving to Davis"), however the move itself was told."""
    said = [set(index_words(anchor)) for anchor in anchors]
    values = {entry.value: set(index_words(entry.value)) for entry in chain.entries}
    return {value for value, words in values.items() if words and any(words <= each for each in said)}


def _beside(chain: Chain, values: Collection[str], direction: Direction) -> list[tuple[Entry, int]]:
    """The state before or after one of the chain's own, with the start of that one.

    Where a state came more than once (Davis, Miami, Davis) the last time that has such a neighbour is meant. Of the
    first state its own words may say what was before: "moved from Davis to Miami".
    """
    runs = chain.runs
    step = -1 if direction is Direction.BEFORE else 1
    for place in reversed(range(len(runs))):
        if runs[place][0].value in values and 0 <= place + step < len(runs):
            beside = _last_held(runs[:place]) if step < 0 else runs[place + step][0]
            return [(beside, runs[place][0].start_ms)]
    first = runs[0][0]
    return [(first, first.start_ms)] if step < 0 and first.value in values and _says_whence(first) else []


def _says_whence(entry: Entry) -> bool:
    return bool(_WHENCE.search(entry.mention.candidate.text))


def _last_held(runs: Sequence[Sequence[Entry]]) -> Entry:
    """The last entry that says how it was: before the new job was the old one, not that it was quit."""
    held = [run for run in runs if not run[-1].ends]
    return (held or runs)[-1][-1]


def _ends(spans: Sequence[Span]) -> Iterator[Pick]:
    """From what to what a time is measured; one that lasts until the question is asked has one end."""
    if len(spans) == 1 and spans[0].fact is not None:
        yield Pick(spans[0].fact, spans[0].fact.mentions[0], f"since {day_of(spans[0].start_ms)}", certain=True)
    if len(spans) == 2:
        for name, span in zip(("from", "to"), sorted(spans, key=lambda span: span.start_ms), strict=True):
            if span.fact is not None:
                yield Pick(span.fact, span.fact.mentions[0], f"{name} {day_of(span.start_ms)}", certain=True)


def _beside_happening(inquiry: Inquiry, bearings: Bearings, scores: Floats, neighbour: float) -> Picked:
    """Without a chain: what lies on the right side of a happening and is like what is asked for."""
    vague = _asks_for_anything(inquiry, bearings.reading.topic)
    excluded = _wrong_side(inquiry, bearings)
    beside = bearings.reading.direction in (Direction.BEFORE, Direction.AFTER)
    own = [fact for fact in bearings.happenings if not _TELLS_BOTH.search(fact.text)]
    untimely = frozenset(fact.id for fact in own if vague or beside)
    excluded[[inquiry.fact_number(fact.id) for fact in bearings.happenings if fact not in own]] = False
    if not beside or bearings.spans[0].fact is None:
        return Picked((), untimely, excluded)  # a bare date has no neighbours: everything lies before or after it
    facts = _beside_in_trees(inquiry, bearings.spans[0].fact, before=bearings.reading.direction is Direction.BEFORE)
    if vague:
        found = [fact for fact in facts if fact.kind in _HAPPENED and fact.event is not None]
    else:
        others = ~excluded
        others[[inquiry.fact_number(fact.id) for fact in bearings.happenings]] = False
        found = list(_most_like(inquiry, facts, bearings.likeness(inquiry) >= neighbour, scores * others))
    note = f"{bearings.reading.direction} {day_of(bearings.spans[0].start_ms)}"
    return Picked(tuple(Pick(fact, fact.mentions[0], note) for fact in found[:_NEIGHBOURS_GIVEN]), untimely, excluded)


def _most_like(inquiry: Inquiry, facts: Iterable[Fact], like: NDArray[np.bool_], scores: Floats) -> Iterator[Fact]:
    """Those that are like what is asked for and as good as anything, the best first."""
    least = _AS_GOOD * float(scores.max(initial=0.0))
    numbers = [(inquiry.fact_number(fact.id), fact) for fact in facts]
    good = [(float(scores[number]), fact) for number, fact in numbers if like[number] and scores[number] >= least]
    yield from (fact for _, fact in sorted(good, key=lambda entry: (-entry[0], fact_order(entry[1]))))


def _asks_for_anything(inquiry: Inquiry, topic: str) -> bool:
    """Whether nothing in particular is asked for ("What did Bob do before ...?"): then what is nearest is meant."""
    names = {word for name in inquiry.speakers.values() for word in entity_key(name).split()}
    return says_no_more(topic, names)


def _beside_in_trees(inquiry: Inquiry, happening: Fact, *, before: bool) -> Iterator[Fact]:
    """Facts of those whom the question names, else of whoever told of the happening, the nearest first."""
    told: set[str] = {happening.id}
    for subject in subjects(inquiry) or [entity_key(happening.speaker)]:
        order = fact_order(inquiry.version.facts.get(happening.id) or happening)
        for name in _neighbours(inquiry, subject, order, before=before):
            fact = inquiry.fact(name) if inquiry.fact_number(name) >= 0 else None
            if fact is not None and name not in told:
                told.add(name)
                yield fact


def _neighbours(inquiry: Inquiry, subject: str, order: OrderKey, *, before: bool) -> Iterator[FactId]:
    """Facts of a subject on one side of a place among its leaves, the nearest first; also where it has no tree."""
    version = inquiry.version
    tree = version.trees.get(entity_scope(subject))
    if tree is not None:
        beside = tree.before if before else tree.after
        yield from (FactId(leaf.item) for leaf in beside(order, _NEIGHBOURS))
    elif "entity" not in version.birth.families:
        facts = filter(None, map(version.facts.get, version.entities.members(subject)))
        placed = sorted(((fact_order(fact), fact.id) for fact in facts), reverse=before)
        yield from [name for place, name in placed if (place < order if before else place > order)][:_NEIGHBOURS]


def _wrong_side(inquiry: Inquiry, bearings: Bearings) -> NDArray[np.bool_]:
    """Facts that are known to have happened on the other side of what a question measures from."""
    statements, spans = inquiry.corpus.statements, bearings.spans
    low, high = min(span.start_ms for span in spans), max(span.start_ms for span in spans)
    if bearings.reading.direction is Direction.BEFORE:
        wrong = statements.starts >= low
    elif bearings.reading.direction is Direction.AFTER:
        wrong = statements.ends <= low
    elif bearings.reading.direction is Direction.BETWEEN:
        wrong = (statements.ends <= low) | (statements.starts >= high)
    else:
        wrong = np.zeros(len(statements.facts), bool)
    excluded: NDArray[np.bool_] = np.logical_and(statements.starts != UNKNOWN, wrong)
    return excluded


def _elsewhere(inquiry: Inquiry, reading: TimeReading) -> NDArray[np.bool_] | None:
    """Facts that are known to have happened outside the time that a question names."""
    if not reading.names_time:
        return None
    statements = inquiry.corpus.statements
    unknown = np.full(len(statements.facts), UNKNOWN)
    inside = within(reading, statements.starts, statements.ends, unknown)
    excluded: NDArray[np.bool_] = np.logical_and(statements.starts != UNKNOWN, ~inside)
    return excluded


def _wrong_way(inquiry: Inquiry, reading: TimeReading) -> NDArray[np.bool_] | None:
    """Facts that are known to be over where a question asks for what is to come, and the other way round."""
    if not (reading.coming or reading.gone) or inquiry.asked_ms is None:
        return None
    statements = inquiry.corpus.statements
    ahead, known = told_ahead(statements.starts, statements.sources), statements.starts != UNKNOWN
    if reading.coming:
        wrong = known & ~ahead & (statements.ends <= inquiry.asked_ms)
    else:
        wrong = known & ahead & (statements.starts > inquiry.asked_ms)
    found: NDArray[np.bool_] = wrong
    return found


def _alike(inquiry: Inquiry, scores: Floats, direction: Direction | None) -> Iterator[Pick]:
    """Of things alike that happened several times the first, the last, or all when it is asked how often."""
    if direction not in (Direction.FIRST, Direction.LAST, Direction.COUNT):
        return
    numbers, times = _like_the_best(inquiry, scores)
    if len(numbers) < 2:
        return
    wanted = {Direction.FIRST: [0], Direction.LAST: [len(numbers) - 1]}.get(direction, range(len(numbers)))
    statements, ids = inquiry.corpus.statements, inquiry.version.index.facts.ids
    for place in wanted:
        fact = inquiry.fact(FactId(ids[statements.facts[numbers[place]]]))
        if fact is not None:
            which = place + 1 if direction is Direction.COUNT else direction
            yield Pick(fact, fact.mentions[0], f"{which} of {len(numbers)}: {day_of(int(times[place]))}")


def _like_the_best(inquiry: Inquiry, scores: Floats) -> tuple[Integers, Integers]:
    """Facts that tell the same as the best, one of each day, and their times, in order."""
    statements, vectors = inquiry.corpus.statements, inquiry.version.index.facts.vectors
    times = np.where(statements.starts != UNKNOWN, statements.starts, statements.sources)
    if not len(scores):
        return times, times
    best = int(np.argmax(scores))
    told = Asked.of(vectors[int(statements.facts[best])].astype(np.float32))
    likeness = similarities(vectors, told)[statements.facts]
    people = {word for name in inquiry.speakers.values() for word in index_words(name)}
    share = statements.coverage([word for word in inquiry.question.terms if word not in people] or ["\0"])
    alike = (scores >= _ALIKE_SCORE * scores[best]) & (likeness >= _ALIKE) & (share >= _ALIKE_SHARE * share[best])
    numbers = np.flatnonzero(alike & (times != UNKNOWN))
    numbers = numbers[np.lexsort((-scores[numbers], times[numbers] // _DAY_MS))]
    days = times[numbers] // _DAY_MS
    numbers = numbers[np.diff(days, prepend=days[:1] - 1) != 0]
    return numbers, times[numbers]
