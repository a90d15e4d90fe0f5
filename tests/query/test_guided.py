"""Ways down the trees on which a model decides: few calls, nothing of later, and likeness where the model fails."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memforest_ray.effects import carried_out
from memforest_ray.models.chat import ChatRequest
from memforest_ray.query.guided import LEVELS_MAX, OPENED_MAX, SHOWN_MAX
from memforest_ray.query.request import QueryRequest
from memforest_ray.query.result import Result
from memforest_ray.query.search import search_steps
from memforest_ray.query.steps import Effect, Embed, Steps
from memforest_ray.testing.answering import AnsweringChat, silent
from memforest_ray.testing.memory import Memory, instant, word_vector

THINGS = ("soup", "tulips", "chess", "rain", "violins", "paper", "geese", "mirrors", "coffee", "maps")
ENTRY = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
GUIDED = ("llm", "planner", "planner+embed")


@pytest.fixture(scope="module")
def filled() -> Memory:
    """Bob of many things over two years, three of them golden; Ann of geese. Only read."""
    return _filled()


def _filled() -> Memory:
    memory = Memory()
    for number in range(150):
        day = f"{2022 + number // 75}-{number % 75 // 7 + 1:02d}-{number % 7 + 1:02d}"
        word = "golden kayak" if number in (20, 90, 140) else THINGS[number % 10]
        memory.told(f"b{number:03d}", day, f"Bob saw {word} item{number}")
    for number in range(3):
        memory.told(f"a{number}", f"2023-01-0{number + 1}", f"Ann counted geese {number}", speaker="Ann")
    return memory


def grading(*words: str) -> Callable[[ChatRequest], dict[str, Any]]:
    """A model that finds an entry good when it holds one of the words, and opens what may hold them."""

    def script(request: ChatRequest) -> dict[str, Any]:
        entries = [(int(number), text) for number, text in ENTRY.findall(request.text)]
        if request.role == "plan":
            return {"look": [{"n": number, "for": f"look for {' '.join(words)}"} for number, _ in entries]}
        good = [number for number, text in entries if any(word in text.partition(" (looked for")[0] for word in words)]
        summaries = [number for number, text in entries if " entries]" in text and number not in good]
        return {"best": [{"n": n, "g": 3} for n in good] + [{"n": n, "g": 1} for n in summaries]}

    return script


def _run(steps: Steps[Result], chat: AnsweringChat, embedded: list[str] | None = None) -> Result:
    def answer(effect: Effect) -> Any:
        if isinstance(effect, Embed):
            if embedded is not None:
                embedded.extend(effect.texts)
            return {text: word_vector(text) for text in effect.texts}
        return chat.reply(effect.requests)  # type: ignore[union-attr]  # a search tells nothing

    return carried_out(steps, answer)


def _ask(memory: Memory, chat: AnsweringChat, text: str, **options: Any) -> Result:
    request = QueryRequest.of(text, **options)
    return _run(search_steps(memory.version, request, memory.vector(request)), chat)


def _heights(memory: Memory) -> int:
    return max(tree.height for tree in memory.version.trees.values())


@pytest.mark.parametrize("mode", ["llm", "planner"])
def test_the_model_leads_to_what_answers(filled: Memory, mode: str) -> None:
    """What it grades best comes first, though the question's words do not stand in it."""
    result = _ask(filled, AnsweringChat(grading("golden")), "What precious boat was there?", mode=mode)
    first = {hit.text for hit in result.hits[:3]}
    assert first == {f"Bob saw golden kayak item{number}" for number in (20, 90, 140)}
    assert result.trace.fallbacks == ()


