"""Overviews: what a memory tells about itself, as plain dicts that print and go into JSON as they are."""

from typing import NotRequired, TypedDict

__all__ = ["Counts", "GraphCounts", "ModelCounts", "Stats", "Tree", "TreeCard", "TreeNode"]


class Counts(TypedDict):
    """How much of what a version holds."""

    version: int
    """Its number: rises with each commit."""
    exists: bool
    """Whether there is a memory: nothing was ever written for a user without one, or all of it was deleted."""
    sessions: int
    turns: int
    """Those that are kept; without forgotten ones."""
    forgotten_turns: int
    """Of sessions that are still there: each leaves a hole, which keeps the numbers of the others."""
    turns_without_time: int
    """Of `turns`: neither they nor their session say when."""
    cells: int
    failed_cells: int
    """Of `cells`: no model could read them; their dialogue is searched, `repair` tries again."""
    facts: int
    mentions: int
    """What facts rest on: each time that one was said."""
    trees: dict[str, int]
    """By family: `session`, `entity`, `scene`."""
    families: list[str]
    """Those that this memory keeps trees of, decided when it began."""
    nodes: int
    """Of all trees, leaves not counted."""
    stale_summaries: int
    """Of nodes: extractive ones that stand in until a model has written theirs."""


class ModelCounts(TypedDict):
    """What model calls have cost since this memory was opened by its present owner."""

    usage: dict[str, dict[str, int]]
    """By stage (`extract`, `judge`, `summarise`, `embed`; of questions `plan`, `rank`, `answer`): `calls`, `retries`,
    `prompt_tokens`, `cached_tokens` (of the prompt's), `completion_tokens`.
    """
    seconds: dict[str, float]
    """By stage, each call counted whole: more than the wall where many are in flight."""
    in_flight: int
    """Calls of writes, now."""
    busy_s: float
    """In which any call of a write was in flight."""
    open_s: float
    """Since it was opened."""


class GraphCounts(TypedDict):
    """Graphs over vectors since this memory was opened; a small one is scanned and has none."""

    built: int
    reused: int
    """Found in the store, and right."""
    damaged: int
    """Found in the store, and not readable; built anew."""


class Stats(Counts):
    """What a memory holds and what it has cost: the answer of `stats`."""

    writes_waiting: int
    """Accepted and not answered yet."""
    owned: bool
    """Whether this owner has claimed the memory: with its first write; reading takes no claim."""
    models: ModelCounts
    graphs: GraphCounts


class _Named(TypedDict):
    scope: str
    """What it is about, as `tree` is asked for it: `session:<id>`, `entity:<key>`, `scene:<id>`."""
    family: str
    """`session`, `entity` or `scene`."""
    label: str
    """For people: an entity as it is written most often, else what follows the family in `scope`."""
    leaves: int
    height: int
    """Levels of nodes above the leaves: 0 for a tree of one leaf."""


class _Spanned(TypedDict):
    start: str | None
    """The earliest time below it, of an event or of its telling, as ISO 8601; None where nothing has a time. A leaf has
    the time that it is ordered by: its event's, else its source's.
    """
    end: str | None
    """The latest; exclusive."""
    summary: str
    """A leaf's is its text."""


class TreeCard(_Named, _Spanned):
    """What there is to know of a tree without opening it: one of the answer of `trees`."""


class TreeNode(_Spanned):
    """A node or a leaf of a tree. A leaf has `item`; a node has `node`, `source`, `stale` and `children`."""

    count: int
    """Leaves below it; 1 of a leaf."""
    item: NotRequired[str]
    """The id of a leaf's fact or cell."""
    node: NotRequired[str]
    """The id of a node."""
    source: NotRequired[str | None]
    """Where a node's summary is from: `concat` (its children's texts fit), `select` (their best lines), `model`."""
    stale: NotRequired[bool]
    """Whether a model is still to write it."""
    children: NotRequired[list["TreeNode"]]
    """In the order of time."""


class Tree(_Named, TreeNode):
    """A whole tree, its root first: the answer of `tree`."""
