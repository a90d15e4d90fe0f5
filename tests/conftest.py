"""What holds for all tests: none is timed, and a failure of a property can be repeated."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from memforest_ray.ids import ScopeId
from memforest_ray.trees import stored, tree
from memforest_ray.trees.tree import MemTree
from tests.spreading import Spread
from tests.storage import azurite
from tests.storage.s3 import ENVIRONMENT, S3Server

settings.register_profile("memforest", deadline=None, print_blob=True)
settings.load_profile("memforest")


@pytest.hookimpl(optionalhook=True)  # `-p no:xdist` is allowed
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Spread:
    """With `-n`: which tests run in which process."""
    return Spread(config, log)


@pytest.fixture
def trees_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Scopes of the trees whose nodes are read, from now on; clear it to begin anew."""
    read: list[str] = []

    def rebuild(scope: ScopeId, *rest: Any) -> MemTree:
        read.append(scope)
        return tree.rebuild(scope, *rest)

    monkeypatch.setattr(stored, "rebuild", rebuild)
    return read


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """One server for all tests; a bucket for each."""
    server = S3Server()
    yield server
    server.close()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Address of an empty bucket, which the environment leads to."""
    for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": s3_server.url}.items():
        monkeypatch.setenv(name, value)
    s3_server.script()
    return f"s3://{s3_server.bucket()}/place"


@pytest.fixture(scope="session")
def azure_server() -> Iterator[azurite.Azurite]:
    """One process for all tests; a container for each."""
    executable = azurite.find()
    if executable is None:
        pytest.skip(azurite.ABSENT)
    server = azurite.Azurite(executable)
    yield server
    server.close()


@pytest.fixture
def azure(azure_server: azurite.Azurite, monkeypatch: pytest.MonkeyPatch) -> str:
    """Address of an empty container, which the environment leads to."""
    for name, value in azurite.environment(azure_server.url).items():
        monkeypatch.setenv(name, value)
    return f"az://{azure_server.container()}/place"
