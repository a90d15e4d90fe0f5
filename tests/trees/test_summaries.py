"""Refreshes: what asks, in which order, what is reused, what a failure does."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import ItemId, NodeId, ScopeId, SessionId
from memforest_ray.trees.parts import PARTS_CHARS_MAX, WHOLE_LEAVES_MAX, parts
from memforest_ray.trees.summaries import (
    CONCAT_CHARS_MAX,
    SUMMARY_CHARS_ASKED,
    SUMMARY_CHARS_MAX,
    RefreshPlan,
    SelectionSummarizer,
    Summary,
    SummaryRequest,
    summary_inputs,
    summary_of_row,
    summary_row,
)
from memforest_ray.trees.tree import Leaf, MemTree, Node, order_key

BOB = ScopeId("entity:bob")
MODEL = "test-model/1"
Planned = list[tuple[ScopeId, Node]]


def leaf(number: int, words: int = 30) -> Leaf:
    """A leaf of about `words` times 7 characters."""
    item = ItemId(f"f{number}")
    order = order_key(event_ms=None, source_ms=number, session_id=SessionId("s1"), turn=0, item=item)
    return Leaf(item, order, (number, number), False, None, f"line {number}:" + " bread" * words)


def tree(numbers: Iterable[int], *, words: int = 30, k: int = 4, scope: ScopeId = BOB) -> MemTree:
    return MemTree(scope, k).edit([leaf(number, words) for number in numbers]).tree


def nodes(*trees: MemTree) -> Planned:
    return [(each.scope, node) for each in trees for node in each.nodes()]


def plan_of(planned: Planned, **given: Any) -> RefreshPlan:
    """A plan in which every node is shown its children, unless it says otherwise."""
    return RefreshPlan(planned, **{"model": MODEL, "summaries": {}, "recent": 0, **given})


def text_for(request: SummaryRequest) -> str:
    """A model that answers with its inputs' hash, long enough that parents do not fit together."""
    return f"{summary_inputs(request.texts, '')} " + "told " * 60


def drive(plan: RefreshPlan, answer: Callable[[SummaryRequest], str | None] = text_for) -> list[SummaryRequest]:
    """Answers every request, one at a time; None is a failure."""
    asked: list[SummaryRequest] = []
    queue = plan.ready()
    while queue:
        request = queue.pop(0)
        asked.append(request)
        text = answer(request)
        if text is None:
            plan.failed(request.node_id, "refused")
        else:
            plan.done(request.node_id, text)
        queue += plan.ready()
    assert plan.finished
    return asked


def root(tree: MemTree) -> Node:
    assert isinstance(tree.root, Node)
    return tree.root


def test_what_fits_together_is_the_summary() -> None:
    """Children of up to 160 tokens are kept whole, without a request."""
    small = tree(range(3), words=10)
    plan = plan_of(nodes(small), summaries={}, model=MODEL)
    assert plan.finished
    assert plan.ready() == []
    assert plan.depth == 0
    lines = "\n".join(leaf.text for leaf in small.leaves())
    texts = [leaf.text for leaf in small.leaves()]
    assert plan.results() == {root(small).id: Summary(lines, summary_inputs(texts, MODEL), "concat")}


@pytest.mark.parametrize(("spare", "asks"), [(0, False), (-1, True)])
def test_the_limit_is_exact(spare: int, asks: bool) -> None:
    """640 characters with line ends are kept, 641 are summarised."""
    first, second = leaf(1), leaf(2)
    first = replace(first, text="a" * 300)
    second = replace(second, text="b" * (CONCAT_CHARS_MAX - 301 - spare))
    pair = MemTree(BOB, 4).edit([first, second]).tree
    assert bool(plan_of(nodes(pair), summaries={}, model=MODEL).ready()) == asks


def test_a_request_tells_what_it_is_about() -> None:
    """Texts in order, time ranges, where it belongs."""
    four = tree(range(4))
    [request] = plan_of(nodes(four), summaries={}, model=MODEL).ready()
    assert request == SummaryRequest(
        root(four).id, BOB, tuple(leaf.text for leaf in four.leaves()), (0, 3), None, 1, SUMMARY_CHARS_ASKED
    )


