"""The graph of a write's model calls: what each was made of, and the least time that all of them can take.

A call's text shows what it was made of: each line of it came out of some earlier call. Where a node stands among the
leaves of its tree cannot be seen in its text, so it is added when all is over (`CallGraph.place`): which leaves it
holds follows from how many stand before them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memforest_ray.commit.version import Version
from memforest_ray.facts.candidates import CellInput, Extraction, Extractor
from memforest_ray.facts.verdicts import Judge, Judgement, Question
from memforest_ray.ids import CellId, FactId, ScopeId
from memforest_ray.local.effects import Models
from memforest_ray.trees.nodes import Leaf
from memforest_ray.trees.routing import scope_family
from memforest_ray.trees.summaries import Source, Summarizer, SummaryReply, SummaryRequest

__all__ = ["Call", "CallGraph"]


@dataclass(eq=False, slots=True)
class Call:
    """One call, and those whose answers it was made of."""

    kind: str
    scope: ScopeId | None = None
    """Whose node it summarises."""
    after: set["Call"] = field(default_factory=set)
    lines: set[str] = field(default_factory=set)
    """Of leaves, that it was made of by way of others, too."""


class CallGraph:
    """Sees every call of the models that it stands over."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        """In the order in which they were asked for, so each comes behind those that it was made of."""
        self._said: dict[str, set[Call]] = {}
        """Statements, by the extractions that found them."""
        self._judged: dict[str, set[Call]] = {}
        self._summaries: dict[str, Call] = {}
        self._cells: dict[CellId, Call] = {}

    def over(self, models: Models) -> Models:
        """The same models, observed."""
        return replace(
            models,
            extractor=_Extractor(models.extractor, self),
            summarizer=_Summarizer(models.summarizer, self),
            judge=None if models.judge is None else _Judge(models.judge, self),
        )

    def extracts(self, cell: CellInput) -> Call:
        """A call that waits for nothing."""
        call = self._cells[cell.cell_id] = self._made(Call("extract"))
        return call

    def extracted(self, call: Call, found: Extraction) -> None:
        """What came out of it."""
        for candidate in found.candidates:
            for line in candidate.text.splitlines():
                self._said.setdefault(_bare(line), set()).add(call)

    def judges(self, question: Question) -> None:
        """A call about two statements, asked before either is placed."""
        statements = [_bare(mention.candidate.text) for mention in (question.first, question.second)]
        call = self._made(Call("judge"))
        for statement in statements:
            call.after |= self._said.get(statement, set())
        for statement in statements:
            self._judged.setdefault(statement, set()).add(call)

    def summarises(self, request: SummaryRequest) -> Call:
        """A call made of leaves and of earlier summaries."""
        call = self._made(Call("summarise", request.scope))
        told = scope_family(request.scope) != "session"  # a session's tree stands on dialogue, which nobody extracts
        for text in request.texts:
            below = self._within(text)
            call.after |= set(below)
            call.lines |= {line for each in below for line in each.lines}
            if text not in self._summaries and told:
                for line in map(_bare, text.splitlines()):
                    call.lines.add(line)
                    call.after |= self._said.get(line, set()) | self._judged.get(line, set())
        return call

    def summarised(self, call: Call, reply: SummaryReply) -> None:
        """What came out of it."""
        if reply.text is not None:
            self._summaries[reply.text.strip()] = call

    def place(self, version: Version) -> None:
        """Make each summary of facts depend on the extractions of all leaves that stand before its own in the tree.

        `version` is what came of the calls.
        """
        for scope, tree in version.trees.items():
            if scope_family(scope) != "session":
                mine = [call for call in self.calls if call.scope == scope]
                self._place(mine, [(_bare(leaf.text), self._sources(version, leaf)) for leaf in tree.leaves()])

    def bound(self, slots: float) -> int:
        """The least time in which all can be made, `slots` at once, each taking 1.

        max over calls v of max(chain before v, ceil(ancestors(v) / slots)) + chain from v.
        """
        order = {call: place for place, call in enumerate(self.calls)}
        ancestors: dict[Call, set[int]] = {}
        before: dict[Call, int] = {}
        onward: dict[Call, int] = dict.fromkeys(self.calls, 1)
        for call in self.calls:
            ancestors[call] = set().union(*(ancestors[each] | {order[each]} for each in call.after))
            before[call] = max((before[each] + 1 for each in call.after), default=0)
        for call in reversed(self.calls):
            for each in call.after:
                onward[each] = max(onward[each], onward[call] + 1)
        steps = (max(before[call], math.ceil(len(ancestors[call]) / slots)) + onward[call] for call in self.calls)
        return max(max(steps, default=0), math.ceil(len(self.calls) / slots))

    def _made(self, call: Call) -> Call:
        self.calls.append(call)
        return call

    def _within(self, text: str) -> list[Call]:
        """Calls whose answer `text` is, or holds whole beside others: what fits together is kept as it is."""
        whole = self._summaries.get(text)
        if whole is not None:
            return [whole]
        lined = f"\n{text}\n"
        return [call for answer, call in self._summaries.items() if f"\n{answer}\n" in lined]

    def _place(self, calls: Sequence[Call], leaves: Sequence[tuple[str, set[Call]]]) -> None:
        places = {line: place for place, (line, _) in enumerate(leaves)}
        for call in calls:
            last = max((places[line] for line in call.lines if line in places), default=-1)
            call.after |= set().union(*(sources for _, sources in leaves[: last + 1]))

    def _sources(self, version: Version, leaf: Leaf) -> set[Call]:
        """Extractions that a leaf came out of."""
        cells: Iterable[CellId] = (mention.cell_id for mention in version.facts.shown[FactId(leaf.item)].mentions)
        known: Mapping[CellId, Call] = self._cells
        return {known[cell] for cell in cells if cell in known}


def _bare(line: str) -> str:
    """A line without the day and the marks before it."""
    return line.strip().lstrip("-*0123456789. ").strip().lower()


class _Extractor:
    def __init__(self, inner: Extractor, graph: CallGraph) -> None:
        self._inner, self._graph = inner, graph

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        calls = [self._graph.extracts(cell) for cell in cells]
        found = await self._inner.extract(cells)
        for call, extraction in zip(calls, found, strict=True):
            self._graph.extracted(call, extraction)
        return found


class _Judge:
    def __init__(self, inner: Judge, graph: CallGraph) -> None:
        self._inner, self._graph = inner, graph

    @property
    def model(self) -> str:
        return self._inner.model

    async def judge(self, questions: Sequence[Question]) -> list[Judgement]:
        for question in questions:
            self._graph.judges(question)
        return await self._inner.judge(questions)


class _Summarizer:
    def __init__(self, inner: Summarizer, graph: CallGraph) -> None:
        self._inner, self._graph = inner, graph

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def source(self) -> Source:
        return self._inner.source

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        calls = [self._graph.summarises(request) for request in requests]
        replies = await self._inner.summarise(requests)
        for call, reply in zip(calls, replies, strict=True):
            self._graph.summarised(call, reply)
        return replies