@pytest.mark.parametrize(("mode", "plans"), [("llm", 0), ("planner", 1), ("planner+embed", 1)])
def test_few_calls_for_all_trees_together(filled: Memory, mode: str, plans: int) -> None:
    """One plan at most, and one ranking a level: never more than the highest tree has levels."""
    chat = AnsweringChat(grading("golden"))
    result = _ask(filled, chat, "What precious boat was there?", mode=mode)
    roles = [request.role for request in chat.asked]
    assert len(result.trace.trees) == 10
    assert roles.count("plan") == plans
    assert roles.count("rank") <= (0 if mode == "planner+embed" else min(_heights(filled), LEVELS_MAX))
    assert result.trace.usage.calls == len(roles)
    assert all(request.urgent for request in chat.asked)


def test_a_call_has_a_bound(memory: Memory) -> None:
    """Entries of one call, nodes opened after it, and characters of an entry are limited."""
    for number in range(400):
        memory.told(
            f"s{number:03d}", f"2023-{number % 12 + 1:02d}-{number % 28 + 1:02d}", f"Bob saw {'x' * 500}{number}"
        )
    chat = AnsweringChat(lambda request: {"best": [{"n": n, "g": 2} for n in range(1, 200)]})
    result = _ask(memory, chat, "What did Bob see?", mode="llm")
    counts = [len(ENTRY.findall(request.text)) for request in chat.asked]
    assert max(counts) <= SHOWN_MAX
    assert max(len(text) for request in chat.asked for _, text in ENTRY.findall(request.text)) <= 310
    assert result.trace.nodes_visited <= OPENED_MAX * LEVELS_MAX


@pytest.mark.parametrize("mode", GUIDED)
def test_likeness_decides_where_the_model_fails(filled: Memory, mode: str) -> None:
    """The hits are those of `embed`, and the trace says why."""
    failed = _ask(filled, AnsweringChat(silent), "Bob and the golden kayak", mode=mode)
    plain = filled.ask("Bob and the golden kayak")
    assert [hit.text for hit in failed] == [hit.text for hit in plain]
    what = "rank" if mode == "llm" else "plan"
    assert failed.trace.fallbacks == (f"the model could not {what} (the server is down): likeness decided instead",)
    assert failed.trace.usage.calls == 1


def test_a_failure_half_way_down_falls_back_too(filled: Memory) -> None:
    """What was found until then is not mixed with likeness."""
    good = grading("golden")
    levels = []

    def script(request: ChatRequest) -> dict[str, Any] | None:
        levels.append(request)
        return good(request) if len(levels) == 1 else None

    result = _ask(filled, AnsweringChat(script), "Bob and the golden kayak", mode="llm")
    assert [hit.text for hit in result] == [hit.text for hit in filled.ask("Bob and the golden kayak")]
    assert result.trace.usage.calls == 2
    assert len(result.trace.fallbacks) == 1


@pytest.mark.parametrize("mode", GUIDED)
def test_without_a_model_likeness_decides(filled: Memory, mode: str) -> None:
    """No model is no error."""
    result = filled.ask("Bob and the golden kayak", mode=mode)
    assert result.hits[0].text.startswith("Bob saw golden kayak")
    assert "no chat model is configured" in result.trace.fallbacks[0]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"best": None, "look": 7},
        {"best": ["one", {"n": "1", "g": 3}, {"n": 0, "g": 3}, {"n": 999, "g": 3}, {"n": 1, "g": 0}]},
        {"look": [{"n": -1, "for": "x"}, {"n": 1, "for": "  "}, {"n": 1}]},
    ],
)
@pytest.mark.parametrize("mode", GUIDED)
def test_what_makes_no_sense_is_passed_over(filled: Memory, mode: str, answer: dict[str, Any]) -> None:
    """Numbers of nothing, words for numbers: the search goes on with what is left."""
    result = _ask(filled, AnsweringChat(lambda _: answer), "Bob and the golden kayak", mode=mode)
    assert result.hits[0].text.startswith("Bob saw golden kayak")


@pytest.fixture(scope="module")
def secretive() -> Memory:
    """The same with a secret told late, and a name that earlier facts get late. Only read."""
    memory = _filled()
    memory.told("late", "2023-12-01", "Bob hid the swordfish", entities=("Bob", "Swordfish"))
    for number in (1, 2, 3):
        memory.told(f"again{number}", f"2023-12-0{number}", "Bob saw soup item0", entities=("Bob", "Swordfish"))
    return memory


