"""Adoption: what a forest takes over from another one instead of making it anew.

Sessions come under their new names. Whatever was found, embedded, summarised, clustered or shaped there is offered
under what it was made from: cells by what an extractor is shown, vectors by text, summaries by their inputs, trees by
the leaves that come whole. What does not fit is made here, as for any other write.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from memforest_ray.commit.version import Vector, Version
from memforest_ray.facts.atoms import atom_id
from memforest_ray.facts.candidates import CellInput, Extraction, Mention
from memforest_ray.facts.canonical import Facts, FactsEdit
from memforest_ray.facts.cells import Cell, renewed
from memforest_ray.facts.inputs import cell_inputs
from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.verdicts import Pair, Verdict
from memforest_ray.facts.withheld import keyed_hash
from memforest_ray.forest.dialogue import Dialogue
from memforest_ray.forest.renaming import Labels, Renaming, entangled, renamed, retitled
from memforest_ray.ids import AtomId, CellId, FactId, ItemId, MentionId, NodeId, ScopeId, SessionId
from memforest_ray.index.rows import cell_embedding_text, mention_embedding_text
from memforest_ray.trees.heirs import Forebear
from memforest_ray.trees.nodes import Child, Leaf, Node, OrderKey
from memforest_ray.trees.parts import SUMMARY_CHARS_MAX, parts
from memforest_ray.trees.routing import Move, Moves, entity_key, scene_scope, scope_family, session_scope
from memforest_ray.trees.scenes import SceneId
from memforest_ray.trees.selection import select_lines
from memforest_ray.trees.summaries import Summary, recent_leaves, summary_inputs
from memforest_ray.trees.tree import MemTree

__all__ = ["Adopted", "Adoption", "Grafts"]

_GRAFT_MIN = 2
"""A tree of one leaf is no shape."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """One session under its new name."""

    record: SessionRecord
    cells: tuple[Cell, ...]
    former: SessionId
    """Its name in the source."""


@dataclass(frozen=True, slots=True)
class Grafts:
    """Trees that come whole, and the summaries of their nodes."""

    trees: Mapping[ScopeId, MemTree] = field(default_factory=dict)
    summaries: tuple[Summary, ...] = ()
    forebears: Mapping[ScopeId, Forebear] = field(default_factory=dict)
    """Trees that these were, there."""


class Adoption:
    """A source's version, seen from a forest that takes it over. `model` names what summarises there."""

    def __init__(self, source: Version, name: str, model: str) -> None:
        self.source = source
        self.renaming = Renaming(name)
        self._model = model
        self.sessions: list[Adopted] = []
        self.extracted: dict[CellInput, Extraction] = {}
        """Of each cell that need not be read: its failure, or nothing; what it has told is in `told_in`."""
        self._told: dict[CellId, tuple[Mention, ...]] = {}
        self._moved: dict[MentionId, Mention] = {}
        self._cells: dict[CellId, Cell] = {}
        """The source's, by the ids that they have now."""
        self._labels: dict[str, str] = {}
        for session in sorted(source.sessions):
            self._adopt(source.sessions[session])

    def _adopt(self, former: SessionRecord) -> None:
        record = self.renaming.record(former)
        labels = self.renaming.labels(former)
        self._labels.update(labels)
        old = [self.source.cells[name] for name in self.source.session_cells[former.id]]
        cells = [renewed(record, _of(cell, record.id)) for cell in old]
        self.sessions.append(Adopted(record, tuple(cells), former.id))
        for cell, was, shown in zip(cells, old, cell_inputs(record, cells), strict=True):
            self._cells[cell.id] = was
            moved = {told.id: _moved(told, cell, labels) for told in self.source.facts.of_cell(was.id)}
            self._moved.update(moved)
            self._told[cell.id] = tuple(moved.values())
            if not entangled((turn.text for turn in shown.turns), labels):
                self.extracted[shown] = Extraction(cell.id, failure=self.source.failed.get(was.id))

    @property
    def labels(self) -> tuple[str, ...]:
        """What speakers without a name are called now."""
        return tuple(self._labels.values())

    @property
    def speakers(self) -> set[str]:
        """Who speaks in the sessions that are taken over."""
        return {turn.speaker for session in self.sessions for turn in session.record.turns if turn.hole is None}

    @property
    def entity_keys(self) -> set[str]:
        """Who and what the source speaks of, but for whom it knows by a role only."""
        return set(self.source.entities.by_key) - {entity_key(name) for name in self._labels}

    def told_in(self, shown: CellInput) -> tuple[Mention, ...]:
        """What need not be found in a cell: all it has told; where it has to be read anew, what somebody put in."""
        told = self._told.get(shown.cell_id, ())
        if shown in self.extracted:
            return told
        return tuple(mention for mention in told if mention.candidate.corrected_from)

    def corrections(self, dialogue: Dialogue) -> Iterator[Mention]:
        """What somebody has put in the place of a statement there, in the cells that hold its turns here."""
        records = {session.record.id: session.record for session in self.sessions}
        for told in self._moved.values():
            if told.candidate.corrected_from is None:
                continue
            home = _home(dialogue, records[told.session_id], told.candidate.turns)
            if home is not None:
                yield Mention.of(home, told.session_id, told.number, told.source_ms, told.candidate)

    def mends(self, cell: CellId) -> bool:
        """Whether a cell whose extraction failed here has been read there."""
        was = self._cells.get(cell)
        return was is not None and was.id not in self.source.failed

    # ---- vectors -----------------------------------------------------------------------------------------

    @cached_property
    def vectors(self) -> Mapping[str, Vector]:
        """By the text that was embedded."""
        source = self.source
        known: dict[str, Vector] = {}
        for atom in source.facts.atoms.values():
            vector = source.atom_vector(atom.id)
            if vector is not None:
                known[mention_embedding_text(atom.mentions[0])] = vector
        for session in self.sessions:
            for cell in session.cells:
                was = self._cells[cell.id]
                text = cell_embedding_text(cell, session.record)
                if source.spoken(was) and text == cell_embedding_text(was, source.sessions[session.former]):
                    known[text] = source.vector(was.id)
        for node, summary in source.summaries.items():
            if summary.source == "model":
                known[summary.text] = source.vector(node)
        return known

    # ---- facts -------------------------------------------------------------------------------------------

    def evidence(self, facts: Facts) -> FactsEdit:
        """Verdicts, open pairs and withheld statements of the source, for facts that hold its mentions already."""
        verdicts: list[Verdict] = []
        pending: list[Pair] = []
        for pair, equivalent in self._links():
            # What was said in a session that is forgotten here has not come.
            if pair.first not in facts.evidence.atoms or not facts.evidence.unjudged(pair.first, pair.second):
                continue
            if equivalent is None:
                pending.append(pair)
            else:
                verdicts.append(Verdict(pair, equivalent))
        edit = facts.with_verdicts(verdicts, pending)
        hidden = dict(self._hidden())
        edit = edit.then(edit.facts.withhold_atoms(hidden))
        # Of what is not said here there is nothing to hide, but it is to be known should it be said.
        unsaid = [(key, keyed_hash(key, atom)) for atom, key in hidden.items() if atom not in edit.facts.evidence.atoms]
        return edit.then(edit.facts.withhold_hashed(unsaid))

    def _links(self) -> Iterator[tuple[Pair, bool | None]]:
        for one, links in self.source.facts.evidence.links.items():
            first = self._atom(one)
            for other, link in links.items():
                second = self._atom(other) if one < other else None
                if first is not None and second is not None and first != second:
                    yield Pair(first, second, link.similarity), link.equivalent

    def _hidden(self) -> Iterator[tuple[AtomId, str]]:
        for atom, key in self.source.facts.withheld.atoms.items():
            moved = self._atom(atom)
            if moved is not None:
                yield moved, key

    def _atom(self, atom: AtomId) -> AtomId | None:
        """What an atom of the source is called now; None when nothing of it came."""
        told = self.source.facts.atoms[atom].mentions
        return next((atom_id(self._moved[mention.id]) for mention in told if mention.id in self._moved), None)

    def home(self, fact: FactId, facts: Facts) -> FactId | None:
        """The fact that a fact of the source belongs to now."""
        atom = self._atom(AtomId(fact))
        return None if atom is None else facts.homes.get(atom)

    # ---- scenes and trees --------------------------------------------------------------------------------

    def companies(self, facts: Facts) -> list[tuple[FactId, ...]]:
        """Facts that are one scene in the source, each scene by the ids that they have now."""
        found = []
        for _, scene in sorted(self.source.scenes.by_id.items()):
            homes = (self.home(fact, facts) for fact in scene.members)
            found.append(tuple(dict.fromkeys(home for home in homes if home is not None)))
        return found

    def grafts(self, version: Version, moves: Moves) -> Grafts:
        """For the trees of `moves`: what of the source's comes whole. `version` knows the items as they are now."""
        places = dict(self._places(version.facts))
        origin = {new: old for old, new in places.items()}
        trees: dict[ScopeId, MemTree] = {}
        forebears: dict[ScopeId, Forebear] = {}
        summaries = list(self._summaries())
        for scope, move in moves.items():
            donor = self._donor(scope, move, origin)
            if donor is None or donor.k != version.birth.fanouts[scope_family(scope)]:
                continue
            kept, graft = _grafted(scope, donor, move, places, version)
            if kept.root is not None and graft.root is not None:
                trees[scope] = graft
                summaries += self._translated(kept.root, graft.root)
                if not self._labels:  # else other words stand there
                    forebears[scope] = self._forebear(donor, places, origin)
        return Grafts(trees, tuple(summaries), forebears)

    def _summaries(self) -> Iterator[Summary]:
        """The source's; what they tell of beside their leaves, by the names that it has now."""
        for summary in self.source.summaries.values():
            also = self._named(summary)
            if also is not None:
                yield summary if not also else replace(summary, also=also)

    def _named(self, summary: Summary) -> tuple[MentionId, ...] | None:
        """What it tells of beside its leaves, by the ids that this has now; None when not all of that has come."""
        named = [self._now(mention) for mention in summary.also]
        known = tuple(mention for mention in named if mention is not None)
        return known if len(known) == len(named) else None

    def _now(self, mention: MentionId) -> MentionId | None:
        moved = self._moved.get(mention)
        return None if moved is None else moved.id

    def _forebear(self, donor: MemTree, places: Mapping[ItemId, ItemId], origin: Mapping[ItemId, ItemId]) -> Forebear:
        source = self.source

        def place(order: OrderKey) -> OrderKey | None:
            former = origin.get(ItemId(order[-1]))
            leaf = None if former is None else source.leaf(former)
            return None if leaf is None else leaf.order

        return Forebear(donor, source.summaries, source.facts, places.get, self._now, place)

    def _places(self, facts: Facts) -> Iterator[tuple[ItemId, ItemId]]:
        for fact in self.source.facts:
            home = self.home(fact.id, facts)
            if home is not None:
                yield ItemId(fact.id), ItemId(home)
        for name, was in self._cells.items():
            yield ItemId(was.id), ItemId(name)

    def _donor(self, scope: ScopeId, move: Move, origin: Mapping[ItemId, ItemId]) -> MemTree | None:
        """The tree of the source that this one goes on."""
        family, _, key = scope.partition(":")
        trees = self.source.trees
        if family == "session":
            owned = self.renaming.owned(SessionId(key))
            return None if owned is None else trees.get(session_scope(owned))
        if family == "scene":
            scene_of = self.source.scenes.scene_of
            members = (origin.get(item) for item in move.insert - move.remove)
            facts = (FactId(item) for item in members if item is not None)
            scenes: Counter[SceneId] = Counter(scene_of[fact] for fact in facts if fact in scene_of)
            return None if not scenes else trees.get(scene_scope(min(scenes, key=lambda name: (-scenes[name], name))))
        former = {entity_key(label): entity_key(name) for name, label in self._labels.items()}
        return trees.get(ScopeId(f"{family}:{former.get(key, key)}"))

    def _translated(self, old: Child, new: Child) -> Iterator[Summary]:
        """Summaries of the nodes of a graft whose words are others than in the source: their speakers have labels."""
        if not self._labels:
            return
        texts: dict[NodeId, tuple[str, str]] = {}
        recent = recent_leaves(self._model)
        for was, now in zip(_nodes(old), _nodes(new), strict=True):
            summary = self.source.summaries.get(was.id)
            also = None if summary is None else self._named(summary)
            if summary is None or not summary.inputs or also is None:
                continue
            before, after = (_texts(node, recent, place, texts) for place, node in enumerate((was, now)))
            if before is None or after is None or summary.inputs != summary_inputs(before, self._model):
                continue
            said = "\n".join(after) if summary.source == "concat" else retitled(summary.text, self._labels)
            if len(said) > SUMMARY_CHARS_MAX:
                said = "\n".join(select_lines(said.splitlines(), SUMMARY_CHARS_MAX))
            texts[was.id] = texts[now.id] = (summary.text, said)
            if before != after:
                yield Summary(said, summary_inputs(after, self._model), summary.source, also=also)


