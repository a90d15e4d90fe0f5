"""Search: one question to one version. Recall, browse, time, rank, assemble; pure, no I/O, milliseconds."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.commit.version import Version
from memforest_ray.ids import CellId, ItemId
from memforest_ray.query.browse import browse_of
from memforest_ray.query.chains import Pick, pick
from memforest_ray.query.hits import HitMaker
from memforest_ray.query.inquiry import Inquiry, inquire
from memforest_ray.query.rank import Allowed, Ranking, filtered, in_order, in_time, score
from memforest_ray.query.recall import TREES_MAX, recall
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import EmptyReason, Hit, RecalledTree, Result, Trace
from memforest_ray.query.temporal import TimeReading, read_time, span_text

__all__ = ["search"]

COMPLETE_CHARS_MAX: Final = 200_000
"""Most characters that fully expanded trees give together: some 50,000 tokens, what a long context holds."""
_CHARS_PER_TOKEN: Final = 4
DEFAULT: Final = Ranking()
NEIGHBOUR: Final = 0.45
"""For callers that know no embedder; `Fingerprint.neighbour` is the real one."""


def search(
    version: Version,
    request: QueryRequest,
    vector: NDArray[np.floating[Any]] | None,
    ranking: Ranking = DEFAULT,
    *,
    neighbour: float = NEIGHBOUR,
) -> Result:
    """Answer a query. `vector` is the question's (None or zero: unknown to the embedder); `neighbour` the embedder's.

    Raises InvalidInput for an unknown mode.
    """
    browse = browse_of(request.mode)
    if not len(version.index):
        return _nothing(version, request)
    inquiry = inquire(version, request, vector)
    reading = read_time(request.text, inquiry.asked_ms, request.zone)
    trees_max = max(TREES_MAX, request.k) if request.expand == "complete" else TREES_MAX
    trees = (
        () if request.mode == "flat" and request.expand == "facts" else recall(inquiry, ranking.root_share, trees_max)
    )
    browsed = browse(inquiry, trees[:TREES_MAX])
    scores = score(inquiry, browsed.leaves, reading, ranking)
    maker = HitMaker(inquiry, scores, {tree.scope: tree.score for tree in trees})
    time = in_time(inquiry, reading)
    if not time.any:
        return _outside(version, request, reading)
    allowed = filtered(inquiry, time)
    picks = pick(inquiry, reading, neighbour)
    found = (
        _complete(inquiry, maker, trees, allowed)
        if request.expand == "complete"
        else _ranked(inquiry, maker, allowed, picks)
    )
    hits = tuple(_within_budget(found, request))
    trace = Trace(request.mode, trees[:TREES_MAX], browsed.nodes_visited, _fallbacks(inquiry), reading.phrases)
    if hits:
        return Result(version.number, hits, trace)
    return _empty(
        version, request, EmptyReason.FILTERED, "what was found does not pass the filters or the budget", trace
    )


def _empty(
    version: Version, request: QueryRequest, reason: EmptyReason, message: str, trace: Trace | None = None
) -> Result:
    return Result(version.number, (), trace or Trace(request.mode), reason, message)


def _nothing(version: Version, request: QueryRequest) -> Result:
    return _empty(version, request, EmptyReason.NO_MEMORY, "nothing is remembered yet")


def _outside(version: Version, request: QueryRequest, reading: TimeReading) -> Result:
    bounds = (request.since_ms, request.until_ms)
    asked = [span_text(*bounds)] * (bounds != (None, None)) + list(reading.phrases) * reading.only_time
    if request.as_of_ms is not None:
        asked.append(f"as of {span_text(None, request.as_of_ms + 1)}")
    if not asked:
        return _nothing(version, request)
    message = f"nothing is remembered for {'; '.join(asked)}"
    return _empty(version, request, EmptyReason.NO_MATCH, message, Trace(request.mode, reading=reading.phrases))


def _fallbacks(inquiry: Inquiry) -> tuple[str, ...]:
    if inquiry.has_vector:
        return ()
    return ("the embedder does not know this script: words alone decided",)


def _ranked(inquiry: Inquiry, maker: HitMaker, allowed: Allowed, picks: Sequence[Pick]) -> Iterator[Hit]:
    """What time singles out, then the rest by score; each fact and each cell once."""
    picked = {each.fact.id: each for each in picks if inquiry.allows(each.fact.id, allowed.facts)}
    ranked = in_order(inquiry, maker.scores, allowed)
    first = next(ranked, None)
    for each in picked.values():
        own = maker.score_of(each.fact.id)
        yield maker.of_fact(each.fact, own if first is None else max(own, first.score), each.mention, each.note)
    cells: set[CellId] = set()
    for found in chain(() if first is None else (first,), ranked):
        if found.fact is not None:
            fact = None if found.fact in picked else inquiry.fact(found.fact)
            if fact is not None:
                yield maker.of_fact(fact, found.score)
            continue
        cell = inquiry.cell_at(found.place)
        if cell.id not in cells:
            cells.add(cell.id)
            yield maker.of_cell(cell, found.score)


def _complete(inquiry: Inquiry, maker: HitMaker, trees: Sequence[RecalledTree], allowed: Allowed) -> Iterator[Hit]:
    """The best trees, each with all its leaves in order of time; an item that stands in several trees once."""
    told: set[ItemId] = set()
    for tree in trees[: inquiry.request.k]:
        for leaf in inquiry.version.trees[tree.scope].leaves():
            if leaf.item not in told and inquiry.allows_leaf(leaf, allowed.facts, allowed.places):
                told.add(leaf.item)
                yield from maker.of_leaf(leaf, tree.scope)


def _within_budget(hits: Iterable[Hit], request: QueryRequest) -> Iterator[Hit]:
    """Hits as long as they fit: k of them, or as many characters as complete trees may have; and the tokens allowed."""
    complete = request.expand == "complete"
    left = COMPLETE_CHARS_MAX if complete else None
    if request.token_budget is not None:
        left = min(left or request.token_budget * _CHARS_PER_TOKEN, request.token_budget * _CHARS_PER_TOKEN)
    for given, hit in enumerate(hits):
        if given == request.k and not complete:
            return
        if left is not None:
            if len(hit.text) > left:
                return
            left -= len(hit.text)
        yield hit
