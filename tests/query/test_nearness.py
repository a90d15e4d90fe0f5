"""A question held against the part of a large forest that is near it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from memforest_ray.commit.version import Version
from memforest_ray.index.index import Index
from memforest_ray.index.lexical import Floats
from memforest_ray.index.neighbours import GraphRules
from memforest_ray.index.plans import plans
from memforest_ray.query import nearness
from memforest_ray.query.inquiry import inquire, widened
from memforest_ray.query.nearness import may_narrow, near_sessions, part_of, said_in
from memforest_ray.query.question import Question
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.search import search
from memforest_ray.query.timing.chains import asked_states
from memforest_ray.query.timing.temporal import TimeReading, read_time, within
from memforest_ray.testing.graphs import without_graphs
from memforest_ray.testing.synthetic import Synthetic, load_synthetic, questions, synthetic

RULES = GraphRules(tree_rows_min=256, forest_rows_min=256)


@pytest.fixture(scope="module")
def made() -> Synthetic:
    return synthetic(2_500, 32)


@pytest.fixture(scope="module")
def version(made: Synthetic) -> Version:
    """A forest of 2,500 facts whose graphs begin with 256 rows."""
    index = Index(32)
    version = load_synthetic(made, index)
    while missing := plans(version.index, RULES):
        index.graph({plan.name: plan.build(lambda: True) for plan in missing})
        version.index.adopt(index.graphs)
    return version


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Far fewer sessions are looked at than there are."""
    monkeypatch.setattr(nearness, "_NEAREST", 12)
    monkeypatch.setattr(nearness, "_WORDED", 4)


def _asked(made: Synthetic, count: int) -> Iterator[tuple[str, Floats]]:
    for text, vector in questions(made, count):
        yield text, vector.astype(np.float32)


@pytest.mark.usefixtures("small")
def test_a_part_says_of_itself_what_the_whole_says_of_it(version: Version, made: Synthetic) -> None:
    """Words weigh as in the whole forest; facts, turns and cells have the same neighbours, times and places."""
    index, whole = version.index, version.index.corpus
    for text, vector in _asked(made, 8):
        question = Question.of(text)
        near = near_sessions(index, whole, vector, question, TimeReading())
        assert near is not None
        part, said = part_of(whole, near, question.terms)
        everything = said_in(whole, question.terms)
        facts = whole.statements.number_of_row[part.statements.facts]
        places = np.searchsorted(whole.dialogue.places, part.dialogue.places)
        cells = whole.dialogue.number_of_row[part.dialogue.cells]
        assert 0 < len(places) < len(whole.dialogue.places) / 2
        assert said.words == pytest.approx(everything.words[facts], abs=1e-5)
        assert said.windows == pytest.approx(everything.windows[places], abs=1e-5)
        assert said.sessions == pytest.approx(everything.sessions[places], abs=1e-5)
        values = np.arange(len(whole.dialogue.places), dtype=np.float32)
        assert (
            part.statements.from_places(values[places]).tolist() == whole.statements.from_places(values)[facts].tolist()
        )
        assert part.dialogue.to_cells(values[places]).tolist() == whole.dialogue.to_cells(values)[cells].tolist()
        assert part.dialogue.region_mean(values[places]) == pytest.approx(whole.dialogue.region_mean(values)[places])
        assert part.dialogue.occurrences(question.terms).sum() > 0
        assert part.places_with(4).tolist() == whole.places_with(4)[places].tolist()
        assert np.array_equal(part.statements.sources, whole.statements.sources[facts])


def test_the_best_of_the_whole_is_in_the_part(version: Version, made: Synthetic) -> None:
    """Of fifty questions nearly all hits are those of a search of everything, with nearly the same scores."""
    plain = without_graphs(version.index)
    same = total = 0
    for text, vector in _asked(made, 50):
        near = search(version, QueryRequest(text), vector)
        known = {
            hit.fact_id or hit.cell_id: hit.score
            for hit in search(replace(version, index=plain), QueryRequest(text), vector)
        }
        found = {hit.fact_id or hit.cell_id: hit.score for hit in near}
        same, total = same + len(known.keys() & found.keys()), total + len(known)
        assert max(found.values()) == pytest.approx(max(known.values()), abs=0.1)
    assert same / total > 0.9


@pytest.mark.parametrize(
    "request_",
    [
        QueryRequest.of("What did Bob say?", as_of="2023-01-01"),
        QueryRequest.of("What did Bob say?", since="2020-01-01"),
        QueryRequest.of("What did Bob say?", speaker="Bob"),
        QueryRequest.of("What did Bob say?", expand="complete"),
        QueryRequest.of("What did Bob say?", k=500),
        QueryRequest.of("What did Bob say before the party?"),
        QueryRequest.of("What is Bob going to do on 3 May 2021?"),
        QueryRequest.of("Where does Bob live now?"),
    ],
)
def test_what_the_nearest_do_not_answer_is_asked_of_everything(version: Version, request_: QueryRequest) -> None:
    """Bounds, before and after, what is to come, filters, whole trees, many hits."""
    assert not _may_narrow(version, request_)
    assert _may_narrow(version, QueryRequest.of("What did Bob say about tea?"))
    assert _may_narrow(version, QueryRequest.of("What did Bob say on 3 May 2021?"))


