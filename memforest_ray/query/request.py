"""What is asked of a memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.instants import TimeLike, parse_instant, zone_of

__all__ = ["K_MAX", "Filters", "QueryRequest"]

K_MAX: Final = 10_000
"""Most hits of one query: a bound on a mistake, far above any use."""

_FAMILIES: Final = frozenset({"session", "entity", "scene"})


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit has to be; an empty field filters nothing. Raises InvalidInput for what is no filter."""

    kind: Literal["fact", "cell"] | None = None
    speaker: str | None = None
    session_id: str | None = None
    entity: str | None = None
    """A name that the fact carries, in any spelling of letters; cells carry none."""

    def __post_init__(self) -> None:
        if self.kind not in (None, "fact", "cell"):
            raise InvalidInput(f"unknown kind {self.kind!r}; known: cell, fact")
        for name in ("speaker", "session_id", "entity"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidInput(f"the filter {name.removesuffix('_id')!r} must be text, not {value!r}")


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """One question with its bounds. Raises InvalidInput when they contradict each other."""

    text: str
    k: int = 10
    mode: str = "embed"
    expand: Literal["facts", "complete"] = "facts"
    """At most k facts or cells, or the k best trees, each with all its leaves."""
    as_of_ms: int | None = None
    """Only what was said by then exists."""
    since_ms: int | None = None
    until_ms: int | None = None
    """Event time (source time where there is none) within [since, until)."""
    families: frozenset[str] = _FAMILIES
    """Which families of trees are recalled and browsed."""
    filters: Filters = field(default_factory=Filters)
    token_budget: int | None = None
    """Most tokens that the texts of the hits may have together (characters / 4)."""
    base_ms: int | None = None
    """When the question was asked, for "last week"; without it the latest time in the memory."""
    zone: str | None = None
    """IANA name of the zone whose days the question means; UTC when not given."""

    at_least: int | None = None
    """The version that the reader must hold at least."""

    @classmethod
    def of(
        cls,
        text: str,
        *,
        as_of: TimeLike = None,
        since: TimeLike = None,
        until: TimeLike = None,
        asked: TimeLike = None,
        zone: str | None = None,
        kind: Literal["fact", "cell"] | None = None,
        speaker: str | None = None,
        session: str | None = None,
        entity: str | None = None,
        families: Iterable[str] = _FAMILIES,
        **bounds: Any,
    ) -> "QueryRequest":
        """A request as callers write it: times in any form, filters by name. `asked` is when the question was.

        Raises InvalidInput, naming the option that is unknown or of the wrong kind.
        """
        known = {each.name for each in fields(cls)} - {"text", "as_of_ms", "since_ms", "until_ms", "base_ms", "filters"}
        if unknown := sorted(bounds.keys() - known):
            raise InvalidInput(f"unknown option {unknown[0]!r} of a query")
        return cls(
            text=text,
            as_of_ms=_instant(as_of, zone),
            since_ms=_instant(since, zone),
            until_ms=_instant(until, zone),
            base_ms=_instant(asked, zone),
            zone=zone,
            filters=Filters(kind, speaker, session, entity),
            families=frozenset([families] if isinstance(families, str) else families),
            **bounds,
        )

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InvalidInput("the question is empty; ask in words")
        if not isinstance(self.k, int) or not 1 <= self.k <= K_MAX:
            raise InvalidInput(f"k is {self.k!r}; it must be a whole number between 1 and {K_MAX}")
        if self.at_least is not None and (not isinstance(self.at_least, int) or self.at_least < 0):
            raise InvalidInput(f"at_least is {self.at_least!r}; it must be a receipt, or the version of one")
        if self.since_ms is not None and self.until_ms is not None and self.until_ms <= self.since_ms:
            raise InvalidInput("`until` does not lie after `since`; no time lies between them")
        if unknown := sorted(self.families - _FAMILIES):
            raise InvalidInput(f"unknown tree family {unknown[0]!r}; known: entity, scene, session")
        zone_of(self.zone)
        if self.expand not in ("facts", "complete"):
            raise InvalidInput(f"unknown expansion {self.expand!r}; known: complete, facts")
        if self.token_budget is not None and self.token_budget < 1:
            raise InvalidInput(f"the token budget is {self.token_budget}; it must be at least 1")


def _instant(value: TimeLike, zone: str | None) -> int | None:
    return None if value is None else parse_instant(value, zone).ms