def test_parents_wait_for_children_only() -> None:
    """A node is ready when its last child is, though others of its level are still out."""
    big = tree(range(32))
    plan = plan_of(nodes(big), summaries={}, model=MODEL)
    requests = plan.ready()
    assert len(requests) == 8
    for request in requests[:4]:
        plan.done(request.node_id, text_for(request))
    [parent] = plan.ready()
    assert len(parent.texts) == 4
    assert not plan.finished


def test_the_critical_path_comes_first() -> None:
    """Across trees, the node with the longest way to its root is asked first."""
    deep, flat = tree(range(70)), tree(range(100, 104), scope=ScopeId("entity:a"))
    plan = plan_of(nodes(flat, deep), summaries={}, model=MODEL)
    requests = plan.ready()
    assert [request.priority for request in requests] == sorted((r.priority for r in requests), reverse=True)
    assert requests[0].priority == deep.height
    assert requests[-1].node_id == root(flat).id
    for request in requests:
        plan.done(request.node_id, text_for(request))
    drive(plan)
    assert plan.depth == deep.height


def test_an_unchanged_subtree_makes_no_request() -> None:
    """After an insert in the middle only the touched path is asked for."""
    before = tree(range(0, 128, 2))
    first = plan_of(nodes(before), summaries={}, model=MODEL)
    drive(first)
    edit = before.edit([leaf(65)])
    plan = plan_of([(BOB, node) for node in edit.added], summaries=first.results(), model=MODEL)
    asked = drive(plan)
    assert 0 < len(asked) <= edit.tree.height
    assert {request.node_id for request in asked} <= {node.id for node in edit.added}


def test_a_replay_makes_no_request() -> None:
    """The same nodes with the same texts and model find their summaries."""
    big = tree(range(40))
    first = plan_of(nodes(big), summaries={}, model=MODEL)
    drive(first)
    again = plan_of(nodes(big), summaries=first.results(), model=MODEL)
    assert again.ready() == []
    assert again.results() == first.results()
    other_model = plan_of(nodes(big), summaries=first.results(), model="test-model/2")
    assert other_model.ready() != []


def test_a_leaf_that_says_the_same_costs_nothing() -> None:
    """New evidence for a fact makes new nodes with the same texts: removed nodes' summaries serve again."""
    before = tree(range(40))
    first = plan_of(nodes(before), summaries={}, model=MODEL)
    drive(first)
    edit = before.edit([replace(leaf(7), source_ms=(7, 99))], [leaf(7)])
    assert edit.added
    done = first.results()
    removed = [done.pop(node.id) for node in edit.removed]
    plan = plan_of([(BOB, node) for node in edit.added], summaries=done, model=MODEL, reusable=removed)
    assert plan.finished
    assert {summary.text for summary in plan.results().values()} == {summary.text for summary in removed}


def test_equal_inputs_are_asked_once() -> None:
    """Two trees with the same leaves share their requests."""
    one, two = tree(range(16)), tree(range(16), scope=ScopeId("scene:x"))
    plan = plan_of(nodes(one, two), summaries={}, model=MODEL)
    assert len(drive(plan)) == 5
    results = plan.results()
    assert len(results) == 10
    assert results[root(one).id] == results[root(two).id]


def test_a_failure_marks_stale_upwards_only() -> None:
    """A stand-in for the one that failed; those above are asked for, but stale; the rest is fresh."""
    big = tree(range(32))
    low = next(node for node in big.nodes() if node.level == 1)
    plan = plan_of(nodes(big), summaries={}, model=MODEL)
    drive(plan, lambda request: None if request.node_id == low.id else text_for(request))
    above = {node.id for node in big.path(low.first)}
    results = plan.results()
    assert {name for name, summary in results.items() if summary.stale} == above
    assert plan.failures == {low.id: "refused"}
    stand_in = results[low.id]
    assert (stand_in.source, stand_in.inputs) == ("select", "")
    assert all(line.startswith("line") for line in stand_in.text.splitlines())
    assert results[root(big).id].source == "model"


