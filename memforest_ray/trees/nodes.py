"""What a tree is made of: leaves, nodes, and the order in which leaves stand."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from memforest_ray.ids import ItemId, NodeId, ScopeId, SessionId, digest

__all__ = ["UNKNOWN_MS", "Child", "Leaf", "Node", "OrderKey", "Range", "node_row", "order_key"]

UNKNOWN_MS: Final = 1 << 62
"""Stands for an unknown time in an `OrderKey`: it sorts after every real one."""

OrderKey: TypeAlias = tuple[int, int, str, int, str]
"""Event start (else source time), source time, session id, turn index, item id."""
Range: TypeAlias = tuple[int, int]


def order_key(
    *, event_ms: int | None, source_ms: int | None, session_id: SessionId, turn: int, item: ItemId
) -> OrderKey:
    """Where an item stands among the leaves of any tree; unknown times come last."""
    said = UNKNOWN_MS if source_ms is None else source_ms
    return said if event_ms is None else event_ms, said, session_id, turn, item


@dataclass(frozen=True, slots=True)
class Leaf:
    """One fact or cell as trees see it."""

    item: ItemId
    order: OrderKey
    source_ms: Range | None
    """Earliest and latest known time at which it was said."""
    undated: bool
    """Whether some of its evidence has no source time."""
    event_ms: Range | None
    """Half-open."""
    text: str
    """The line that stands for it in summaries, e.g. "2023-05-07 Bob moved to Davis."."""
    id: str = field(init=False)
    """Of everything above: a leaf that says something else is another leaf."""

    def __post_init__(self) -> None:
        event, source, session, turn, last = self.order
        numbers = f"{event},{source},{turn},{self.source_ms},{self.undated},{self.event_ms}"
        object.__setattr__(self, "id", digest(self.item, session, last, numbers, self.text))

    @property
    def first(self) -> OrderKey:
        return self.order

    @property
    def last(self) -> OrderKey:
        return self.order

    @property
    def count(self) -> int:
        return 1

    @property
    def level(self) -> int:
        return 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An interval of leaves. Equal to any node with the same id, since the id tells everything below it."""

    id: NodeId
    level: int
    """1 above leaves."""
    children: tuple["Child", ...]
    count: int
    """Leaves below it."""
    first: OrderKey
    last: OrderKey
    source_ms: Range | None
    """Earliest and latest known source time of its leaves."""
    undated: int
    """Leaves below it with evidence of unknown source time."""
    event_ms: Range | None
    """Hull of its leaves' event intervals."""

    @classmethod
    def of(cls, scope: ScopeId, children: tuple["Child", ...]) -> "Node":
        """The node over `children`, which are in order and of one level."""
        head = children[0]
        level = head.level + 1 if isinstance(head, Node) else 1
        # Child ids have one length per level, so that joined they are unambiguous (and quick to digest).
        name = NodeId("n" + digest(scope, level, "".join([child.id for child in children]), size=12))
        return cls(
            id=name,
            level=level,
            children=children,
            count=sum([child.count for child in children]) if level > 1 else len(children),
            first=head.first,
            last=children[-1].last,
            source_ms=_hull([child.source_ms for child in children]),
            undated=sum([child.undated for child in children]),
            event_ms=_hull([child.event_ms for child in children]),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Node({self.id}, level={self.level}, count={self.count})"


Child: TypeAlias = Node | Leaf


def _hull(ranges: Iterable[Range | None]) -> Range | None:
    known = [span for span in ranges if span is not None]
    if not known:
        return None
    return min([low for low, _ in known]), max([high for _, high in known])


def node_row(node: Node) -> dict[str, Any]:
    """What is stored of a node under its id; everything else follows from its leaves."""
    names = [child.item if isinstance(child, Leaf) else child.id for child in node.children]
    return {"level": node.level, "children": names}
