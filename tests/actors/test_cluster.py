"""Which cluster is joined, and what is refused."""

import os
import socket

import pytest
import ray

from memforest_actors import cluster, environment, launch
from memforest_actors.launch import HeadState
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, InvalidInput


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Surroundings that name nothing."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.setattr(launch, "warm_head", lambda: None)


def _listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_none_is_started_here() -> None:
    """Without a name and a warm cluster one is started, with token authentication."""
    assert cluster._cluster_to_join(Settings()) == (None, "token")


def test_authentication_is_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mode that is named is kept."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    assert cluster._cluster_to_join(Settings(address="local")) == (None, "disabled")


def test_the_warm_cluster_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own mode of authentication."""
    monkeypatch.setattr(launch, "warm_head", lambda: HeadState("h:1", 7, "disabled"))
    assert cluster._cluster_to_join(Settings()) == ("h:1", "disabled")


def test_a_named_cluster_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting before RAY_ADDRESS, both before a warm cluster."""
    monkeypatch.setattr(launch, "warm_head", lambda: HeadState("h:1", 7, "token"))
    with _listening() as first, _listening() as second:
        given, surrounding = (f"127.0.0.1:{each.getsockname()[1]}" for each in (first, second))
        monkeypatch.setenv("RAY_ADDRESS", surrounding)
        assert cluster._cluster_to_join(Settings()) == (surrounding, None)
        assert cluster._cluster_to_join(Settings(address=given)) == (given, None)


def test_nobody_listens() -> None:
    """A dead address is refused at once; Ray itself would try for minutes."""
    with _listening() as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ClusterUnavailable, match=address):
        cluster.connect(Settings(store="file:///a", address=address))


@pytest.mark.parametrize("address", ["ray://h:10001", "h", "h:port"])
def test_what_is_no_head(address: str) -> None:
    """Ray Client and addresses without a port are the caller's mistake."""
    with pytest.raises(InvalidInput):
        cluster.connect(Settings(store="file:///a", address=address))


def test_a_store_in_memory_is_refused() -> None:
    """Actors are other processes: they would each have a store of their own."""
    with pytest.raises(InvalidInput, match="local"):
        cluster.connect(Settings(store="memory://x"))


def test_a_refusal_is_told_soon_and_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no Ray head is given up after seconds; the message names mode, token and version as what may differ."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    environment.prepare_driver("disabled")
    assert os.environ["RAY_NUM_REDIS_GET_RETRIES"] == "5"

    def refuse(**_: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with _listening() as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterUnavailable, match="same mode and token") as refused:
            cluster.connect(Settings(store="file:///a", address=address))
    assert address in str(refused.value)
    assert "nothing was changed" in str(refused.value)
