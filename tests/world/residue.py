"""Where in a store words still stand that must be nowhere."""

from collections.abc import Collection

from memforest_ray.commit.frames import unpack, unseal
from memforest_ray.errors import CorruptState
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.store import contents
from tests.world.states import Place, told_by
from tests.world.words import places_in

__all__ = ["left_of"]

_KINDS = ("manifest", "text", "vectors", "commit", "fence", "tombstone", "snapshot")


async def left_of(places: Collection[Place], store: ObjectStore) -> dict[str, list[Place]]:
    """Keys of the objects that hold a word of `places`, in the open or compressed, with what they hold."""
    if not places:
        return {}
    words = {*map(told_by, places)}
    found = {key: sorted(_said(key, body) & words) for key, body in (await contents(store)).items()}
    return {key: left for key, left in found.items() if left}


def _said(key: str, body: bytes) -> frozenset[Place]:
    """Words in the bytes of an object, decompressed where they are compressed."""
    try:
        opened = repr(unpack(unseal(body, key, *_KINDS).body, key))
    except CorruptState:
        opened = ""
    return places_in(body.decode("latin-1") + opened)