def test_stale_summaries_are_redone() -> None:
    """A later refresh of the stale nodes asks for what failed and what follows from it, nothing else."""
    big = tree(range(32))
    low = next(node for node in big.nodes() if node.level == 1)
    first = plan_of(nodes(big), summaries={}, model=MODEL)
    drive(first, lambda request: None if request.node_id == low.id else text_for(request))
    held = first.results()
    stale = [(BOB, node) for node in big.nodes() if held[node.id].stale]
    again = plan_of(stale, summaries=held, model=MODEL)
    asked = drive(again)
    assert [request.node_id for request in asked] == [node.id for _, node in stale]
    redone = held | again.results()
    assert not any(summary.stale for summary in redone.values())
    whole = plan_of(nodes(big), summaries={}, model=MODEL)
    drive(whole)
    assert redone == whole.results()


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_answer_is_a_failure(text: str) -> None:
    """What cannot be used counts as not answered."""
    four = tree(range(4))
    plan = plan_of(nodes(four), summaries={}, model=MODEL)
    drive(plan, lambda request: text)
    assert plan.results()[root(four).id].stale
    assert plan.failures == {root(four).id: "the summary was empty"}


def test_an_answer_that_is_too_long_is_cut() -> None:
    """Every summary is bounded, so every prompt above is."""
    four = tree(range(4))
    plan = plan_of(nodes(four), summaries={}, model=MODEL)
    drive(plan, lambda request: "\n".join(f"Bob baked {number} loaves." for number in range(200)))
    assert len(plan.results()[root(four).id].text) <= SUMMARY_CHARS_MAX


def test_a_single_long_leaf_is_bounded_too() -> None:
    """A node over one leaf passes it through, unless it is longer than any summary may be."""

    def over_one(length: int) -> Planned:
        return [(BOB, Node.of(BOB, (replace(leaf(1), text="a" * length),)))]

    assert plan_of(over_one(SUMMARY_CHARS_MAX), summaries={}, model=MODEL).finished
    assert plan_of(over_one(SUMMARY_CHARS_MAX + 1), summaries={}, model=MODEL).ready() != []


def test_a_refresh_that_fails_is_complete() -> None:
    """Whatever is open gets a stand-in; every node has a summary, all of them stale but what was answered."""
    big = tree(range(32))
    plan = plan_of(nodes(big), summaries={}, model=MODEL)
    first, *asked = plan.ready()
    plan.done(first.node_id, text_for(first))
    while asked:
        for request in asked:
            plan.failed(request.node_id, "no time")
        asked = plan.ready()
    assert plan.finished
    assert plan.ready() == []
    results = plan.results()
    assert [name for name, summary in results.items() if not summary.stale] == [first.node_id]


def test_missing_summaries_below_are_planned() -> None:
    """A new node over old ones that never got a summary: they are made first."""
    big = tree(range(16))
    plan = plan_of([(BOB, root(big))], summaries={}, model=MODEL)
    drive(plan)
    assert set(plan.results()) == {node.id for node in big.nodes()}


def test_answers_nobody_asked_for_are_refused() -> None:
    """An unknown node, and an answer that comes twice."""
    four = tree(range(4))
    plan = plan_of(nodes(four), summaries={}, model=MODEL)
    with pytest.raises(ValueError, match="asked for"):
        plan.done(NodeId("n0"), "text")
    drive(plan)
    with pytest.raises(ValueError, match="asked for"):
        plan.failed(root(four).id, "late")


def test_rows() -> None:
    """A summary comes back from its row as it was."""
    summary = Summary("Bob bakes.", "ab", "model", stale=True)
    assert summary_of_row(summary_row(summary)) == summary


async def test_selection_summarises_without_a_model() -> None:
    """A reply for each request, in order, from lines of the request, within the bound."""
    request = plan_of(nodes(tree(range(4))), model=SelectionSummarizer.model).ready()[0]
    summarizer = SelectionSummarizer()
    [reply, short] = await summarizer.summarise([request, replace(request, chars_max=250)])
    assert reply.text is not None
    assert short.text is not None
    assert (reply.node_id, reply.failure, reply.usage.calls) == (request.node_id, None, 0)
    assert len(short.text) <= 250 < len(reply.text) <= SUMMARY_CHARS_MAX
    assert set(reply.text.splitlines()) <= {line for text in request.texts for line in text.splitlines()}
    assert (summarizer.model, summarizer.source) == ("select-1", "select")


