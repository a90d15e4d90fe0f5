"""Models for tests: no files, no network, the same vector on every machine."""

from memforest_ray.simulation.vectors import HashEmbedder

__all__ = ["HashEmbedder"]
