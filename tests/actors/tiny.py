"""A tiny driver and tiny models for the actors' tests: one file per user, each write known by its op id."""

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

from memforest_actors.user_forest import UserForestActor
from memforest_ray.config import Settings
from memforest_ray.errors import Fenced, NotFound
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.ids import CellId, OpId, UserId, user_hash
from memforest_ray.local.driver import Models
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.trees.summaries import SelectionSummarizer

DIMENSION = 8


def folder_of(settings: Settings) -> Path:
    return Path(unquote(urlparse(settings.store).path))


class TinyDriver:
    """Appends op ids to a file; answers questions about the process that it is in."""

    def __init__(self, user: UserId, settings: Settings, models: Models) -> None:
        self._models = models
        folder = folder_of(settings)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / user_hash(user)[:16]
        self._marks = folder

    async def call(self, verb: str, arguments: dict[str, Any], *, op_id: OpId | None, seen: int) -> Any:
        return await getattr(self, verb)(op_id, **arguments)

    @property
    def waiting(self) -> tuple[int, int]:
        return 0, 0

    async def close(self) -> None:
        (self._marks / f"closed-{os.getpid()}").touch()

    def _lines(self) -> list[str]:
        return self._file.read_text().split() if self._file.exists() else []

    def _first_time(self, what: str) -> bool:
        mark = self._marks / what
        new = not mark.exists()
        mark.touch()
        return new

    async def recite(self, _: OpId | None, words: list[str], on_text: Callable[[str], None] | None = None) -> str:
        """Tell words one by one; whole where nobody listens. An empty list is refused."""
        if not words:
            raise NotFound("no words; nothing was told")
        for word in words:
            if on_text is not None:
                on_text(word)
            await asyncio.sleep(0)
        return " ".join(words)

    async def write(self, op_id: OpId | None, die: str = "") -> list[str]:
        """Note the op id once. `die` names the moment of death, the first time."""
        if die == "before" and self._first_time("died-before"):
            os.kill(os.getpid(), signal.SIGKILL)
        if op_id is not None and op_id not in self._lines():
            with self._file.open("a") as file:
                file.write(f"{op_id}\n")
        if die == "after" and self._first_time("died-after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return self._lines()

    async def process(self, _: OpId | None) -> int:
        return os.getpid()

    async def modules(self, _: OpId | None) -> list[str]:
        return sorted(sys.modules)

    async def private_bytes(self, _: OpId | None) -> int:
        """Memory that is this process's alone."""
        rollup = await asyncio.to_thread(Path("/proc/self/smaps_rollup").read_text)
        rows = (line.split() for line in rollup.splitlines()[1:])
        return sum(int(row[1]) * 1024 for row in rows if row[0].startswith("Private"))

    async def missing(self, _: OpId | None) -> None:
        raise NotFound("nothing of that name", name="x")

    async def bug(self, _: OpId | None) -> float:
        return 1 / 0

    async def overtaken_once(self, _: OpId | None) -> int:
        if self._first_time("overtaken"):
            raise Fenced("another owner")
        return os.getpid()

    async def hang(self, _: OpId | None) -> None:
        """Stop the whole process, as a frozen machine would."""
        if self._first_time("hung"):
            os.kill(os.getpid(), signal.SIGSTOP)

    async def wait(self, _: OpId | None) -> None:
        """Never answers."""
        await asyncio.get_running_loop().create_future()

    async def embed(self, _: OpId | None, texts: Sequence[str]) -> tuple[Vectors, bool]:
        vectors = await self._models.embedder.embed(texts)
        return vectors, bool(vectors.flags.writeable)

    async def extract(self, _: OpId | None, count: int) -> list[str]:
        cells = [CellInput(CellId(f"c{number}"), (), None) for number in range(count)]
        return [extraction.cell_id for extraction in await self._models.extractor.extract(cells)]

    async def summariser(self, _: OpId | None) -> tuple[str, str]:
        return self._models.summarizer.model, self._models.summarizer.source


class Unborn(UserForestActor):
    """An actor whose code cannot be loaded where it should live."""

    def __init__(self, _: object) -> None:
        raise ImportError("no such module here")


def open_driver(user: UserId, settings: Settings, models: Models) -> TinyDriver:
    return TinyDriver(user, settings, models)


class TinyEmbedder:
    """Vectors from a hash of the text."""

    fingerprint = Fingerprint("tiny", DIMENSION, 0.9, 0.7, 0.5, 0.8, 0.5)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [np.frombuffer(hashlib.sha256(text.encode()).digest()[:DIMENSION], np.uint8) for text in texts]
        return np.array(rows).astype(np.float16).reshape(len(texts), DIMENSION)


class TinyExtractor:
    """Finds nothing, in order."""

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        return [Extraction(cell.cell_id) for cell in cells]


def embedder(_: Settings) -> TinyEmbedder:
    return TinyEmbedder()


def extractor(_: Settings) -> TinyExtractor:
    return TinyExtractor()


def summarizer(_: Settings) -> SelectionSummarizer:
    return SelectionSummarizer()
