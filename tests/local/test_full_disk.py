"""A disk that is full when parts are written: what was done by then is told as done."""

from collections.abc import Callable

import pytest

from memforest_ray.errors import StoreUnavailable
from memforest_ray.facts.sessions import Session
from memforest_ray.ids import UserId
from memforest_ray.local.portable import export_forest, import_forest
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.forests import ANN, Forests, check_forest, residue
from memforest_ray.testing.models import HashEmbedder

Say = Callable[..., Session]


class FullStore(MemoryStore):
    """Has room for slots of the log and for manifests, but for no part while it is `full`."""

    full = False

    async def create(self, key: str, body: bytes) -> str:
        if self.full and "/seg/" in key:
            raise StoreUnavailable("Could not write: no space. Nothing was changed; make room.", refused=True)
        return await super().create(key, body)


async def test_what_was_acknowledged_is_not_denied_on_leaving(say: Say) -> None:
    """No checkpoint is made, and the next owner reads the log instead."""
    store = FullStore()
    forests = Forests(store)
    forest = forests.open()
    await forest.ingest(say("s1", "I live in Davis."))
    store.full = True
    with pytest.raises(StoreUnavailable) as failed:
        await forest.driver.close()
    assert str(failed.value) == (
        "Could not write: no space: no checkpoint was made, so the next opening takes longer; "
        "what was acknowledged is kept"
    )
    assert set((await forests.open().version()).sessions) == {"s1"}


async def test_a_forget_that_could_not_be_finished_says_how_far_it_came(say: Say) -> None:
    """It does not show again; what is stored is cleaned by the same call again, or by whoever writes next."""
    store = FullStore()
    forests = Forests(store)
    forest = forests.open()
    await forest.ingest(say("s1", "My word is HERON-7.", "I like tea."))
    store.full = True
    with pytest.raises(StoreUnavailable, match="no space: it is forgotten, but what is stored could not be cleaned"):
        await forest.forget("mine", turns=["s1#0"])
    assert [fact.text for fact in (await forest.version()).facts] == ["Ann likes tea."]
    with pytest.raises(StoreUnavailable):
        await forest.forget("mine", turns=["s1#0"])
    store.full = False
    assert (await forest.forget("mine", turns=["s1#0"])).turns == 1
    version = await forest.version()
    check_forest(version)
    assert await residue("HERON", store, version) == []


async def test_an_import_that_cannot_leave_in_order_is_done(say: Say) -> None:
    """Its one commit stands in the log; the checkpoint afterwards finds no room."""
    forests = Forests()
    await forests.open().ingest(say("s1", "I live in Davis."))
    raw = await export_forest(forests.store, UserId(ANN))
    store = FullStore()
    store.full = True
    told = await import_forest(raw, store, UserId("ben"), HashEmbedder(), ManualClock(), SeededRandom(7))
    assert told.sessions == 1
    assert set((await Forests(store).open("ben").version()).sessions) == {"s1"}
