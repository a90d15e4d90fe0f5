"""The write path: what a batch of writes makes of a version. The one composer of facts, trees and index.

    dialogue -> Extract -> facts -> Embed -> routing -> tree edits -> Refresh -> Embed -> rows and index rows

Everything here is a function of the version and the answers; the driver makes the result durable and publishes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from immutables import Map

from memforest_ray.commit.version import Vector, Version
from memforest_ray.errors import InvalidInput, MemForestError, NotFound
from memforest_ray.facts.candidates import CellInput, Extraction, Mention
from memforest_ray.facts.canonical import Fact, FactsEdit
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.facts.withheld import keyed_hash
from memforest_ray.forest.comparing import Compared
from memforest_ray.forest.corrections import corrections
from memforest_ray.forest.dialogue import Admission, Dialogue, Place, keyed
from memforest_ray.forest.effects import Extract, Prefetch, Refresh, Steps
from memforest_ray.forest.inheriting import heirs_of, nodes_of, outlived, usable
from memforest_ray.forest.intents import Forget, Forgotten, Ingest, Receipt, Refreshed, Repair, Upkeep
from memforest_ray.forest.likeness import echoes, embed, embed_texts, judge
from memforest_ray.forest.receipts import charged, counted, receipt
from memforest_ray.forest.rows import Nodes, with_vectors, written
from memforest_ray.forest.work import Work, Written
from memforest_ray.ids import CellId, ItemId, NodeId, SessionId, TurnId
from memforest_ray.models.usage import Usage
from memforest_ray.trees.edits import ForestEdit, plan_edits, session_moves
from memforest_ray.trees.routing import Moves, Routable
from memforest_ray.trees.scenes import ScenesEdit
from memforest_ray.trees.summaries import RefreshPlan, Summary, recent_leaves

__all__ = [
    "Prefetched",
    "finish",
    "forget",
    "ingest",
    "needed",
    "prefetch",
    "repair",
    "rework",
    "session_plan",
    "stale_nodes",
    "upkeep",
]


def needed(version: Version, write: Ingest | Forget | Repair) -> tuple[CellInput, ...]:
    """What `write` will have to extract if nothing else happens first: to be started before its turn comes.

    Raises SessionConflict, InvalidInput, NotFound.
    """
    return _laid(version, write).inputs()


@dataclass(frozen=True, slots=True)
class Prefetched:
    """What came of a prefetch, beside what models have answered."""

    judged: Usage
    """What verdicts have cost."""
    compared: Compared | None
    """What new statements were held against."""
    certain: bool
    """Whether none of them is alike to another: then the prefetched summaries are those that will be wanted."""


def prefetch(
    version: Version, write: Ingest, extracted: Mapping[CellInput, Extraction], model: str
) -> Steps[Prefetched]:
    """Asks for what `write` will need once it is extracted, should nothing else happen first: vectors, verdicts, and
    where `model` is called for summaries those of entities' trees.

    Raises SessionConflict, InvalidInput.
    """
    work = _laid(version, write)
    work.extractions = {shown.cell_id: found for shown, found in extracted.items()}
    work.facts = first = _edit_facts(work, FactsEdit(version.facts))
    if recent_leaves(model):
        apart = Work(version, work.dialogue)
        apart.extractions, apart.facts = work.extractions, first
        yield from Prefetch(partial(_entities_plan, apart, model))
    yield from embed(work)
    yield from judge(work)
    return Prefetched(work.judged, work.compared, certain=work.facts is first)


def _entities_plan(work: Work, model: str) -> RefreshPlan:
    """The summaries of entities' trees, should no statement be one with another."""
    version = _edited(work)
    moves = version.entities.edit(work.facts.added, work.facts.removed).moves
    return _plan_of(work, version, version.birth.planted(moves), model)


def session_plan(version: Version, write: Ingest, model: str) -> RefreshPlan:
    """The summaries of the session's own tree, should nothing else happen first: they wait for no extraction.

    Raises SessionConflict, InvalidInput.
    """
    work = _laid(version, write)
    return _plan_of(work, _edited(work), version.birth.planted(_cell_moves(work)), model)


