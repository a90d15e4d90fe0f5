"""What is asked of a memory."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypedDict

from memforest_ray.errors import InvalidInput, meant
from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.instants import TimeLike, parse_instant, zone_of
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.ids import SessionId
from memforest_ray.trees.routing import FAMILIES, entity_key

__all__ = ["CHARS_MAX", "FACT_KINDS", "KINDS", "K_MAX", "NO_FILTERS", "Filters", "QueryOptions", "QueryRequest"]

K_MAX: Final = 10_000
"""Most hits of one query: a bound on a mistake, far above any use."""

CHARS_MAX: Final = 4_000
"""Of a question: a longer text is a document, not a question, and would take long to read."""

FACT_KINDS: Final = tuple(kind.value for kind in Kind)
"""Of facts."""
KINDS: Final = ("fact", "cell", *FACT_KINDS)
"""Of hits."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit has to be; an empty field filters nothing. Raises InvalidInput for what is no filter."""

    kind: str | None = None
    """Facts, cells, or facts of one kind (state, event, ...)."""
    speaker: str | None = None
    """Who said it, in any spelling of letters."""
    role: str | None = None
    session_id: str | None = None
    entity: str | None = None
    """A name that the fact carries, in any spelling of letters; cells carry none."""
    metadata: tuple[tuple[str, str], ...] = ()
    """What its session's metadata must hold, all of it."""

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind not in KINDS:
            raise InvalidInput(f"unknown kind {self.kind!r}; {meant(str(self.kind), KINDS)}")
        for name in ("speaker", "role", "session_id", "entity"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InvalidInput(f"the filter {name.removesuffix('_id')!r} must be text, not {value!r}")

    def __reduce__(self) -> str | tuple[Any, ...]:
        """What filters nothing, as nearly always, is a name where it arrives."""
        if self is NO_FILTERS:
            return "NO_FILTERS"
        return Filters, (self.kind, self.speaker, self.role, self.session_id, self.entity, self.metadata)

    @property
    def of_mentions(self) -> bool:
        """Whether any of them is about where and by whom something was said."""
        return bool(self.speaker is not None or self.role is not None or self.session_id is not None or self.metadata)

    def holds(self, session: SessionRecord) -> bool:
        """Whether what was said in this session may be a hit."""
        if self.session_id not in (None, session.id):
            return False
        return not self.metadata or set(self.metadata) <= set(session.metadata)

    def passes(self, mention: Mention, sessions: Mapping[SessionId, SessionRecord]) -> bool:
        """Whether this evidence of a fact was said where and by whom the filters ask."""
        candidate, session = mention.candidate, sessions.get(mention.session_id)
        if self.speaker is not None and entity_key(candidate.speaker) != entity_key(self.speaker):
            return False
        return self.role in (None, candidate.role) and session is not None and self.holds(session)


NO_FILTERS: Final = Filters()
"""What filters nothing."""


class QueryOptions(TypedDict, total=False):
    """What a question may be asked with, as callers write it; see `AsyncUser.query`."""

    k: int
    mode: str
    rerank: bool
    expand: Literal["facts", "complete"]
    as_of: TimeLike
    since: TimeLike
    until: TimeLike
    asked: TimeLike
    zone: str | None
    families: Iterable[str]
    kind: str | None
    speaker: str | None
    role: str | None
    session: str | None
    entity: str | None
    metadata: Mapping[str, str] | None
    token_budget: int | None
    explain: bool


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
    families: frozenset[str] = FAMILIES
    """Which families of trees are recalled and browsed."""
    filters: Filters = field(default_factory=Filters)
    token_budget: int | None = None
    """Most tokens that the texts of the hits may have together (characters / 4)."""
    base_ms: int | None = None
    """When the question was asked, for "last week"; without it the latest time in the memory."""
    zone: str | None = None
    """IANA name of the zone whose days the question means; UTC when not given."""
    rerank: bool = False
    """Whether a chat model grades the best hits, and they are ranked by that, too; with `complete` the trees."""
    explain: bool = False
    """Whether each hit tells what its score is made of."""
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
        kind: str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        session: str | None = None,
        entity: str | None = None,
        metadata: Mapping[str, str] | None = None,
        families: Iterable[str] = FAMILIES,
        **bounds: Any,
    ) -> "QueryRequest":
        """A request as callers write it: times in any form, filters by name. `asked` is when the question was.

        Raises InvalidInput, naming the option that is unknown or of the wrong kind.
        """
        if unknown := sorted(bounds.keys() - _BOUNDS):
            raise InvalidInput(f"unknown option {unknown[0]!r} of a query; {meant(unknown[0], _OPTIONS)}")
        narrowed = any(each is not None for each in (kind, speaker, role, session, entity, metadata))
        return cls(
            text=text,
            as_of_ms=_instant("as_of", as_of, zone),
            since_ms=_instant("since", since, zone),
            until_ms=_instant("until", until, zone),
            base_ms=_instant("asked", asked, zone),
            zone=zone,
            filters=Filters(kind, speaker, role, session, entity, _pairs(metadata)) if narrowed else NO_FILTERS,
            families=FAMILIES if families is FAMILIES else _named(families),
            **bounds,
        )

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InvalidInput("the question is empty; ask in words")
        if len(self.text) > CHARS_MAX:
            raise InvalidInput(
                f"the question has {len(self.text):,} characters, more than {CHARS_MAX:,}; ask in fewer words"
            )
        if not _is_whole(self.k) or not 1 <= self.k <= K_MAX:
            raise InvalidInput(f"k is {self.k!r}; it must be a whole number between 1 and {K_MAX}")
        if self.at_least is not None and (not _is_whole(self.at_least) or self.at_least < 0):
            raise InvalidInput(f"at_least is {self.at_least!r}; it must be a receipt, or the version of one")
        if self.since_ms is not None and self.until_ms is not None and self.until_ms <= self.since_ms:
            raise InvalidInput("`until` must be later than `since`")
        if unknown := sorted(map(str, self.families - FAMILIES)):
            raise InvalidInput(f"unknown tree family {unknown[0]!r}; {meant(unknown[0], FAMILIES)}")
        zone_of(self.zone)
        if self.expand not in ("facts", "complete"):
            raise InvalidInput(f"unknown expansion {self.expand!r}; {meant(str(self.expand), ('complete', 'facts'))}")
        if self.token_budget is not None and (not _is_whole(self.token_budget) or self.token_budget < 1):
            raise InvalidInput(f"the token budget is {self.token_budget!r}; it must be a whole number of at least 1")
        for name in ("rerank", "explain"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInput(f"the option {name!r} is {getattr(self, name)!r}; it must be True or False")


_BOUNDS: Final = {each.name for each in fields(QueryRequest)} - {
    "text",
    "as_of_ms",
    "since_ms",
    "until_ms",
    "base_ms",
    "filters",
}
"""The fields that callers name as they are."""
_OPTIONS: Final = QueryOptions.__annotations__.keys() | {"at_least", "snapshot"}
"""What a caller may give besides the text."""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _named(families: Any) -> frozenset[str]:
    """The families that a caller names: one, or several."""
    listed = [families] if isinstance(families, str) else list(families) if isinstance(families, Iterable) else [None]
    if not all(isinstance(each, str) for each in listed):
        raise InvalidInput(f"the option 'families' must list names of tree families, not {families!r}")
    return frozenset(listed)


def _pairs(metadata: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    if metadata is None:
        return ()
    if not isinstance(metadata, Mapping) or not all(
        isinstance(each, str) for pair in metadata.items() for each in pair
    ):
        raise InvalidInput(f"the filter 'metadata' must map text to text, not {metadata!r}")
    return tuple(sorted(metadata.items()))


def _instant(option: str, value: TimeLike, zone: str | None) -> int | None:
    try:
        return None if value is None else parse_instant(value, zone).ms
    except InvalidInput as error:
        raise InvalidInput(f"{option}: {error.message}") from error