@pytest.mark.parametrize("mode", [*GUIDED, "root", "embed"])
@pytest.mark.parametrize("as_of", ["2022-03-01", "2022-12-31", "2023-02-03"])
def test_no_request_tells_of_later(secretive: Memory, mode: str, as_of: str) -> None:
    """A secret told after the instant stands in no summary, label or statement that a model is shown."""
    chat = AnsweringChat(grading("item", "geese"))
    result = _ask(secretive, chat, "What did Bob see?", mode=mode, as_of=as_of, k=50)
    assert result.hits
    for told in (chat.texts, str(result.to_json())):
        assert "wordfish" not in told
        assert not re.search(r"late|again\d|2023-1|[A-Z]\w+ 2024", told)
    assert "Asked:" in chat.texts or mode in ("root", "embed")


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(day=st.integers(0, 760), mode=st.sampled_from(GUIDED), rerank=st.booleans())
def test_whatever_the_instant_nothing_of_later_is_shown(secretive: Memory, day: int, mode: str, rerank: bool) -> None:
    """Each statement that a model is shown was said by then."""
    as_of = instant("2021-12-01") + day * 86_400_000
    chat = AnsweringChat(grading("item", "geese"))
    _ask(secretive, chat, "What did Bob see?", mode=mode, as_of=as_of, rerank=rerank)
    shown = set(re.findall(r"item\d+|geese \d|swordfish", chat.texts))
    said = {
        word
        for record in secretive.records.values()
        for word in re.findall(r"item\d+|geese \d|swordfish", record.turns[0].text)
        if record.time_ms is not None and record.time_ms <= as_of
    }
    assert shown <= said


def test_a_node_that_tells_of_later_gives_way_to_its_parts(secretive: Memory) -> None:
    """What was known is still found: the summary is left out, not what lies below it."""
    chat = AnsweringChat(grading("golden"))
    result = _ask(secretive, chat, "What precious boat was there?", mode="llm", as_of="2023-11-30")
    assert {hit.text for hit in result.hits[:3]} == {f"Bob saw golden kayak item{number}" for number in (20, 90, 140)}


def test_filters_bar_what_the_model_is_shown(filled: Memory) -> None:
    """A statement that may be no hit is not shown to anybody."""
    chat = AnsweringChat(grading("geese"))
    result = _ask(filled, chat, "Who counted geese?", mode="llm", speaker="Ann")
    assert {hit.speaker for hit in result} == {"Ann"}
    shown = [text for request in chat.asked for _, text in ENTRY.findall(request.text) if " entries]" not in text]
    assert all("Bob saw" not in text for text in shown)


def test_time_bars_what_the_model_is_shown(filled: Memory) -> None:
    """Nothing outside `since` and `until`."""
    chat = AnsweringChat(grading("item"))
    _ask(filled, chat, "What did Bob see?", mode="llm", since="2022-02-01", until="2022-02-08")
    shown = {number for text in chat.texts.splitlines() for number in re.findall(r"item(\d+) \(said", text)}
    assert shown == {str(number) for number in range(7, 14)}


def test_a_plan_names_trees_and_what_to_look_for(filled: Memory) -> None:
    """Only its trees are ranked, each entry with what is looked for in it."""

    def script(request: ChatRequest) -> dict[str, Any]:
        if request.role == "plan":
            [number] = [number for number, card in ENTRY.findall(request.text) if card.startswith("about ann")]
            return {"look": [{"n": int(number), "for": "geese that Ann counted"}]}
        return {"best": []}

    chat = AnsweringChat(script)
    _ask(filled, chat, "How many geese did Ann count?", mode="planner")
    entries = [text for request in chat.asked if request.role == "rank" for _, text in ENTRY.findall(request.text)]
    assert entries
    assert all(text.endswith("(looked for: geese that Ann counted)") and "Ann counted" in text for text in entries)


