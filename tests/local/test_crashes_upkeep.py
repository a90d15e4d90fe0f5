"""Verbs that keep a memory in order, cut off at any call of the store: the same call brings them to their end."""

import random
from typing import Any

import pytest

from memforest_ray.ids import OpId, UserId
from memforest_ray.local.examination import examine
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import ANN, Forests, check_forest, decided
from memforest_ray.testing.store import Crashed, FaultyStore, contents


async def _lived() -> Forests:
    """A memory whose sessions came in no order, so that its scenes are not those of a canonical one."""
    forests = Forests(MemoryStore())
    first = forests.open()
    sessions = conversation(4, sessions=5, turns_max=9)
    for session in random.Random(4).sample(sessions, len(sessions)):
        await first.ingest(session)
    await first.forget(session="s3")
    await first.driver.close()
    return forests


async def _copied(forests: Forests) -> Forests:
    store = MemoryStore()
    for key, body in (await contents(forests.store)).items():
        await store.create(key, body)
    return Forests(store)


async def _do(forests: Forests, verb: str, arguments: dict[str, Any], store: FaultyStore | None = None) -> Any:
    forest = forests.open() if store is None else forests.open(store=store)
    told = await forest.driver.call(verb, arguments, op_id=OpId("op"), seen=0)
    await forest.driver.close()
    return told


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("renew", {"what": "rebuild"}),
        ("renew", {"what": "rescene"}),
        ("renew", {"what": "resummarise"}),
        ("repair", {}),
        ("correct", {"text": "Ann lives in Salem."}),
    ],
    ids=["rebuild", "rescene", "resummarise", "repair", "correct"],
)
async def test_cut_off_anywhere_it_is_done_by_the_same_call(verb: str, arguments: dict[str, Any]) -> None:
    """At every moment the memory is whole; afterwards it is what an undisturbed call would have made of it."""
    lived = await _lived()
    if verb == "correct":
        arguments = {**arguments, "fact": min(fact.id for fact in (await lived.open().version()).facts)}
    whole = await _copied(lived)
    counted = FaultyStore(whole.store)
    expected = (await _do(whole, verb, arguments, counted)).to_json()
    state = decided(await whole.open().version())
    for place in range(len(counted.calls)):
        forests = await _copied(lived)
        cut = FaultyStore(forests.store, crash_at=place, crash_after=bool(place % 2))
        with pytest.raises(Crashed):
            await _do(forests, verb, arguments, cut)
        assert (await examine(forests.store, UserId(ANN))).findings == ()
        told = (await _do(forests, verb, arguments)).to_json()
        version = await forests.open().version()
        check_forest(version)
        assert decided(version) == state
        assert {name for name in told if told[name] != expected[name]} <= {"version", "seconds", "idle_share"}
