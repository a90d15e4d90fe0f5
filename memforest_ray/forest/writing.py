"""The write path: what a batch of writes makes of a version. The one composer of facts, trees and index.

    dialogue -> Extract -> facts -> Embed -> routing -> tree edits -> Refresh -> Embed -> rows and index rows

Everything here is a function of the version and the answers; the driver makes the result durable and publishes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from immutables import Map

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.version import OPERATIONS_KEPT, Vector, Version, put_cells, put_sessions
from memforest_ray.errors import InvalidInput, MemForestError, NotFound
from memforest_ray.facts.candidates import CellInput, Extraction, Mention
from memforest_ray.facts.canonical import Facts, FactsEdit
from memforest_ray.facts.cells import Cell
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.forest.dialogue import Admission, Dialogue, keyed
from memforest_ray.forest.effects import Embed, Extract, Refresh, Steps
from memforest_ray.forest.intents import Forget, Forgotten, Ingest, Receipt, Repair, Usage
from memforest_ray.ids import CellId, FactId, ItemId, NodeId, SessionId, TurnId
from memforest_ray.index.rows import (
    Row,
    cell_embedding_text,
    cell_row,
    fact_embedding_text,
    fact_row,
    node_row,
)
from memforest_ray.trees.edits import ForestEdit, plan_edits, session_moves, tree_row
from memforest_ray.trees.nodes import node_row as stored_node
from memforest_ray.trees.routing import Moves, Routable
from memforest_ray.trees.scenes import ScenesEdit
from memforest_ray.trees.summaries import RefreshPlan, Summary, summary_row

__all__ = ["Answer", "Written", "foreseen_texts", "forget", "ingest", "needed", "repair", "seal"]

Answer = Receipt | Forgotten | MemForestError


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch makes of a version; nothing has happened yet."""

    version: Version
    """The next version, but for its number (`seal`) and its index; the given one when nothing is new."""
    changes: Changes
    add: tuple[Row, ...]
    """Index rows, children before the nodes above them."""
    drop: tuple[str, ...]
    answers: tuple[Answer, ...]
    """One for each write of the batch, in order."""
    erases: bool = False
    """Text was removed: an erasure must follow the commit."""


@dataclass(slots=True)
class _Work:
    """What is known so far of the next version."""

    version: Version
    dialogue: Dialogue
    born: dict[CellId, Cell]
    dead: dict[CellId, Cell]
    extractions: dict[CellId, Extraction] = field(default_factory=dict)
    facts: FactsEdit | None = None
    vectors: dict[str, Vector] = field(default_factory=dict)
    """Of facts, cells and summaries that have to be written."""
    made: dict[NodeId, Summary] = field(default_factory=dict)
    """New summaries, children before parents."""


def needed(version: Version, write: Ingest) -> tuple[CellInput, ...]:
    """What `write` will have to extract if nothing else happens first: to be started before its turn comes.

    Raises SessionConflict, InvalidInput.
    """
    dialogue = Dialogue(version)
    dialogue.admit(write.session, replacing=write.replacing)
    return _inputs(dialogue, [*dialogue.born.values(), *dialogue.retry.values()])


def ingest(
    version: Version, batch: Sequence[Ingest], extracted: Mapping[CellId, Extraction], model: str
) -> Steps[Written]:
    """Make a batch of sessions memory; `extracted` holds what was extracted before its turn came.

    `model` names what summarises. A session that cannot be admitted is answered with its error; the others land.
    """
    dialogue = Dialogue(version)
    admissions: list[Admission | MemForestError] = []
    cells: list[set[CellId]] = []
    for write in batch:
        before = {**dialogue.born, **dialogue.retry}
        try:
            admissions.append(dialogue.admit(write.session, replacing=write.replacing))
        except MemForestError as error:
            admissions.append(error)
        cells.append(({*dialogue.born, *dialogue.retry}) - before.keys())
    work = _Work(version, dialogue, dialogue.born, dialogue.dead)
    if not (work.born or work.dead or dialogue.retry or dialogue.touched):
        answers = tuple(
            _receipt(version.number, write, admission, work, set())
            for write, admission in zip(batch, admissions, strict=True)
        )
        return Written(version, Changes(), (), (), answers)
    after = yield from _rework(work, extracted, model)
    answers = tuple(
        _receipt(0, write, admission, work, mine)
        for write, admission, mine in zip(batch, admissions, cells, strict=True)
    )
    return replace(after, answers=answers)


