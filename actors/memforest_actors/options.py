"""What Ray is told about each kind of actor: one table. And how patient we are with actors: one more."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from memforest_ray.config import Settings
from memforest_ray.ids import UserId, digest

__all__ = [
    "DIRECTORY",
    "FOREST_BYTES",
    "FOREST_PREFIX",
    "NAMESPACE",
    "OFFLINE",
    "PATIENCE",
    "ROLES",
    "Components",
    "ForestConfig",
    "Patience",
    "PoolRole",
    "Role",
    "forest_name",
    "member_name",
]

NAMESPACE = "memforest"
"""Names are unique per Ray namespace; an anonymous one would hide our actors from the next driver."""

DIRECTORY = "memforest-directory"
FOREST_PREFIX = "uf-"
MIB = 1 << 20

FOREST_BYTES = 100 * MIB
"""What Ray sets aside for one forest: its process owns 64 MB when empty, 82 with a conversation of 419 turns."""

PoolRole = Literal["extractor", "summarizer", "embedder", "gateway", "vectors"]

_SHARED: Mapping[str, Any] = {
    "namespace": NAMESPACE,
    "lifetime": "detached",  # outlives the driver that happened to ask first
    "get_if_exists": True,
    "num_cpus": 0,  # we count memory and calls, not cores
    "max_concurrency": 1000,  # coroutines of one event loop; real bounds are the lane's and the queue's
}


@dataclass(frozen=True, slots=True)
class Role:
    """One kind of actor: where its plain class is, and its options."""

    actor: str
    """`module:Class`; imported only by who creates one, so that a mere caller stays light."""
    options: Mapping[str, Any]


def _role(actor: str, **own: Any) -> Role:
    return Role(actor, MappingProxyType({**_SHARED, **own}))


# A restart would bring back every forest of a lost node at once, wanted or not: the next call starts it instead. Ray's
# own order fills one node by half before it uses another: then one loss hits everybody.
_ON_DEMAND: Mapping[str, Any] = {"max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
# Members of a pool keep nothing: Ray may restart them and repeat their calls.
_STATELESS: Mapping[str, Any] = {"max_restarts": -1, "max_task_retries": 2}

# Every Ray head has this resource. What is there is not lost with a node, and without a head nothing starts anyhow.
_ON_THE_HEAD = {"node:__internal_head__": 0.001}

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "user_forest": _role("memforest_actors.user_forest:UserForestActor", **_ON_DEMAND, memory=FOREST_BYTES),
        "extractor": _role("memforest_actors.extractors:ExtractorActor", **_STATELESS, memory=100 * MIB),
        "summarizer": _role("memforest_actors.summarizers:SummarizerActor", **_STATELESS, memory=100 * MIB),
        "embedder": _role(
            "memforest_actors.embedders:EmbedderActor", **_STATELESS, memory=400 * MIB
        ),  # the shipped model takes 280 to 445 MB
        "gateway": _role(
            "memforest_actors.gateway:GatewayActor", **{**_STATELESS, "max_concurrency": 10_000}, memory=200 * MIB
        ),  # its calls wait for servers, in a queue of its own that is fair and bounded
        "vectors": _role(
            "memforest_actors.gateway:GatewayActor", **{**_STATELESS, "max_concurrency": 10_000}, memory=200 * MIB
        ),  # the same for embeddings, apart: a question must not wait while two hundred answers are read
        "directory": _role(
            "memforest_actors.directory:DirectoryActor", max_restarts=-1, max_task_retries=0, resources=_ON_THE_HEAD
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long we wait for actors, in seconds unless said otherwise."""

    retry_first_s: float = 0.05
    """A leaving actor is usually gone by then."""
    retry_last_s: float = 5.0
    """Waits double up to this, each jittered, so that a thousand callers of a lost node do not come as one."""
    probe_s: float = 5.0
    """A call that takes longer than this is attended: is its actor's loop still turning?"""
    probes_missed_max: int = 6
    """So a stopped process is given up after about a minute; a loop that long busy is as good as stopped."""
    silence_s: float = 1.0
    """A member of a pool that takes longer than this is asked whether it is there, and given as long to say so."""
    beat_s: float = 20.0
    """How often a forest tells the directory that it is there."""
    hint_s: float = 2.0
    """The directory is a hint: who does not hear from it in time goes on without."""
    activation_s: float = 30.0
    """Longest that a process which starts is waited for, where another would be of no more use."""
    start_s: float = 15.0
    """A start that has not reported by then no longer holds up others. Usual is one second, on a busy machine three."""
    turn_s: float = 1.0
    """A caller that waits for its turn to start a forest hears this often that it is not yet; under `hint_s`."""
    absent_s: float = 4.0
    """Who has not asked again for so long has given up, and loses its place in the line."""
    drain_s: float = 30.0
    """How long a leaving forest waits for calls under way. A write cut off is asked again under its op id."""
    pool_call_s: float = 600.0
    """One batch for one pool member; a model may be slow, a batch is bounded."""


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Components:
    """Who extracts, summarises and embeds: `module:function` each, called with the settings, inside the pools. And who
    drives a forest.
    """

    extractor: str = "memforest_actors.offline:extractor"
    summarizer: str = "memforest_actors.offline:summarizer"
    embedder: str = "memforest_actors.offline:embedder"
    gateway: str = "memforest_actors.online:gateway"
    """What is behind endpoints, where `settings` name any; called with the number of gateways, too."""
    driver: str = "memforest_ray.local:open_driver"
    """What the actor of a forest runs; called with user, settings and models, inside the actor."""

    def of(self, role: PoolRole) -> str:
        return {
            "extractor": self.extractor,
            "summarizer": self.summarizer,
            "embedder": self.embedder,
            "gateway": self.gateway,
            "vectors": self.gateway,
        }[role]

    def served(self, settings: Settings) -> dict[Literal["extractor", "summarizer", "embedder"], PoolRole]:
        """Which pool does what: the gateway what has an endpoint, unless it was given a component of its own."""
        return {
            "extractor": "gateway" if settings.remote_chat and self.extractor == OFFLINE.extractor else "extractor",
            "summarizer": "gateway" if settings.remote_chat and self.summarizer == OFFLINE.summarizer else "summarizer",
            "embedder": "vectors" if settings.remote_embedder and self.embedder == OFFLINE.embedder else "embedder",
        }


OFFLINE = Components()


@dataclass(frozen=True, slots=True)
class ForestConfig:
    """All that an actor needs to find its forest."""

    name: str
    user: UserId
    settings: Settings
    """With the store's canonical URL: the actor stands in another directory than the caller."""
    components: Components
    patience: Patience = PATIENCE


_NOT_THE_FORESTS = frozenset(
    {
        "store",
        "runtime",
        "address",
        "call_deadline_s",
        "residents_max",
        "policy",
        "principal",
        "log_format",
        "log_level",
    }
)
"""Settings that are the caller's or the cluster's: two callers who differ in them mean the same forest."""


def forest_name(settings: Settings, user: UserId) -> str:
    """Name of a user's actor. Ids never stand in names; another store or other settings are another actor.

    `settings.store` must be canonical.
    """
    shape = settings.model_dump_json(exclude=set(_NOT_THE_FORESTS))
    return FOREST_PREFIX + digest(settings.store, shape, user, size=12)


def member_name(role: PoolRole, factory: str, settings: Settings, node_id: str) -> str:
    """Name of the pool member of one node; forests of all stores share it if its model is the same."""
    model = settings.models
    return f"{role}-{digest(factory, model, size=4)}-{node_id[:12]}"