def _of(cell: Cell, session: SessionId) -> Cell:
    return Cell(cell.id, session, cell.number, cell.spans, cell.source_ms, cell.open)


def _home(dialogue: Dialogue, record: SessionRecord, turns: Sequence[int]) -> CellId | None:
    """The cell that holds these turns of `record` here; None when one of them is not here, or says something else."""
    stored = dialogue.sessions.get(record.id)
    if stored is None or any(n >= len(stored.turns) or stored.turns[n].key != record.turns[n].key for n in turns):
        return None
    names = dialogue.session_cells[record.id]
    held = (name for name in names if any(span.turn == turns[0] for span in dialogue.cells[name].spans))
    return next(held, None)


def _moved(mention: Mention, cell: Cell, labels: Labels) -> Mention:
    candidate = renamed(mention.candidate, labels)
    return Mention.of(cell.id, cell.session_id, mention.number, mention.source_ms, candidate)


def _grafted(
    scope: ScopeId, donor: MemTree, move: Move, places: Mapping[ItemId, ItemId], version: Version
) -> tuple[MemTree, MemTree]:
    """The donor as far as its leaves come to `scope` and to no fact that is there; and the same over those leaves."""
    nothing = MemTree(scope, donor.k)
    fresh = move.insert - move.remove
    items: dict[ItemId, None] = {}
    gone: list[Leaf] = []
    for leaf in donor.leaves():
        item = places.get(leaf.item)
        if item is None or item not in fresh or item in items:
            gone.append(leaf)
        else:
            items[item] = None
    if len(items) < _GRAFT_MIN:
        return nothing, nothing
    kept = donor.edit(remove=gone).tree if gone else donor
    leaves = sorted(map(version.leaf_of, items), key=lambda leaf: leaf.order)
    if any(left.order == right.order for left, right in pairwise(leaves)):
        return nothing, nothing
    return kept, kept.shaped(leaves, scope)


def _nodes(child: Child) -> Iterator[Node]:
    if isinstance(child, Node):
        for below in child.children:
            yield from _nodes(below)
        yield child


def _texts(node: Node, recent: int, place: int, known: Mapping[NodeId, tuple[str, str]]) -> list[str] | None:
    """What the parts of a node say; None when a summary among them is not known."""
    said: list[str] = []
    for part in parts(node, recent):
        if isinstance(part, Leaf):
            said.append(part.text)
        elif part.id in known:
            said.append(known[part.id][place])
        else:
            return None
    return said