def test_a_plan_is_embedded_in_one_batch(filled: Memory) -> None:
    """What is looked for has a likeness of its own, which counts as the question's does."""
    embedded: list[str] = []
    chat = AnsweringChat(grading("golden", "kayak"))
    request = QueryRequest.of("What precious boat was there?", mode="planner+embed")
    result = _run(search_steps(filled.version, request, word_vector(request.text)), chat, embedded)
    assert embedded == ["look for golden kayak"]
    plain = filled.ask("What precious boat was there?")
    golden = [hit.score for hit in result if "golden" in hit.text]
    assert min(golden) > max((hit.score for hit in plain if "golden" in hit.text), default=0)


def test_a_rerank_puts_what_the_model_prefers_first(filled: Memory) -> None:
    """One more call; scores stay in order, absolute, and say why."""
    plain = filled.ask("What did Bob see?", k=10)
    wanted = plain.hits[7].text

    chat = AnsweringChat(lambda request: {"best": [{"n": 8, "g": 3}]})
    result = _ask(filled, chat, "What did Bob see?", k=10, rerank=True, explain=True)
    assert result.hits[0].text == wanted
    assert len(chat.asked) == 1
    assert result.hits[0].why is not None
    assert dict(result.hits[0].why.parts)["reranked"] == 6.0
    scores = [hit.score for hit in result]
    assert scores == sorted(scores, reverse=True)
    assert max(scores) <= 1


def test_a_rerank_that_fails_changes_nothing(filled: Memory) -> None:
    """The trace says so."""
    result = _ask(filled, AnsweringChat(silent), "What did Bob see?", rerank=True)
    assert [hit.text for hit in result] == [hit.text for hit in filled.ask("What did Bob see?")]
    assert result.trace.fallbacks == ("the model could not rerank (the server is down): ranked by score instead",)


def test_a_rerank_of_whole_trees_orders_the_trees(filled: Memory) -> None:
    """One call shows what each recalled tree tells of; the one preferred comes first, as a whole, in order of time."""
    plain = _ask(filled, AnsweringChat(silent), "What did Ann count?", expand="complete")
    chat = AnsweringChat(lambda _: {"best": [{"n": 3, "g": 3}]})
    result = _ask(filled, chat, "What did Ann count?", expand="complete", rerank=True)
    assert [request.role for request in chat.asked] == ["rank"]
    assert len(ENTRY.findall(chat.asked[0].text)) == len(plain.trace.trees)
    wanted = plain.trace.trees[2].scope
    assert result.trace.trees[0].scope == wanted
    leaves = [str(leaf.item) for leaf in filled.version.trees[wanted].leaves()]
    assert [str(hit.fact_id or hit.cell_id) for hit in result][: len(leaves)] == leaves
    assert {hit.text for hit in result} == {hit.text for hit in plain}
    assert result.trace.spent["rerank"].calls == 1


def test_whole_trees_come_as_they_were_recalled_where_the_model_fails(filled: Memory) -> None:
    """And the trace says so."""
    plain = filled.ask("What did Ann count?", expand="complete")
    failed = _ask(filled, AnsweringChat(silent), "What did Ann count?", expand="complete", rerank=True)
    assert failed.hits == plain.hits
    assert failed.trace.fallbacks == ("the model could not rerank (the server is down): ranked by score instead",)


def test_what_models_were_asked_is_told_by_what_they_did(filled: Memory) -> None:
    """Each stage by itself, and all together."""
    chat = AnsweringChat(grading("golden"))
    result = _ask(filled, chat, "What precious boat was there?", mode="planner", rerank=True)
    roles = [request.role for request in chat.asked]
    assert {stage: usage.calls for stage, usage in result.trace.spent.items()} == {
        "plan": 1,
        "rank": roles.count("rank") - 1,
        "rerank": 1,
    }
    told = result.trace.to_json()
    assert told["usage"]["calls"] == sum(stage["calls"] for stage in told["spent"].values()) == len(roles)
