"""What stands for an interval of leaves: a summary, what it was made of, and how it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memforest_ray.ids import MentionId, digest

__all__ = ["Inherited", "Source", "Summary", "summary_inputs", "summary_of_row", "summary_row"]

Source: TypeAlias = Literal["concat", "select", "model"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for an interval of leaves."""

    text: str
    inputs: str
    """Hash of its parts' texts and of what summarises them; empty for the stand-in of a failure."""
    source: Source
    stale: bool = False
    """It, or a summary below it, stands in for one that failed or has not been made yet."""
    also: tuple[MentionId, ...] = ()
    """What it may tell of beside the leaves below its node; see `trees/heirs.py`."""
    inherited: bool = False
    """Its text was taken over from the node that this one came out of, and does not follow from its parts."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a new node takes over: a text, and what that may tell of beside what stands below."""

    text: str
    also: tuple[MentionId, ...] = ()


def summary_inputs(texts: Sequence[str], model: str) -> str:
    """The hash under which a summary is found again."""
    return digest(model, *texts)


def summary_row(summary: Summary) -> dict[str, Any]:
    """What is stored of a summary under its node's id."""
    row = {
        "text": summary.text,
        "inputs": summary.inputs,
        "source": summary.source,
        "stale": summary.stale,
    }
    if summary.also:
        row["also"] = list(summary.also)
    return {**row, "inherited": True} if summary.inherited else row


def summary_of_row(row: Mapping[str, Any]) -> Summary:
    """The summary that a row tells of."""
    also = tuple(map(MentionId, row.get("also", ())))
    return Summary(row["text"], row["inputs"], row["source"], row["stale"], also, row.get("inherited", False))
