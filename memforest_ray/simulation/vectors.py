"""Vectors by hashing: cheap, the same on every machine, and no measure of meaning."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memforest_ray.facts.words import query_tokens
from memforest_ray.ids import digest
from memforest_ray.models.embedder import Fingerprint, Vectors

__all__ = ["HashEmbedder", "hashed_vector"]


def hashed_vector(text: str, dimension: int) -> NDArray[np.float32]:
    """A unit vector: texts are alike as far as they share stems."""
    row = np.zeros(dimension, dtype=np.float32)
    for token in query_tokens(text):
        place = int(digest(token), 16)
        row[place % dimension] += 1 if place // dimension % 2 else -1
    row[0] += not row.any()
    return row / np.float32(np.linalg.norm(row))


class HashEmbedder:
    """Implements `Embedder`: for tests and dry runs, where only sharing words has to count."""

    def __init__(self, dimension: int = 64) -> None:
        self._fingerprint = Fingerprint(
            f"hash-{dimension}",
            dimension,
            equivalent=0.93,
            scene_assign=0.70,
            scene_spawn=0.58,
            scene_merge=0.88,
            neighbour=0.45,
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of `texts`; one without words gets the same as all such."""
        rows = [hashed_vector(text, self._fingerprint.dimension) for text in texts]
        return np.array(rows, dtype=np.float16).reshape(len(rows), self._fingerprint.dimension)
