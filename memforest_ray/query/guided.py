"""Guided: the ways down the recalled trees on which a chat model decides what to open.

Bounded: at most one planning call, and one ranking call for each level of the trees, whatever their number. Nothing is
shown to a model that this query may not know: a summary only when all below it was said by `as_of`, else its parts.
Where the model fails, likeness decides, and the result says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from memforest_ray.facts.times import to_datetime
from memforest_ray.ids import CellId, FactId, ScopeId
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.prompts.plan import PLAN
from memforest_ray.query.allowed import Allowed
from memforest_ray.query.browse import Browsed, embed
from memforest_ray.query.grading import asked_line, clipped, graded
from memforest_ray.query.inquiry import Inquiry, rephrased
from memforest_ray.query.render import day, when
from memforest_ray.query.result import RecalledTree
from memforest_ray.query.steps import Consult, Embed, Steps
from memforest_ray.trees.leaves import day_of
from memforest_ray.trees.nodes import UNKNOWN_MS
from memforest_ray.trees.tree import Child, Leaf, Node

__all__ = ["LEVELS_MAX", "OPENED_MAX", "SHOWN_MAX", "card", "llm", "planner", "planner_embed"]

LEVELS_MAX: Final = 8
"""Ranking calls of one query: a tree of fan-out 4 with more levels has over 65,000 leaves."""
OPENED_MAX: Final = 12
"""Nodes that are opened at a level, of all trees together."""
SHOWN_MAX: Final = 96
"""Entries of one ranking call: the children of twelve nodes of fan-out 8."""
_LOOKED_AT_MAX: Final = 512
"""Nodes that are passed through at a level because their summaries tell of later: bounds the time of a query."""
_SUMMARY_CHARS: Final = 500
"""Of a root's summary that a planner is shown."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A child that a model is shown."""

    scope: ScopeId
    child: Child
    text: str


def llm(inquiry: Inquiry, trees: Sequence[RecalledTree], allowed: Allowed) -> Steps[Browsed]:
    """Down the trees by the grades that a model gives to what is visible, all trees in one call a level."""
    return (yield from _ranked(inquiry, trees, allowed, {}, Browsed()))


def planner(inquiry: Inquiry, trees: Sequence[RecalledTree], allowed: Allowed) -> Steps[Browsed]:
    """A plan first: which trees, and what to look for in each; then as `llm`."""
    looks, browsed = yield from _planned(inquiry, trees)
    if browsed.fallbacks:
        return browsed
    return (yield from _ranked(inquiry, _chosen(trees, looks), allowed, looks, browsed))


def planner_embed(inquiry: Inquiry, trees: Sequence[RecalledTree], allowed: Allowed) -> Steps[Browsed]:
    """A plan first; then down each tree by likeness to what is looked for in it."""
    looks, browsed = yield from _planned(inquiry, trees)
    if browsed.fallbacks:
        return browsed
    vectors = yield from Embed(tuple(dict.fromkeys(looks.values())))
    for tree in _chosen(trees, looks):
        vector = vectors.get(looks.get(tree.scope, ""))
        other = inquiry if vector is None else rephrased(inquiry, vector)
        found = embed(other, [tree])
        browsed.nodes_visited += found.nodes_visited
        if found.reached is not None:
            browsed.own = found.reached.of_inquiry(other).joined(browsed.own)
            browsed.reached = found.reached.joined(browsed.reached)
    return browsed


def _chosen(trees: Sequence[RecalledTree], looks: Mapping[ScopeId, str]) -> Sequence[RecalledTree]:
    """The trees of the plan; all when it names none."""
    return [tree for tree in trees if tree.scope in looks] or trees


def _planned(inquiry: Inquiry, trees: Sequence[RecalledTree]) -> Steps[tuple[dict[ScopeId, str], Browsed]]:
    """What to look for, by tree. When that fails: what likeness finds instead."""
    if not trees:
        return {}, Browsed()
    lines = [f"{number}. {card(inquiry, tree.scope)}" for number, tree in enumerate(trees, start=1)]
    text = "\n".join((asked_line(inquiry), "Trees:", *lines))
    replies = yield from Consult((PLAN.request(text, urgent=True),))
    reply = replies[0]
    if reply.value is None:
        return {}, _fallen_back(inquiry, trees, Browsed(spent={"plan": reply.usage}), "plan", reply)
    return _looks(reply.value, trees), Browsed(spent={"plan": reply.usage})


def _looks(value: Mapping[str, Any], trees: Sequence[RecalledTree]) -> dict[ScopeId, str]:
    found: dict[ScopeId, str] = {}
    listed = value.get("look")
    for item in listed if isinstance(listed, list) else ():
        number, line = (item.get("n"), item.get("for")) if isinstance(item, Mapping) else (None, None)
        if isinstance(number, int) and isinstance(line, str) and line.strip() and 1 <= number <= len(trees):
            found.setdefault(trees[number - 1].scope, clipped(line))
    return found


