"""Clustering by cosine to sums, one fact after the other, in matrix products.

Leader clustering: a fact joins the best cluster or founds its own, and the next one sees the outcome. Every
dot product that may be asked for is made beforehand: of the facts with the clusters that exist and with each
other. When a fact joins, the dots with that cluster's sum grow by the dots with that fact, so a step is a few
vector operations. Decisions are not bit-exact across machines, and need not be: they are committed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memforest_ray.models.embedder import Fingerprint

__all__ = [
    "TIME_BONUS",
    "TIME_WINDOW_MS",
    "Clusters",
    "Span",
    "Sums",
    "Thresholds",
    "assign",
    "closest_pairs",
    "span_of",
]

TIME_BONUS: Final = 0.03
"""What facts of the same days gain over their cosine: less than the thresholds lie apart."""
TIME_WINDOW_MS: Final = 14 * 86_400_000
"""How far from a cluster's own times the bonus reaches, falling evenly to nothing."""
_FAR: Final = 1 << 61
"""Start of an empty interval of times, and minus its end; far from everything."""
_PAIRS_CHUNK: Final = 256

Sums: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines, time bonus included, that decide about scenes; they belong to the embedder."""

    assign: float
    """From here a fact joins its best cluster."""
    spawn: float
    """Below this it founds its own; in between it joins only when its time fits, too."""
    merge: float
    """From here two clusters become one, if there is room."""

    @classmethod
    def of(cls, fingerprint: Fingerprint) -> "Thresholds":
        return cls(fingerprint.scene_assign, fingerprint.scene_spawn, fingerprint.scene_merge)


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Clusters that exist, one row each."""

    sums: Sums
    """Shape (clusters, dimension)."""
    spans: Sequence["Span"]
    size_max: int

    @property
    def extents(self) -> NDArray[np.int64]:
        """The spans as a table: size, first time, last time."""
        return np.array(self.spans, dtype=np.int64).reshape(-1, 3)


Span: TypeAlias = tuple[int, int, int]
"""How many members a cluster has, and when the first and the last of them was said."""


def span_of(times: Sequence[int | None]) -> Span:
    """The span of members that were said at these times; of unknown ones it is an empty interval."""
    known = [time for time in times if time is not None]
    return len(times), min(known, default=_FAR), max(known, default=-_FAR)


def assign(clusters: Clusters, vectors: Sums, times: Sequence[int | None], thresholds: Thresholds) -> list[int]:
    """For each vector the cluster it joins; numbers from `len(clusters.sums)` on are new ones, in order."""
    assignment = _Assignment(clusters, vectors, times, thresholds)
    return [assignment.place(number) for number in range(len(vectors))]


class _Assignment:
    """Dots, sizes and times of all clusters, old and possible, kept up to date while facts are placed."""

    def __init__(self, clusters: Clusters, vectors: Sums, times: Sequence[int | None], thresholds: Thresholds) -> None:
        self.used, arriving = len(clusters.sums), len(vectors)
        room = self.used + arriving
        rows = vectors.astype(np.float32)
        self.gram = (rows @ rows.T).astype(np.float64)
        self.norms = np.sqrt(self.gram.diagonal())
        self.dots = np.zeros((arriving, room))
        self.dots[:, : self.used] = rows @ clusters.sums.astype(np.float32).T
        self.squares = np.zeros(room)
        self.squares[: self.used] = np.einsum("ij,ij->i", clusters.sums, clusters.sums)
        self.sizes = np.zeros(room, dtype=np.int64)
        self.low, self.high = np.full(room, _FAR), np.full(room, -_FAR)
        for column, known in zip((self.sizes, self.low, self.high), clusters.extents.T, strict=True):
            column[: self.used] = known
        self.times = times
        self.thresholds = thresholds
        self.size_max = clusters.size_max

    def place(self, number: int) -> int:
        choice = self._choose(number)
        if choice == self.used:
            self.used += 1
        self.squares[choice] += 2 * self.dots[number, choice] + self.gram[number, number]
        self.dots[:, choice] += self.gram[:, number]
        self.sizes[choice] += 1
        time = self.times[number]
        if time is not None:
            self.low[choice] = min(self.low[choice], time)
            self.high[choice] = max(self.high[choice], time)
        return choice

    def _choose(self, number: int) -> int:
        if not self.used:
            return 0
        # Vectors that cancel out leave a sum of nothing, which is like no other.
        lengths = np.sqrt(np.maximum(self.squares[: self.used], 1e-9)) * self.norms[number]
        bonus = self._bonus(self.times[number])
        scores = self.dots[number, : self.used] / lengths + bonus
        scores[self.sizes[: self.used] >= self.size_max] = -np.inf
        best = int(scores.argmax())
        fits = scores[best] >= (self.thresholds.spawn if bonus[best] else self.thresholds.assign)
        return best if fits else self.used

    def _bonus(self, time: int | None) -> Sums:
        if time is None:
            return np.zeros(self.used)
        gap = np.maximum(self.low[: self.used] - time, time - self.high[: self.used])
        bonus: Sums = TIME_BONUS * np.clip(1 - gap / TIME_WINDOW_MS, 0, 1)
        return bonus


def closest_pairs(clusters: Clusters, around: Sequence[int], threshold: float) -> list[tuple[int, int]]:
    """Pairs around some clusters, of cosine `threshold` at least and room in one for both; closest first."""
    norms = np.sqrt(np.maximum(np.einsum("ij,ij->i", clusters.sums, clusters.sums), 1e-9))
    units = (clusters.sums / norms[:, None]).astype(np.float32)
    sizes = clusters.extents[:, 0]
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(around), _PAIRS_CHUNK):
        rows = np.array(around[start : start + _PAIRS_CHUNK])
        cosines = units[rows] @ units.T
        fit = (cosines >= threshold) & (sizes[rows][:, None] + sizes[None, :] <= clusters.size_max)
        for place, other in zip(*fit.nonzero(), strict=True):
            one, two = sorted((int(rows[place]), int(other)))
            if one != two:
                found[one, two] = float(cosines[place, other])
    return sorted(found, key=lambda pair: (-found[pair], pair))
