"""What runs beside what."""

from pathlib import Path

import pytest

from tests.spreading import CLUSTER_FOLDERS, unit

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("test_id", "expected"),
    [
        ("tests/trees/test_tree.py::TestAgainstASortedList::runTest", "tests/trees/test_tree.py"),
        ("tests/world/test_world.py::test_whatever[tests/actors/x::y]", "tests/world/test_world.py"),
        ("tests/actors/test_nodes.py::test_a_node_is_lost", "cluster"),
        ("tests/cluster/test_jobs.py::test_a_job[1]", "cluster"),
    ],
)
def test_a_unit_is_a_file_or_all_of_the_cluster(test_id: str, expected: str) -> None:
    """What a file keeps for its tests is made once, and so is the cluster."""
    assert unit(test_id) == expected


def test_clusters_are_started_where_it_is_known() -> None:
    """A test elsewhere would start one beside the one that is there."""
    mark = "pytest.mark." + "ray"
    marked = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py") if mark in path.read_text()]
    assert [name for name in marked if not name.startswith(CLUSTER_FOLDERS)] == []