def repair(version: Version, write: Repair, model: str) -> Steps[Written]:
    """Try failed cells again, and have stale summaries written."""
    dialogue = Dialogue(version)
    dialogue.retry_failed(version.sessions)
    stale = [name for name, summary in version.summaries.items() if summary.stale]
    work = _Work(version, dialogue, {}, {})
    if not dialogue.retry and not stale:
        return Written(version, Changes(), (), (), (Receipt(version.number, write.op_id, duplicate=True),))
    after = yield from _rework(work, {}, model, stale=stale)
    receipt = _counted(Receipt(0, write.op_id), work, set(dialogue.retry))
    return replace(after, answers=(receipt,))


def forget(version: Version, write: Forget, model: str) -> Steps[Written]:
    """Erase a session, turns or a fact. Raises InvalidInput, NotFound."""
    if (write.fact is None) == (write.session is None and write.turns is None):
        raise InvalidInput("forget: name a session, or turns, or a fact, and only one; nothing was changed")
    dialogue = Dialogue(version)
    places: list[tuple[SessionId, int]] = []
    still: tuple[TurnId, ...] = ()
    withhold: FactId | None = None
    if write.fact is not None:
        fact = version.find_fact(write.fact)
        if fact is None:
            raise NotFound(f"no fact {write.fact!r} is stored; nothing was changed", fact=write.fact)
        withhold = fact.id
        if write.with_dialogue:
            places = list(fact.turns)
            dialogue.forget_turns(places)
        else:
            still = tuple(version.sessions[session].turn_id(turn) for session, turn in fact.turns)
    elif write.turns is not None:
        places = dialogue.places_of(write.turns, write.session)
        dialogue.forget_turns(places)
    else:
        name = SessionId(write.session or "")
        count = len(version.sessions[name].turns) if name in version.sessions else 0
        places = [(name, turn) for turn in range(count)]
        dialogue.forget_session(name)
    work = _Work(version, dialogue, dialogue.born, dialogue.dead)
    key = keyed(version.secret, "withheld", write.op_id)
    after = yield from _rework(work, {}, model, withhold=withhold, withhold_key=key)
    shown = after.version.facts.shown
    gone = tuple(fact.id for fact in (work.facts or FactsEdit(version.facts)).removed if fact.id not in shown)
    report = Forgotten(0, write.op_id, len(places), gone, still)
    return replace(after, answers=(report,), erases=True)


# ---- the steps, in the order of the flow ------------------------------------------------------------------


def _rework(
    work: _Work,
    extracted: Mapping[CellId, Extraction],
    model: str,
    *,
    withhold: FactId | None = None,
    withhold_key: str = "",
    stale: Sequence[NodeId] = (),
) -> Steps[Written]:
    """From edited dialogue to the next version and its rows."""
    yield from _extract(work, extracted)
    edit = _edit_facts(work, withhold, withhold_key)
    work.facts = edit
    yield from _embed(work, edit)
    version = _edited(work, edit)
    entities = version.entities.edit(edit.added, edit.removed)
    scenes = version.scenes.edit(edit.added, edit.removed, vector_of=_vectors_of(work, edit))
    forest = _plant(work, version, {**entities.moves, **scenes.moves, **_cell_moves(work)})
    version = replace(
        version,
        entities=entities.entities,
        scenes=scenes.scenes,
        trees=forest.trees,
        placements=forest.placements,
    )
    plan = _refresh_plan(work, version, forest, model, stale)
    yield Refresh(plan)
    summaries = plan.results()
    yield from _embed_texts(
        work, {name: summary.text for name, summary in summaries.items() if summary.source == "model"}
    )
    work.made = summaries
    version = replace(version, summaries=_summaries(work, forest, summaries))
    return _written(work, version, edit, scenes, forest)