def _laid(version: Version, write: Ingest | Forget | Repair) -> Work:
    """The write laid on the version, as far as dialogue goes."""
    dialogue = Dialogue(version)
    if isinstance(write, Ingest):
        dialogue.admit(write.session, replacing=write.replacing)
    elif isinstance(write, Forget):
        _forget_dialogue(version, dialogue, write)
    else:
        dialogue.retry_failed({version.cells[cell].session_id: None for cell in version.failed})
    return Work(version, dialogue)


def ingest(
    version: Version,
    batch: Sequence[Ingest],
    extracted: Mapping[CellInput, Extraction],
    model: str,
    compared: Sequence[Compared] = (),
) -> Steps[Written]:
    """Make a batch of sessions memory; `extracted` and `compared` hold what was done before its turn came.

    It is used where a cell is still to be read exactly so, and where there is the same to compare with. `model` names
    what summarises. A session that cannot be admitted is answered with its error; the others land.
    """
    dialogue = Dialogue(version)
    admissions: list[Admission | MemForestError] = []
    cells: list[set[CellId]] = []
    for write in batch:
        before = dialogue.read_of(write.session.id).keys()
        admissions.append(_admitted(dialogue, write))
        cells.append(dialogue.read_of(write.session.id).keys() - before)
    work = Work(version, dialogue)
    work.compared_before = compared
    after = Written(version)
    if not work.idle:
        after = yield from rework(work, extracted, model)
    answers = [
        receipt(version.number, write, admission, work, mine)
        for write, admission, mine in zip(batch, admissions, cells, strict=True)
    ]
    return replace(after, answers=charged(answers, work))


def _admitted(dialogue: Dialogue, write: Ingest) -> Admission | MemForestError:
    try:
        return dialogue.admit(write.session, replacing=write.replacing)
    except MemForestError as error:
        return error


def repair(version: Version, write: Repair, extracted: Mapping[CellInput, Extraction], model: str) -> Steps[Written]:
    """Try failed cells again, have pending pairs judged and stale summaries written."""
    work = _laid(version, write)
    work.draining = True
    stale = stale_nodes(version)
    told = Receipt(version.number, write.op_id, duplicate=True)
    if not (work.retry or stale or version.facts.pending):
        return Written(version, answers=(told,))
    after = yield from rework(work, extracted, model, stale=stale)
    told = counted(replace(told, duplicate=False), work, work.retry.keys())
    return replace(after, answers=charged([told], work))


def upkeep(version: Version, write: Upkeep, model: str) -> Steps[Written]:
    """Take in summaries and verdicts that were made beside the lane."""
    work = Work(version, Dialogue(version))
    work.draining = any(pair.key in version.facts.pending for pair in write.pairs)
    stale = tuple(each for each in write.nodes if (held := version.summaries.get(each[1].id)) and held.stale)
    told = Refreshed(version.number, write.op_id)
    if not (stale or work.draining):
        return Written(version, answers=(told,))
    after = yield from rework(work, {}, model, stale=stale)
    return replace(after, answers=(told,))


def stale_nodes(version: Version, known: Nodes = ()) -> Nodes:
    """Nodes whose summary is a stand-in, or stands above one.

    `known` are some of them: where those are all, no tree is looked at, and none has to be read.
    """
    wanted = {name for name, summary in version.summaries.items() if summary.stale}
    wanted.difference_update(node.id for _, node in known)
    nodes = ((scope, node) for scope, tree in version.trees.items() for node in tree.nodes() if node.id in wanted)
    return (*known, *islice(nodes, len(wanted)))


def forget(version: Version, write: Forget, extracted: Mapping[CellInput, Extraction], model: str) -> Steps[Written]:
    """Erase a session, turns or a fact. Raises InvalidInput, NotFound."""
    dialogue = Dialogue(version)
    places = _forget_dialogue(version, dialogue, write)
    first: FactsEdit | None = None
    still: tuple[TurnId, ...] = ()
    if write.fact is not None:
        first, still = _withheld(version, write)
    work = Work(version, dialogue)
    after = yield from rework(work, extracted, model, first=first)
    shown = after.version.facts.shown
    gone = tuple(fact.id for fact in work.facts.removed if fact.id not in shown)
    report = Forgotten(version.number, write.op_id, len(places), gone, still)
    return replace(after, answers=(report,), erases=True)


