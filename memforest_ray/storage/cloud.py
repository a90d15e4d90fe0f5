"""Object stores of the cloud (S3 and its likes, Google Cloud Storage, Azure) through obstore.

Imported only when such a store is opened. Retries of single requests are obstore's own; so a create may find
its own first attempt, which is why callers read back before they believe a refusal.
"""

import builtins
import json
from collections.abc import AsyncIterator
from typing import Any, NoReturn

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
    UnknownConfigurationKeyError,
)
from obstore.store import from_url

from memforest_ray.errors import InvalidInput, StoreUnavailable
from memforest_ray.storage.store import AlreadyExists, Missing, Precondition, Stored

__all__ = ["CloudStore"]

_ABSENT = (NotFoundError, FileNotFoundError)
_FORBIDDEN = (PermissionDeniedError, UnauthenticatedError, PermissionError)


class CloudStore:
    """Any obstore store with conditional writes."""

    def __init__(self, store: Any, url: str) -> None:
        self._store = store
        self.url = url

    @classmethod
    def from_url(cls, url: str) -> "CloudStore":
        """Credentials, region and endpoint come from the environment, as each cloud's own tools read them.

        Raises:
            InvalidInput: the address or the environment does not name a store.
        """
        try:
            return cls(from_url(url), url.rstrip("/"))
        except (BaseError, UnknownConfigurationKeyError, ValueError) as error:
            raise InvalidInput(f"The store {url!r} cannot be opened: {_reason(error)}", url=url) from error

    async def get(self, key: str) -> Stored:
        try:
            answer = await obstore.get_async(self._store, key)
            body = bytes(await answer.bytes_async())
        except _ABSENT:
            raise Missing(key) from None
        except (BaseError, OSError) as error:
            self._unavailable("read", key, error)
        return Stored(body, _tag(answer.meta))

    async def create(self, key: str, body: bytes) -> str:
        try:
            return _tag(await obstore.put_async(self._store, key, body, mode="create"))
        except (AlreadyExistsError, PreconditionError):
            # Azure answers a create of a taken name with a failed precondition.
            raise AlreadyExists(key) from None
        except (BaseError, OSError) as error:
            self._unavailable("create", key, error)

    async def swap(self, key: str, body: bytes, tag: str) -> str:
        try:
            return _tag(await obstore.put_async(self._store, key, body, mode=json.loads(tag)))
        except (PreconditionError, AlreadyExistsError, *_ABSENT):
            # S3 answers 404 where nothing is there to replace, and 409 where two replace at once.
            raise Precondition(key) from None
        except (BaseError, OSError) as error:
            self._unavailable("replace", key, error)

    async def delete(self, key: str) -> None:
        try:
            await obstore.delete_async(self._store, key)
        except _ABSENT:
            return
        except (BaseError, OSError) as error:
            self._unavailable("delete", key, error)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        keys: builtins.list[str] = []
        try:
            async for page in obstore.list(self._store, prefix=prefix):
                keys.extend(str(item["path"]) for item in page)
        except (BaseError, OSError) as error:
            self._unavailable("list", prefix, error)
        # Most stores list in order, but not all promise to.
        for key in sorted(keys):
            yield key

    async def overwrite(self, key: str, body: bytes) -> None:
        try:
            await obstore.put_async(self._store, key, body)
        except (BaseError, OSError) as error:
            self._unavailable("replace", key, error)

    def _unavailable(self, verb: str, key: str, error: Exception) -> NoReturn:
        refused = isinstance(error, _FORBIDDEN)
        advice = "check the credentials" if refused else "the same call can be made again"
        raise StoreUnavailable(
            f"The store {self.url} could not {verb} an object: {_reason(error)} "
            f"What was acknowledged before is kept; {advice}.",
            url=self.url,
            key=key,
            refused=refused,
        ) from error


def _tag(meta: Any) -> str:
    """Etag and, where there is one, version: Google matches on the version (generation), not on the etag."""
    parts = {"e_tag": meta.get("e_tag"), "version": meta.get("version")}
    return json.dumps({name: value for name, value in parts.items() if value is not None})


def _reason(error: Exception) -> str:
    # obstore appends a dump of its internals after an empty line.
    return str(error).split("\n", 1)[0].rstrip(".") + "."
