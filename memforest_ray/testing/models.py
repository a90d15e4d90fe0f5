"""Models for tests: no files, no network, the same vector on every machine."""

from collections.abc import Sequence

import numpy as np

from memforest_ray.facts.words import query_tokens
from memforest_ray.ids import digest
from memforest_ray.models.embedder import Fingerprint, Vectors

__all__ = ["HashEmbedder"]


class HashEmbedder:
    """Implements `Embedder` by hashing stems: texts are alike as far as they share words."""

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
        """Unit vectors of `texts`; a text without words gives a row of zeros."""
        rows = np.zeros((len(texts), self._fingerprint.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for token in query_tokens(text):
                place = int(digest(token), 16)
                row[place % row.size] += 1 if place // row.size % 2 else -1
        vectors: Vectors = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)).astype(np.float16)
        return vectors
