"""What an application may import, and what importing it costs."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import memforest_ray
from memforest_ray import errors

ROOT = Path(__file__).parents[1]
PUBLIC = {
    "Answer",
    "AsyncClient",
    "AsyncUser",
    "Client",
    "Conversation",
    "Corrected",
    "EmptyReason",
    "EventTime",
    "Forecast",
    "Forgotten",
    "Hit",
    "Merged",
    "News",
    "Policy",
    "Receipt",
    "Reembedded",
    "Renewed",
    "Restored",
    "Result",
    "Saved",
    "Session",
    "Settings",
    "SnapshotInfo",
    "Stats",
    "Tree",
    "TreeCard",
    "TreeNode",
    "Turn",
    "Usage",
    "User",
    "connect",
    "connect_async",
    "read_conversations",
    "read_messages",
}
HEAVY = ("ray", "memforest_actors", "numpy", "onnxruntime", "tokenizers", "hnswlib", "obstore", "dateutil", "rich")


def test_public_names_are_pinned() -> None:
    """A name comes or goes only on purpose: here, in the package and in the changelog."""
    assert set(memforest_ray.__all__) == PUBLIC | set(errors.__all__)


def test_public_names_are_sorted_and_there() -> None:
    """Each can be imported; the list is kept in order."""
    assert list(memforest_ray.__all__) == sorted(memforest_ray.__all__)
    assert [name for name in memforest_ray.__all__ if not hasattr(memforest_ray, name)] == []


@pytest.mark.parametrize("module", ["memforest_ray", "memforest_ray.cli.app", "memforest_ray.testing"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    """Ray above all: an application that only holds a handle should not wait for what it does not use. Each name is
    loaded when it is first asked for, so all are asked for.
    """
    heavy = HEAVY if module != "memforest_ray.testing" else ("ray", "memforest_actors", "onnxruntime")
    code = (
        f"import sys, {module}\nfrom {module} import *\n"
        f"sys.exit(' '.join(name for name in {heavy!r} if name in sys.modules) or None)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "actors")])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_modules_of_the_package_are_found_by_name() -> None:
    """Without an import of their own, as where all of it is loaded at once; what is not there is an AttributeError."""
    assert memforest_ray.errors is errors
    assert {"connect", "Turn", "errors"} <= set(dir(memforest_ray))
    with pytest.raises(AttributeError, match="module 'memforest_ray' has no attribute 'nothing'"):
        memforest_ray.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_pickles(name: str) -> None:
    """Errors cross process borders with their message and what it speaks of."""
    error = getattr(errors, name)("it broke", op_id="o", retry_after=2.0)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.detail) == (type(error), "it broke", error.detail)


def test_every_error_has_a_kind_of_its_own() -> None:
    """Programs tell errors apart by `kind`."""
    kinds = [getattr(errors, name).kind for name in errors.__all__]
    assert len(set(kinds)) == len(kinds)
