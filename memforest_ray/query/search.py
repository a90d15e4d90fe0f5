"""Search: one question to one version. Recall, browse, time, rank, assemble; no I/O, milliseconds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.commit.version import Version
from memforest_ray.ids import CellId, ItemId
from memforest_ray.models.chat import ChatReply
from memforest_ray.query.allowed import Allowed, filtered, in_time
from memforest_ray.query.answering.attribution import lead_of
from memforest_ray.query.answering.silence import silent_last
from memforest_ray.query.answering.telling import telling_of
from memforest_ray.query.browse import Browsed
from memforest_ray.query.corrected import held_back
from memforest_ray.query.grading import graded
from memforest_ray.query.guided import card
from memforest_ray.query.hits import HitMaker
from memforest_ray.query.inquiry import Inquiry, inquire, widened
from memforest_ray.query.modes import mode_of
from memforest_ray.query.passages import PASSAGE_CHARS, passage
from memforest_ray.query.question import Question
from memforest_ray.query.rank import Ranking, in_order, score, without
from memforest_ray.query.recall import TREES_MAX, recall
from memforest_ray.query.render import line, tokens
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.reranking import RERANKED_MAX, reranked
from memforest_ray.query.rereading import reread
from memforest_ray.query.result import EmptyReason, Hit, RecalledTree, Result, Trace
from memforest_ray.query.steps import Embed, Steps, alone
from memforest_ray.query.timing.bearings import bearings_of
from memforest_ray.query.timing.chains import asked_states
from memforest_ray.query.timing.directions import MEASURED
from memforest_ray.query.timing.picks import Picked, pick
from memforest_ray.query.timing.temporal import TimeReading, span_text
from memforest_ray.trees.leaves import day_of

__all__ = ["DEFAULT", "NEIGHBOUR", "search", "search_steps"]

COMPLETE_CHARS_MAX: Final = 200_000
"""Most characters that fully expanded trees give together: some 50,000 tokens, what a long context holds."""
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
    """Answer a query without models. Raises InvalidInput for an unknown mode."""
    return alone(search_steps(version, request, vector, ranking, neighbour=neighbour))


def search_steps(
    version: Version,
    request: QueryRequest,
    vector: NDArray[np.floating[Any]] | None,
    ranking: Ranking = DEFAULT,
    *,
    neighbour: float = NEIGHBOUR,
    attribute: bool = False,
) -> Steps[Result]:
    """Answer a query. `vector` is the question's (None or zero: unknown to the embedder); `neighbour` the embedder's.

    With `attribute` the result says whether it is of whom the question names (`lead`, `strangers`, `aside`), which
    `ask` needs. Raises InvalidInput for an unknown mode.
    """
    browse = mode_of(request.mode)
    if not len(version.index):
        return _nothing(version, request)
    inquiry = inquire(version, request, vector)
    reading = inquiry.reading
    if inquiry.near is not None and reading.intervals:  # a state may have begun long before a time that is named
        inquiry = widened(inquiry, vector, asked_states(inquiry, reading.topic))
    time = in_time(inquiry, reading)
    if not time.any:
        return _outside(version, request, reading)
    allowed = filtered(inquiry, time)
    bearings = bearings_of(inquiry, reading, (yield from _vectors(reading)))
    trees_max = max(TREES_MAX, request.k) if request.expand == "complete" else TREES_MAX
    trees: Sequence[RecalledTree] = (
        () if request.mode == "flat" and request.expand == "facts" else recall(inquiry, ranking.root_share, trees_max)
    )
    browsed = yield from browse(inquiry, trees[:TREES_MAX], allowed)
    if request.rerank and request.expand == "complete":
        trees = yield from _trees_reranked(inquiry, trees, browsed)
    again = yield from reread(inquiry, vector)
    scores = score(inquiry, browsed, reading, ranking, again)
    if again is not None:
        inquiry = replace(inquiry, cells=np.maximum(inquiry.cells, again.cells))
    picked = _allowed(inquiry, pick(inquiry, bearings, scores.facts, neighbour), allowed)
    scores = without(scores, _untimely(inquiry, picked), picked.elsewhere, ranking)
    scores = held_back(inquiry, scores, ranking)
    maker = HitMaker(inquiry, scores, {tree.scope: tree.score for tree in trees})
    found = (
        _complete(inquiry, maker, trees, allowed)
        if request.expand == "complete"
        else _ranked(inquiry, maker, allowed, picked)
    )
    if request.rerank and request.expand == "facts":
        found = yield from _reranked(inquiry, found, ranking, browsed)
    hits = tuple(_within_budget(found, request))
    trace = _trace(inquiry, reading, trees, browsed)
    if hits:
        certain = any(each.certain for each in picked.picks)
        result = Result(version.number, hits, trace, None, picked.missing, None, reading.only_time, certain)
        return _attributed(inquiry, result, lead_of(inquiry, maker.scores, ranking)) if attribute else result
    return _empty(version, request, EmptyReason.FILTERED, _left_out(inquiry), trace)


def _attributed(inquiry: Inquiry, result: Result, lead: float | None) -> Result:
    """The result, with whether it is of whom the question names."""
    telling = telling_of(inquiry, result.hits)
    return replace(result, lead=lead, strangers=telling.strangers, aside=telling.aside)


def _vectors(reading: TimeReading) -> Steps[Any]:
    """Of what is asked for and of what it is measured from; nothing where a question measures nothing."""
    if reading.direction not in MEASURED:
        return {}
    return (yield from Embed(tuple(dict.fromkeys((reading.topic, *reading.anchors)))))


def _allowed(inquiry: Inquiry, picked: Picked, allowed: Allowed) -> Picked:
    """What time made of the facts; where the filters leave nothing that it singled out, nothing is held back for that.

    Where Ann lives now is no reason against Ulm when only the session is asked in which she said that she lives there.
    """
    left = tuple(each for each in picked.picks if inquiry.allows(each.fact.id, allowed.facts))
    return replace(picked, picks=(), untimely=frozenset()) if picked.picks and not left else picked


def _untimely(inquiry: Inquiry, picked: Picked) -> NDArray[np.bool_] | None:
    """By number of the fact: known to be of another time than the question asks for; None when nothing is."""
    if picked.excluded is None and not picked.untimely:
        return None
    count = len(inquiry.corpus.statements.facts)
    untimely = np.zeros(count, bool) if picked.excluded is None else picked.excluded.copy()
    untimely[[number for name in picked.untimely if (number := inquiry.fact_number(name)) >= 0]] = True
    untimely[[number for each in picked.picks if (number := inquiry.fact_number(each.fact.id)) >= 0]] = False
    return untimely


def _trace(inquiry: Inquiry, reading: TimeReading, trees: Sequence[RecalledTree], browsed: Browsed) -> Trace:
    words_alone = () if inquiry.has_vector else ("the embedder does not know this script: words alone decided",)
    missing = _missing_families(inquiry)
    unplanted = (f"this memory has no {missing} trees: facts and dialogue decided",) * bool(missing)
    fallbacks = (*words_alone, *unplanted, *browsed.fallbacks)
    mode, visited = inquiry.request.mode, browsed.nodes_visited
    return Trace(mode, tuple(trees[:TREES_MAX]), visited, fallbacks, reading.phrases, browsed.spent, inquiry.asked_ms)


def _missing_families(inquiry: Inquiry) -> str:
    """The families of trees that are asked for when the memory has none of them; else nothing."""
    wanted = inquiry.request.families
    return "" if wanted & inquiry.version.birth.families else " or ".join(sorted(wanted))


def _left_out(inquiry: Inquiry) -> str:
    missing = _missing_families(inquiry)
    if missing and inquiry.request.expand == "complete":
        return f"whole trees were asked for, but this memory has no {missing} trees"
    return "nothing that was found passes the filters or fits the token budget"


def _empty(
    version: Version, request: QueryRequest, reason: EmptyReason, message: str, trace: Trace | None = None
) -> Result:
    return Result(version.number, (), trace or Trace(request.mode), reason, message)


def _nothing(version: Version, request: QueryRequest) -> Result:
    return _empty(version, request, EmptyReason.NO_MEMORY, "nothing is remembered yet")


def _outside(version: Version, request: QueryRequest, reading: TimeReading) -> Result:
    bounds = (request.since_ms, request.until_ms)
    asked = [span_text(*bounds)] * (bounds != (None, None)) + list(reading.times) * reading.only_time
    times = [f"for {'; '.join(asked)}"] * bool(asked)
    if request.as_of_ms is not None:
        times.append(f"as of {day_of(request.as_of_ms)}")
    if not times:
        return _nothing(version, request)
    message = f"nothing is remembered {' '.join(times)}"
    return _empty(version, request, EmptyReason.NO_MATCH, message, Trace(request.mode, reading=reading.phrases))


def _ranked(inquiry: Inquiry, maker: HitMaker, allowed: Allowed, picked: Picked) -> Iterator[Hit]:
    """What time singles out, then the rest by score; each fact and each cell once."""
    picks = {each.fact.id: each for each in picked.picks if inquiry.allows(each.fact.id, allowed.facts)}
    ranked = silent_last(inquiry, in_order(inquiry, maker.scores, allowed))
    first = next(ranked, None)
    for each in picks.values():
        own = maker.score_of(each.fact.id)
        yield maker.of_fact(each.fact, own if first is None else max(own, first.score), each.mention, each.note)
    cells: set[CellId] = set()
    for found in chain(() if first is None else (first,), ranked):
        if found.fact is not None:
            fact = None if found.fact in picks else inquiry.fact(found.fact)
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


def _trees_reranked(inquiry: Inquiry, trees: Sequence[RecalledTree], browsed: Browsed) -> Steps[Sequence[RecalledTree]]:
    """The recalled trees in the order that a model's grades give them, the first of them at least."""
    if not trees:
        return trees
    first, rest = trees[:RERANKED_MAX], trees[RERANKED_MAX:]
    grades, reply = yield from graded(inquiry, [card(inquiry, tree.scope) for tree in first])
    _note(browsed, reply)
    order = sorted(range(len(first)), key=lambda place: -grades.get(place, 0.0))  # stable: equals as they were recalled
    return (*(first[place] for place in order), *rest)


