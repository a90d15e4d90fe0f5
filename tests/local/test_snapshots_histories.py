"""Any history of growth, forgets, saves and restores, beside a naive memory."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memforest_ray.facts.sessions import Session
from memforest_ray.ids import FactId
from memforest_ray.testing.forests import Forests, TestForest
from tests.local.keeping import checked, do

Say = Callable[..., Session]


_TEXTS = {
    "s1": ("I live in Davis.", "I like chess.", "I moved to Oslo.", "I like tea."),
    "s2": ("I live in Davis.", "I bought a boat.", "I work at Acme."),
    "s3": ("I like rowing.", "I like tea."),
}
_deeds = st.one_of(
    st.tuples(st.just("ingest"), st.sampled_from(sorted(_TEXTS)), st.integers(1, 4)),
    st.tuples(st.just("forget"), st.sampled_from(sorted(_TEXTS)), st.integers(0, 3)),
    st.tuples(st.just("save"), st.sampled_from("ab"), st.just(0)),
    st.tuples(st.just("restore"), st.sampled_from("ab"), st.just(0)),
    st.tuples(st.just("withhold"), st.just(""), st.integers(0, 9)),
)


class _Naive:
    """What should be remembered: texts by session and place, None for a hole; a forget empties the past, too."""

    def __init__(self) -> None:
        self.now: dict[str, list[str | None]] = {}
        self.saved: dict[str, dict[str, list[str | None]]] = {}
        self.forgotten: dict[str, set[str]] = {}
        self.withheld: set[FactId] = set()

    def ingest(self, name: str, length: int) -> None:
        known = self.now.setdefault(name, [])
        for text in _TEXTS[name][len(known) : length]:
            known.append(None if text in self.forgotten.get(name, ()) else text)
        if not any(known):
            del self.now[name]

    def forget(self, name: str, place: int) -> bool:
        """Forget one turn, or the session for place 0; whether there is such a thing."""
        stored = self.now.get(name, [])
        if place >= len(stored) or (place and stored[place] is None):
            return False
        texts = {_TEXTS[name][place]} if place else {*_TEXTS[name]}
        self.forgotten.setdefault(name, set()).update(texts if place else _TEXTS[name][: len(stored)])
        for state in (self.now, *self.saved.values()):
            turns = state.get(name, [])
            turns[:] = [None if text in texts else text for text in turns]
            if not place:
                state.pop(name, None)
        return True


async def _live(forest: TestForest, naive: _Naive, say: Say, deed: tuple[str, str, int]) -> None:
    verb, name, number = deed
    if verb == "ingest":
        naive.ingest(name, number)
        await forest.ingest(say(name, *_TEXTS[name][:number]))
    elif verb == "save":
        if (await forest.version()).number:
            naive.saved[name] = deepcopy(naive.now)
            await do(forest, "save", name, replace=True)
    elif verb == "restore":
        if name in naive.saved:
            naive.now = deepcopy(naive.saved[name])
            await do(forest, "restore", name)
    elif verb == "withhold":
        facts = sorted((await forest.version()).facts.shown)
        if facts:
            naive.withheld.add(facts[number % len(facts)])
            await forest.forget(fact=facts[number % len(facts)])
    elif naive.forget(name, number):
        what: dict[str, Any] = {"turns": (f"{name}#{number}",)} if number else {"session": name}
        await forest.forget(**what, including_snapshots=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(_deeds, max_size=12))
async def test_any_history_is_that_of_a_naive_memory(say: Say, deeds: list[tuple[str, str, int]]) -> None:
    """The dialogue is as it should be, the version sound, and no fact is hidden in vain."""
    forests, naive = Forests(checkpoint_commits=3), _Naive()
    forest = forests.open()
    for deed in deeds:
        await _live(forest, naive, say, deed)
        version = await checked(forests, forest)
        held = {name: [turn.text or None for turn in record.turns] for name, record in version.sessions.items()}
        assert held == naive.now
        assert [fact for fact in naive.withheld if version.find_fact(fact)] == []
