"""How `pytest -n 2` spreads tests over processes: a file at a time, and all that starts a cluster as one unit.

So what a file keeps between its tests holds, there is never more than one cluster of Ray, and what is not bound to it
fills the time in which its tests wait. That unit is by far the longest, and begins first.
"""

import pytest
from xdist.scheduler import LoadScopeScheduling

__all__ = ["CLUSTER_FOLDERS", "Spread", "unit"]

CLUSTER_FOLDERS = ("tests/actors/", "tests/cluster/")
"""Only tests in these may start a cluster."""


def unit(test_id: str) -> str:
    """What is run in one process, one after the other: tests with the same unit."""
    file = test_id.partition("::")[0]
    return "cluster" if file.startswith(CLUSTER_FOLDERS) else file


class Spread(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist ships no type information
    """Units in the order in which they are collected: `tests/actors` is the first folder of all."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        config.option.loadscopereorder = False  # by number of tests, and the longest have few
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
