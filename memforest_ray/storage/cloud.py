"""Object stores of the cloud (S3 and its likes, Google Cloud Storage, Azure) through obstore.

Imported only when such a store is opened. Retries of single requests are obstore's own; so a create may find
its own first attempt, which is why callers read back before they believe a refusal.

Environment, as obstore reads it. S3 and its likes: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
`AWS_SESSION_TOKEN`, `AWS_REGION`; another server: `AWS_ENDPOINT_URL`, and `AWS_ALLOW_HTTP=true` where that
begins with `http:`. Google: `GOOGLE_SERVICE_ACCOUNT`. Azure: `AZURE_STORAGE_ACCOUNT_NAME`,
`AZURE_STORAGE_ACCOUNT_KEY`; another server: `AZURE_STORAGE_ENDPOINT`, which ends with the account's name where that is
no part of the host, and `AZURE_ALLOW_HTTP=true`; Azurite: `AZURE_STORAGE_USE_EMULATOR=true` alone, and
`AZURITE_BLOB_STORAGE_URL` where it does not listen on port 10000.
"""

import builtins
import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, NoReturn
from urllib.parse import urlsplit

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
_FORBIDDEN_STATUS = re.compile(r"status code: 40[13]\b")
"""Of a removal, which goes out as a batch of one: its refusal comes as an error of no kind."""
_ALLOWS_HTTP = {"s3": "AWS_ALLOW_HTTP", "az": "AZURE_ALLOW_HTTP", "gs": "GOOGLE_ALLOW_HTTP"}
_RETRIES: Any = {
    "max_retries": 6,
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
    "retry_timeout": timedelta(seconds=60),
}
"""Of one request, on a 5xx, 429 or lost connection: about 10 s of waiting in all. `commit.doubt` asks again."""
_ADDRESS = re.compile(r"(\w+://)(?:[^/\s@]*@)?([^\s?#]*)(?:[?#]\S*)?")
"""An address in a message: who asks (before `@`) and signatures (behind `?`) are not for logs."""


class CloudStore:
    """Any obstore store with conditional writes."""

    def __init__(self, store: Any, url: str) -> None:
        self._store = store
        self.url = url

    @classmethod
    def from_url(cls, url: str) -> "CloudStore":
        """Opens no connection. Credentials, region and endpoint come from the environment, never from `url`.

        Raises:
            InvalidInput: the address or the environment does not name a store.
        """
        parts = urlsplit(url)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise InvalidInput(
                f"the address {shown} may only name a place and a path; nothing was opened; give credentials and "
                "options through the environment",
                url=shown,
            )
        try:
            # No client options: they would hide those of the environment.
            return cls(from_url(shown, retry_config=_RETRIES), shown)
        except (BaseError, UnknownConfigurationKeyError, ValueError) as error:
            raise InvalidInput(f"the store {shown!r} cannot be opened: {_line(error)}", url=shown) from error

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
        except _ABSENT as error:
            self._placeless("create", key, error)
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
            if "404 Not Found" in _line(error):
                self._placeless("list", prefix, error)
            self._unavailable("list", prefix, error)
        # Most stores list in order, but not all promise to.
        for key in sorted(keys):
            yield key

    async def overwrite(self, key: str, body: bytes) -> None:
        try:
            await obstore.put_async(self._store, key, body)
        except _ABSENT as error:
            self._placeless("replace", key, error)
        except (BaseError, OSError) as error:
            self._unavailable("replace", key, error)

    def _placeless(self, verb: str, key: str, error: Exception) -> NoReturn:
        """A write or listing answered "not found": it is the bucket that is not there."""
        raise StoreUnavailable(
            f"the store {self.url} could not {verb} an object: its bucket or container does not exist; "
            "nothing was changed; create it, or check the address",
            url=self.url,
            key=key,
            refused=True,
        ) from error

    def _unavailable(self, verb: str, key: str, error: Exception) -> NoReturn:
        reason = self._reason(error)
        refused = isinstance(error, _FORBIDDEN) or _FORBIDDEN_STATUS.search(reason) is not None
        advice = "check the credentials" if refused else "make the same call again"
        raise StoreUnavailable(
            f"the store {self.url} could not {verb} an object: {reason}; "
            f"what was acknowledged before is kept; {advice}",
            url=self.url,
            key=key,
            refused=refused,
        ) from None

    def _reason(self, error: Exception) -> str:
        line = _line(error)
        if "builder error" not in line:
            return line
        return f"{line} (an endpoint with http: needs {_ALLOWS_HTTP[urlsplit(self.url).scheme]}=true)"


def _tag(meta: Any) -> str:
    """Etag and, where there is one, version: Google matches on the version (generation), not on the etag."""
    parts = {"e_tag": meta.get("e_tag"), "version": meta.get("version")}
    return json.dumps({name: value for name, value in parts.items() if value is not None})


def _line(error: Exception) -> str:
    """What went wrong, in one line."""
    # obstore appends a dump of its internals after an empty line, and the server's answer as XML.
    line = str(error).split("\n", 1)[0].split(": <?xml", 1)[0]
    return _ADDRESS.sub(r"\1\2", line).rstrip(".")