@given(
    number=st.integers(0, 120),
    extra=st.sets(st.integers(0, 200), max_size=10),
    failing=st.sets(st.integers(0, 30), max_size=4),
    k=st.sampled_from([3, 4, 8]),
    recent=st.sampled_from([0, 5, 24]),
)
@settings(max_examples=60, deadline=None)
def test_a_refresh_step_by_step_is_one_from_scratch(
    number: int, extra: set[int], failing: set[int], k: int, recent: int
) -> None:
    """Edits with failures between, then a retry of what is stale, end where one refresh of the whole ends."""
    before = tree(range(0, number * 2, 2), k=k)
    first = plan_of(nodes(before), summaries={}, model=MODEL, recent=recent)
    count = 0

    def unreliable(request: SummaryRequest) -> str | None:
        nonlocal count
        count += 1
        return None if count in failing else text_for(request)

    drive(first, unreliable)
    held = first.results()
    edit = before.edit([leaf(2 * each + 1) for each in extra])
    second = plan_of([(BOB, node) for node in edit.added], summaries=held, model=MODEL, recent=recent)
    drive(second)
    held |= second.results()
    stale = [(BOB, node) for node in edit.tree.nodes() if held[node.id].stale]
    third = plan_of(stale, summaries=held, model=MODEL, recent=recent)
    drive(third)
    held |= third.results()
    whole = plan_of(nodes(edit.tree), summaries={}, model=MODEL, recent=recent)
    drive(whole)
    assert {node.id: held[node.id] for node in edit.tree.nodes()} == whole.results()
    assert whole.depth <= edit.tree.height


