"""Vectors from OpenAI-compatible endpoints."""

import asyncio
import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memforest_ray.ambient import Random
from memforest_ray.errors import InvalidInput, LLMUnavailable
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.models.failures import Failure
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.permits import Permit, Permits, Sleep
from memforest_ray.models.retries import Patience, Retries
from memforest_ray.models.sending import Sender
from memforest_ray.models.waves import wave

__all__ = ["OpenAIEmbedder", "fingerprint_of"]

_PATH: Final = "/embeddings"
_SHORTENED_CHARS_MIN: Final = 256
"""A text that is refused as too long is halved, down to this: what it says after that is not in its vector."""
_DEFAULT: Final = Fingerprint(
    "", 0, equivalent=0.93, scene_assign=0.70, scene_spawn=0.58, scene_merge=0.88, neighbour=0.45
)
"""The thresholds of Qwen3-Embedding, and of any model that none are known for."""


def fingerprint_of(model: str, dimension: int, thresholds: Mapping[str, float]) -> Fingerprint:
    """A model's fingerprint with the thresholds that are given, else the default ones. Raises InvalidInput."""
    known = {field.name for field in fields(Fingerprint)} - {"model", "dimension"}
    unknown = sorted(set(thresholds) - known)
    if unknown:
        raise InvalidInput(f"embed_thresholds knows no {unknown[0]!r}, only {', '.join(sorted(known))}")
    return replace(_DEFAULT, model=model, dimension=dimension, **thresholds)


class OpenAIEmbedder:
    """Implements `Embedder`. A row of zeros stands for a text without any letters."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        connections: Connections,
        permits: Permits,
        random: Random,
        fingerprint: Fingerprint,
        *,
        texts_max: int = 64,
        hedges: Hedges,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`texts_max`: of one call. `hedges`: second calls for late answers."""
        self._endpoints = {endpoint.url: endpoint for endpoint in endpoints}
        self._connections = connections
        self._permits = permits
        self._random = random
        self._fingerprint = fingerprint
        self._texts_max = texts_max
        self._hedges = hedges
        self._sleep = sleep
        self._encoding = "base64"  # a tenth of the text, and of the time to read it

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def embed(self, texts: Sequence[str], *, owner: str = "", urgent: bool = False) -> Vectors:
        """Unit vectors of `texts`, in order; batches of like length, all at once.

        Raises:
            LLMUnavailable: the embedding endpoint gave no usable answer.
        """
        # Each text once, and those of like length together: a server pads a batch to its longest.
        distinct = sorted({text for text in texts if text.strip()}, key=lambda text: (len(text), text))
        batches = [distinct[place : place + self._texts_max] for place in range(0, len(distinct), self._texts_max)]
        rows: dict[str, Vectors] = {}
        for part in await wave(self._batch(batch, owner, urgent=urgent) for batch in batches):
            rows.update(part)
        nothing = np.zeros(self._fingerprint.dimension, dtype=np.float16)
        found = [rows.get(text, nothing) for text in texts]
        return np.array(found, dtype=np.float16).reshape(len(found), self._fingerprint.dimension)

    async def close(self) -> None:
        """End the connections."""
        await self._connections.close()

    async def _batch(self, texts: list[str], owner: str, *, urgent: bool) -> dict[str, Vectors]:
        """Vectors by text. A batch that is too long is asked for in halves, a text that is, shortened."""
        said = [text.encode("utf-8", "replace").decode() for text in texts]
        while True:
            answer = await self._answer(said, owner, urgent=urgent)
            if not isinstance(answer, Failure):
                return dict(zip(texts, self._unit(answer, len(said)), strict=True))
            if answer.trouble not in ("too_long", "unusable", "dialect"):
                raise LLMUnavailable(f"no vectors from {', '.join(self._endpoints)}: {answer.message}", role="embed")
            if len(texts) > 1:
                middle = len(texts) // 2
                halves = (self._batch(half, owner, urgent=urgent) for half in (texts[:middle], texts[middle:]))
                one, other = await wave(halves)
                return one | other
            if answer.trouble != "too_long" or len(said[0]) < 2 * _SHORTENED_CHARS_MIN:
                raise LLMUnavailable(f"no vectors from {', '.join(self._endpoints)}: {answer.message}", role="embed")
            said = [said[0][: len(said[0]) // 2]]

    async def _answer(self, texts: list[str], owner: str, *, urgent: bool) -> list[Any] | Failure:
        """The items of one answer, in whatever order; tried again while that may help."""
        retries, failed_at = Retries(self._random, self._sleep, Patience()), ""
        sender = Sender(self._permits, self._hedges, self._endpoints, owner, urgent)

        async def post(permit: Permit) -> list[Any] | Failure:
            nonlocal failed_at
            failed_at = permit.endpoint
            return await self._post(permit, texts)

        while True:
            answer = await sender.send(post, after=failed_at)
            if isinstance(answer, Failure) and "encoding" in answer.message and self._encoding != "float":
                self._encoding = "float"
                continue
            # What is wrong with the request is for the caller to mend, by asking for less.
            if not isinstance(answer, Failure) or answer.trouble == "dialect" or not await retries.goes_on(answer):
                return answer

    async def _post(self, permit: Permit, texts: list[str]) -> list[Any] | Failure:
        endpoint = self._endpoints[permit.endpoint]
        body = {"model": endpoint.model, "input": texts, "encoding_format": self._encoding}
        answer = await self._connections.post(endpoint, _PATH, body)
        if not isinstance(answer, Failure):
            data = answer.get("data")
            if isinstance(data, list) and len(data) == len(texts):
                return data
            answer = Failure("failed", f"the answer does not hold {len(texts)} vectors")
        permit.overloaded, permit.failed = answer.trouble == "overloaded", answer.trouble == "failed"
        permit.rest_s = answer.rest_s
        return answer

    def _unit(self, items: list[Any], count: int) -> Vectors:
        """Rows of unit length, in the order of the texts. Raises LLMUnavailable for vectors that are none."""
        rows = np.zeros((count, self._fingerprint.dimension), dtype=np.float32)
        for place, item in enumerate(items):
            vector = vector_of(item)
            index = item.get("index", place) if isinstance(item, dict) else place
            if vector is None or not isinstance(index, int) or not 0 <= index < count:
                raise LLMUnavailable("the embedding endpoint returned something that is not a vector", role="embed")
            if vector.shape != rows[index].shape:
                raise LLMUnavailable(
                    f"the embedding endpoint gave {vector.size} dimensions, not {rows.shape[1]}; another model "
                    "answers there now; nothing was stored",
                    role="embed",
                )
            rows[index] = vector
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = (rows / np.maximum(norms, 1e-12)).astype(np.float16)
        return unit


def vector_of(item: Any) -> NDArray[np.float32] | None:
    """The vector of one item: base64 of little-endian floats, or a list of numbers; None for anything else."""
    given = item.get("embedding") if isinstance(item, dict) else None
    try:
        if isinstance(given, str):
            vector = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4")
        else:
            vector = np.asarray(given, dtype=np.float32)
    except (ValueError, TypeError, binascii.Error):
        return None
    return vector if vector.ndim == 1 and vector.size and np.isfinite(vector).all() else None
