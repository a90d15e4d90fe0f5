"""Forests of any size out of nothing: stored rows as years of talk would leave them, without a model or an ingest.

Texts are invented words. Vectors stand around one centre for each scene, and near a surface of few dimensions, as those
of texts do. The same arguments give the same rows.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from immutables import Map
from numpy.random import Generator as Random

from memforest_ray.commit.changes import VECTORS, Changes
from memforest_ray.commit.version import Birth, Vector, Version, put_cells, put_sessions
from memforest_ray.facts.atoms import atom_id
from memforest_ray.facts.candidates import DOMAINS, Candidate, Kind, Mention
from memforest_ray.facts.canonical import Facts
from memforest_ray.facts.cells import Cell, cut
from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.facts.times import EventTime, Precision
from memforest_ray.ids import CellId, FactId, ItemId, ScopeId, SessionId
from memforest_ray.index.index import Index
from memforest_ray.trees.edits import tree_row
from memforest_ray.trees.nodes import Leaf, node_row
from memforest_ray.trees.routing import Entities, entity_scope, scene_scope, scope_family, session_scope
from memforest_ray.trees.scenes import SCENE_TREE_MIN, Scene, Thresholds
from memforest_ray.trees.summaries import CONCAT_CHARS_MAX, Summary, summary_inputs, summary_row
from memforest_ray.trees.tree import MemTree

__all__ = ["BIRTH", "THRESHOLDS", "Synthetic", "load_synthetic", "questions", "synthetic"]

BIRTH: Final = Birth(2, 8_000, 6 * 3_600_000, Map({"session": 4, "entity": 8, "scene": 8}))
THRESHOLDS: Final = Thresholds(assign=0.70, spawn=0.58, merge=0.88)

_TURNS: Final = 20
_FACTS_PER_TURN: Final = 1.25
_FACTS_PER_SCENE: Final = 9
_FACTS_PER_NAME: Final = 32
_START_MS: Final = 1_600_000_000_000
_DAY_MS: Final = 86_400_000
_SYLLABLES: Final = ("ba", "do", "fi", "gu", "ka", "le", "mo", "nu", "pe", "ri", "so", "tu", "va", "we", "xi", "zo")
_VOCABULARY: Final = 4_096
_NEARNESS: Final = 0.75
"""Weight of its scene's centre in a vector: two facts of one scene have a cosine of about 0.56."""
_SURFACE: Final = 48
"""Dimensions in which vectors differ most ..."""
_NOISE: Final = 0.1
"""... and how far they lie from these, as a share of their length."""


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Stored rows, and what questions can be made of."""

    tables: dict[str, dict[str, Any]]
    dimension: int
    texts: tuple[str, ...]
    """Of the facts."""
    vectors: dict[str, Vector]


def synthetic(facts: int, dimension: int, seed: int = 0) -> Synthetic:
    """About so many facts, with their dialogue, trees and summaries."""
    words = _Words(random.Random(seed), max(facts // _FACTS_PER_NAME, 4))
    sessions = [_session(number, words) for number in range(max(round(facts / _TURNS / _FACTS_PER_TURN), 1))]
    cells = [cell for session in sessions for cell in cut(session, **BIRTH.limits)]
    mentions = [mention for cell in cells for mention in _mentions(cell, words)]
    known = Facts().edit(mentions).facts
    rng = np.random.default_rng(seed)
    scenes, vectors = _scenes(known, rng, dimension)
    vectors |= dict(_cell_vectors(cells, mentions, known, vectors, rng))
    changes = Changes()
    changes.put("birth", "secret", f"{seed:064x}")
    put_sessions(changes, Map(), Map({session.id: session for session in sessions}), [each.id for each in sessions])
    put_cells(changes, Map(), cells, ())
    for row in known.rows():
        changes.put(row.table, row.key, row.value)
    half = _half(sessions, cells, known)
    for scene in scenes:
        changes.put("scenes", scene.id, scene.row())
    for tree in _trees(half, scenes):
        _put_tree(changes, tree)
    for name, vector in vectors.items():
        changes.put(VECTORS, name, vector.tobytes())
    return Synthetic(changes.puts, dimension, tuple(fact.text for fact in known), vectors)


def _half(sessions: Iterable[SessionRecord], cells: Sequence[Cell], facts: Facts) -> Version:
    """A version without trees, to take leaves from."""
    by_session: dict[SessionId, tuple[CellId, ...]] = {}
    for cell in cells:
        by_session[cell.session_id] = (*by_session.get(cell.session_id, ()), cell.id)
    return replace(
        Version.empty(BIRTH, "", THRESHOLDS, Index(1).view()),
        sessions=Map({session.id: session for session in sessions}),
        cells=Map({cell.id: cell for cell in cells}),
        session_cells=Map(by_session),
        facts=facts,
        entities=Entities().edit(facts).entities,
    )


def load_synthetic(made: Synthetic, index: Index | None = None) -> Version:
    """The version of these rows, with its index."""
    return Version.load(made.tables, 1, BIRTH, THRESHOLDS, index or Index(made.dimension))


def questions(made: Synthetic, count: int, seed: int = 1) -> Iterator[tuple[str, Vector]]:
    """Questions about things that are there: some words of a fact, and a vector like that fact's."""
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    facts = [name for name in made.vectors if name[0] == "f"]
    for _ in range(count):
        said = rng.choice(made.texts).split()
        near = made.vectors[rng.choice(facts)].astype(np.float32)[None]
        text = " ".join(["What", "did", said[0], "say", "about", *rng.sample(said[1:], min(4, len(said) - 1))])
        yield text + "?", _around(near, 1, noise)[0]


