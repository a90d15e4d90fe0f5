"""Drives forests in this process: for tests, notebooks and `runtime="local"`; the forest actor drives with the same.

The forest decides (`memforest_ray.forest`), the driver does.
"""

from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.local.runtime import LocalRuntime, connect, open_driver

__all__ = ["ForestDriver", "LocalRuntime", "Models", "connect", "open_driver"]
