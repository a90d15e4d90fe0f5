"""What an embedder is to the rest of the library."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "Fingerprint", "Vectors"]

Vectors = NDArray[np.float16]
"""Shape (texts, dimension), each row of unit length, rounded to fp16 when made: a reload decides the same."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Which embedder wrote a forest's vectors, with the thresholds that belong to it."""

    model: str
    dimension: int
    equivalent: float
    """Cosine from which a judge is asked whether two statements are one."""
    scene_assign: float
    scene_spawn: float
    scene_merge: float
    neighbour: float
    """Cosine from which two statements speak of the same thing (query time, without an attribute)."""


class Embedder(Protocol):
    """Turns texts into vectors. Deterministic: a text's vector does not depend on what else is in the batch."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What the vectors are made with: memories of another fingerprint are refused, so it must not change."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of `texts`, in order. A row of zeros means: this script is unknown to the model."""