def _withheld(version: Version, write: Forget) -> tuple[FactsEdit, tuple[TurnId, ...]]:
    """The facts without the one to be forgotten, and the turns that go on telling it. Raises NotFound."""
    # One key for the whole forest: to know a withheld statement again costs one hash for each key there is.
    key = keyed(version.secret, "withheld")
    if version.find_fact(write.fact or "") is None and (write.kept.atoms or write.kept.turns):
        edit = version.facts.withhold_hashed((key, keyed_hash(key, atom)) for atom in write.kept.atoms)
        told = write.kept.told
    else:
        fact = _found(version, write.fact or "")
        edit = version.facts.withhold(fact.id, key)
        told = tuple(version.sessions[session].turn_id(turn) for session, turn in fact.turns)
    return edit, () if write.with_dialogue else told


def _forget_dialogue(version: Version, dialogue: Dialogue, write: Forget) -> list[Place]:
    """Takes what is to be forgotten out of the dialogue; which turns that were. Raises InvalidInput, NotFound."""
    named = (write.session is not None or write.turns is not None, write.fact is not None, write.origin is not None)
    if sum(named) != 1:
        raise InvalidInput("forget takes exactly one of a session, turns, a fact and an origin; nothing was changed")
    if write.origin is not None:
        return [place for name in _from(version, write.origin) for place in _forget_session(version, dialogue, name)]
    if write.session is not None and write.turns is None:
        return _forget_session(version, dialogue, SessionId(write.session), write.kept.sessions)
    kept = list(write.kept.turns)
    if write.turns is not None:
        elsewhere = {turn.id or TurnId(f"{session}#{index}") for session, index, turn in kept}
        wanted = [name for name in write.turns if TurnId(name) not in elsewhere]
        places = dialogue.places_of(wanted, write.session) if wanted or not kept else []
    elif kept or write.kept.atoms:
        places = [(session, index) for session, index, turn in kept if _stands(version, session, index, turn)]
        kept = [each for each in kept if each[:2] not in places]
    else:
        fact = _found(version, write.fact or "")
        places = list(fact.turns) if write.with_dialogue else []
    dialogue.forget_turns(places)
    return [*places, *dialogue.forget_kept_turns(kept)]


def _stands(version: Version, session: SessionId, index: int, turn: TurnRecord) -> bool:
    stored = version.sessions.get(session)
    return stored is not None and index < len(stored.turns) and stored.turns[index].key == turn.key


def _forget_session(
    version: Version, dialogue: Dialogue, name: SessionId, kept: Sequence[SessionRecord] = ()
) -> list[Place]:
    if name not in version.sessions and kept:
        return dialogue.forget_kept(name, kept)
    dialogue.forget_session(name)
    return [(name, index) for index, turn in enumerate(version.sessions[name].turns) if turn.hole is None]


def _from(version: Version, user: str) -> list[SessionId]:
    """Sessions that came from a user, through whoever's hands. Raises NotFound."""
    found = sorted(name for name, path in version.origins.items() if user in path)
    if not found:
        raise NotFound(f"nothing in this memory came from {user!r}; nothing was changed", what="origin", origin=user)
    return found


def _found(version: Version, name: str) -> Fact:
    fact = version.find_fact(name)
    if fact is None:
        raise NotFound(f"there is no fact {name!r}; nothing was changed", what="fact", fact=name)
    return fact


# ---- the steps, in the order of the flow ------------------------------------------------------------------


def rework(
    work: Work,
    extracted: Mapping[CellInput, Extraction],
    model: str,
    *,
    first: FactsEdit | None = None,
    stale: Nodes = (),
) -> Steps[Written]:
    """From edited dialogue to the next version and its rows. `first`: what was done to its facts already; `stale`:
    nodes of the version whose summaries are to be made anew.
    """
    yield from _extract(work, extracted)
    work.facts = _edit_facts(work, first or FactsEdit(work.version.facts))
    yield from embed(work)
    yield from judge(work)
    edit = work.facts
    version = _edited(work)
    entities = version.entities.edit(edit.added, edit.removed)
    scenes = _scenes(work, version)
    moves = version.birth.planted({**entities.moves, **scenes.moves, **_cell_moves(work)})
    if (adoption := work.takeover.adoption) is not None:
        work.grafts = adoption.grafts(version, moves)
    forest = _plant(work, version, moves)
    version = replace(version, entities=entities.entities)
    return (yield from finish(work, version, scenes, forest, model, stale))