def _inputs(dialogue: Dialogue, cells: Iterable[Cell]) -> tuple[CellInput, ...]:
    """What an extractor is shown of `cells`; those of which nothing is left are passed over."""
    by_session: dict[SessionId, list[Cell]] = {}
    for cell in cells:
        by_session.setdefault(cell.session_id, []).append(cell)
    return tuple(
        shown
        for session, mine in by_session.items()
        for shown in cell_inputs(dialogue.sessions[session], sorted(mine, key=lambda cell: cell.number))
        if shown.turns
    )


def _extract(work: _Work, extracted: Mapping[CellId, Extraction]) -> Steps[None]:
    wanted = {**work.born, **work.dialogue.retry}
    work.extractions = {name: extracted[name] for name in wanted if name in extracted}
    missing = _inputs(work.dialogue, [cell for name, cell in wanted.items() if name not in work.extractions])
    if missing:
        answers: Sequence[Extraction] = yield Extract(missing)
        work.extractions |= {answer.cell_id: answer for answer in answers}


def _failed(work: _Work) -> Map[CellId, str]:
    failed = work.version.failed.mutate()
    for name in work.dead:
        failed.pop(name, None)
    for name, extraction in work.extractions.items():
        if extraction.failure is not None:
            failed[name] = extraction.failure
        else:
            failed.pop(name, None)
    return failed.finish()


def _edit_facts(work: _Work, withhold: FactId | None, key: str) -> FactsEdit:
    before = work.version.facts
    first = FactsEdit(before) if withhold is None else before.withhold(withhold, key)
    gone = [mention.id for cell in work.dead for mention in before.of_cell(cell)]
    return first.then(first.facts.edit(_mentions(work), gone))


def _mentions(work: _Work) -> list[Mention]:
    cells = {**work.born, **work.dialogue.retry}
    mentions = []
    for name, extraction in work.extractions.items():
        cell = cells[name]
        session = work.dialogue.sessions[cell.session_id]
        for number, candidate in enumerate(extraction.candidates):
            said = session.source_ms(candidate.turns[0])
            mentions.append(Mention.of(name, cell.session_id, number, said, candidate))
    return mentions


def _embed(work: _Work, edit: FactsEdit) -> Steps[None]:
    """Vectors of new facts and cells, each distinct text once; a fact whose text stayed keeps its vector."""
    before = {fact.id: fact_embedding_text(fact) for fact in edit.removed}
    texts: dict[str, str] = {}
    for fact in edit.added:
        text = fact_embedding_text(fact)
        if before.get(fact.id) == text:
            work.vectors[fact.id] = work.version.vector(fact.id)
        else:
            texts[fact.id] = text
    for cell in _spoken(work):
        texts[cell.id] = cell_embedding_text(cell, work.dialogue.sessions[cell.session_id])
    yield from _embed_texts(work, texts)


def _embed_texts(work: _Work, texts: Mapping[str, str]) -> Steps[None]:
    distinct = tuple(dict.fromkeys(texts.values()))
    if distinct:
        rows = yield Embed(distinct)
        by_text = dict(zip(distinct, rows, strict=True))
        work.vectors.update({name: by_text[text] for name, text in texts.items()})


def _spoken(work: _Work) -> list[Cell]:
    """New cells of which something is left: one whose turns were all forgotten has no leaf, no row, no vector."""
    sessions = work.dialogue.sessions
    return [
        cell
        for cell in work.born.values()
        if any(sessions[cell.session_id].turns[span.turn].hole is None for span in cell.spans)
    ]


