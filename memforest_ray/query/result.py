"""What a query gives: hits in order, why there are none, and how they were found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from memforest_ray.facts.times import EventTime
from memforest_ray.ids import CellId, FactId, ScopeId, SessionId, TurnId
from memforest_ray.models.usage import Usage

if TYPE_CHECKING:
    from msgspec.msgpack import Decoder, Encoder

__all__ = ["Answer", "EmptyReason", "Hit", "RecalledTree", "Result", "Trace", "Why"]


class EmptyReason(StrEnum):
    """Why a result is empty."""

    NO_MEMORY = "no_memory"
    """Nothing is remembered of this user."""
    NO_MATCH = "no_match"
    """Nothing lies in the interval asked for."""
    FILTERED = "filtered"
    """There were hits; filters or the token budget left none."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One fact, or one cell of the dialogue, with where it comes from."""

    text: str
    kind: Literal["fact", "cell"]
    fact_id: FactId | None
    cell_id: CellId | None
    turn_ids: tuple[TurnId, ...]
    """Its source turns; those of a cell best first."""
    session_id: SessionId
    speaker: str
    source_time: datetime | None
    """When it was said."""
    event_time: EventTime | None
    """When it is true or happened; unknown is None, never now."""
    score: float
    """Absolute, from 0 to 1: what it means does not depend on the other hits."""
    tree: ScopeId
    """Empty where the memory has no tree that holds it."""
    path: tuple[str, ...] = ()
    """Intervals of the nodes from the tree's root down to it."""
    note: str = ""
    """Why it stands where it does, when time decided: "before 2021-03-04: residence"."""
    timely: bool = True
    """Not known to be of another time than the question asks for."""
    why: "Why | None" = None
    """What its score is made of, when that was asked for."""

    @property
    def citation(self) -> str:
        """How an answer names this piece of evidence."""
        return self.fact_id or ", ".join(self.turn_ids)

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "text": self.text,
            "kind": self.kind,
            "fact_id": self.fact_id,
            "cell_id": self.cell_id,
            "turn_ids": list(self.turn_ids),
            "session_id": self.session_id,
            "speaker": self.speaker,
            "source_time": None if self.source_time is None else self.source_time.isoformat(),
            "event_time": _event_json(self.event_time),
            "score": self.score,
            "tree": self.tree,
            "path": list(self.path),
            "note": self.note,
            "timely": self.timely,
            **({} if self.why is None else {"why": self.why.to_json()}),
        }


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit ranks where it does."""

    parts: tuple[tuple[str, float], ...]
    """What each signal gives to its logit, the greatest first; with the bias they add up to it."""
    mention: TurnId | None = None
    """The turn whose words and times it shows."""
    mentions: int = 1
    """How often it was said."""
    time: str = "unknown"
    """Which of its times counts: "event", "source" or "unknown"."""

    def to_json(self) -> dict[str, Any]:
        """As JSON types; parts are rounded to four digits."""
        return {
            "parts": {name: round(value, 4) for name, value in self.parts},
            "mention": self.mention,
            "mentions": self.mentions,
            "time": self.time,
        }


def _event_json(event: EventTime | None) -> dict[str, Any] | None:
    if event is None:
        return None
    return {
        "start": event.start.isoformat(),
        "end": event.end.isoformat(),
        "precision": event.precision.value,
        "expression": event.expression,
    }


@dataclass(frozen=True, slots=True)
class RecalledTree:
    """A tree that forest recall chose."""

    scope: ScopeId
    score: float
    root: float
    """Similarity of its root."""
    fact: float
    """Best similarity of a fact in it."""

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {"scope": self.scope, "score": self.score, "root": self.root, "fact": self.fact}


@dataclass(frozen=True, slots=True)
class Trace:
    """How hits were found."""

    mode: str
    trees: tuple[RecalledTree, ...] = ()
    nodes_visited: int = 0
    fallbacks: tuple[str, ...] = ()
    """What could not be done as asked, one sentence each."""
    reading: tuple[str, ...] = ()
    """What the question was understood to say about time, one phrase each."""
    spent: Mapping[str, Usage] = field(default_factory=dict, hash=False)
    """What was asked of a chat model, by what it did: plan, rank, rerank, answer. Retries and failed calls count."""
    asked_ms: int | None = None
    """When the question was taken to be asked, as far as known: never later than what it may know."""

    @property
    def usage(self) -> Usage:
        """All of it together."""
        return Usage.total(self.spent.values())

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "mode": self.mode,
            "trees": [tree.to_json() for tree in self.trees],
            "nodes_visited": self.nodes_visited,
            "fallbacks": list(self.fallbacks),
            "reading": list(self.reading),
            "usage": _usage_json(self.usage),
            "spent": {stage: _usage_json(usage) for stage, usage in self.spent.items()},
        }


def _usage_json(usage: Usage) -> dict[str, int]:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }


@dataclass(frozen=True, slots=True)
class Result:
    """Hits in order. Falsy when there are none; `reason` and `message` then say why."""

    version: int
    hits: tuple[Hit, ...]
    trace: Trace
    reason: EmptyReason | None = None
    message: str = ""
    """Why there are no hits, or what was asked for and is not among them."""
    lead: float | None = None
    """How far the best of whom the question names is ahead of the best of others; None: not asked, or nobody to
    confuse."""
    only_time: bool = False
    """Whether the question asks for nothing but what lies in a time, so that whatever does is an answer."""
    certain: bool = False
    """Whether what time singled out is exactly what is asked for, and of exactly whom, however it is worded."""
    strangers: tuple[str, ...] = ()
    """People, or places, that the question is about, when nothing that is remembered mentions them; not asked: none."""
    aside: tuple[int, ...] = ()
    """Places of the hits that tell of others than those whom the question is about; not asked: none."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In one piece, written and read by msgspec: pickled, each hit and tree takes code in Python at both ends."""
        encoder, _ = _codec()
        try:
            return _decoded, (encoder.encode(self),)
        except UnicodeEncodeError:  # half a surrogate pair, which is no UTF-8 and may stand in an id
            return Result, tuple(getattr(self, each.name) for each in fields(self))

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        return {
            "version": self.version,
            "hits": [hit.to_json() for hit in self.hits],
            "reason": None if self.reason is None else self.reason.value,
            "message": self.message,
            "trace": self.trace.to_json(),
        }


@cache
def _codec() -> "tuple[Encoder, Decoder[Result]]":
    from msgspec.msgpack import Decoder, Encoder  # noqa: PLC0415 - for who sends answers to other processes

    return Encoder(), Decoder(Result)


def _decoded(body: bytes) -> Result:
    _, decoder = _codec()
    return decoder.decode(body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` gives: a text that cites its sources, or that the memory does not hold the answer."""

    text: str
    found: bool
    citations: tuple[str, ...] = ()
    """Fact ids, and turn ids where no fact stands for them."""
    result: Result | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.found

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        hits = () if self.result is None else self.result.hits
        return {
            "text": self.text,
            "found": self.found,
            "citations": list(self.citations),
            "version": None if self.result is None else self.result.version,
            "hits": [hit.to_json() for hit in hits],
            "trace": None if self.result is None else self.result.trace.to_json(),
        }
