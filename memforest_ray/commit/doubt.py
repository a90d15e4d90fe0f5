"""What to do with an answer that can mean several things: look what stands there, and ask again."""

from memforest_ray.errors import StoreUnavailable
from memforest_ray.storage.store import AlreadyExists, Missing, ObjectStore, Precondition, Stored

__all__ = ["ATTEMPTS", "put_part", "settle"]

ATTEMPTS = 4
"""Tries of one write. Each is read back first; waiting between them is the store client's own affair."""


async def settle(store: ObjectStore, key: str, body: bytes, tag: str | None) -> Stored | None:
    """Write `body` over the version `tag` (None: over nothing). What stands there then: ours or another's.

    No refusal is believed before the object was read back: it may mean our own first attempt, a competitor,
    or a conflict in which nothing landed. Repeating is safe, since the condition holds only once; `body` must
    differ from all others ever written there (it holds a nonce), so that ours can be recognised.

    Raises:
        StoreUnavailable: `refused` is set in its detail if nothing can have landed, else that is unknown.
    """
    doubt: StoreUnavailable | None = None
    for _ in range(ATTEMPTS):
        try:
            return Stored(body, await _write(store, key, body, tag))
        except (AlreadyExists, Precondition):
            pass
        except StoreUnavailable as error:
            if error.detail.get("refused") and doubt is None:
                raise
            doubt = error
        try:
            held = await _look(store, key)
        except StoreUnavailable as error:
            doubt = error
            continue
        if (held and held.tag) != tag or (held and held.body == body):
            return held
    raise _undecided(key, doubt)


async def put_part(store: ObjectStore, key: str, body: bytes) -> None:
    """Create a part under a fresh name: what stands there already is our own first attempt.

    Raises:
        StoreUnavailable: it may or may not be there; no manifest names it.
    """
    await settle(store, key, body, None)


async def _write(store: ObjectStore, key: str, body: bytes, tag: str | None) -> str:
    if tag is None:
        return await store.create(key, body)
    return await store.swap(key, body, tag)


async def _look(store: ObjectStore, key: str) -> Stored | None:
    try:
        return await store.get(key)
    except Missing:
        return None


def _undecided(key: str, cause: StoreUnavailable | None) -> StoreUnavailable:
    error = StoreUnavailable(
        f"the store gave no clear answer about {key} in {ATTEMPTS} attempts; the write may or may not have "
        "landed; what was acknowledged before is kept; make the same call again",
        key=key,
    )
    error.__cause__ = cause
    return error
