"""Your own models: an extractor and an embedder passed in as arguments.

    python examples/custom_model.py

The two below are toys that show the shape: one statement per turn, and vectors of hashed words. What an embedder
writes stays with the memory: another one is refused later by its fingerprint, never mixed in.
"""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np

import memforest_ray as mf
from memforest_ray.facts.candidates import Candidate, CellInput, Extraction, Kind
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.storage.open import open_store
from memforest_ray.trees.summaries import SelectionSummarizer

DIMENSION = 256


class EveryTurn:
    """Takes each turn for one statement, in its speaker's own words."""

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        return [Extraction(cell.cell_id, tuple(self._statements(cell))) for cell in cells]

    def _statements(self, cell: CellInput) -> list[Candidate]:
        return [
            Candidate(
                text=f"{turn.speaker}: {turn.text}",
                kind=Kind.DETAIL,
                speaker=turn.speaker,
                role=turn.role,
                turns=(turn.index,),
                entities=(turn.speaker,),
            )
            for turn in cell.turns
        ]


class HashedWords:
    """A word is a direction; a text is the sum of its words."""

    fingerprint = Fingerprint(
        model=f"hashed-words-{DIMENSION}",
        dimension=DIMENSION,
        equivalent=0.95,
        scene_assign=0.70,
        scene_spawn=0.58,
        scene_merge=0.88,
        neighbour=0.45,
    )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split():
                row[hashlib.blake2b(word.encode(), digest_size=1).digest()[0]] += 1.0
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = (rows / np.maximum(norms, 1e-9)).astype(np.float16)
        return unit


def connect() -> mf.AsyncClient:
    """A client whose forests live in this process and use the models above."""
    settings = mf.Settings(store="memory://custom", runtime="local")
    models = Models(EveryTurn(), SelectionSummarizer(), HashedWords())
    return mf.AsyncClient(settings, LocalRuntime(settings, open_store(settings.store), models))


async def main() -> None:
    """Two turns in, one question out."""
    async with connect() as client:
        ada = client.user("ada")
        turns = [
            mf.Turn(speaker="Ada", text="My bicycle is red and its bell is broken."),
            mf.Turn(speaker="Ben", text="The bell shop on Mill Street can repair it."),
        ]
        await ada.ingest(mf.Session(id="bicycle", time="2024-05-01T09:00:00Z", turns=turns))
        for hit in await ada.query("Which shop can repair the bell?", k=3):
            print(f"{hit.score:.2f}  {hit.text}  {hit.turn_ids[0]}")


if __name__ == "__main__":
    asyncio.run(main())