def _ranked(
    inquiry: Inquiry,
    trees: Sequence[RecalledTree],
    allowed: Allowed,
    looks: Mapping[ScopeId, str],
    browsed: Browsed,
) -> Steps[Browsed]:
    """Level by level: show what is visible, open what the model grades best."""
    roots = [(tree.scope, inquiry.version.trees[tree.scope].root) for tree in trees]
    opened = [(scope, root) for scope, root in roots if root is not None]
    for _ in range(LEVELS_MAX):
        shown = _shown(inquiry, opened, allowed)
        if not shown:
            break
        grades, reply = yield from graded(inquiry, [_entry(inquiry, each, looks) for each in shown])
        browsed.charge("rank", reply.usage)
        if reply.value is None:
            return _fallen_back(inquiry, trees, browsed, "rank", reply)
        opened = []
        for place, grade in sorted(grades.items(), key=lambda entry: -entry[1]):
            each = shown[place]
            if isinstance(each.child, Leaf):
                browsed.judged[each.child.item] = max(browsed.judged.get(each.child.item, 0.0), grade)
                browsed.found(each.child, grade)
            elif len(opened) < OPENED_MAX:
                opened.append((each.scope, each.child))
        browsed.nodes_visited += len(opened)
    return browsed


def _fallen_back(
    inquiry: Inquiry, trees: Sequence[RecalledTree], browsed: Browsed, what: str, reply: ChatReply
) -> Browsed:
    """What likeness finds, with what was asked in vain."""
    found = embed(inquiry, trees)
    note = f"the model could not {what} ({reply.failure or 'no answer'}): likeness decided instead"
    return replace(found, spent=browsed.spent, fallbacks=[note])


def _shown(inquiry: Inquiry, opened: Sequence[tuple[ScopeId, Child]], allowed: Allowed) -> list[_Shown]:
    """Children of what is open that this query may see, taken from the trees in turn up to the bound."""
    rows = [_children(inquiry, child, allowed) for _, child in opened]
    each_max = max(SHOWN_MAX // max(len(rows), 1), 1)
    return [
        _Shown(scope, child, _text(inquiry, child))
        for (scope, _), row in zip(opened, rows, strict=True)
        for child in islice(row, each_max)
    ][:SHOWN_MAX]


def _children(inquiry: Inquiry, opened: Child, allowed: Allowed) -> Iterator[Child]:
    """What stands below a node, as far as it may be shown; a node that tells of later gives way to its own children."""
    waiting: list[Child] = list(reversed(opened.children)) if isinstance(opened, Node) else [opened]
    for _ in range(_LOOKED_AT_MAX):
        if not waiting:
            return
        child = waiting.pop()
        if not inquiry.overlaps(child) or _all_later(inquiry, child):
            continue
        if isinstance(child, Leaf):
            if inquiry.allows_leaf(child, allowed.facts, allowed.places):
                yield child
        elif inquiry.known(child):
            yield child
        else:
            waiting.extend(reversed(child.children))


def _all_later(inquiry: Inquiry, child: Child) -> bool:
    """Whether nothing below was said by the instant asked for."""
    as_of = inquiry.request.as_of_ms
    return as_of is not None and (child.source_ms is None or child.source_ms[0] > as_of)


def _text(inquiry: Inquiry, child: Child) -> str:
    """What a model is told of a child: a summary with its time, a statement with both its times, or dialogue."""
    if isinstance(child, Leaf):
        return _leaf_text(inquiry, child)
    summary = inquiry.version.summaries.get(child.id)
    return f"[{_interval(child)}, {child.count} entries] {'' if summary is None else summary.text}"


def _leaf_text(inquiry: Inquiry, leaf: Leaf) -> str:
    fact = inquiry.fact(FactId(leaf.item)) if leaf.item[0] == "f" else None
    if fact is None:
        cell = inquiry.version.cells[CellId(leaf.item)]
        return f"[dialogue of {day_of(cell.source_ms) or 'an unknown day'}] {leaf.text}"
    said = "at an unknown time" if fact.source_ms is None else day(to_datetime(fact.source_ms))
    happened = when(fact.event)
    return f"{fact.text} ({f'time: {happened}; ' if happened else ''}said {said})"


def _entry(inquiry: Inquiry, each: _Shown, looks: Mapping[ScopeId, str]) -> str:
    """An entry with what is looked for in its tree, where there is a plan."""
    look = looks.get(each.scope)
    return each.text if look is None else f"{each.text} (looked for: {look})"


def _interval(node: Node) -> str:
    first, last = (order[0] for order in (node.first, node.last))
    return f"{_day(first)} to {_day(last)}"


def _day(instant_ms: int) -> str:
    return "unknown" if instant_ms >= UNKNOWN_MS else day_of(instant_ms)


def card(inquiry: Inquiry, scope: ScopeId) -> str:
    """What a model that chooses among trees is told of one: its summary only when nothing in it is of later."""
    family, _, name = scope.partition(":")
    title = {"entity": f"about {name}", "session": f"conversation {name}"}.get(family, "things that belong together")
    root = inquiry.version.trees[scope].root
    if root is None or isinstance(root, Leaf) or not inquiry.known(root):
        return title
    return f"{title} {clipped(_text(inquiry, root), _SUMMARY_CHARS)}"