def _edited(work: _Work, edit: FactsEdit) -> Version:
    """The next version as far as dialogue and facts go."""
    dialogue = work.dialogue
    return replace(
        work.version,
        sessions=dialogue.sessions.finish(),
        session_cells=dialogue.session_cells.finish(),
        cells=dialogue.cells.finish(),
        forgotten=dialogue.forgotten.finish(),
        failed=_failed(work),
        facts=edit.facts,
    )


def _vectors_of(work: _Work, edit: FactsEdit) -> Callable[[Routable], Vector]:
    """Vectors for routing: of a fact as it was when it is one of the removed ones, else as it is."""
    removed = {id(fact) for fact in edit.removed}

    def vector_of(fact: Routable) -> Vector:
        new = None if id(fact) in removed else work.vectors.get(fact.id)
        return work.version.vector(fact.id) if new is None else new

    return vector_of


def _cell_moves(work: _Work) -> Moves:
    placed = work.version.placements
    return session_moves(
        [(cell.session_id, cell.id) for cell in _spoken(work)],
        [(cell.session_id, cell.id) for cell in work.dead.values() if ItemId(cell.id) in placed],
    )


def _plant(work: _Work, version: Version, moves: Moves) -> ForestEdit:
    return plan_edits(
        work.version.trees,
        work.version.placements,
        moves,
        leaf_before=work.version.leaf_of,
        leaf_after=version.leaf_of,
        fanouts=version.birth.fanouts,
    )


def _refresh_plan(
    work: _Work, version: Version, forest: ForestEdit, model: str, stale: Sequence[NodeId]
) -> RefreshPlan:
    before = work.version.summaries
    old = set(stale)
    again = (
        [(scope, node) for scope, tree in version.trees.items() for node in tree.nodes() if node.id in old]
        if old
        else []
    )
    return RefreshPlan(
        [*forest.added, *again],
        summaries=before,
        model=model,
        reusable=[before[node.id] for _, node in forest.removed if node.id in before],
    )


def _summaries(work: _Work, forest: ForestEdit, made: Mapping[NodeId, Summary]) -> Map[NodeId, Summary]:
    summaries = work.version.summaries.mutate()
    for _, node in forest.removed:
        summaries.pop(node.id, None)
    summaries.update(made)
    return summaries.finish()


# ---- rows and answers -------------------------------------------------------------------------------------


def _written(work: _Work, version: Version, edit: FactsEdit, scenes: ScenesEdit, forest: ForestEdit) -> Written:
    """The physical effects, and what they are to the index."""
    changes = Changes()
    _put_dialogue(changes, work, version)
    for row in edit.rows:
        _put_or_drop(changes, row.table, row.key, row.value)
    _put_trees(changes, work, version, forest)
    for scene in scenes.changed:
        _put_or_drop(changes, "scenes", scene, version.scenes.row(scene))
    shown = version.facts.shown
    drop = [
        *[fact.id for fact in edit.removed if fact.id not in shown],
        *work.dead,
        *[node.id for _, node in forest.removed],
    ]
    for name in drop:
        changes.drop(VECTORS, name)
    for name, vector in work.vectors.items():
        changes.put(VECTORS, name, vector.tobytes())
    return Written(version, changes, tuple(_index_rows(work, version, edit, forest)), tuple(drop), ())


def _put_dialogue(changes: Changes, work: _Work, version: Version) -> None:
    before, touched = work.version, work.dialogue.touched
    if before.number == 0:
        changes.put("birth", "secret", before.secret)
    put_sessions(changes, before.sessions, version.sessions, touched)
    current = [version.cells[name] for session in touched for name in version.session_cells.get(session, ())]
    put_cells(changes, before.cells, current, work.dead)
    for key in {*before.forgotten, *version.forgotten}:
        if before.forgotten.get(key) != version.forgotten.get(key):
            _put_or_drop(changes, "forgotten", key, version.forgotten.get(key))
    for name in {*work.dead, *work.extractions}:
        if before.failed.get(name) != version.failed.get(name):
            _put_or_drop(changes, "failed", name, version.failed.get(name))