def _may_narrow(version: Version, request: QueryRequest) -> bool:
    return may_narrow(version.index, request, read_time(request.text, None, request.zone))


@pytest.mark.usefixtures("small")
def test_all_of_a_time_that_is_named_is_looked_at(version: Version, made: Synthetic) -> None:
    """What was said then, or told to have happened then; so hits are those of a search of everything."""
    plain = replace(version, index=without_graphs(version.index))
    same = total = 0
    for text, vector in _asked(made, 20):
        request = QueryRequest(f"{text[:-1]} on 12 November 2020?")
        inquiry, whole = (inquire(each, request, vector) for each in (version, plain))
        statements, all_of_them = inquiry.corpus.statements, whole.corpus.statements
        inside = within(whole.reading, all_of_them.starts, all_of_them.ends, all_of_them.sources)
        assert inquiry.near is not None
        assert 0 < inside.sum() < len(statements.facts) < len(all_of_them.facts)
        assert set(all_of_them.facts[inside]) <= set(statements.facts)
        found, known = (
            {hit.fact_id or hit.cell_id for hit in search(each, request, vector)} for each in (version, plain)
        )
        same, total = same + len(found & known), total + len(known)
    assert same / total > 0.9


def test_of_a_long_time_everything_is_looked_at(version: Version, made: Synthetic) -> None:
    """A third of all there is is no small part of it."""
    ((text, vector),) = _asked(made, 1)
    assert inquire(version, QueryRequest(f"{text[:-1]} in November 2020?"), vector).near is None


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("share", [nearness._PART_MAX, 0.95])
def test_of_a_state_all_is_looked_at(
    version: Version, made: Synthetic, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was so in a time may have been told long before: such a question is not narrowed to that time."""
    fact = next(fact for fact in version.facts.in_order() if fact.attribute is not None and fact.source_ms is not None)
    text = f"What was the {fact.attribute} of {fact.subject} on 12 November 2020?"
    vector = version.index.vectors_of([fact.id])[0]
    inquiry = inquire(version, QueryRequest(text), vector)
    monkeypatch.setattr(nearness, "_PART_MAX", share)
    assert inquiry.near is not None
    states = asked_states(inquiry, inquiry.reading.topic)
    assert states
    wider, statements = widened(inquiry, vector, states), version.index.corpus.statements
    told = statements.facts[np.isin(statements.chains, list(states))]
    assert len(inquiry.corpus.statements.facts) < len(wider.corpus.statements.facts)
    assert (wider.near is None) == (share < 0.5)
    assert (len(wider.corpus.statements.facts) < len(statements.facts)) == (share > 0.5)
    assert set(told) <= set(wider.corpus.statements.facts)
    assert widened(wider, vector, states) is wider
    assert widened(inquiry, vector, frozenset()) is inquiry
    plain = replace(version, index=without_graphs(version.index))
    near, everything = (search(each, QueryRequest(text), vector) for each in (version, plain))
    assert near == everything or share > 0.5
    singled_out = [(hit.fact_id, hit.note) for hit in everything if hit.note]
    assert singled_out
    assert [(hit.fact_id, hit.note) for hit in near if hit.note] == singled_out
    ((other, _),) = _asked(made, 1)
    assert not asked_states(inquire(version, QueryRequest(other), vector), "the weather")


def test_without_graphs_everything_is_looked_at(version: Version) -> None:
    """Of a small forest, and of a question whose script the embedder does not know."""
    plain = without_graphs(version.index)
    assert not _may_narrow(replace(version, index=plain), QueryRequest.of("What did Bob say about tea?"))
    unknown = inquire(version, QueryRequest.of("What did Bob say about tea?"), None)
    assert len(unknown.corpus.statements.facts) == len(version.facts)
    assert unknown.nodes.complete


def test_nodes_are_as_like_one_by_one(version: Version, made: Synthetic) -> None:
    """As their vectors are, whichever way they are asked for."""
    ((text, vector),) = _asked(made, 1)
    near = inquire(version, QueryRequest(text), vector)
    plain = without_graphs(version.index)
    whole = inquire(replace(version, index=plain), QueryRequest(text), vector)
    rows = version.index.roots[:50]
    assert not near.nodes.complete
    assert near.nodes.at(rows) == pytest.approx(whole.nodes.at(rows), abs=3e-3)
    assert near.nodes.of(int(rows[3])) == pytest.approx(whole.nodes.of(int(rows[3])), abs=3e-3)
