"""What tests of whole forests share: sessions without ceremony, and what is left of a text."""

import pickle
from collections.abc import Callable

import pytest

from memforest_ray.commit.frames import unpack, unseal
from memforest_ray.commit.version import Version
from memforest_ray.errors import CorruptState
from memforest_ray.facts.sessions import Session, TimeLike, Turn
from memforest_ray.storage.store import ObjectStore
from memforest_ray.testing.forests import Forests
from memforest_ray.testing.store import contents

Say = Callable[..., Session]


@pytest.fixture
def forests() -> Forests:
    return Forests()


@pytest.fixture
def say() -> Say:
    """A session of Bob's and Ann's turns, said in turn."""

    def make(name: str, *texts: str, time: TimeLike = "2023-05-08T10:00:00Z") -> Session:
        return Session(name, [Turn(text, ("Bob", "Ann")[place % 2]) for place, text in enumerate(texts)], time=time)

    return make


def _opened(key: str, body: bytes) -> bytes:
    """All bytes of an object, decompressed where they are compressed."""
    kinds = ("manifest", "text", "vectors", "commit", "fence", "tombstone")
    try:
        frame = unseal(body, key, *kinds)
        return bytes(body) + repr(unpack(frame.body, key)).encode()
    except CorruptState:
        return bytes(body)


@pytest.fixture
def residue() -> Callable[..., object]:
    """Where a text still stands: keys of objects, and "live" for the version that is published."""

    async def find(text: str, store: ObjectStore, version: Version) -> list[str]:
        found = [
            key
            for key, body in (await contents(store)).items()
            if text.lower().encode() in _opened(key, body).lower()
        ]
        return found + ["live"] * (text.lower().encode() in pickle.dumps(version).lower())

    return find