def _put_or_drop(changes: Changes, table: str, key: str, value: Any) -> None:
    if value is None:
        changes.drop(table, key)
    else:
        changes.put(table, key, list(value) if isinstance(value, tuple) else value)


def _put_trees(changes: Changes, work: _Work, version: Version, forest: ForestEdit) -> None:
    for scope in forest.dropped:
        changes.drop("trees", scope)
    for scope in forest.changed:
        changes.put("trees", scope, tree_row(version.trees[scope]))
    for _, node in forest.removed:
        changes.drop("nodes", node.id)
        changes.drop("summaries", node.id)
    for _, node in forest.added:
        changes.put("nodes", node.id, stored_node(node))
    for name, summary in work.made.items():
        changes.put("summaries", name, summary_row(summary))


def _index_rows(work: _Work, version: Version, edit: FactsEdit, forest: ForestEdit) -> Iterable[Row]:
    for fact in edit.added:
        yield fact_row(fact, work.vectors.get(fact.id))
    for cell in _spoken(work):
        yield cell_row(cell, version.sessions[cell.session_id], work.vectors.get(cell.id))
    for scope, node in forest.added:
        yield node_row(node, scope, work.vectors.get(node.id))


def _counted(receipt: Receipt, work: _Work, cells: set[CellId]) -> Receipt:
    """The receipt with what became of `cells`."""
    mine = [work.extractions[name] for name in cells if name in work.extractions]
    added = _facts_added(work, cells)
    mentions = sum(len(extraction.candidates) for extraction in mine)
    usage = Usage(
        sum(extraction.calls for extraction in mine),
        sum(extraction.prompt_tokens for extraction in mine),
        sum(extraction.completion_tokens for extraction in mine),
    )
    return replace(
        receipt,
        cells=len(cells),
        facts_added=added,
        facts_merged=max(0, mentions - added),
        failed_cells={item.cell_id: item.failure for item in mine if item.failure is not None},
        usage={"extract": usage},
    )


def _facts_added(work: _Work, cells: set[CellId]) -> int:
    """Facts that were not there before and whose first mention stands in one of `cells`."""
    if work.facts is None:
        return 0
    before = work.version.facts.shown
    return sum(fact.id not in before and fact.mentions[0].cell_id in cells for fact in work.facts.added)


def _receipt(
    number: int, write: Ingest, admission: Admission | MemForestError, work: _Work, cells: set[CellId]
) -> Receipt | MemForestError:
    if isinstance(admission, MemForestError):
        return admission
    notes = ("some of its turns were forgotten earlier and stay so",) if admission.forgotten else ()
    receipt = Receipt(
        number,
        write.op_id,
        write.session.id,
        duplicate=admission.duplicate,
        turns_without_time=write.undated_turns,
        naive_times=write.naive_times,
        notes=notes,
    )
    return receipt if admission.duplicate else _counted(receipt, work, cells)


def seal(written: Written, number: int) -> Written:
    """With the number that the commit will have: in the version, in the answers, and in what a retry is told."""
    answers = tuple(
        answer if isinstance(answer, MemForestError) else replace(answer, version=number) for answer in written.answers
    )
    operations = written.version.operations.mutate()
    for answer in answers:
        if isinstance(answer, Forgotten) or (isinstance(answer, Receipt) and not answer.duplicate):
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
    return replace(written, version=version, answers=answers)


def foreseen_texts(version: Version, write: Ingest, extracted: Mapping[CellId, Extraction]) -> list[str]:
    """Most of what `write` will have to embed, should nothing else happen first: to be embedded before its turn."""
    dialogue = Dialogue(version)
    try:
        dialogue.admit(write.session, replacing=write.replacing)
    except MemForestError:
        return []
    work = _Work(version, dialogue, dialogue.born, {}, dict(extracted))
    facts = Facts().edit(_mentions(work)).added
    texts = [fact_embedding_text(fact) for fact in facts]
    texts += [cell_embedding_text(cell, dialogue.sessions[cell.session_id]) for cell in _spoken(work)]
    return list(dict.fromkeys(texts))
