"""The offline embedder: unit vectors that depend on nothing but their text."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.models.embedder import Embedder
from memforest_ray.models.offline import OnnxEmbedder
from memforest_ray.testing.models import HashEmbedder

TEXTS = [
    "Ana moved from Boston to Davis.",
    "nuts",
    "The ferry to the island leaves at noon and returns before the lamps of the harbour are lit.",
    "Ben keeps bees.",
    "She plays the cello in a small orchestra.",
] * 3


@pytest.fixture(scope="module")
def shipped() -> OnnxEmbedder:
    return OnnxEmbedder(threads=2)


@pytest.fixture(params=["onnx", "hash"])
def embedder(request: pytest.FixtureRequest, shipped: OnnxEmbedder) -> Embedder:
    return shipped if request.param == "onnx" else HashEmbedder()


async def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    """One row for each text, of the dimension that the fingerprint tells, rounded to fp16, of length 1."""
    rows = await embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.fingerprint.dimension)
    assert rows.dtype == np.float16
    assert np.allclose(np.linalg.norm(rows.astype(np.float32), axis=1), 1, atol=2e-3)
    assert np.array_equal(rows[:5], rows[5:10])


async def test_a_vector_does_not_depend_on_its_company(embedder: Embedder) -> None:
    """Alone, in a batch, in another order and beside a long text: the same bits."""
    alone = np.vstack([await embedder.embed([text]) for text in TEXTS[:5]])
    together = await embedder.embed([*TEXTS[:5], "long " * 900])
    turned = await embedder.embed(TEXTS[:5][::-1])
    assert np.array_equal(alone, together[:5])
    assert np.array_equal(alone, turned[::-1])


async def test_calls_at_once(embedder: Embedder) -> None:
    """Calls that run side by side get each their own rows."""
    alone = await embedder.embed(TEXTS[:5])
    results = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS[:5]))
    assert np.array_equal(alone, np.vstack(results))


async def test_nothing_asked(embedder: Embedder) -> None:
    """No texts, no rows."""
    assert (await embedder.embed([])).shape == (0, embedder.fingerprint.dimension)


async def test_meaning_orders_cosines(shipped: OnnxEmbedder) -> None:
    """A paraphrase is nearer than another subject."""
    rows = await shipped.embed(["Ana lives in Davis.", "Davis is where Ana lives.", "Ben keeps bees."])
    cosines = rows.astype(np.float32) @ rows[0].astype(np.float32)
    assert cosines[1] > 0.85
    assert cosines[2] < 0.4


@pytest.mark.parametrize(
    "text", ["我住在北京的一个小区里", "मैं दिल्ली में रहता हूँ", "서울에 살아요", "ฉันอยู่ที่กรุงเทพ", "👍", "", " \n", "\ud800"]
)
async def test_an_unknown_script_gives_zeros(shipped: OnnxEmbedder, text: str) -> None:
    """Where the model knows too few pieces the row says so, also beside texts that it knows."""
    rows = await shipped.embed([text, "Ben keeps bees."])
    assert [bool(row.any()) for row in rows] == [False, True]


@pytest.mark.parametrize(
    "text",
    ["So good 😍😍😍😍", "José vit à Zürich", "Ana's friend 小明 came to the harbour", "“Hello” — he said…", "2019"],
)
async def test_a_known_script_with_strange_signs(shipped: OnnxEmbedder, text: str) -> None:
    """Emoji, accents, quotation marks and a foreign name do not make a text unknown."""
    assert (await shipped.embed([text])).any()


async def test_a_long_text_is_cut_at_256_tokens(shipped: OnnxEmbedder) -> None:
    """What follows the model's limit changes nothing."""
    start = "bees " * 254
    rows = await shipped.embed([start, start + "moon " * 50_000])
    assert np.array_equal(rows[0], rows[1])


async def test_a_folder_names_another_model(shipped: OnnxEmbedder, tmp_path: Path) -> None:
    """The same files in a folder give the same vectors under another name."""
    model, tokenizer = shipped_files()
    (tmp_path / "model.onnx").symlink_to(model)
    (tmp_path / "tokenizer.json").symlink_to(tokenizer)
    named = OnnxEmbedder(tmp_path, threads=1)
    assert np.array_equal(await named.embed(TEXTS[:2]), await shipped.embed(TEXTS[:2]))
    assert named.fingerprint.model.startswith(f"{tmp_path.name}-dynamic@")
    assert named.fingerprint.model.split("@")[1] == shipped.fingerprint.model.split("@")[1]
    named.close()


def shipped_files() -> tuple[Path, Path]:
    from memforest_ray.models.offline import _files  # noqa: PLC0415 - the one test that looks inside

    return _files(None)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A folder without a model is refused before anything is loaded."""
    with pytest.raises(InvalidInput, match=r"model\.onnx is missing"):
        OnnxEmbedder(tmp_path)


def test_fingerprints_differ_by_model(shipped: OnnxEmbedder) -> None:
    """The fingerprint tells models and dimensions apart and holds ordered thresholds."""
    mark = shipped.fingerprint
    assert mark.dimension == 384
    assert mark.model.startswith("all-MiniLM-L6-v2-int8-dynamic@")
    assert mark.neighbour < mark.scene_spawn < mark.scene_assign < mark.scene_merge < mark.equivalent
    assert HashEmbedder(32).fingerprint != HashEmbedder(64).fingerprint
