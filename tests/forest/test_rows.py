"""Rows of a batch: what follows when vectors are there."""

import numpy as np

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.version import Birth, Version
from memforest_ray.config import load_settings
from memforest_ray.forest.rows import with_vectors
from memforest_ray.forest.work import Written
from memforest_ray.ids import FactId, NodeId, ScopeId
from memforest_ray.index.index import Index
from memforest_ray.index.rows import FactRow, NodeRow
from memforest_ray.trees.scenes import Thresholds


def test_vectors_of_nodes_follow() -> None:
    """Into the log and into the index rows of those nodes; what else was to be written stays as it is."""
    birth = Birth.of(load_settings(store="memory://", runtime="local").birth)
    version = Version.empty(birth, "00", Thresholds(0.7, 0.58, 0.88), Index(2).view())
    fact = FactRow(FactId("f1"), None, "tea", "Bob", (), None, None)
    low, high = (NodeRow(NodeId(name), ScopeId("entity:bob"), 1, ("f1",), None) for name in ("n1", "n2"))
    vector = np.array([1, 0], np.float16)
    draft = Written(version, Changes(puts={"nodes": {"n1": {}}}), (fact, low, high), ("n0",))
    whole = with_vectors(draft, {"n2": vector})
    assert whole.add == (fact, low, high._replace(vector=vector))
    assert whole.changes.puts == {"nodes": {"n1": {}}, VECTORS: {"n2": vector.tobytes()}}
    assert (whole.version, whole.drop) == (version, ("n0",))
