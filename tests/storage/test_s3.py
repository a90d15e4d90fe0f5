"""The cloud store against a real S3 protocol: conditions, conflicts, refusals, and what errors do not say."""

import asyncio

import pytest
from moto.s3.models import s3_backends

from memforest_ray.commit.doubt import settle
from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.open import open_store, probe
from memforest_ray.storage.store import AlreadyExists, ObjectStore, Precondition
from memforest_ray.testing.clock import SeededRandom
from memforest_ray.testing.store import contents
from tests.storage.s3 import ENVIRONMENT, Answer, S3Server

SECRETS = (ENVIRONMENT["AWS_SECRET_ACCESS_KEY"], ENVIRONMENT["AWS_ACCESS_KEY_ID"])
PUT_409 = Answer("PUT", "409 Conflict")
PUT_412 = Answer("PUT", "412 Precondition Failed")
PUT_503 = Answer("PUT", "503 Slow Down")
PUT_503_LANDED = Answer("PUT", "503 Slow Down", landed=True)


@pytest.fixture
def store(s3: str) -> ObjectStore:
    return open_store(s3)


async def test_the_probe_passes_and_leaves_nothing(store: ObjectStore) -> None:
    """A server that keeps its conditions is fit."""
    await probe(store, SeededRandom())
    assert await contents(store) == {}


async def test_many_racing_writers_have_one_winner_each_time(store: ObjectStore) -> None:
    """Creates, then swaps under one tag; the winner is the one who is told so."""
    for round_ in range(5):
        key = f"race/{round_}"
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


async def test_a_listing_is_complete_beyond_a_page(store: ObjectStore) -> None:
    """The server gives 1,000 names at a time; all come, in order, none of a neighbour."""
    place = store.url.removeprefix("s3://").split("/")
    backend = s3_backends["123456789012"]["aws"]
    for number in range(1050):
        backend.put_object(place[0], f"{place[1]}/v1/{number:04d}", b"")
    backend.put_object(place[0], f"{place[1]}/v10/x", b"")
    assert [key async for key in store.list("v1/")] == [f"v1/{number:04d}" for number in range(1050)]


@pytest.mark.parametrize("code", [PUT_409, PUT_412])
async def test_a_refusal_with_nothing_landed_is_told_in_our_words(
    store: ObjectStore, s3_server: S3Server, code: Answer
) -> None:
    """A create finds a name taken, a swap a changed tag; and `settle` sees through both."""
    s3_server.script(code)
    with pytest.raises(AlreadyExists):
        await store.create("a", b"1")
    tag = await store.create("a", b"1")
    # A conflict of two replacements is repeated inside the client; then it is told.
    s3_server.script(*[code] * 8)
    with pytest.raises(Precondition):
        await store.swap("a", b"2", tag)
    s3_server.script(code)
    held = await settle(store, "a", b"3", tag)
    assert held
    assert (held.body, held.tag) == (b"3", (await store.get("a")).tag)


async def test_a_landed_write_that_was_answered_503_is_recognised(store: ObjectStore, s3_server: S3Server) -> None:
    """The client repeats it and meets itself; `settle` looks, and knows its own."""
    s3_server.script(PUT_503_LANDED)
    held = await settle(store, "a", b"mine", None)
    assert held
    s3_server.script(PUT_503_LANDED)
    again = await settle(store, "a", b"mine too", held.tag)
    assert (again and again.body, (await store.get("a")).body) == (b"mine too", b"mine too")


async def test_a_server_that_stays_busy_is_given_up(store: ObjectStore, s3_server: S3Server) -> None:
    """After seven tries; the outcome counts as unknown."""
    s3_server.script(*[PUT_503] * 20)
    with pytest.raises(StoreUnavailable, match="make the same call again") as caught:
        await store.create("a", b"1")
    assert (s3_server.requests, caught.value.detail["refused"]) == (["PUT"] * 7, False)


@pytest.mark.parametrize("status", ["403 Forbidden", "401 Unauthorized"])
async def test_a_lack_of_rights_is_told_at_once(store: ObjectStore, s3_server: S3Server, status: str) -> None:
    """Nothing can have landed; asking again would not help; the key is not in the sentence."""
    s3_server.script(Answer("PUT", status), Answer("PUT", status))
    with pytest.raises(StoreUnavailable, match="check the credentials") as caught:
        await store.create("a", b"1")
    assert (s3_server.requests, caught.value.detail["refused"]) == (["PUT"], True)
    assert not any(secret in f"{caught.value!r} {caught.value.detail}" for secret in SECRETS)


async def test_a_bucket_that_is_not_there_is_named(s3: str) -> None:
    """Never an empty memory: a listing says so, and so does a write."""
    store = open_store("s3://nobody-made-this/place")
    for act in (store.create("a", b""), store.overwrite("a", b""), contents(store)):
        with pytest.raises(StoreUnavailable, match=r"nobody-made-this/place .* does not exist") as caught:
            await act
        assert caught.value.detail["refused"]


async def test_plain_http_must_be_allowed(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing goes out; the sentence names the variable."""
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(StoreUnavailable, match="needs AWS_ALLOW_HTTP=true"):
        await open_store(s3).get("a")


@pytest.mark.parametrize("tail", ["?X-Amz-Signature=s3cr3t", "#s3cr3t"])
def test_an_address_holds_no_secret(tail: str) -> None:
    """Refused, and repeated without what may be one."""
    for url in (f"s3://bucket/x{tail}", "s3://user:s3cr3t@bucket/x"):
        with pytest.raises(InvalidInput, match="only name a place") as caught:
            open_store(url)
        assert caught.value.detail["url"] == "s3://bucket/x"
        assert "s3cr3t" not in f"{caught.value!r}"
