"""Nearness: how like a question facts, cells and nodes are; in a large forest, which part of it to look at.

Where there are graphs over all facts and all cells, a question is held against the sessions that they, and its
words, lead to: a few thousand turns, however many there are. What is asked about time, or with filters, is held
against everything: there the nearest are not enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memforest_ray.index.corpus import Corpus
from memforest_ray.index.foliage import AllNodes, NodeLikenesses, SomeNodes
from memforest_ray.index.lexical import Floats, bm25_of
from memforest_ray.index.table import Integers
from memforest_ray.index.vectors import Asked, similarities, similarities_of
from memforest_ray.index.view import CELLS, FACTS, IndexView
from memforest_ray.query.directions import look
from memforest_ray.query.question import Question
from memforest_ray.query.request import NO_FILTERS, QueryRequest
from memforest_ray.query.temporal import read_time

__all__ = ["Said", "likenesses", "likenesses_within", "may_narrow", "near_part", "said_in"]

_NEAREST: Final = 48
"""Facts, and cells, whose sessions are looked at: several times what a query shows."""
_LOOKED_AT: Final = 384
"""Facts among which those of one whom a question names are looked for first: a graph comes by them anyway."""
_WORDED: Final = 24
"""Facts, and turns, with most of the question's words, whose sessions are."""
_HITS_MAX: Final = 50
"""Of a query that may be narrowed: more hits want more of the forest."""
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


def may_narrow(index: IndexView, request: QueryRequest) -> bool:
    """Whether the nearest are enough for this query, and graphs can find them."""
    if FACTS not in index.graphs or CELLS not in index.graphs:
        return False
    bounds = (request.as_of_ms, request.since_ms, request.until_ms)
    if any(bound is not None for bound in bounds) or request.filters != NO_FILTERS:
        return False
    if request.expand != "facts" or request.k > _HITS_MAX:
        return False
    if request.mode not in _NARROWED or look(request.text).direction is not None:
        return False
    reading = read_time(request.text, None, request.zone)
    return not (reading.names_time or reading.ahead)


def near_part(index: IndexView, corpus: Corpus, query: Floats, question: Question) -> tuple[Corpus, Said]:
    """The sessions that are near a question, and what its words say of them, weighed as in the whole corpus."""
    dialogue, statements = corpus.dialogue, corpus.statements
    in_places = dialogue.found(question.terms)
    words, windows = statements.matches(question.terms), dialogue.windows(in_places)
    near = np.zeros(len(dialogue.starts), bool)
    for places in (
        statements.told.rights_of(_near_facts(index, corpus, query, question)),
        statements.told.rights_of(_most(words)),
        dialogue.held.rights_of(_near_cells(index, corpus, query)),
        _most(bm25_of(in_places, dialogue.window_damping)),
    ):
        near[dialogue.session_of[places]] = True
    part = corpus.among(np.flatnonzero(near))
    said = Said(words[part.facts], windows[part.places], dialogue.sessions(in_places)[part.places])
    return part.corpus, said


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
    found = np.argpartition(-values, _WORDED)[:_WORDED] if len(values) > _WORDED else np.arange(len(values))
    return found[values[found] > 0]
