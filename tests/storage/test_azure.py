"""The cloud store against Azure's own emulator: conditions, conflicts, refusals, and what errors do not say."""

import asyncio
from functools import partial

import pytest

from memforest_ray.commit.doubt import settle
from memforest_ray.errors import StoreUnavailable
from memforest_ray.storage.open import open_store, probe
from memforest_ray.storage.store import AlreadyExists, Missing, ObjectStore, Precondition
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.store import contents
from tests.storage import azurite
from tests.storage.azurite import ACCOUNT, KEY, Azurite

WRONG = "d3Jvbmcga2V5IG9mIHRoZSB0ZXN0cw=="


@pytest.fixture
def store(azure: str) -> ObjectStore:
    return open_store(azure)


async def test_the_probe_passes_and_leaves_nothing(store: ObjectStore) -> None:
    """A server that keeps its conditions is fit."""
    await probe(store, SeededRandom())
    assert await contents(store) == {}


async def test_many_racing_writers_have_one_winner_each_time(store: ObjectStore) -> None:
    """Creates, then swaps under one tag; the winner is the one who is told so."""
    for key in ("race/0", "race/1"):
        answers = await asyncio.gather(
            *(open_store(store.url).create(key, b"%d" % n) for n in range(16)), return_exceptions=True
        )
        (tag,) = (answer for answer in answers if isinstance(answer, str))
        assert sum(isinstance(answer, AlreadyExists) for answer in answers) == 15
        assert b"%d" % answers.index(tag) == (await store.get(key)).body
        answers = await asyncio.gather(*(store.swap(key, b"-%d" % n, tag) for n in range(16)), return_exceptions=True)
        (winner,) = (place for place, answer in enumerate(answers) if isinstance(answer, str))
        assert sum(isinstance(answer, Precondition) for answer in answers) == 15
        assert (await store.get(key)).body == b"-%d" % winner


async def test_a_tag_is_of_one_writing_not_of_what_is_written(store: ObjectStore) -> None:
    """The same bytes again have another tag, so a late copy of a write finds its own no more."""
    first = await store.create("a", b"1")
    await store.swap("a", b"1", first)
    with pytest.raises(Precondition):
        await store.swap("a", b"2", first)


async def test_doubt_is_settled_by_reading(store: ObjectStore) -> None:
    """A create that finds its own earlier try knows it, and one that finds another's is told of that."""
    await store.create("a", b"mine")
    held = await settle(store, "a", b"mine", None)
    assert held
    assert (held.body, held.tag) == (b"mine", (await store.get("a")).tag)
    other = await settle(store, "a", b"theirs", None)
    assert other
    assert other.body == b"mine"


async def test_names_are_kept_as_they_are(store: ObjectStore) -> None:
    """Nothing of a key is taken for more than a name, and a neighbour's prefix is not ours."""
    keys = ["v1/00/a b+c%2Fd", "v1/00/ä", "v10/x"]
    for key in keys:
        await store.create(key, key.encode())
    assert [key async for key in store.list("v1/")] == keys[:2]
    assert [(await store.get(key)).body for key in keys] == [key.encode() for key in keys]


async def test_a_container_that_is_not_there_is_named(azure: str) -> None:
    """Never an empty memory: a listing says so, and so does a write."""
    store = open_store("az://nobody-made-this/place")
    for act in (partial(store.create, "a", b""), partial(store.overwrite, "a", b""), partial(contents, store)):
        with pytest.raises(StoreUnavailable, match=r"nobody-made-this/place .* does not exist") as caught:
            await act()
        assert caught.value.detail["refused"]


def _as_an_account(monkeypatch: pytest.MonkeyPatch, server: Azurite, key: str) -> None:
    """Lead to the server as to any account's own address."""
    for name in azurite.environment(server.url):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", key)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{server.url}/{ACCOUNT}")
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")


async def test_an_account_with_its_key_and_an_address_of_its_own(
    azure: str, azure_server: Azurite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a private endpoint is named; both ways lead to one store."""
    await open_store(azure).create("a", b"1")
    _as_an_account(monkeypatch, azure_server, KEY)
    store = open_store(azure)
    assert (await store.get("a")).body == b"1"
    await probe(store, SeededRandom())


async def test_a_wrong_key_is_told_at_once(azure: str, azure_server: Azurite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can have landed; asking again would not help; no key is in the sentence."""
    _as_an_account(monkeypatch, azure_server, WRONG)
    store = open_store(azure)
    acts = [partial(act, "a") for act in (store.get, store.delete)]
    for act in (*acts, partial(store.create, "a", b"1"), partial(contents, store)):
        with pytest.raises(StoreUnavailable, match="check the credentials") as caught:
            await act()
        assert caught.value.detail["refused"]
        assert not any(secret in f"{caught.value!r} {caught.value.detail}" for secret in (WRONG, KEY))


async def test_plain_http_must_be_allowed(azure: str, azure_server: Azurite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes out; the sentence names the variable."""
    _as_an_account(monkeypatch, azure_server, KEY)
    monkeypatch.delenv("AZURE_ALLOW_HTTP")
    with pytest.raises(StoreUnavailable, match="needs AZURE_ALLOW_HTTP=true"):
        await open_store(azure).get("a")


async def test_many_are_removed_one_by_one(store: ObjectStore) -> None:
    """A removal is told when it is done, also of what is not there."""
    keys = [f"v1/{number}" for number in range(20)]
    await asyncio.gather(*(store.create(key, b"x") for key in keys))
    await asyncio.gather(*(store.delete(key) for key in (*keys, "v1/never")))
    assert await contents(store) == {}
    with pytest.raises(Missing):
        await store.get(keys[0])