class _Words:
    """Invented words, few of them frequent, as in any language; and names."""

    def __init__(self, rng: random.Random, names: int) -> None:
        self.rng = rng
        self._words = [self._word() for _ in range(_VOCABULARY)]
        self._weights = np.cumsum(1 / np.arange(8, _VOCABULARY + 8)).tolist()
        self.names = [f"{self._word()}{number}".capitalize() for number in range(names)]

    def _word(self) -> str:
        return "".join(self.rng.choices(_SYLLABLES, k=self.rng.randint(2, 4)))

    def some(self, count: int) -> str:
        return " ".join(self.rng.choices(self._words, cum_weights=self._weights, k=count))


def _session(number: int, words: _Words) -> SessionRecord:
    start = _START_MS + number * _DAY_MS
    turns = tuple(
        TurnRecord("user", ("Bob", "Ana")[place % 2], words.some(words.rng.randint(8, 24)), start + place * 60_000)
        for place in range(_TURNS)
    )
    return SessionRecord(SessionId(f"s{number}"), turns, start, None, ())


def _mentions(cell: Cell, words: _Words) -> Iterator[Mention]:
    count = words.rng.choice((1, 2, 2, 3, 3, 4))
    for number in range(count):
        span = words.rng.choice(cell.spans)
        speaker = ("Bob", "Ana")[span.turn % 2]
        name = words.rng.choice(words.names)
        day = (cell.source_ms or 0) // _DAY_MS * _DAY_MS
        dated = words.rng.random() < 0.4
        candidate = Candidate(
            text=f"{speaker} {words.some(words.rng.randint(6, 12))} {name}",
            kind=Kind.EVENT if dated else Kind.STATE,
            speaker=speaker,
            role="user",
            turns=(span.turn,),
            subject=None if dated else speaker,
            attribute=None if dated else words.some(1),
            entities=(name,),
            domain=words.rng.choice(DOMAINS),
            event=EventTime(day, day + _DAY_MS, Precision.DAY, "that day", day) if dated else None,
        )
        yield Mention.of(cell.id, cell.session_id, number, cell.source_ms, candidate)


def _scenes(facts: Facts, rng: Random, dimension: int) -> tuple[list[Scene], dict[str, Vector]]:
    """Facts of one domain in scenes, those of one scene around one centre."""
    by_gate: dict[str, list[FactId]] = {}
    for fact in facts.in_order():
        by_gate.setdefault(fact.domain, []).append(fact.id)
    scenes: list[Scene] = []
    vectors: dict[str, Vector] = {}
    for gate, names in by_gate.items():
        for start in range(0, len(names), _FACTS_PER_SCENE):
            members = names[start : start + _FACTS_PER_SCENE]
            rows = _around(_around(np.zeros((1, dimension), np.float32), 1, rng), len(members), rng)
            vectors.update(zip(map(str, members), rows, strict=True))
            times = tuple(facts.shown[name].source_ms for name in members)
            scenes.append(Scene(gate, tuple(members), times, rows.astype(np.float64).sum(axis=0)))
    return scenes, vectors


def _cell_vectors(
    cells: Iterable[Cell], mentions: Iterable[Mention], facts: Facts, vectors: Mapping[str, Vector], rng: Random
) -> Iterator[tuple[str, Vector]]:
    """A cell's is like those of the facts that come from it."""
    centres: dict[str, Any] = {}
    for mention in mentions:
        vector = vectors[facts.homes[atom_id(mention)]].astype(np.float32)
        centres[mention.cell_id] = centres.get(mention.cell_id, 0) + vector
    for cell in cells:
        centre = centres[cell.id][None]
        yield cell.id, _around(centre / np.linalg.norm(centre), 1, rng)[0]


def _around(centre: Any, count: int, rng: Random) -> Any:
    """So many rows around a centre."""
    dimension = centre.shape[1]
    inner = rng.standard_normal((count, _SURFACE), np.float32) @ _surface(dimension)
    outer = rng.standard_normal((count, dimension), np.float32)
    noise = _units(inner) + _NOISE * _units(outer)
    return _units(_NEARNESS * centre + (1 - _NEARNESS**2) ** 0.5 * _units(noise)).astype(np.float16)


@cache
def _surface(dimension: int) -> Any:
    return np.random.default_rng(dimension).standard_normal((_SURFACE, dimension), np.float32)


def _units(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _trees(half: Version, scenes: Iterable[Scene]) -> Iterator[MemTree]:
    """Every tree that these facts and cells have."""
    wanted: dict[ScopeId, Iterable[ItemId]] = {
        session_scope(session): [ItemId(name) for name in names] for session, names in half.session_cells.items()
    }
    for key, entity in half.entities.by_key.items():
        if entity.active:
            wanted[entity_scope(key)] = [ItemId(name) for name in entity.facts]
    for scene in scenes:
        if len(scene.members) >= SCENE_TREE_MIN:
            wanted[scene_scope(scene.id)] = [ItemId(name) for name in scene.members]
    leaf_of = cache(half.leaf_of)
    for scope, items in wanted.items():
        yield MemTree(scope, BIRTH.fanouts[scope_family(scope)]).edit(insert=map(leaf_of, items)).tree


def _put_tree(changes: Changes, tree: MemTree) -> None:
    """Its rows; summaries are what its first leaves say."""
    changes.put("trees", tree.scope, tree_row(tree))
    texts: dict[str, str] = {}
    for node in tree.nodes():
        below = [child.text if isinstance(child, Leaf) else texts[child.id] for child in node.children]
        texts[node.id] = "\n".join(below)[:CONCAT_CHARS_MAX]
        changes.put("nodes", node.id, node_row(node))
        changes.put("summaries", node.id, summary_row(Summary(texts[node.id], summary_inputs(below, "none"), "select")))
