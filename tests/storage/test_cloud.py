"""Answers of obstore in our words."""

import json
from typing import Any

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, GenericError, PermissionDeniedError, PreconditionError

from memforest_ray.errors import StoreUnavailable
from memforest_ray.storage.cloud import CloudStore
from memforest_ray.storage.store import AlreadyExists, Precondition

TAG = json.dumps({"e_tag": "x"})


def _answering(monkeypatch: pytest.MonkeyPatch, error: Exception) -> CloudStore:
    async def refuse(*arguments: Any, **options: Any) -> None:
        raise error

    for name in ("put_async", "get_async", "delete_async"):
        monkeypatch.setattr(obstore, name, refuse)
    return CloudStore(object(), "s3://bucket")


async def test_a_failed_precondition_of_a_create_means_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Azure answers so."""
    with pytest.raises(AlreadyExists):
        await _answering(monkeypatch, PreconditionError("412")).create("a", b"")


@pytest.mark.parametrize("error", [AlreadyExistsError("409"), PreconditionError("412"), FileNotFoundError("404")])
async def test_every_refusal_of_a_swap_is_one(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Two at once, a stale tag, nothing there: all are a failed precondition."""
    with pytest.raises(Precondition):
        await _answering(monkeypatch, error).swap("a", b"", TAG)


async def test_an_unclear_answer_is_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out may have landed; a lack of rights cannot. Only the first line of the reason is shown."""
    store = _answering(monkeypatch, GenericError("timed out\n\nDebug source:\nGeneric {"))
    with pytest.raises(StoreUnavailable, match=r"could not create an object: timed out; what") as unclear:
        await store.create("a", b"")
    store = _answering(monkeypatch, PermissionDeniedError("403"))
    with pytest.raises(StoreUnavailable, match="check the credentials") as refused:
        await store.swap("a", b"", TAG)
    assert (unclear.value.detail["refused"], refused.value.detail["refused"]) == (False, True)


async def test_the_version_goes_along_with_the_etag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google matches on the generation; what the store did not send is not sent back."""
    sent: list[Any] = []

    async def put(store: object, key: str, body: bytes, *, mode: Any) -> dict[str, Any]:
        sent.append(mode)
        return {"e_tag": '"1"', "version": "17"} if mode == "create" else {"e_tag": '"2"', "version": None}

    monkeypatch.setattr(obstore, "put_async", put)
    store = CloudStore(object(), "gs://bucket")
    await store.swap("a", b"", await store.swap("a", b"", await store.create("a", b"")))
    assert sent == ["create", {"e_tag": '"1"', "version": "17"}, {"e_tag": '"2"'}]


async def test_a_removal_that_is_refused_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes out as a batch, whose refusal is told in words alone."""
    error = GenericError("Error performing POST http://h/c in 2ms - Server returned non-2xx status code: 403 Forbidden")
    with pytest.raises(StoreUnavailable, match=r"403 Forbidden; what .* check the credentials") as refused:
        await _answering(monkeypatch, error).delete("a")
    assert refused.value.detail["refused"] is True