def _note(browsed: Browsed, reply: ChatReply) -> None:
    """What a rerank has cost, and whether it came to nothing."""
    browsed.charge("rerank", reply.usage)
    if reply.value is None:
        browsed.fallbacks.append(
            f"the model could not rerank ({reply.failure or 'no answer'}): ranked by score instead"
        )


def _reranked(inquiry: Inquiry, found: Iterator[Hit], ranking: Ranking, browsed: Browsed) -> Steps[Iterator[Hit]]:
    """The best hits in the order that a model's grades give them."""
    best = list(islice(found, max(inquiry.request.k, RERANKED_MAX)))
    if not best:
        return found
    hits, reply = yield from reranked(inquiry, best, ranking)
    _note(browsed, reply)
    return iter(hits)


def _within_budget(hits: Iterable[Hit], request: QueryRequest) -> Iterator[Hit]:
    """Hits as long as they fit: k of them, or as many characters as complete trees may have; and the tokens allowed.

    Tokens are those of the rendered line, both times included. Long dialogue that does not fit is cut to the passage
    that holds most of what is asked for. Where the best does not fit even so, the first that does stands for it.
    """
    complete = request.expand == "complete"
    chars, left = COMPLETE_CHARS_MAX, request.token_budget
    begun = False
    for given, hit in enumerate(hits):
        if given == request.k and not complete:
            return
        chars -= len(hit.text) * complete
        if chars < 0:
            return
        fitting = hit
        if left is not None:
            fitting = hit if _cost(hit) <= left else _cut(hit, request.text)
            if _cost(fitting) > left:
                if begun:
                    return
                continue
            left -= _cost(fitting)
            begun = True
        yield fitting


def _cost(hit: Hit) -> int:
    """Tokens of a hit's line and its end."""
    return tokens(line(hit)) + 1


def _cut(hit: Hit, question: str) -> Hit:
    if hit.kind == "fact" or len(hit.text) <= PASSAGE_CHARS:
        return hit
    part, _ = passage(hit.text, dict.fromkeys(Question.of(question).terms, 1.0))
    return replace(hit, text=f"... {part} ...")
