"""Successions: statements of one thing that no attribute names, in the order in which they were made.

"The spare key is under the pot", and later "The spare key is at Inga's place"; "I eat fish", and later "I stopped
eating fish". Nobody says that the older one is over, and no chain of states holds the two. Which statement follows
which is said in `following`; here they are gathered, around the one that is most like the question. Only the best
statements are looked at, and of these only those that hold words of the thing, or a name that the best one gives.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.canonical import Fact
from memforest_ray.ids import FactId
from memforest_ray.index.lexical import Floats
from memforest_ray.index.rows import index_words
from memforest_ray.index.strongest import strongest
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.timing.directions import Direction
from memforest_ray.query.timing.following import Told, called, changes, ends, follows, says_how
from memforest_ray.query.timing.temporal import TimeReading
from memforest_ray.query.timing.things import Thing, asks_present, asks_whether_done, thing_of
from memforest_ray.trees.leaves import day_of

__all__ = ["standing"]

_NEAR: Final = 32
"""Best statements among which others of the same thing are looked for."""
_SHARE_MIN: Final = 0.1
"""Share of the best score that each of them must have."""
_NAMED_MAX: Final = 3
"""Names in a statement by which others are found that do not hold its words: "sold the ThinkPad"."""
_NAMED_FACTS_MAX: Final = 16
"""Facts that hold such a name: what more of them hold says little about one thing."""
_Holding: TypeAlias = Mapping[int, Collection[str]]
"""Statements by number, with the words of the thing that each of them holds."""
_NOW: Final = frozenset({None, Direction.CURRENT})
_BACK: Final = frozenset({Direction.FIRST, Direction.PREVIOUS, Direction.BEFORE})
"""Directions in which a question looks for what was so earlier."""


@dataclass(frozen=True, slots=True)
class _Succession:
    """Statements of one thing, the oldest first; at least two."""

    told: tuple[Told, ...]
    best: Told
    """The one that is most like the question, or that was given."""
    thing: Thing

    @property
    def last(self) -> Told:
        """How it is now."""
        return self.told[-1]

    @property
    def first(self) -> Told | None:
        """How it was at first, as far as somebody says how it was; None where the first that is told is a change."""
        first = next(self._plain(self.told), None)
        return None if first is None or changes(first, self.thing) else first

    def before(self, words: Set[str]) -> Told | None:
        """How it was before the last one that holds these words; None where that is the first, or there is none."""
        places = [place for place, each in enumerate(self.told) if words <= {*index_words(each.fact.text)}]
        return next(self._plain(reversed(self.told[: places[-1]])), None) if places else None

    @property
    def is_called_off(self) -> bool:
        """Whether it was planned, and then was not to be: the answer to "Did she go?"."""
        return self.best.fact.kind is Kind.PLAN and ends(self.last, self.best, self.thing)

    def _plain(self, told: Iterable[Told]) -> Iterator[Told]:
        """Of these the ones that say how it is."""
        return (each for each in told if says_how(each, self.thing))


def _succession(
    inquiry: Inquiry, thing: Thing, scores: Floats, begun: FactId | None = None, *, back: bool = True
) -> _Succession | None:
    """What is told of the thing one after the other, around the best statement, or the one that is given.

    `scores` are those of the corpus's facts. With `back` also what was said before it. None where nothing else is told
    of the thing.
    """
    if not (thing.nouns or thing.acts) or not len(scores):
        return None
    best = int(np.argmax(scores)) if begun is None else inquiry.fact_number(begun)
    if best < 0:
        return None
    holding = _holding(inquiry, thing, scores, best)
    first = dict(_read(inquiry, {best: holding.pop(best, ())})).get(best)
    if first is None or not first.holds or not _is_theirs(inquiry, first):
        return None
    if begun is not None:
        holding = dict(_of_no_chain(inquiry, holding, best))
    others = [told for _, told in _read(inquiry, _possible(holding, first, thing, back=back))]
    others.extend(told for _, told in _read(inquiry, _naming(inquiry, first, thing, holding)))
    later = [told for told in others if told.order > first.order and follows(told, first, thing)]
    last = max(later, key=_order, default=first)
    earlier = [told for told in others if back and told.order < last.order and follows(last, told, thing)]
    if not (earlier or later):
        return None
    told = {each.number: each for each in (*earlier, first, last)}
    return _Succession(tuple(sorted(told.values(), key=_order)), first, thing)


def _order(told: Told) -> tuple[int, str, int]:
    return told.order


def _of_no_chain(inquiry: Inquiry, holding: _Holding, best: int) -> Iterator[tuple[int, Collection[str]]]:
    """What stands not in the chain of that one: of one attribute the chain says what follows what."""
    chains = inquiry.corpus.statements.chains
    yield from (each for each in holding.items() if chains[best] < 0 or chains[each[0]] != chains[best])


def _possible(holding: _Holding, first: Told, thing: Thing, *, back: bool) -> _Holding:
    """Those that may follow that one, or precede it: of two the later holds the nouns that the older one holds."""
    nouns = first.holds & thing.nouns
    return {
        number: words
        for number, words in holding.items()
        if nouns.issubset(words) or (back and not thing.nouns.intersection(words).difference(nouns))
    }


def _is_theirs(inquiry: Inquiry, told: Told) -> bool:
    """Whether it is said by, or of, the one whom the question names, if it names one of those who speak."""
    named = inquiry.question.named(inquiry.speakers)
    if named is None:
        return True
    words = set(index_words(inquiry.speakers[named]))
    return told.fact.speaker == inquiry.speakers[named] or (bool(words) and words <= {*index_words(told.fact.text)})


def _holding(inquiry: Inquiry, thing: Thing, scores: Floats, best: int) -> dict[int, Collection[str]]:
    """By number the best statements that hold words of the thing, and which; the best of all in any case."""
    numbers = strongest(scores, _NEAR)[: 2 * _NEAR]
    among = np.zeros(len(scores), bool)
    among[numbers[scores[numbers] >= _SHARE_MIN * scores[best]]] = True
    among[best] = True
    words = thing.words
    found = inquiry.corpus.statements.found(words)
    here = np.flatnonzero(among[found.places])
    holding: dict[int, set[str]] = {best: set()}
    for word, number in zip(found.words[here].tolist(), found.places[here].tolist(), strict=True):
        holding.setdefault(number, set()).add(words[word])
    return dict(holding)


def _naming(inquiry: Inquiry, told: Told, thing: Thing, holding: _Holding) -> _Holding:
    """Facts that hold a name which this one gives the thing, and that are not among those already."""
    names = sorted(called(told, thing).difference(thing.words))[:_NAMED_MAX]
    if not names:
        return {}
    found = inquiry.corpus.statements.found(names)
    rare = np.flatnonzero(found.holding <= _NAMED_FACTS_MAX)
    numbers = found.places[np.isin(found.words, rare)].tolist()
    return {number: holding.get(number, ()) for number in numbers if number != told.number}


def _read(inquiry: Inquiry, holding: _Holding) -> Iterator[tuple[int, Told]]:
    """The statements with what they hold, as far as it is known when they were made."""
    statements, ids = inquiry.corpus.statements, inquiry.version.index.facts.ids
    for number, words in holding.items():
        fact = inquiry.fact(FactId(ids[statements.facts[number]]))
        said_ms = None if fact is None else fact.mentions[-1].source_ms
        if fact is not None and said_ms is not None:
            yield number, Told(fact, number, frozenset(words), said_ms)


def standing(
    inquiry: Inquiry, reading: TimeReading, scores: Floats, begun: FactId | None = None
) -> tuple[tuple[Fact, str], ...]:
    """Which statements of one thing a question means, with a note on each: the latest first where it asks for now.

    The older one that is most like it follows. `begun` is what is known of it already. Empty where the question names
    a time, or no such order is told.
    """
    if reading.names_time or len(reading.anchors) > 1:
        return ()
    text, back = inquiry.question.text, reading.direction in _BACK
    done = begun is None and reading.direction is None and asks_whether_done(text)
    if not back and not done and (reading.direction not in _NOW or not asks_present(text)):
        return ()
    thing = thing_of(text, reading.topic, inquiry.speakers.values())
    told = _succession(inquiry, thing, scores, begun, back=back)
    if told is None or (done and not told.is_called_off):
        return ()
    return tuple(_chosen(told, reading))


def _chosen(told: _Succession, reading: TimeReading) -> Iterator[tuple[Fact, str]]:
    """Statements in the order in which they are shown, with the word for each."""
    direction, meant = reading.direction, None
    if direction is Direction.FIRST:
        meant = told.first
    elif direction in (Direction.PREVIOUS, Direction.BEFORE):
        meant = told.before(set(index_words(" ".join(reading.anchors))))
    elif told.best is not told.last:
        yield _noted("latest", told.last)
        yield _noted("earlier", told.best)
    if meant is not None and direction is not None:
        yield _noted(direction, meant)


def _noted(which: str, told: Told) -> tuple[Fact, str]:
    return told.fact, f"{which}: {day_of(told.said_ms)}"
