"""Merging: a forest takes over another one, by reuse.

What comes of it is what the source's sessions, ingested here under their new names, would have come to: the same write,
with everything at hand that was made of them already. What either of the two has forgotten or withheld stays so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memforest_ray.commit.version import Version
from memforest_ray.errors import SessionConflict
from memforest_ray.facts.canonical import FactsEdit
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.forest.adoption import Adopted, Adoption
from memforest_ray.forest.dialogue import Admission, Dialogue, formers, hole_of, unlabelled
from memforest_ray.forest.effects import Steps
from memforest_ray.forest.errands import Merge, Merged
from memforest_ray.forest.forecast import Forecast
from memforest_ray.forest.work import Takeover, Work, Written
from memforest_ray.forest.writing import rework
from memforest_ray.ids import SessionId, UserId
from memforest_ray.models.usage import Usage

__all__ = ["forecast", "merge"]


def merge(version: Version, write: Merge, source: Version, model: str) -> Steps[Written]:
    """Take over `source`, the memory of `write.source`. One commit, or nothing.

    Raises SessionConflict naming the sessions that are stored here with other turns; InvalidInput.
    """
    adoption = Adoption(source, write.source, model)
    laid = _laid(version, adoption, replacing=write.replacing)
    if laid.conflicts:
        raise _conflict(write, laid.conflicts)
    laid.dialogue.keep_forgotten(source.forgotten)
    work = _work(version, laid.dialogue, adoption, write.source)
    first = _first(work, adoption)
    through = tuple(sorted({UserId(user) for path in source.origins.values() for user in path}))
    told = Merged(version.number, write.op_id, write.source, source.number, True, kept=laid.kept, through=through)
    new = laid.dialogue.told or work.takeover.lineage or first.rows or adoption.evidence(first.facts).rows
    if work.idle and not new:
        return Written(version, answers=(told,))
    after = yield from rework(work, adoption.extracted, model, first=first)
    return replace(after, answers=(_counted(told, work, adoption),))


def forecast(version: Version, name: str, source: Version, model: str) -> Forecast:
    """What `merge` would do; nothing is changed."""
    adoption = Adoption(source, name, model)
    laid = _laid(version, adoption, replacing=False)
    work = _work(version, laid.dialogue, adoption, name)
    facts = _facts_after(work, adoption)
    before = version.facts.shown
    homes = [home for fact in source.facts if (home := adoption.home(fact.id, facts.facts)) is not None]
    lost = sum(home not in facts.facts.shown for home in homes) + len(source.facts) - len(homes)
    return Forecast(
        version.number,
        source.number,
        sessions_new=tuple(name for name in laid.admitted if name not in version.sessions),
        sessions_known=tuple(name for name in laid.admitted if name in version.sessions),
        conflicts=laid.conflicts,
        forgotten=tuple(name for name, admission in laid.admitted.items() if admission.forgotten),
        kept=laid.kept,
        speakers_joined=tuple(sorted(_speakers(version) & adoption.speakers)),
        speakers_renamed=tuple(sorted(adoption.labels)),
        entities_joined=tuple(sorted(set(version.entities.by_key) & adoption.entity_keys)),
        facts=len(source.facts),
        facts_joined=sum(home in before for home in homes),
        facts_withheld=lost + sum(fact not in facts.facts.shown for fact in before),
        cells_to_read=sum(shown not in adoption.extracted for shown in work.inputs()),
    )


@dataclass(frozen=True, slots=True)
class _Laid:
    """The source's sessions, laid on what is stored."""

    dialogue: Dialogue
    admitted: dict[SessionId, Admission]
    conflicts: tuple[SessionId, ...]
    kept: tuple[SessionId, ...]


def _laid(version: Version, adoption: Adoption, *, replacing: bool) -> _Laid:
    dialogue = Dialogue(version)
    admitted: dict[SessionId, Admission] = {}
    conflicts: list[SessionId] = []
    kept: list[SessionId] = []
    for session in adoption.sessions:
        record = _with_ours(version, session, adoption)
        if _said(record) > _said(session.record):
            kept.append(record.id)
        try:
            admitted[record.id] = _admitted(version, dialogue, replace(session, record=record), adoption, replacing)
        except SessionConflict:
            conflicts.append(record.id)
    kept += _left(version, adoption)
    return _Laid(dialogue, admitted, tuple(conflicts), tuple(sorted(kept)))


def _admitted(version: Version, dialogue: Dialogue, session: Adopted, adoption: Adoption, replacing: bool) -> Admission:
    if version.birth.limits != adoption.source.birth.limits and session.record.id not in version.sessions:
        return dialogue.admit(session.record, replacing=False)
    return dialogue.adopt(session.record, session.cells, replacing=replacing)