@given(number=st.integers(1, 200), k=st.sampled_from([3, 4, 8]), recent=st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_parts_cover_every_leaf_once(number: int, k: int, recent: int) -> None:
    """In order; leaves only at the end, all of a small node, else of nodes that are opened no more than `recent`."""
    for node in tree(range(number), words=3, k=k).nodes():
        shown = parts(node, recent)
        below = [each for part in shown for each in leaves_of(part)]
        assert below == list(leaves_of(node))
        kinds = [isinstance(part, Leaf) for part in shown]
        assert kinds == sorted(kinds)
        assert all(kinds) if recent and node.count <= WHOLE_LEAVES_MAX else node.level == 1 or sum(kinds) <= recent


def leaves_of(child: Leaf | Node) -> Iterable[Leaf]:
    if isinstance(child, Leaf):
        yield child
    else:
        for below in child.children:
            yield from leaves_of(below)


def test_what_would_be_too_much_is_not_opened() -> None:
    """Long leaves are read by the nodes over them only."""
    long = tree(range(16), words=400)
    assert parts(root(long)) == root(long).children


def test_what_comes_at_the_end_is_written_in_one_wave() -> None:
    """The nodes over new leaves, one on each level, wait for nothing; one in the middle holds up those above it."""
    before = tree(range(0, 400, 2), k=8)
    first = plan_of(nodes(before), recent=24)
    drive(first)
    for added, depth in ((range(400, 410), 1), ([101], 2)):
        edit = before.edit(list(map(leaf, added)))
        plan = plan_of([(BOB, node) for node in edit.added], summaries=first.results(), recent=24)
        drive(plan)
        assert (plan.depth, edit.tree.height) == (depth, 3)


@given(
    number=st.integers(1, WHOLE_LEAVES_MAX - 1), place=st.integers(-1, 2 * WHOLE_LEAVES_MAX), k=st.sampled_from([4, 8])
)
@settings(max_examples=30, deadline=None)
def test_a_small_tree_is_written_in_one_wave(number: int, place: int, k: int) -> None:
    """Wherever its new leaf comes: each of its nodes is shown leaves, and waits for no other."""
    before = tree(range(0, number * 2, 2), words=15, k=k)
    first = plan_of(nodes(before), recent=24)
    drive(first)
    edit = before.edit([leaf(place if place % 2 else place + 1, 15)])
    plan = plan_of([(BOB, node) for node in edit.added], summaries=first.results(), recent=24)
    drive(plan)
    assert (first.depth <= 1, plan.depth <= 1) == (True, True)


def test_nothing_is_opened_where_nothing_is_waited_for() -> None:
    """Selection makes no call: its nodes are shown their children."""
    big = tree(range(32))
    plan = RefreshPlan(nodes(big), summaries={}, model=SelectionSummarizer.model)
    assert {len(request.texts) for request in plan.ready()} == {4}


def middle(leaves: int, come: Iterable[int], *, words: int = 10) -> tuple[RefreshPlan, dict[NodeId, Summary], MemTree]:
    """The plan of leaves that come into the middle of a tall tree; the summaries that were there; the tree after."""
    before = tree(range(0, 2 * leaves, 2), words=words, k=8)
    first = plan_of(nodes(before), recent=24)
    drive(first)
    edit = before.edit([leaf(number, words) for number in come])
    held = first.results()
    added = [(BOB, node) for node in edit.added]
    return plan_of(added, summaries=held, recent=24, eager=True), held, edit.tree


def test_what_stands_above_an_insert_is_shown_what_is_below_it() -> None:
    """All at once, each line in its place; and what comes of it is found under the parts that it did not wait for."""
    plan, held, after = middle(200, [101])
    asked = {request.node_id: request for request in plan.ready()}
    top = root(after)
    lines = [each.text for each in after.leaves()]
    shown = [lines.index(text) for text in asked[top.id].texts if text in lines]
    assert lines.index(leaf(101, 10).text) in shown
    assert shown == sorted(shown)
    for request in asked.values():
        plan.done(request.node_id, text_for(request))
    assert (plan.finished, plan.depth) == (True, 1)
    summaries = {**held, **plan.results()}
    texts = [part.text if isinstance(part, Leaf) else summaries[part.id].text for part in parts(top)]
    assert summaries[top.id].inputs == summary_inputs(texts, MODEL)


@pytest.mark.parametrize("first", ["top", "below"])
@pytest.mark.parametrize("fails", [False, True])
def test_early_answers_come_in_any_order(first: str, fails: bool) -> None:
    """A summary is there once those are that it is made of; one that failed below it leaves it to be made again."""
    plan, _, after = middle(200, [101])
    top = root(after).id
    asked = sorted(plan.ready(), key=lambda request: (request.node_id == top) is (first == "top"), reverse=True)
    for request in asked:
        if fails and request.node_id != top:
            plan.failed(request.node_id, "refused")
        else:
            plan.done(request.node_id, text_for(request))
    made = plan.results()
    assert (plan.finished, made[top].stale, made[top].source) == (True, fails, "model")


def test_an_early_request_may_fail_by_itself() -> None:
    """Its stand-in is made of what it was shown, at once."""
    plan, _, after = middle(200, [101])
    top = root(after).id
    asked = plan.ready()
    plan.failed(top, "refused")
    made = plan.results()[top]
    assert (made.stale, made.inputs, plan.failures) == (True, "", {top: "refused"})
    for request in asked:
        if request.node_id != top:
            plan.done(request.node_id, text_for(request))
    assert (plan.finished, plan.results()[top].stale) == (True, True)


def test_of_much_that_waits_the_lines_are_shown_that_say_most() -> None:
    """Where all of it would be too much, as long as it is not the greater part: else a node waits as it did."""
    few, _, _ = middle(450, [101, 301, 501], words=12)
    asked = drive(few)
    assert all(sum(map(len, request.texts)) <= PARTS_CHARS_MAX for request in asked)
    many, _, after = middle(450, range(1, 900, 18), words=12)
    drive(many)
    assert (few.depth, many.depth, after.height) == (1, 2, 4)


@given(leaves=st.integers(300, 700), words=st.integers(8, 14), k=st.sampled_from([4, 8]), chance=st.randoms())
@settings(max_examples=15)
def test_what_is_built_anew_takes_two_waves(leaves: int, words: int, k: int, chance: Any) -> None:
    """However tall it is, and in whatever order answers come: above the summaries of leaves nothing waits."""
    planned = nodes(tree(range(leaves), words=words, k=k))
    chance.shuffle(planned)
    plan = plan_of(planned, recent=24, eager=True)
    open_requests = plan.ready()
    while open_requests:
        request = open_requests.pop(chance.randrange(len(open_requests)))
        assert sum(map(len, request.texts)) <= PARTS_CHARS_MAX
        plan.done(request.node_id, text_for(request))
        open_requests += plan.ready()
    assert (plan.finished, plan.depth) == (True, 2)


def test_what_nobody_waits_for_goes_last() -> None:
    """A node above that is shown leaves waits for nobody, so it makes nothing below it urgent."""
    plan, _, after = middle(200, [101])
    priorities = {request.node_id: request.priority for request in plan.ready()}
    assert set(priorities.values()) == {1}
    assert root(after).id in priorities
