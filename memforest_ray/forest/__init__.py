"""One user's forest: what to do next, given what happened. Composes facts, trees, index and query; no I/O."""

from memforest_ray.forest.intents import Forgotten, Receipt, Restored, Saved

__all__ = ["Forgotten", "Receipt", "Restored", "Saved"]
