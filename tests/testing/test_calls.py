"""The graph of calls: what each was made of, and the least time that all of them can take."""

from memforest_ray.facts.candidates import Candidate, CellInput, Extraction, Kind
from memforest_ray.ids import CellId, NodeId, ScopeId
from memforest_ray.testing.calls import Call, CallGraph
from memforest_ray.trees.summaries import SummaryReply, SummaryRequest

BOB = ScopeId("entity:bob")


def graph_of(*after: tuple[int, ...]) -> CallGraph:
    """Calls by the numbers of those that they were made of."""
    graph = CallGraph()
    for numbers in after:
        graph.calls.append(Call("any", after={graph.calls[number] for number in numbers}))
    return graph


def extracted(graph: CallGraph, number: int, *statements: str) -> Call:
    cell = CellInput(CellId(f"c{number}"), (), None, (), ())
    call = graph.extracts(cell)
    found = tuple(Candidate(text, Kind.EVENT, "Bob", "user", (0,)) for text in statements)
    graph.extracted(call, Extraction(cell.cell_id, found))
    return call


def summarised(graph: CallGraph, scope: ScopeId, texts: tuple[str, ...], answer: str) -> Call:
    request = SummaryRequest(NodeId(f"n{answer}"), scope, texts, None, None, 1)
    call = graph.summarises(request)
    graph.summarised(call, SummaryReply(request.node_id, answer))
    return call


def test_a_bound_is_a_chain_or_what_the_slots_let_through() -> None:
    """Nothing; a chain; many at once; many that one waits for, and one that waits for that."""
    assert graph_of().bound(4) == 0
    assert graph_of((), (0,), (1,)).bound(4) == 3
    assert graph_of(*[()] * 9).bound(4) == 3
    assert graph_of(*[()] * 9, tuple(range(9)), (9,)).bound(4) == 5


def test_what_a_node_is_made_of_is_seen_in_its_texts() -> None:
    """Leaves came out of extractions, with a day before them or not; summaries, alone or among others, out of calls."""
    graph = CallGraph()
    one, two, other = (extracted(graph, n, text) for n, text in enumerate(("Bob rows.", "Bob runs.", "Ann sings.")))
    low = summarised(graph, BOB, ("2023-05-08 Bob rows.", "Bob runs."), "Bob rows and runs.")
    high = summarised(graph, BOB, ("Bob rows and runs.\nof late", "Bob runs."), "He moves.")
    assert (low.after, high.after) == ({one, two}, {low, two})
    assert other not in low.after | high.after
    assert high.lines >= {"bob rows.", "bob runs."}


def test_a_session_tree_waits_for_no_extraction() -> None:
    """Its leaves are dialogue, even where a statement says the same."""
    graph = CallGraph()
    extracted(graph, 0, "Bob: I row.")
    assert summarised(graph, ScopeId("session:s1"), ("Bob: I row.",), "Rowing.").after == set()
