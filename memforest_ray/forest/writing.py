"""The write path: what a batch of writes makes of a version. The one composer of facts, trees and index.

    dialogue -> Extract -> facts -> Embed -> routing -> tree edits -> Refresh -> Embed -> rows and index rows

Everything here is a function of the version and the answers; the driver makes the result durable and publishes it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from immutables import Map

from memforest_ray.commit.version import Vector, Version
from memforest_ray.errors import InvalidInput, MemForestError, NotFound
from memforest_ray.facts.candidates import CellInput, Extraction, Mention
from memforest_ray.facts.canonical import Facts, FactsEdit
from memforest_ray.forest.dialogue import Admission, Dialogue, Place, keyed
from memforest_ray.forest.effects import Embed, Extract, Refresh, Steps
from memforest_ray.forest.intents import Forget, Forgotten, Ingest, Receipt, Repair
from memforest_ray.forest.receipts import charged, counted, receipt
from memforest_ray.forest.rows import written
from memforest_ray.forest.work import Work, Written
from memforest_ray.ids import CellId, ItemId, NodeId, ScopeId, SessionId, TurnId
from memforest_ray.index.rows import cell_embedding_text, fact_embedding_text
from memforest_ray.trees.edits import ForestEdit, plan_edits, session_moves
from memforest_ray.trees.nodes import Node
from memforest_ray.trees.routing import Moves, Routable
from memforest_ray.trees.summaries import RefreshPlan, Summary

__all__ = ["foreseen_texts", "forget", "ingest", "needed", "repair", "rework"]


def needed(version: Version, write: Ingest) -> tuple[CellInput, ...]:
    """What `write` will have to extract if nothing else happens first: to be started before its turn comes.

    Raises SessionConflict, InvalidInput.
    """
    dialogue = Dialogue(version)
    dialogue.admit(write.session, replacing=write.replacing)
    return Work(version, dialogue).inputs()


def foreseen_texts(version: Version, write: Ingest, extracted: Mapping[CellInput, Extraction]) -> list[str]:
    """Most of what `write` will have to embed, should nothing else happen first: to be embedded before its turn.

    Raises SessionConflict, InvalidInput.
    """
    dialogue = Dialogue(version)
    dialogue.admit(write.session, replacing=write.replacing)
    work = Work(version, dialogue)
    work.extractions = {shown.cell_id: found for shown, found in extracted.items()}
    texts = [fact_embedding_text(fact) for fact in Facts().edit(_mentions(work)).added]
    texts += [cell_embedding_text(cell, dialogue.sessions[cell.session_id]) for cell in work.spoken]
    return list(dict.fromkeys(texts))


def ingest(
    version: Version, batch: Sequence[Ingest], extracted: Mapping[CellInput, Extraction], model: str
) -> Steps[Written]:
    """Make a batch of sessions memory; `extracted` holds what was extracted before its turn came.

    It is used where a cell is still to be read exactly so. `model` names what summarises. A session that cannot be
    admitted is answered with its error; the others land.
    """
    dialogue = Dialogue(version)
    admissions: list[Admission | MemForestError] = []
    cells: list[set[CellId]] = []
    for write in batch:
        before = dialogue.read_of(write.session.id).keys()
        admissions.append(_admitted(dialogue, write))
        cells.append(dialogue.read_of(write.session.id).keys() - before)
    work = Work(version, dialogue)
    after = Written(version)
    if not work.idle:
        after = yield from rework(work, extracted, model)
    answers = [
        receipt(version.number, write, admission, work, mine)
        for write, admission, mine in zip(batch, admissions, cells, strict=True)
    ]
    return replace(after, answers=charged(answers, work.summarised))


def _admitted(dialogue: Dialogue, write: Ingest) -> Admission | MemForestError:
    try:
        return dialogue.admit(write.session, replacing=write.replacing)
    except MemForestError as error:
        return error


def repair(version: Version, write: Repair, model: str) -> Steps[Written]:
    """Try failed cells again, and have stale summaries written."""
    dialogue = Dialogue(version)
    dialogue.retry_failed({version.cells[cell].session_id: None for cell in version.failed})
    stale = frozenset(name for name, summary in version.summaries.items() if summary.stale)
    work = Work(version, dialogue)
    told = Receipt(version.number, write.op_id, duplicate=True)
    if not work.retry and not stale:
        return Written(version, answers=(told,))
    after = yield from rework(work, {}, model, stale=stale)
    told = counted(replace(told, duplicate=False), work, work.retry.keys())
    return replace(after, answers=charged([told], work.summarised))


def forget(version: Version, write: Forget, model: str) -> Steps[Written]:
    """Erase a session, turns or a fact. Raises InvalidInput, NotFound."""
    if (write.fact is None) == (write.session is None and write.turns is None):
        raise InvalidInput("forget: name a session, or turns, or a fact, and only one; nothing was changed")
    dialogue = Dialogue(version)
    first: FactsEdit | None = None
    still: tuple[TurnId, ...] = ()
    if write.fact is not None:
        fact = version.find_fact(write.fact)
        if fact is None:
            raise NotFound(f"no fact {write.fact!r} is stored; nothing was changed", fact=write.fact)
        # One key for the whole forest: to know a withheld statement again costs one hash for each key there is.
        first = version.facts.withhold(fact.id, keyed(version.secret, "withheld"))
        places = list(fact.turns) if write.with_dialogue else []
        if not write.with_dialogue:
            still = tuple(version.sessions[session].turn_id(turn) for session, turn in fact.turns)
        dialogue.forget_turns(places)
    else:
        places = _forgotten_places(version, dialogue, write)
    work = Work(version, dialogue)
    after = yield from rework(work, {}, model, first=first)
    shown = after.version.facts.shown
    gone = tuple(fact.id for fact in work.facts.removed if fact.id not in shown)
    report = Forgotten(version.number, write.op_id, len(places), gone, still)
    return replace(after, answers=(report,), erases=True)


def _forgotten_places(version: Version, dialogue: Dialogue, write: Forget) -> list[Place]:
    """Forgets a session or turns; which turns that were."""
    if write.turns is not None:
        places = dialogue.places_of(write.turns, write.session)
        dialogue.forget_turns(places)
        return places
    name = SessionId(write.session or "")
    dialogue.forget_session(name)
    return [(name, index) for index, turn in enumerate(version.sessions[name].turns) if turn.hole is None]


# ---- the steps, in the order of the flow ------------------------------------------------------------------


def rework(
    work: Work,
    extracted: Mapping[CellInput, Extraction],
    model: str,
    *,
    first: FactsEdit | None = None,
    stale: frozenset[NodeId] = frozenset(),
) -> Steps[Written]:
    """From edited dialogue to the next version and its rows. `first`: what was done to its facts already."""
    yield from _extract(work, extracted)
    edit = work.facts = _edit_facts(work, first or FactsEdit(work.version.facts))
    yield from _embed(work)
    version = _edited(work)
    entities = version.entities.edit(edit.added, edit.removed)
    scenes = version.scenes.edit(edit.added, edit.removed, vector_of=_vectors_of(work))
    forest = _plant(work, version, {**entities.moves, **scenes.moves, **_cell_moves(work)})
    version = replace(
        version,
        entities=entities.entities,
        scenes=scenes.scenes,
        trees=forest.trees,
        placements=forest.placements,
    )
    plan = _refresh_plan(work, version, forest, model, stale)
    work.summarised = yield Refresh(plan)
    work.made = plan.results()
    yield from _embed_texts(work, {name: made.text for name, made in work.made.items() if made.source == "model"})
    version = replace(version, summaries=_summaries(work, forest))
    return written(work, version, scenes, forest)


def _extract(work: Work, extracted: Mapping[CellInput, Extraction]) -> Steps[None]:
    wanted = work.inputs()
    work.extractions = {shown.cell_id: extracted[shown] for shown in wanted if shown in extracted}
    missing = tuple(shown for shown in wanted if shown.cell_id not in work.extractions)
    if missing:
        answers: Sequence[Extraction] = yield Extract(missing)
        work.extractions |= {shown.cell_id: found for shown, found in zip(missing, answers, strict=True)}


def _failed(work: Work) -> Map[CellId, str]:
    failed = work.version.failed.mutate()
    for name in work.dead:
        failed.pop(name, None)
    for name, extraction in work.extractions.items():
        if extraction.failure is not None:
            failed[name] = extraction.failure
        else:
            failed.pop(name, None)
    return failed.finish()


def _edit_facts(work: Work, first: FactsEdit) -> FactsEdit:
    gone = [mention.id for cell in work.dead for mention in first.facts.of_cell(cell)]
    return first.then(first.facts.edit(_mentions(work), gone))


def _mentions(work: Work) -> list[Mention]:
    cells = {**work.born, **work.retry}
    mentions = []
    for name, extraction in work.extractions.items():
        cell = cells[name]
        session = work.dialogue.sessions[cell.session_id]
        for number, candidate in enumerate(extraction.candidates):
            said = session.source_ms(candidate.turns[0])
            mentions.append(Mention.of(name, cell.session_id, number, said, candidate))
    return mentions


def _embed(work: Work) -> Steps[None]:
    """Vectors of new facts and cells, each distinct text once; a fact whose text stayed keeps its vector."""
    before = {fact.id: fact_embedding_text(fact) for fact in work.facts.removed}
    texts: dict[str, str] = {}
    for fact in work.facts.added:
        text = fact_embedding_text(fact)
        if before.get(fact.id) == text:
            work.vectors[fact.id] = work.version.vector(fact.id)
        else:
            texts[fact.id] = text
    for cell in work.spoken:
        texts[cell.id] = cell_embedding_text(cell, work.dialogue.sessions[cell.session_id])
    yield from _embed_texts(work, texts)


def _embed_texts(work: Work, texts: Mapping[str, str]) -> Steps[None]:
    distinct = tuple(dict.fromkeys(texts.values()))
    if distinct:
        rows = yield Embed(distinct)
        by_text = dict(zip(distinct, rows, strict=True))
        work.vectors.update({name: by_text[text] for name, text in texts.items()})


def _edited(work: Work) -> Version:
    """The next version as far as dialogue and facts go."""
    dialogue = work.dialogue
    return replace(
        work.version,
        sessions=dialogue.sessions.finish(),
        session_cells=dialogue.session_cells.finish(),
        cells=dialogue.cells.finish(),
        forgotten=dialogue.forgotten.finish(),
        failed=_failed(work),
        facts=work.facts.facts,
    )


def _vectors_of(work: Work) -> Callable[[Routable], Vector]:
    """Vectors for routing: of a fact as it was when it is one of the removed ones, else as it is."""
    removed = {id(fact) for fact in work.facts.removed}

    def vector_of(fact: Routable) -> Vector:
        new = None if id(fact) in removed else work.vectors.get(fact.id)
        return work.version.vector(fact.id) if new is None else new

    return vector_of


def _cell_moves(work: Work) -> Moves:
    placed = work.version.placements
    return session_moves(
        [(cell.session_id, cell.id) for cell in work.spoken],
        [(cell.session_id, cell.id) for cell in work.dead.values() if ItemId(cell.id) in placed],
    )


def _plant(work: Work, version: Version, moves: Moves) -> ForestEdit:
    return plan_edits(
        work.version.trees,
        work.version.placements,
        moves,
        leaf_before=work.version.leaf_of,
        leaf_after=version.leaf_of,
        fanouts=version.birth.fanouts,
    )


def _refresh_plan(
    work: Work, version: Version, forest: ForestEdit, model: str, stale: frozenset[NodeId]
) -> RefreshPlan:
    before = work.version.summaries
    again = [node for node in _nodes(version) if node[1].id in stale] if stale else []
    return RefreshPlan(
        [*forest.added, *again],
        summaries=before,
        model=model,
        reusable=[before[node.id] for _, node in forest.removed if node.id in before],
    )


def _nodes(version: Version) -> Iterable[tuple[ScopeId, Node]]:
    return ((scope, node) for scope, tree in version.trees.items() for node in tree.nodes())


def _summaries(work: Work, forest: ForestEdit) -> Map[NodeId, Summary]:
    summaries = work.version.summaries.mutate()
    for _, node in forest.removed:
        summaries.pop(node.id, None)
    summaries.update(work.made)
    return summaries.finish()
