"""Rows: what is written down of the facts. Everything else about them is computed from these on load."""

from typing import Any, NamedTuple

from memforest_ray.errors import CorruptState
from memforest_ray.facts.candidates import Candidate, Kind, Mention
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.facts.verdicts import PairKey
from memforest_ray.ids import AtomId, CellId, MentionId, SessionId

__all__ = [
    "MENTIONS",
    "PENDING",
    "VERDICTS",
    "WITHHELD",
    "Row",
    "decode_mention",
    "decode_pair",
    "decode_pending",
    "decode_verdict",
    "encode_mention",
    "encode_pair",
]

MENTIONS, VERDICTS, PENDING, WITHHELD = "mentions", "verdicts", "pending", "withheld"
"""Tables: mention id -> candidate with its place; pair -> [equivalent, similarity]; pair -> similarity;
atom id, or "h" and a keyed hash -> key of the set."""
_KINDS = {kind.value: kind for kind in Kind}
_PRECISIONS = {precision.value: precision for precision in Precision}


class Row(NamedTuple):
    """One row put, or dropped when `value` is `None`."""

    table: str
    key: str
    value: Any


def encode_pair(pair: PairKey) -> str:
    """The row key of a pair."""
    return f"{pair[0]}:{pair[1]}"


def decode_pair(key: str) -> PairKey:
    """Raises `CorruptState` when `key` is not two atom ids in order."""
    first, colon, second = key.partition(":")
    if not colon or not first < second:
        raise CorruptState(f"{key!r} does not name a pair of atoms; nothing was changed", key=key)
    return AtomId(first), AtomId(second)


def decode_verdict(key: str, row: Any) -> tuple[PairKey, float, bool]:
    """Pair, similarity and answer of a row. Raises `CorruptState`, naming the pair."""
    try:
        equivalent, similarity = row
    except (TypeError, ValueError):
        equivalent, similarity = None, None
    if not isinstance(equivalent, bool):
        raise CorruptState(f"the verdict on {key} cannot be read ({row!r}); nothing was changed", key=key)
    return *decode_pending(key, similarity), equivalent


def decode_pending(key: str, row: Any) -> tuple[PairKey, float]:
    """Pair and similarity of a row. Raises `CorruptState`, naming the pair."""
    if not isinstance(row, float):
        raise CorruptState(f"the similarity of {key} cannot be read ({row!r}); nothing was changed", key=key)
    return decode_pair(key), row


def encode_mention(mention: Mention) -> dict[str, Any]:
    """A mention as msgpack types; what is empty is left out."""
    candidate = mention.candidate
    row: dict[str, Any] = {
        "cell": mention.cell_id,
        "session": mention.session_id,
        "number": mention.number,
        "text": candidate.text,
        "kind": candidate.kind.value,
        "speaker": candidate.speaker,
        "role": candidate.role,
        "turns": list(candidate.turns),
    }
    optional = {
        "source": mention.source_ms,
        "subject": candidate.subject,
        "attribute": candidate.attribute,
        "value": candidate.value,
        "entities": list(candidate.entities) or None,
        "topics": list(candidate.topics) or None,
        "domain": None if candidate.domain == "other" else candidate.domain,
        "confidence": None if candidate.confidence == 1.0 else candidate.confidence,
        "event": None if candidate.event is None else _encode_event(candidate.event),
        "corrected": candidate.corrected_from,
    }
    row.update((name, value) for name, value in optional.items() if value is not None)
    return row


def decode_mention(id: str, row: dict[str, Any]) -> Mention:  # noqa: A002 - the field's name
    """The mention of a row. Raises `CorruptState`, naming it, when the row cannot be one."""
    try:
        return Mention(
            MentionId(id),
            CellId(row["cell"]),
            SessionId(row["session"]),
            row["number"],
            row.get("source"),
            _decode_candidate(row),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"the row of mention {id} cannot be read ({error!r}); nothing was changed"
        raise CorruptState(message, mention=id) from error


def _decode_candidate(row: dict[str, Any]) -> Candidate:
    event = row.get("event")
    return Candidate(
        text=row["text"],
        kind=_KINDS[row["kind"]],
        speaker=row["speaker"],
        role=row["role"],
        turns=tuple(row["turns"]),
        subject=row.get("subject"),
        attribute=row.get("attribute"),
        value=row.get("value"),
        entities=tuple(row.get("entities", ())),
        topics=tuple(row.get("topics", ())),
        domain=row.get("domain", "other"),
        confidence=row.get("confidence", 1.0),
        event=None if event is None else _decode_event(event),
        corrected_from=row.get("corrected"),
    )


def _encode_event(event: EventTime) -> list[Any]:
    return [event.start_ms, event.end_ms, event.precision.value, event.expression, event.base_ms]


def _decode_event(row: list[Any]) -> EventTime:
    start_ms, end_ms, precision, expression, base_ms = row
    return EventTime(start_ms, end_ms, _PRECISIONS[precision], expression, base_ms)
