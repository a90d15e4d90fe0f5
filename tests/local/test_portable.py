"""Export and import: a forest travels as one file."""

from contextlib import suppress
from dataclasses import replace

import pytest

from memforest_ray.commit.loaded import load
from memforest_ray.commit.users import delete_user
from memforest_ray.errors import CorruptState, InvalidInput, NotFound
from memforest_ray.ids import UserId
from memforest_ray.local.examination import examine
from memforest_ray.local.portable import export_forest, import_forest
from memforest_ray.storage.keys import UserKeys
from memforest_ray.storage.memory import MemoryStore
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.conversations import conversation
from memforest_ray.testing.forests import ANN, Forests, decided
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.testing.store import Crashed, FaultyStore, Turnstile, contents

BEN = UserId("ben")


async def _written() -> Forests:
    forests = Forests()
    ann = forests.open()
    sessions = conversation(5, sessions=4, turns_max=8)
    for session in sessions:
        await ann.ingest(session)
    await ann.forget(session=sessions[1].id)
    return forests


async def _imported(raw: bytes, store: MemoryStore, embedder: HashEmbedder | None = None) -> int:
    given = embedder or HashEmbedder()
    found = await import_forest(raw, store, BEN, given, ManualClock(), SeededRandom(7))
    return found.embedded


async def test_a_forest_travels_to_another_store_and_user() -> None:
    """What is decided of it is the same there, and what was forgotten stays forgotten."""
    forests = await _written()
    raw = await export_forest(forests.store, UserId(ANN))
    there = Forests()
    assert await _imported(raw, there.store) == 0  # type: ignore[arg-type]  # the store is a MemoryStore

    before, after = await forests.open().version(), await there.open("ben").version()
    assert decided(after) == decided(before)
    assert (await examine(there.store, BEN)).findings == ()
    sent_again = await there.open("ben").ingest(conversation(5, sessions=4, turns_max=8)[1])
    assert sent_again.duplicate


async def test_vectors_are_made_anew_for_another_embedder() -> None:
    """Text and structure move; vectors belong to the embedder that made them."""
    raw = await export_forest((await _written()).store, UserId(ANN))
    store = MemoryStore()

    embedded = await _imported(raw, store, HashEmbedder(32))

    found = await examine(store, BEN)
    assert found.findings == ()
    assert embedded > 0


async def test_a_memory_that_is_there_is_kept() -> None:
    """An import never overwrites."""
    forests = await _written()
    raw = await export_forest(forests.store, UserId(ANN))
    before = await contents(forests.store)

    with pytest.raises(InvalidInput, match="has a memory already"):
        await import_forest(raw, forests.store, UserId(ANN), HashEmbedder(), ManualClock(), SeededRandom(7))
    assert await contents(forests.store) == before


async def test_an_import_is_done_once() -> None:
    """Whatever became of the first try: cut off anywhere, it is made again, or told."""
    raw = await export_forest((await _written()).store, UserId(ANN))
    whole = await import_forest(raw, MemoryStore(), BEN, HashEmbedder(), ManualClock(), SeededRandom(7))
    for place in range(30):
        store = MemoryStore()
        with suppress(Crashed):
            await import_forest(
                raw, FaultyStore(store, crash_at=place), BEN, HashEmbedder(), ManualClock(), SeededRandom(7)
            )
        told = await import_forest(raw, store, BEN, HashEmbedder(), ManualClock(), SeededRandom(8))
        assert (told.sessions, told.facts) == (whole.sessions, whole.facts)
        before = await contents(store)
        again = await import_forest(raw, store, BEN, HashEmbedder(), ManualClock(), SeededRandom(9))
        assert again == replace(told, duplicate=True)
        assert await contents(store) == before
        assert (await examine(store, BEN)).findings == ()


async def test_two_imports_of_one_file_at_once() -> None:
    """Both are told the same; it is there once."""
    raw = await export_forest((await _written()).store, UserId(ANN))
    for seed in range(12):
        store, turnstile = MemoryStore(), Turnstile(seed)
        both = {
            name: import_forest(
                raw,
                FaultyStore(store, turn=turnstile.turn_of(name)),
                BEN,
                HashEmbedder(),
                ManualClock(),
                SeededRandom(len(name) + seed),
            )
            for name in ("one", "another")
        }
        told = list((await turnstile.run(both)).values())
        assert sorted(str(getattr(each, "duplicate", each)) for each in told) == ["False", "True"]
        assert (await examine(store, BEN)).findings == ()


async def test_an_import_finishes_a_deletion_that_was_cut_off() -> None:
    """Nothing of the life before is left when it returns."""
    forests = await _written()
    raw = await export_forest(forests.store, UserId(ANN))
    for place in range(4, 30):
        store = MemoryStore()
        await import_forest(raw, store, BEN, HashEmbedder(), ManualClock(), SeededRandom(7))
        with suppress(Crashed):
            await delete_user(FaultyStore(store, crash_at=place), BEN, ManualClock(), SeededRandom(8))
        held = await load(store, UserKeys.of(BEN))
        if held.manifest is not None and held.manifest.state == "deleted":
            await import_forest(raw, store, BEN, HashEmbedder(), ManualClock(), SeededRandom(9))
            held = await load(store, UserKeys.of(BEN))
            assert held.manifest is not None
            listed = {part.key for part in held.manifest.parts}
            assert held.manifest.erasures == ()
            assert {key for key in await contents(store) if "/seg/" in key} == listed


@pytest.mark.parametrize("place", [0, 5, 40, 200, -1])
async def test_a_damaged_file_is_refused(place: int) -> None:
    """One changed byte anywhere, and nothing is written."""
    raw = bytearray(await export_forest((await _written()).store, UserId(ANN)))
    raw[place] ^= 1
    store = MemoryStore()

    with pytest.raises(CorruptState):
        await _imported(bytes(raw), store)
    assert await contents(store) == {}


async def test_there_is_nothing_to_export_of_a_stranger() -> None:
    """Nor of a user who was deleted."""
    with pytest.raises(NotFound):
        await export_forest(MemoryStore(), BEN)
