"""Receipts: what each write of a batch is told, and what is kept of that for a late retry."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from immutables import Map

from memforest_ray.commit.journal import News, entered
from memforest_ray.commit.version import OPERATIONS_KEPT, Version
from memforest_ray.errors import InvalidInput, MemForestError
from memforest_ray.forest.dialogue import Admission
from memforest_ray.forest.errands import ERRAND_ANSWERS, Errand, ErrandDone, Lend, Merged, Reembedded, Renewed, Return
from memforest_ray.forest.intents import (
    Answered,
    Forget,
    Forgotten,
    Ingest,
    Intent,
    Receipt,
    Refreshed,
    Repair,
    Restore,
    Restored,
    Upkeep,
)
from memforest_ray.forest.work import Answer, Work, Written
from memforest_ray.ids import CellId
from memforest_ray.models.usage import Usage

__all__ = ["answered", "billed", "charged", "counted", "receipt", "same_write", "seal"]

_Remembered: TypeAlias = Receipt | Forgotten | Restored | ErrandDone
_REMEMBERED: dict[type, type[_Remembered]] = {
    Ingest: Receipt,
    Repair: Receipt,
    Forget: Forgotten,
    Restore: Restored,
    **ERRAND_ANSWERS,
}
"""What is kept of a write for a late retry. A save is known by its snapshot, which names the operation."""


def receipt(
    number: int, write: Ingest, admission: Admission | MemForestError, work: Work, cells: Collection[CellId]
) -> Receipt | MemForestError:
    """The answer of one ingest, for which `cells` were read."""
    if isinstance(admission, MemForestError):
        return admission
    notes = tuple(_notes(write, admission, work))
    told = Receipt(
        number,
        write.op_id,
        write.session.id,
        duplicate=admission.duplicate,
        turns_without_time=write.undated_turns,
        naive_times=write.naive_times,
        notes=notes,
    )
    return told if admission.duplicate else counted(told, work, cells)


def _notes(write: Ingest, admission: Admission, work: Work) -> Iterator[str]:
    """What of it was not taken in, or not as it came, and how it would be."""
    stored = work.dialogue.sessions.get(write.session.id)
    if admission.forgotten and stored is None:
        yield "it was forgotten earlier and stays so; replace=True takes it in again"
    elif admission.forgotten:
        yield "some of its turns were forgotten earlier and stay so; replace=True takes them in again"
    dated = write.session.time_ms is not None and stored is not None and stored.time_ms is None
    if admission.duplicate and dated and any(turn.time_ms is None for turn in write.session.turns):
        yield "it is stored without a time; replace=True gives it the one that it has now"


def counted(told: Receipt, work: Work, cells: Collection[CellId]) -> Receipt:
    """The receipt with what became of `cells`."""
    mine = [work.extractions[name] for name in cells if name in work.extractions]
    added = _facts_added(work, cells)
    withheld = sum(mention.cell_id in cells for mention in work.facts.dropped)
    mentions = sum(len(extraction.candidates) for extraction in mine) - withheld
    return replace(
        told,
        cells=len(cells),
        facts_added=added,
        facts_merged=max(0, mentions - added),
        failed_cells={item.cell_id: item.failure for item in mine if item.failure is not None},
        usage={"extract": Usage.total(found.usage for found in mine)},
    )


def charged(answers: Sequence[Answer], work: Work) -> tuple[Answer, ...]:
    """The answers of a batch; what its verdicts and summaries have cost is on the first receipt for something new."""
    shared = {"judge": work.judged, "summarise": work.summarised}
    spent = {stage: usage for stage, usage in shared.items() if usage.calls}
    told = list(answers)
    for place, answer in enumerate(told):
        if isinstance(answer, Receipt) and not answer.duplicate:
            told[place] = answer.charged(spent)
            break
    return tuple(told)


def billed(written: Written, usage: Sequence[Mapping[str, Usage]]) -> Written:
    """With what each write of the batch has cost before its turn, by stage; and whether its summaries are to follow."""
    answers = tuple(
        replace(answer.charged(spent), refreshed=not written.stale)
        if isinstance(answer, Receipt | Merged) and not answer.duplicate
        else answer
        for answer, spent in zip(written.answers, usage, strict=True)
    )
    return replace(written, answers=answers)


def _facts_added(work: Work, cells: Collection[CellId]) -> int:
    """Facts that were not there before and whose first mention stands in one of `cells`."""
    before = work.version.facts.shown
    return sum(fact.id not in before and fact.mentions[0].cell_id in cells for fact in work.facts.added)


def seal(written: Written, number: int) -> Written:
    """With the number that the commit will have: in the version, in the answers, and in what a retry is told."""
    answers = tuple(
        answer if isinstance(answer, MemForestError) else replace(answer, version=number) for answer in written.answers
    )
    operations = written.version.operations.mutate()
    for answer in answers:
        if not (
            isinstance(answer, MemForestError | Refreshed)
            or (isinstance(answer, Receipt | Merged | Renewed) and answer.duplicate)
        ):
            row = {"kind": type(answer).__name__.lower(), **answer.to_json()}
            operations[answer.op_id] = row
            written.changes.put("operations", answer.op_id, row)
    kept = operations.finish()
    surplus = len(kept) - OPERATIONS_KEPT
    if surplus > 0:
        for name, _ in sorted(kept.items(), key=lambda item: (item[1]["version"], item[0]))[:surplus]:
            kept = kept.delete(name)
            written.changes.drop("operations", name)
    version = replace(written.version, number=number, operations=kept)
    if written.news is not None:
        version = replace(version, journal=_journalled(written, number, written.news))
    return replace(written, version=version, answers=answers)


def _journalled(written: Written, number: int, news: News) -> Map[str, Any]:
    born = len(news.sessions_added) == len(written.version.sessions)
    journal, puts, drops = entered(written.version.journal, number, news, born=born)
    for key, row in puts.items():
        written.changes.put("journal", key, row)
    for key in drops:
        written.changes.drop("journal", key)
    return journal


def answered(version: Version, write: Intent) -> Answered | None:
    """What an operation that is done already was told; None when it is not known.

    Raises InvalidInput when its id was that of another write.
    """
    row = version.operations.get(write.op_id)
    if row is None:
        return None
    told = _of_row(row)
    if type(told) is not _REMEMBERED.get(type(write)) or _told_of(told) != _subject(write):
        raise _taken(write)
    return told


def same_write(write: Intent, other: Intent) -> None:
    """Make sure that two writes of one operation id can be one. Raises InvalidInput."""
    if type(write) is not type(other) or _subject(write) != _subject(other):
        raise _taken(write)


def _of_row(row: Mapping[str, Any]) -> _Remembered:
    fields = {key: value for key, value in row.items() if key != "kind"}
    kinds: dict[str, type[Forgotten | Restored | ErrandDone]] = {
        kind.__name__.lower(): kind for kind in (Forgotten, Restored, Reembedded, *ERRAND_ANSWERS.values())
    }
    return kinds.get(row["kind"], Receipt).from_json(fields)


def _told_of(told: _Remembered) -> str | None:
    """What the write was about, as far as its answer tells."""
    if isinstance(told, Restored):
        return told.snapshot
    if isinstance(told, ErrandDone):
        return told.subject
    return told.session_id if isinstance(told, Receipt) else None


def _subject(write: Intent) -> str | None:
    if isinstance(write, Ingest):
        return write.session.id
    if isinstance(write, Errand | Lend | Return):
        return write.subject
    return None if isinstance(write, Forget | Repair | Upkeep) else write.name


def _taken(write: Intent) -> InvalidInput:
    return InvalidInput(
        f"op_id {write.op_id!r} names another write to this memory; nothing was changed; "
        "give each write an op_id of its own",
        op_id=write.op_id,
    )