def _with_ours(version: Version, session: Adopted, adoption: Adoption) -> SessionRecord:
    """The session with what stands here of turns that the source has forgotten: a merge forgets nothing.

    Where both have forgotten a turn, its hole is ours: nobody can tell that two hashes under two keys are of one text.
    """
    record = session.record
    stored = version.sessions.get(record.id)
    if stored is None:
        return record
    source = adoption.source
    lines = [(source.secret, adoption.renaming.prefix)]
    lines += [(secret, label) for secret, _, label in formers(source.lineage, session.former)]
    turns = list(record.turns)
    for index, (mine, theirs) in enumerate(zip(stored.turns, record.turns, strict=False)):
        if theirs.hole and (
            mine.hole or theirs.hole in {hole_of(key, unlabelled(mine, label)) for key, label in lines}
        ):
            turns[index] = mine
    return record if tuple(turns) == record.turns else replace(record, turns=tuple(turns))


def _said(record: SessionRecord) -> int:
    """Turns that say something."""
    return sum(1 for _ in _spoken(record))


def _left(version: Version, adoption: Adoption) -> Iterator[SessionId]:
    """Sessions that came from the source and are no more there."""
    for name in version.origins:
        former = adoption.renaming.owned(name)
        if former is not None and former not in adoption.source.sessions:
            yield name


def _lineage(version: Version, adoption: Adoption) -> dict[str, tuple[str, str]]:
    """By what the hashes that come along are keyed; of what the source itself has merged, too. Only what is new."""
    source, prefix = adoption.source, adoption.renaming.prefix
    if not (source.forgotten or any(turn.hole for record in source.sessions.values() for turn in record.turns)):
        return {}
    lines = {prefix: (source.secret, prefix)}
    lines.update({prefix + further: line for further, line in source.lineage.items()})
    return {name: line for name, line in lines.items() if version.lineage.get(name) != line}


def _work(version: Version, dialogue: Dialogue, adoption: Adoption, source: str) -> Work:
    dialogue.retry_failed({version.cells[cell].session_id: None for cell in version.failed if adoption.mends(cell)})
    work = Work(version, dialogue)
    work.takeover = Takeover(
        adoption,
        told={shown.cell_id: adoption.told_in(shown) for shown in work.inputs()},
        origins=dict(_origins(dialogue, adoption, source)),
        lineage=_lineage(version, adoption),
    )
    return work


def _first(work: Work, adoption: Adoption) -> FactsEdit:
    """What is done to the facts before anything new is said: what is withheld there, and what was corrected since."""
    edit = work.version.facts.withhold_hashed(adoption.source.facts.withheld.pairs())
    told = {mention.id for mentions in work.takeover.told.values() for mention in mentions}
    come = (mention for mention in adoption.corrections(work.dialogue) if mention.id not in told)
    return edit.then(edit.facts.edit([mention for mention in come if mention.id not in edit.facts.mentions]))


def _facts_after(work: Work, adoption: Adoption) -> FactsEdit:
    """The facts of both, as far as they are known without reading anything."""
    first = _first(work, adoption)
    edit = first.then(first.facts.edit([mention for told in work.takeover.told.values() for mention in told]))
    return edit.then(adoption.evidence(edit.facts))


def _conflict(write: Merge, sessions: tuple[SessionId, ...]) -> SessionConflict:
    named = ", ".join(map(repr, sessions[:5])) + (f" and {len(sessions) - 5} more" if len(sessions) > 5 else "")
    return SessionConflict(
        f"sessions that came from {write.source!r} earlier have been replaced there since: {named}; "
        "nothing was changed; pass replace=True to put the new ones in their place, or forget them first",
        sessions=list(sessions),
    )


def _origins(dialogue: Dialogue, adoption: Adoption, source: str) -> Iterator[tuple[SessionId, tuple[str, ...]]]:
    for session in adoption.sessions:
        if session.record.id in dialogue.touched and session.record.id in dialogue.sessions:
            yield session.record.id, (source, *adoption.source.origins.get(session.former, ()))


def _counted(told: Merged, work: Work, adoption: Adoption) -> Merged:
    before, facts = work.version.facts, work.facts.facts
    homes = {adoption.home(fact.id, facts) for fact in adoption.source.facts}
    read = [work.extractions[shown.cell_id] for shown in work.inputs() if shown not in adoption.extracted]
    usage = {"extract": Usage.total(found.usage for found in read), "judge": work.judged, "summarise": work.summarised}
    return replace(
        told,
        duplicate=False,
        sessions=len(work.dialogue.touched),
        facts_added=sum(fact.id not in before.shown for fact in work.facts.added),
        facts_joined=sum(home in before.shown for home in homes if home is not None),
        cells_read=len(read),
        failed_cells=sum(found.failure is not None for found in work.extractions.values()),
        usage={stage: spent for stage, spent in usage.items() if spent.calls},
    )


def _speakers(version: Version) -> set[str]:
    return {turn.speaker for record in version.sessions.values() for turn in _spoken(record)}


def _spoken(record: SessionRecord) -> Iterable[TurnRecord]:
    return (turn for turn in record.turns if turn.hole is None)
