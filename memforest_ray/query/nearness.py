"""Nearness: how like a question facts, cells and nodes are; in a large forest, which part of it to look at.

Where there are graphs over all facts and all cells, a question is held against the sessions that they, and its
words, lead to: a few thousand turns, however many there are; if it names a time, also against all that is of that time.
What is asked about before and after, or with filters, is held against everything: there the nearest are not enough.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memforest_ray.index.corpus import Corpus
from memforest_ray.index.foliage import AllNodes, NodeLikenesses, SomeNodes
from memforest_ray.index.lexical import Floats
from memforest_ray.index.pairs import numbering
from memforest_ray.index.strongest import strongest
from memforest_ray.index.table import UNKNOWN, Integers
from memforest_ray.index.vectors import Asked, similarities, similarities_of
from memforest_ray.index.view import CELLS, FACTS, IndexView
from memforest_ray.query.question import Question
from memforest_ray.query.request import NO_FILTERS, QueryRequest
from memforest_ray.query.timing.temporal import TimeReading, within

__all__ = [
    "Said",
    "Sessions",
    "likenesses",
    "likenesses_within",
    "may_narrow",
    "near_sessions",
    "part_of",
    "said_in",
    "with_sessions_of",
]

Sessions: TypeAlias = NDArray[np.bool_]
"""Some sessions: for each, by its number, whether it is one of them."""

_NEAREST: Final = 48
"""Facts, and cells, whose sessions are looked at: several times what a query shows."""
_LOOKED_AT: Final = 384
"""Facts among which those of one whom a question names are looked for first: a graph comes by them anyway."""
_WORDED: Final = 24
"""Facts, and turns, with most of the question's words, whose sessions are."""
_HITS_MAX: Final = 50
"""Of a query that may be narrowed: more hits want more of the forest."""
_PART_MAX: Final = 0.2
"""Of all sessions, those of a time that is named, above which everything is looked at."""
_NARROWED: Final = ("embed", "flat")
"""Modes that may be: the others go by roots, or ask models, which takes longer than looking at everything."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the words of a question say of a corpus."""

    words: Floats
    """Share of them in each fact."""
    windows: Floats
    """Share at each place with the two on each side."""
    sessions: Floats
    """Share in the session of each place."""


def said_in(corpus: Corpus, terms: Sequence[str]) -> Said:
    """Hold the words of a question against a corpus."""
    found = corpus.dialogue.found(terms)
    return Said(corpus.statements.matches(terms), corpus.dialogue.windows(found), corpus.dialogue.sessions(found))


def likenesses(index: IndexView, corpus: Corpus, query: Floats | None) -> tuple[Floats, Floats, NodeLikenesses]:
    """Of the corpus's facts, its cells, and all nodes: by every vector there is."""
    asked = None if query is None else Asked.of(query)
    facts, cells = similarities(index.facts.vectors, asked), similarities(index.cells.vectors, asked)
    nodes = index.foliage.likenesses(facts, cells, similarities(index.own, asked))
    return _of_rows(facts, corpus.statements.facts), _of_rows(cells, corpus.dialogue.cells), AllNodes(nodes)


def _of_rows(values: Floats, rows: Integers) -> Floats:
    """Those of some rows, each once and in order."""
    return values if len(rows) == len(values) else values[rows]


def likenesses_within(index: IndexView, corpus: Corpus, query: Floats) -> tuple[Floats, Floats, NodeLikenesses]:
    """The same of a part of it; nodes when they are asked for."""
    asked = Asked.of(query)
    return (
        similarities_of(index.facts.vectors, corpus.statements.facts, asked),
        similarities_of(index.cells.vectors, corpus.dialogue.cells, asked),
        SomeNodes(index.nodes.vectors, query),
    )


def may_narrow(index: IndexView, request: QueryRequest, reading: TimeReading) -> bool:
    """Whether the nearest, with all of the time that it names, are enough for this query, and graphs can find them."""
    if FACTS not in index.graphs or CELLS not in index.graphs:
        return False
    bounds = (request.as_of_ms, request.since_ms, request.until_ms)
    if any(bound is not None for bound in bounds) or request.filters != NO_FILTERS:
        return False
    if request.expand != "facts" or request.k > _HITS_MAX:
        return False
    return request.mode in _NARROWED and reading.direction is None and not reading.ahead


