"""Atoms: mentions that say the same, word for word, about the same time. Facts are made of them."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.equality import LikeKey, like_keys
from memforest_ray.ids import AtomId, digest

__all__ = [
    "DATED",
    "Atom",
    "Entry",
    "Interval",
    "Place",
    "Rank",
    "atom_id",
    "mention_order",
    "needs_judge",
    "place",
    "text_key",
    "times_agree",
]

DAY_MS = 86_400_000
DATED = frozenset({Kind.EVENT, Kind.TRANSITION, Kind.PLAN})
"""Kinds that happen: said again on another day without a time, they are another happening."""

Interval = tuple[int, int]
"""Event time: start and end in ms since 1970 UTC, half-open."""
Place = int | str
"""Where in time something was said: the UTC day number of its source time, without one its session's id."""
Rank = tuple[bool, int, str, int, int, str]
"""Order of atoms: source time unknown, source time, session, turn, candidate number, text key; no id."""

Entry = tuple[Rank, AtomId]
"""An atom's place among others; the id only keeps two of one rank apart."""


def text_key(text: str) -> str:
    """The spelling that makes two texts one: NFKC, casefold, white space folded."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


_name_key = lru_cache(maxsize=1 << 12)(text_key)
"""Few speak, and often."""


def place(mention: Mention) -> Place:
    """The UTC day on which it was said; of unknown source time, its session."""
    return mention.session_id if mention.source_ms is None else mention.source_ms // DAY_MS


def atom_id(mention: Mention, key: str | None = None) -> AtomId:
    """The atom a mention belongs to: its text key (`key`, where it is known already), speaker, kind and time."""
    candidate = mention.candidate
    said = (text_key(candidate.text) if key is None else key, _name_key(candidate.speaker), candidate.kind)
    if candidate.event is not None:
        return AtomId("f" + digest(*said, "at", *candidate.event.interval))
    if candidate.kind in DATED:
        return AtomId("f" + digest(*said, "said", place(mention)))
    return AtomId("f" + digest(*said))


def mention_order(mention: Mention) -> tuple[bool, int, str, int, int]:
    """What orders mentions of one text: when it was said (unknown last), then where."""
    source_ms = mention.source_ms
    return (source_ms is None, source_ms or 0, mention.session_id, mention.candidate.turns[0], mention.number)


@dataclass(frozen=True, slots=True)
class Atom:
    """Mentions with the same text key, speaker, kind and time; all it knows follows from their set."""

    id: AtomId
    mentions: tuple[Mention, ...]
    """In order, the least first."""
    entry: Entry
    """Sorts as the atom does."""
    interval: Interval | None
    """Event interval, equal in all its mentions; `None` when unknown."""
    places: frozenset[Place]
    twin_keys: tuple[LikeKey, ...]
    """Known time: atoms that share one are one statement about one interval, by the words alone."""
    like_keys: tuple[LikeKey, ...]
    """Atoms that share one of these are one statement, by the words alone, when one time is unknown."""

    @classmethod
    def of(cls, id: AtomId, mentions: Iterable[Mention], key: str | None = None) -> "Atom":  # noqa: A002 - the field's name
        """The atom of these mentions, at least one, in any order; `key`: their text key, if it is known already."""
        ordered = tuple(mentions)
        if len(ordered) > 1:
            ordered = tuple(sorted(ordered, key=lambda mention: (*mention_order(mention), mention.id)))
        candidate = ordered[0].candidate
        rank = (*mention_order(ordered[0]), text_key(candidate.text) if key is None else key)
        interval = None if candidate.event is None else candidate.event.interval
        places = frozenset(map(place, ordered))
        return cls(id, ordered, (rank, id), interval, places, *_all_keys(ordered, places))

    @property
    def dated(self) -> bool:
        """Whether it tells of something that happens."""
        return self.mentions[0].candidate.kind in DATED

    @property
    def keys(self) -> tuple[LikeKey, ...]:
        """All that it is found by."""
        return self.twin_keys + self.like_keys

    def alike(self, other: "Atom") -> bool:
        """Whether the words alone make the two one statement, with no verdict."""
        if self.interval is None or other.interval is None:
            return not set(self.like_keys).isdisjoint(other.like_keys)
        return not set(self.twin_keys).isdisjoint(other.twin_keys)


def _all_keys(mentions: Sequence[Mention], places: frozenset[Place]) -> tuple[tuple[LikeKey, ...], tuple[LikeKey, ...]]:
    """The keys of all spellings: what one mention was alike to stays alike when another comes to lead."""
    if len(mentions) == 1:
        candidate = mentions[0].candidate
        return like_keys(candidate, places if candidate.kind in DATED else None)
    spellings = {_spelling(mention.candidate): mention.candidate for mention in mentions}
    found = [like_keys(candidate, places if candidate.kind in DATED else None) for candidate in spellings.values()]
    if len(found) == 1:
        return found[0]
    twin, like = ({key for keys in side for key in keys} for side in zip(*found, strict=True))
    return tuple(sorted(twin)), tuple(sorted(like))


def _spelling(candidate: Candidate) -> tuple[str, str | None, str | None]:
    """What can differ within an atom and its keys depend on."""
    return candidate.text, candidate.subject, candidate.event.expression if candidate.event else None


def needs_judge(one: Atom, other: Atom) -> bool:
    """Whether two atoms could be one fact, and the words alone do not say so."""
    return times_agree(one, other) and not one.alike(other)


def times_agree(one: Atom, other: Atom) -> bool:
    """Whether two atoms can be one fact as far as time goes.

    Two known intervals must be equal. With one unknown, what holds (state, preference, constraint, detail)
    agrees; what happens (an event, transition or plan) only when said on the same day.
    """
    if one.interval is not None and other.interval is not None:
        return one.interval == other.interval
    if one.dated or other.dated:
        return not one.places.isdisjoint(other.places)
    return True
