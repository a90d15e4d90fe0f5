"""Agent memory that is fresh when a write returns, faithful in time and cheap to keep.

import memforest_ray as mf

client = mf.connect()
alice = client.user("alice")
alice.ingest(mf.Session(id="s1", turns=[mf.Turn("I moved to Miami last month.", speaker="Bob")]))
for hit in alice.query("Where did Bob live before moving to Miami?"):
    print(hit.text, hit.source_time, hit.score)
"""

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
from memforest_ray.facts.readers import Conversation, read_conversations
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.errands import Corrected, Merged, Reembedded, Renewed
from memforest_ray.forest.forecast import Forecast
from memforest_ray.forest.intents import Forgotten, Receipt, Restored, Saved
from memforest_ray.query.result import Answer, Hit, Result

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
    "StoreUnavailable",
    "Turn",
    "User",
    "VersionGone",
    "connect",
    "connect_async",
    "read_conversations",
]