def _plan_of(work: Work, version: Version, moves: Moves, model: str) -> RefreshPlan:
    """The summaries of some trees alone."""
    return _refresh_plan(work, _plant(work, version, moves), model, broken=outlived(work))


def _scenes(work: Work, version: Version) -> ScenesEdit:
    """Where the changed facts belong; nowhere in a forest without scenes."""
    if "scene" not in version.birth.families:
        return ScenesEdit(version.scenes, {}, ())
    edit, adoption = work.facts, work.takeover.adoption
    together = () if adoption is None else adoption.companies(edit.facts)
    return version.scenes.edit(edit.added, edit.removed, vector_of=_vectors_of(work), together=together)


def finish(
    work: Work, version: Version, scenes: ScenesEdit, forest: ForestEdit, model: str, stale: Nodes = ()
) -> Steps[Written]:
    """From edited scenes and trees to the next version and its rows; for `stale` see `rework`."""
    version = replace(version, scenes=scenes.scenes, trees=forest.trees, placements=forest.placements)
    gone = {node.id for _, node in forest.removed}
    broken = outlived(work)
    again = tuple((scope, node) for scope, node in stale if node.id not in gone and node.id not in broken)
    again += nodes_of(forest, broken)
    plan = _refresh_plan(work, forest, model, again, broken)
    work.summarised = yield from Refresh(plan)
    work.made = plan.results()
    version = replace(version, summaries=_summaries(work, forest))
    draft = written(work, version, scenes, forest, again)  # now, while the texts may be on their way to be embedded
    texts: dict[str, str] = {name: made.text for name, made in work.made.items() if made.source == "model"}
    yield from embed_texts(work, texts)
    return with_vectors(draft, {name: work.vectors[name] for name in texts})


def _extract(work: Work, extracted: Mapping[CellInput, Extraction]) -> Steps[None]:
    wanted = work.inputs()
    work.extractions = {shown.cell_id: extracted[shown] for shown in wanted if shown in extracted}
    missing = tuple(shown for shown in wanted if shown.cell_id not in work.extractions)
    if missing:
        answers = yield from Extract(missing)
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
    edit = first.then(first.facts.edit([*_mentions(work), *corrections(work, first.facts)], gone))
    adoption = work.takeover.adoption
    return edit if adoption is None else edit.then(adoption.evidence(edit.facts))


def _mentions(work: Work) -> list[Mention]:
    cells = {**work.born, **work.retry}
    mentions: list[Mention] = []
    for name, extraction in work.extractions.items():
        cell = cells[name]
        session = work.dialogue.sessions[cell.session_id]
        mentions += work.takeover.told.get(name, ())
        for number, candidate in enumerate(extraction.candidates):
            said = session.source_ms(candidate.turns[0])
            mentions.append(Mention.of(name, cell.session_id, number, said, candidate))
    return mentions


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
        origins=_origins(work),
        lineage=work.version.lineage.update(work.takeover.lineage),
        facts=work.facts.facts,
        echoes=echoes(work),
    )


def _origins(work: Work) -> Map[SessionId, tuple[str, ...]]:
    origins = work.version.origins.update(work.takeover.origins)
    for session in work.dialogue.touched:
        if session in origins and session not in work.dialogue.sessions:
            origins = origins.delete(session)
    return origins


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
        grafts=work.grafts.trees,
    )


def _refresh_plan(
    work: Work, forest: ForestEdit, model: str, again: Nodes = (), broken: frozenset[NodeId] = frozenset()
) -> RefreshPlan:
    """`broken`: nodes whose summaries nobody may use any more."""
    kept = work.version.summaries
    for name in broken:
        kept = kept.delete(name)
    return RefreshPlan(
        [*forest.added, *again],
        summaries=kept,
        model=model,
        reusable=[*usable(work, work.grafts.summaries), *(kept[n.id] for _, n in forest.removed if n.id in kept)],
        heirs=heirs_of(work, forest) if forest.added else None,
    )


def _summaries(work: Work, forest: ForestEdit) -> Map[NodeId, Summary]:
    summaries = work.version.summaries.mutate()
    for _, node in forest.removed:
        summaries.pop(node.id, None)
    summaries.update(work.made)
    return summaries.finish()
