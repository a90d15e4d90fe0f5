"""Agent memory that is fresh when a write returns, faithful in time and cheap to keep.

import memforest_ray as mf

client = mf.connect()
alice = client.user("alice")
alice.ingest(mf.Session(id="s1", turns=[mf.Turn("I moved to Miami last month.", speaker="Bob")]))
for hit in alice.query("Where did Bob live before moving to Miami?"):
    print(hit.text, hit.source_time, hit.score)

Names are loaded when they are first asked for: a program that only begins here can say at once that it was interrupted.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memforest_ray.client import AsyncClient, AsyncUser, Client, User, connect, connect_async
    from memforest_ray.commit.journal import News
    from memforest_ray.commit.snapshots import SnapshotInfo
    from memforest_ray.config import Settings
    from memforest_ray.errors import (
        ClusterUnavailable,
        CorruptState,
        Denied,
        EmbeddingMismatch,
        Fenced,
        InvalidInput,
        LLMUnavailable,
        MemForestError,
        NotFound,
        OutcomeUnknown,
        Overloaded,
        Passivating,
        SessionConflict,
        StoreUnavailable,
        VersionGone,
    )
    from memforest_ray.facts.readers import Conversation, read_conversations, read_messages
    from memforest_ray.facts.sessions import Session, Turn
    from memforest_ray.facts.times import EventTime
    from memforest_ray.forest.errands import Corrected, Merged, Reembedded, Renewed
    from memforest_ray.forest.forecast import Forecast
    from memforest_ray.forest.intents import Forgotten, Receipt, Restored, Saved
    from memforest_ray.forest.overviews import Stats, Tree, TreeCard, TreeNode
    from memforest_ray.models.usage import Usage
    from memforest_ray.policy import Policy
    from memforest_ray.query.result import Answer, EmptyReason, Hit, Result

__all__ = [
    "Answer",
    "AsyncClient",
    "AsyncUser",
    "Client",
    "ClusterUnavailable",
    "Conversation",
    "Corrected",
    "CorruptState",
    "Denied",
    "EmbeddingMismatch",
    "EmptyReason",
    "EventTime",
    "Fenced",
    "Forecast",
    "Forgotten",
    "Hit",
    "InvalidInput",
    "LLMUnavailable",
    "MemForestError",
    "Merged",
    "News",
    "NotFound",
    "OutcomeUnknown",
    "Overloaded",
    "Passivating",
    "Policy",
    "Receipt",
    "Reembedded",
    "Renewed",
    "Restored",
    "Result",
    "Saved",
    "Session",
    "SessionConflict",
    "Settings",
    "SnapshotInfo",
    "Stats",
    "StoreUnavailable",
    "Tree",
    "TreeCard",
    "TreeNode",
    "Turn",
    "Usage",
    "User",
    "VersionGone",
    "connect",
    "connect_async",
    "read_conversations",
    "read_messages",
]

_HOMES = (
    "errors",
    "config",
    "client",
    "commit.journal",
    "commit.snapshots",
    "facts.readers",
    "facts.sessions",
    "facts.times",
    "forest.errands",
    "forest.forecast",
    "forest.intents",
    "forest.overviews",
    "models.usage",
    "policy",
    "query.result",
)
"""Modules that make the public names, in the order in which they are looked through."""

if not TYPE_CHECKING:  # else any name would pass for one of ours

    def __getattr__(name: str) -> object:
        """A public name, or a module that makes some, at its first use (PEP 562)."""
        if name in _HOMES:
            return import_module(f"{__name__}.{name}")
        if name in __all__:
            homes = (import_module(f"{__name__}.{home}") for home in _HOMES)
            found = getattr(next(home for home in homes if name in home.__all__), name)
            return globals().setdefault(name, found)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
