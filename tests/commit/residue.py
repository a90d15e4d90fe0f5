"""Where in a store a word still stands."""

from memforest_ray.commit.frames import unpack, unseal
from memforest_ray.errors import CorruptState
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.store import contents

__all__ = ["residue"]

_KINDS = ("manifest", "text", "vectors", "commit", "fence", "tombstone", "snapshot")


async def residue(store: ObjectStore, word: str) -> list[str]:
    """Keys of the objects that hold `word`, in the open or compressed."""
    return [key for key, body in (await contents(store)).items() if word.encode() in _opened(key, body)]


def _opened(key: str, body: bytes) -> bytes:
    """All bytes of an object, decompressed where they are compressed."""
    try:
        return body + repr(unpack(unseal(body, key, *_KINDS).body, key)).encode()
    except CorruptState:
        return body
