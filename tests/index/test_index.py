"""The index and its views."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.ids import CellId, FactId, NodeId, ScopeId, SessionId
from memforest_ray.index.index import Index, IndexView
from memforest_ray.index.rows import CellRow, FactRow, NodeRow, Passage, Vector

UP = np.array([1, 0, 0, 0], np.float16)
RIGHT = np.array([0, 1, 0, 0], np.float16)
NOTHING = np.zeros(4, np.float16)


def fact(name: str, vector: Vector | None = UP, text: str = "Bob likes tea", turn: int = 0) -> FactRow:
    return FactRow(FactId("f" + name), vector, text, "Bob", ((SessionId("s1"), turn),), 1000, None)


def cell(name: str, vector: Vector | None = UP, *texts: str, session: str = "s1", first: int = 0) -> CellRow:
    passages = tuple(Passage(first + place, "Bob", text, 1000) for place, text in enumerate(texts))
    return CellRow(CellId("c" + name), vector, SessionId(session), passages)


def node(name: str, *children: str, level: int = 1, scope: str = "entity:bob", vector: Vector | None = None) -> NodeRow:
    return NodeRow(NodeId("n" + name), ScopeId(scope), level, children, 1000, vector)


def vector_of(view: IndexView, item: str) -> list[float]:
    row = view.row_of(item)
    assert row is not None
    shelf = {"f": view.facts, "c": view.cells, "n": view.nodes}[item[0]]
    return [round(float(value), 3) for value in shelf.vectors[row]]


def test_a_node_is_the_mean_of_its_items() -> None:
    """A grandchild counts as an item, not as a share of a child."""
    rows = [fact("1", UP), fact("2", UP), fact("3", UP), fact("4", RIGHT)]
    nodes = [node("a", "f1", "f2", "f3"), node("b", "f4"), node("r", "na", "nb", level=2)]
    view = Index(4).apply([*rows, *nodes])
    length = 10**0.5
    assert vector_of(view, "na") == [1.0, 0.0, 0.0, 0.0]
    assert vector_of(view, "nr") == pytest.approx([3 / length, 1 / length, 0, 0], abs=2e-3)


def test_a_text_of_unknown_script_does_not_weigh() -> None:
    """Two zero rows beside one known leave the mean at the known one."""
    view = Index(4).apply([fact("1", NOTHING), fact("2", None), fact("3", RIGHT), node("a", "f1", "f2", "f3")])
    assert vector_of(view, "na") == [0.0, 1.0, 0.0, 0.0]


def test_a_summary_of_a_model_has_its_own_vector() -> None:
    """What is given is taken."""
    view = Index(4).apply([fact("1", UP), node("a", "f1", vector=RIGHT)])
    assert vector_of(view, "na") == [0.0, 1.0, 0.0, 0.0]


def test_a_row_that_is_dropped_is_gone_from_the_next_view_only() -> None:
    """Views are snapshots."""
    index = Index(4)
    before = index.apply([fact("1"), fact("2", RIGHT, "Bob likes coffee")])
    after = index.apply([], ["f1", "funknown"])
    assert (before.row_of("f1"), after.row_of("f1")) == (0, None)
    assert before.corpus.statements.matches(["tea"]).tolist()[0] > 0
    assert after.corpus.statements.matches(["tea"]).tolist() == [0.0]
    assert (len(before), len(after)) == (2, 1)


def test_a_row_of_the_same_id_is_replaced() -> None:
    """A fact that changed stands once, with its new words."""
    index = Index(4)
    index.apply([fact("1", UP, "Bob likes tea")])
    view = index.apply([fact("1", RIGHT, "Bob likes rum")])
    assert len(view.corpus.statements.facts) == 1
    assert vector_of(view, "f1") == [0.0, 1.0, 0.0, 0.0]
    assert view.corpus.statements.matches(["rum"])[0] > 0
    assert view.corpus.statements.matches(["tea"])[0] == 0


def test_the_roots_are_the_highest_nodes() -> None:
    """One for each scope, as of each version."""
    index = Index(4)
    one = index.apply([fact("1"), fact("2"), node("a", "f1"), node("x", "f2", scope="entity:ann")])
    two = index.apply([node("b", "f2"), node("r", "na", "nb", level=2)])
    three = index.apply([], ["nr", "nb"])
    names = [[view.nodes.ids[row] for row in view.roots] for view in (one, two, three)]
    assert [sorted(each) for each in names] == [["na", "nx"], ["nr", "nx"], ["na", "nx"]]
    assert Index(4).view().roots.tolist() == []


def test_compaction_changes_nothing_that_is_seen() -> None:
    """When most rows are dead they are written anew; old views keep their arrays, new ones their meaning."""
    index = Index(4)
    index.apply([fact(str(number), UP, f"word{number} tea", number) for number in range(200)])
    index.apply([cell(str(number), RIGHT, f"turn{number}", session=f"s{number}") for number in range(200)])
    before = index.view()
    old = before.corpus
    after = index.apply([], [f"{kind}{number}" for kind in "fc" for number in range(150)])
    assert len(after.facts.table) == len(after.cells.table) == 50
    assert len(before.facts.table) == 200
    assert before.corpus is old
    assert before.row_of("f10") == 10
    row = after.row_of("f160")
    assert row is not None
    assert after.facts.ids[row] == "f160"
    words = after.corpus.statements.matches(["word160"])
    assert [after.facts.ids[fact_row] for fact_row in after.corpus.statements.facts[words > 0]] == ["f160"]
    turns = after.corpus.dialogue.occurrences(["turn199"])[0]
    assert turns.sum() == 1
    assert len(after.corpus.dialogue.places) == 50
    again = index.apply([], [f"f{number}" for number in range(150, 200)])
    assert len(again.corpus.statements.facts) == 0


Step = tuple[str, int, str]
_steps = st.lists(
    st.tuples(
        st.sampled_from(["fact", "cell", "drop fact", "drop cell"]),
        st.integers(0, 8),
        st.sampled_from(["tea", "rum tea", "cat"]),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(_steps)
def test_a_view_is_a_function_of_what_it_holds(steps: Sequence[Step]) -> None:
    """Whatever happened before: the same words, likenesses and turns as an index made of the rest at once."""
    index, held = Index(4), dict[str, FactRow | CellRow]()
    for kind, number, text in steps:
        row = fact(str(number), UP, text, number) if "fact" in kind else cell(str(number), UP, text, first=number)
        if kind.startswith("drop"):
            held.pop(row.id, None)
            index.apply([], [row.id])
        else:
            held[row.id] = row
            index.apply([row])
    fresh = Index(4).apply([held[name] for name in sorted(held)])
    assert _seen(index.view()) == _seen(fresh)


def _seen(view: IndexView) -> dict[str, float]:
    statements, dialogue = view.corpus.statements, view.corpus.dialogue
    facts = statements.matches(["tea", "cat"])
    windows = dialogue.windows(dialogue.found(["tea", "cat"]))
    turns = {
        f"turn {place & 0xFFFF}": round(float(value), 5) for place, value in zip(dialogue.places, windows, strict=True)
    }
    near = statements.from_places(windows)
    ids = [view.facts.ids[row] for row in statements.facts]
    return {
        **turns,
        **{name: round(float(value), 5) for name, value in zip(ids, facts, strict=True)},
        **{f"near {name}": round(float(value), 5) for name, value in zip(ids, near, strict=True)},
    }


def test_a_purge_leaves_nothing_of_what_was_dropped() -> None:
    """No word, vector, session, speaker, chain or scope; what stays is found as before, and more can be added."""
    index = Index(4)
    secret = FactRow(FactId("fx"), RIGHT, "heron", "Zoltan", ((SessionId("hidden"), 3),), 1000, None, "zoltan\npin")
    cells = [cell("x", RIGHT, "heron", session="hidden"), cell("2", UP, "Bob likes tea")]
    nodes = [node("x", "fx", scope="entity:zoltan"), node("1", "f1", "c2")]
    before = index.apply([secret, fact("1", UP), *cells, *nodes])
    index.apply([], ["nx", "fx", "cx"])
    after = index.purge()
    plain = pickle.dumps(after).lower()
    assert [word for word in (b"heron", b"zoltan", b"hidden", b"pin") if word in plain] == []
    assert (vector_of(after, "f1"), vector_of(after, "c2"), vector_of(after, "n1")) == ([1, 0, 0, 0],) * 3
    assert (after.registers.sessions.names, after.registers.scopes.names) == (["s1"], ["entity:bob"])
    assert after.cells.parts["place"].tolist() == [after.registers.place("s1", 0)]
    assert after.facts.table["chain"].tolist() == [-1]
    assert vector_of(before, "fx") == [0, 1, 0, 0]
    later = index.apply([fact("3", RIGHT, turn=7), node("3", "f1", "f3")], ["n1"])
    assert later.facts.parts["place"].tolist() == [later.registers.place("s1", 0), later.registers.place("s1", 7)]
    assert [later.row_of(name) for name in ("f1", "f3", "n1")] == [0, 1, None]


def test_an_empty_index_can_be_purged() -> None:
    """Of nothing nothing is left."""
    index = Index(4)
    index.apply([fact("1", UP)])
    index.apply([], ["f1"])
    assert len(index.purge()) == 0
    assert len(index.apply([fact("2", UP)])) == 1
