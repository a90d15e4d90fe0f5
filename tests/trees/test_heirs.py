"""Heirs: which nodes keep a summary, what it says then, and what it is noted to tell of."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.facts.canonical import Facts
from memforest_ray.ids import ItemId, MentionId, NodeId, ScopeId
from memforest_ray.testing.facts import day, mention
from memforest_ray.trees.heirs import Forebear, Heirs
from memforest_ray.trees.leaves import fact_leaf
from memforest_ray.trees.nodes import Leaf, Node
from memforest_ray.trees.parts import SUMMARY_CHARS_MAX
from memforest_ray.trees.summaries import (
    Inherited,
    RefreshPlan,
    Summary,
    summary_of_row,
    summary_row,
)
from memforest_ray.trees.tree import MemTree

BOB = ScopeId("entity:bob")
MODEL = "test-model/1"
ALL = range(200)
FACTS = Facts().edit([mention(f"Bob saw bird {n}.", f"s{n}", said=n, event=day(n)) for n in ALL]).facts
BY_NUMBER = {str(fact.mentions[0].session_id): fact for fact in FACTS}
OLD = "In short, Bob saw birds."


def leaf(number: int) -> Leaf:
    return fact_leaf(BY_NUMBER[f"s{number}"])


def mentions(*numbers: int) -> tuple[MentionId, ...]:
    return tuple(sorted(BY_NUMBER[f"s{number}"].mentions[0].id for number in numbers))


def tree(numbers: Iterable[int], k: int = 8) -> MemTree:
    return MemTree(BOB, k).edit([leaf(number) for number in numbers]).tree


def root(made: MemTree) -> Node:
    assert isinstance(made.root, Node)
    return made.root


def forebear(old: MemTree, text: str = OLD, **given: object) -> Forebear:
    """A tree whose nodes all have that summary."""
    summary = Summary(text, "hash", "model", **given)  # type: ignore[arg-type]  # fields by their names
    return Forebear(old, {node.id: summary for node in old.nodes()}, FACTS, lambda i: i, lambda m: m, lambda o: o)


def inherited(
    new: MemTree,
    old: Forebear,
    elsewhere: Iterable[int] = ALL,
    untold: Iterable[MentionId] = (),
) -> Inherited | None:
    """What the root of `new` takes over; items of `elsewhere` have a leaf in the tree, wherever that is."""
    items = {ItemId(BY_NUMBER[f"s{number}"].id) for number in elsewhere}
    gone = frozenset(untold)
    heirs = Heirs(lambda _: [old], lambda item, scope: scope == BOB and item in items, lambda name: name not in gone)
    return heirs(BOB, root(new))


def test_what_has_come_stands_in_front() -> None:
    """Word for word, with its day; and nothing is told beside the leaves."""
    old, new = tree(range(0, 20, 2)), tree([*range(0, 20, 2), 5, 7])
    assert inherited(new, forebear(old)) == Inherited(f"1970-01-06 Bob saw bird 5.\n1970-01-08 Bob saw bird 7.\n{OLD}")


def test_what_came_last_is_written_anew() -> None:
    """A summary ends with how things stand at the latest leaf."""
    assert inherited(tree(range(21)), forebear(tree(range(20)))) is None


def test_what_went_elsewhere_is_named() -> None:
    """The text stays, with the mentions that it may tell of."""
    new = tree(number for number in range(20) if number not in (3, 9))
    assert inherited(new, forebear(tree(range(20)))) == Inherited(OLD, mentions(3, 9))


def test_what_is_gone_is_not_told() -> None:
    """A leaf that has no place in the tree any more was forgotten."""
    new = tree(number for number in range(20) if number != 3)
    elsewhere = [number for number in ALL if number != 3]
    assert inherited(new, forebear(tree(range(20))), elsewhere) is None


def test_what_is_not_told_any_more_ends_it() -> None:
    """Neither what the old text told beside its leaves, nor what it would tell now."""
    old, new = forebear(tree(range(20)), also=mentions(100)), tree(n for n in range(20) if n != 3)
    assert inherited(new, old) == Inherited(OLD, tuple(sorted(mentions(3, 100))))
    assert inherited(new, old, untold=mentions(100)) is None
    assert inherited(new, old, untold=mentions(3)) is None


@pytest.mark.parametrize(("moved", "kept"), [(5, True), (6, False)])
def test_a_fourth_part_may_stand_elsewhere(moved: int, kept: bool) -> None:
    """Beyond that it is another interval."""
    new = tree(range(moved, moved + 20))
    assert (inherited(new, forebear(tree(range(moved + 20)))) is not None) is kept


@pytest.mark.parametrize(("said", "kept"), [(10, True), (30, False)])
def test_nothing_of_later(said: int, kept: bool) -> None:
    """Who may see the summary must be allowed to know what has left: it was said by the time of what stayed."""
    early = mention("Bob saw a bat.", "s-late", said=said, event=day(3))
    facts = FACTS.edit([early]).facts
    (fact,) = (each for each in facts if each.text == "Bob saw a bat.")
    new = tree(range(20))
    old = new.edit([fact_leaf(fact)]).tree
    summaries = {node.id: Summary(OLD, "hash", "model") for node in old.nodes()}
    donor = Forebear(old, summaries, facts, lambda i: i, lambda m: m, lambda o: o)
    heirs = Heirs(lambda _: [donor], lambda *_: True, lambda _: True)
    assert heirs(BOB, root(new)) == (Inherited(OLD, (fact.mentions[0].id,)) if kept else None)


@pytest.mark.parametrize("given", [{"stale": True}, {"source": "select"}])
def test_a_stand_in_is_not_kept(given: dict[str, object]) -> None:
    """It waits for its successor."""
    old = tree(range(0, 20, 2))
    summary = Summary(**{"text": OLD, "inputs": "hash", "source": "model", **given})  # type: ignore[arg-type]
    donor = Forebear(old, {node.id: summary for node in old.nodes()}, FACTS, lambda i: i, lambda m: m, lambda o: o)
    assert inherited(tree([*range(0, 20, 2), 5]), donor) is None


def test_of_much_only_what_fits() -> None:
    """A small node that has no room for what has come is written anew; of many leaves some are left out."""
    full = "x" * (SUMMARY_CHARS_MAX - 40)
    few, many = tree(range(0, 20, 2)), tree(range(0, 200, 2))
    assert inherited(tree([*range(0, 20, 2), 5, 7]), forebear(few, full)) is None
    found = inherited(tree([*range(0, 200, 2), 5, 7]), forebear(many, full))
    assert found is not None
    assert found.text.endswith(f"bird 5.\n{full}") or found.text.endswith(f"bird 7.\n{full}")
    assert len(found.text) <= SUMMARY_CHARS_MAX
    assert inherited(tree([*range(0, 200, 2), 5]), forebear(many, "x" * SUMMARY_CHARS_MAX)) is None


def test_rows_keep_it() -> None:
    """What is stored of a summary is all of it; one without such things is stored as ever."""
    taken = Summary(OLD, "hash", "model", also=mentions(3), inherited=True)
    assert summary_of_row(summary_row(taken)) == taken
    plain = Summary(OLD, "hash", "model")
    assert set(summary_row(plain)) == {"text", "inputs", "source", "stale"}
    assert summary_of_row(summary_row(plain)) == plain


# ---- in a plan --------------------------------------------------------------------------------------------


def test_nothing_is_asked_about_what_is_taken_over() -> None:
    """And whatever is made of it says what it may tell of."""
    before = tree(range(100))
    held = {node.id: Summary(f"{'old ' * 60}{node.count}", f"h{node.id}", "model") for node in before.nodes()}
    edit = before.edit(remove=[leaf(3)])
    old = Forebear(before, held, FACTS, lambda i: i, lambda m: m, lambda o: o)
    heirs = Heirs(lambda _: [old], lambda *_: True, lambda _: True)
    added = [(BOB, node) for node in edit.added]
    plan = RefreshPlan(added, summaries=held, model=MODEL, recent=0, heirs=heirs)
    assert plan.ready() == []
    made = plan.results()
    assert {node.id for _, node in added} == made.keys()
    assert all(made[node.id].also == mentions(3) for _, node in added if node.level > 1)


def test_it_stays_when_what_is_below_it_has_been_written() -> None:
    """Its inputs are others then, its text is not."""
    made = tree(range(60))
    below, top = [node for node in made.nodes() if node.level == 1], root(made)
    held = {node.id: Summary("stands in", "", "select", stale=True) for node in below}
    held[top.id] = Summary(OLD, "h", "model", stale=True, also=mentions(100), inherited=True)
    plan = RefreshPlan([(BOB, node) for node in made.nodes()], summaries=held, model=MODEL, recent=0)
    while requests := plan.ready():
        for request in requests:
            plan.failed(request.node_id, "no answer")
    own = plan.results()[top.id]
    assert (own.text, own.also, own.inherited, own.inputs != "h") == (OLD, mentions(100), True, True)


def test_a_stand_in_above_names_it_too() -> None:
    """What stands in for a summary is cut from its parts, and these may tell of it."""
    made = tree(range(20))
    top = root(made)
    held = {
        node.id: Summary(f"{'old ' * 70}{node.count}", "h", "model", also=mentions(100))
        for node in made.nodes()
        if node is not top
    }
    plan = RefreshPlan([(BOB, top)], summaries=held, model=MODEL, recent=0)
    (request,) = plan.ready()
    plan.postponed(request.node_id)
    assert plan.results()[top.id].also == mentions(100)


@given(
    kept=st.sets(st.integers(0, 60), min_size=10),
    come=st.sets(st.integers(0, 60), max_size=6),
    gone=st.sets(st.integers(0, 60), max_size=6),
)
@settings(max_examples=60)
def test_an_heir_tells_all_that_is_below_it(kept: set[int], come: set[int], gone: set[int]) -> None:
    """Whatever comes and goes: what is below is told, and what else is told is named, and no longer than it may be."""
    before, after = kept | (gone - come), kept | come
    old, new = tree(before), tree(after)

    def text(node: Node) -> str:
        return " ".join(f"b{each.text.split()[-1]}" for each in MemTree(BOB, 8, node).leaves())

    summaries = {NodeId(node.id): Summary(text(node), "h", "model") for node in old.nodes()}
    donor = Forebear(old, summaries, FACTS, lambda i: i, lambda m: m, lambda o: o)
    heirs = Heirs(lambda _: [donor], lambda *_: True, lambda _: True)
    for node in new.nodes():
        found = heirs(BOB, node)
        if found is None:
            continue
        below = {each.text.split()[-1] for each in MemTree(BOB, 8, node).leaves()}
        shown = found.text.replace("bird ", "b").split()
        told = {word.removeprefix("b") for word in shown if word.startswith("b") and word.endswith(".")}
        named = {fact.text.split()[-1] for fact in FACTS if fact.mentions[0].id in found.also}
        assert below <= told
        assert told <= below | named
        assert len(found.text) <= SUMMARY_CHARS_MAX
