"""`memforest export` and `memforest import`: files that are whole or not there, and the embedder that is set up."""

import errno
import fcntl
import json
import os
from pathlib import Path

import pytest

from memforest_ray import client
from memforest_ray.ambient import Clock, Random
from memforest_ray.config import Settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.local import models as local_models
from memforest_ray.local.models import OpenModels
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import Program


def _models(dimension: int) -> Models:
    return Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder(dimension))


@pytest.fixture
def ann(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program over a store that holds a memory, whose embedder gives `embed_texts_max` dimensions."""

    def open_runtime(settings: Settings) -> LocalRuntime:
        return LocalRuntime(settings, open_store(settings.store), _models(settings.embed_texts_max))

    async def nothing() -> None:
        """There is nothing to warm or to close."""

    def open_models(settings: Settings, _clock: Clock, _random: Random) -> OpenModels:
        return OpenModels(_models(settings.embed_texts_max), nothing, nothing)

    monkeypatch.setattr(client, "_open_runtime", open_runtime)
    monkeypatch.setattr(local_models, "open_models", open_models)
    monkeypatch.setenv("MEMFOREST_STORE", f"file://{tmp_path / 'store'}")
    monkeypatch.setenv("MEMFOREST_EMBED_TEXTS_MAX", "64")
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps({"id": "s1", "turns": [{"speaker": "Ann", "text": "I live in Davis."}]}))
    assert program("ingest", str(chat), "--user", "ann").code == 0
    return program


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where it goes, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out/ann.memory"


def _there(file: Path) -> list[str]:
    return [entry.name for entry in file.parent.iterdir()]


def test_a_full_disk_leaves_no_file(ann: Program, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a memory would be refused by the next export, and by every import."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        run = ann("export", "ann", str(file))
    assert (run.code, _there(file)) == (2, [])
    assert f"{file} cannot be written (No space left on device); nothing was changed in the store" in run.err
    assert ann("export", "ann", str(file)).code == 0


def test_what_was_cut_off_is_written_anew(ann: Program, file: Path) -> None:
    """A process that was killed in the middle of it leaves a hidden file, which the next one takes over."""
    (file.parent / ".ann.memory.memforest-part").write_bytes(b"half of it" * 10_000)
    assert ann("export", "ann", str(file)).code == 0
    assert _there(file) == ["ann.memory"]
    assert ann("import", str(file), "--user", "ben").code == 0


def test_two_exports_into_one_file(ann: Program, file: Path) -> None:
    """The later one leaves it to the other."""
    with (file.parent / ".ann.memory.memforest-part").open("wb") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        run = ann("export", "ann", str(file))
    assert (run.code, file.exists()) == (2, False)
    assert "is being written by another export" in run.err


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_file_is_named(ann: Program, file: Path, damage: bytes | None) -> None:
    """Empty, foreign or cut off: an input error with the file's own name, and nothing is written."""
    assert ann("export", "ann", str(file)).code == 0
    raw = file.read_bytes()
    file.write_bytes(raw[: len(raw) // 2] if damage is None else damage)
    run = ann("import", str(file), "--user", "ben")
    assert (run.code, str(file) in run.err) == (2, True)
    assert ann("users", "--json").data == {"users": ["ann"]}


def test_an_import_has_the_vectors_of_the_embedder_in_force(
    ann: Program, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its first question would be refused."""
    assert ann("export", "ann", str(file)).code == 0
    monkeypatch.setenv("MEMFOREST_EMBED_TEXTS_MAX", "32")
    run = ann("import", str(file), "--user", "ben", "--json")
    assert (run.code, run.data["embedded"] > 0) == (0, True)
    assert ann("query", "ben", "Where does Ann live?", "--json").data["hits"]
    assert ann("query", "ann", "Where does Ann live?").code == 2