def near_sessions(
    index: IndexView, corpus: Corpus, query: Floats, question: Question, reading: TimeReading
) -> Sessions | None:
    """The sessions that are near a question.

    Where it names a time all sessions are near in which something of that time was said, or happened; None where these
    are so many that it is quicker to look at everything.
    """
    dialogue, statements = corpus.dialogue, corpus.statements
    near = _in_time(corpus, reading)
    if _too_many(near):
        return None
    with ThreadPoolExecutor(1) as beside:  # graphs are searched without Python's lock: two of them at once
        cells = beside.submit(_near_cells, index, corpus, query)
        facts = _near_facts(index, corpus, query, question)
        worded = _most(statements.concordance.matches(question.terms))
        turns = _most(dialogue.concordance.matches(question.terms))
    for places in (
        statements.told.rights_of(facts),
        statements.told.rights_of(worded),
        dialogue.held.rights_of(cells.result()),
        turns,
    ):
        near[dialogue.session_of[places]] = True
    return near


def _too_many(near: Sessions) -> bool:
    """Whether it is quicker to look at everything."""
    return bool(np.count_nonzero(near) > _PART_MAX * len(near))


def with_sessions_of(corpus: Corpus, near: Sessions, facts: Integers) -> Sessions | None:
    """Also those that some facts, by their numbers, come from; None where all are too many."""
    wider = near.copy()
    wider[corpus.dialogue.session_of[corpus.statements.told.rights_of(facts)]] = True
    return None if _too_many(wider) else wider


def part_of(corpus: Corpus, near: Sessions, terms: Sequence[str]) -> tuple[Corpus, Said]:
    """Only these sessions, and what the words of a question say of them, weighed as in the whole corpus."""
    dialogue = corpus.dialogue
    narrowed = corpus.among(np.flatnonzero(near))
    part = narrowed.corpus.dialogue
    here = dialogue.concordance.among(terms, numbering(narrowed.places, len(dialogue.places)))
    windows, sessions = dialogue.holding(terms)
    said = Said(
        corpus.statements.concordance.matches(terms)[narrowed.facts],
        part.windows(here, windows, len(dialogue.places)),
        part.sessions(here, sessions, len(dialogue.starts)),
    )
    return narrowed.corpus, said


def _in_time(corpus: Corpus, reading: TimeReading) -> Sessions:
    """Sessions in which something was said, or is told to have happened, in the time that a question names."""
    dialogue, statements = corpus.dialogue, corpus.statements
    near = np.zeros(len(dialogue.starts), bool)
    if reading.names_time:
        facts = within(reading, statements.starts, statements.ends, statements.sources)
        near[dialogue.session_of[statements.told.rights_of(np.flatnonzero(facts))]] = True
        unknown = np.full(len(dialogue.places), UNKNOWN)
        near[dialogue.session_of[within(reading, unknown, unknown, dialogue.sources)]] = True
    return near


def _near_facts(index: IndexView, corpus: Corpus, query: Floats, question: Question) -> Integers:
    """The nearest facts, by number; of somebody whom it names, and whose tree has a graph, those in that tree, too."""
    named = [scope for scope in index.graphs if scope.startswith("entity:") and question.names(scope[7:])]
    looked_at = index.near(FACTS).nearest(query, _LOOKED_AT if named else _NEAREST)[0]
    rows = np.concatenate([looked_at[:_NEAREST], *(_near_leaves(index, name, query, looked_at) for name in named)])
    numbers: Integers = corpus.statements.number_of_row[rows]
    return numbers[numbers >= 0]


def _near_leaves(index: IndexView, scope: str, query: Floats, looked_at: Integers) -> Integers:
    """The leaves of a tree that are nearest: among the nearest facts of all, else by the tree's own graph."""
    leaves = index.near(scope)
    found = looked_at[leaves.members[looked_at]]
    return found[:_NEAREST] if len(found) >= _NEAREST else leaves.nearest(query, _NEAREST)[0]


def _near_cells(index: IndexView, corpus: Corpus, query: Floats) -> Integers:
    numbers: Integers = corpus.dialogue.number_of_row[index.near(CELLS).nearest(query, _NEAREST)[0]]
    return numbers[numbers >= 0]


def _most(values: Floats) -> Integers:
    """Numbers of the highest values above 0."""
    found = strongest(values, _WORDED)
    best: Integers = found[np.argsort(-values[found], kind="stable")][:_WORDED]
    return best[values[best] > 0]
