"""Summaries: new nodes -> requests in dependency order; replies -> summaries.

A summary is looked up by the hash of its inputs, so a subtree that says the same makes no request. Children
that fit together *are* the summary. The rest is scheduled by dependency, not by level: a node is ready when
the last summary that it is made of is there, whatever its tree, and the one with the longest way to go comes first.

What a node's summary is made of are its newest leaves and the summaries of what is older (`parts.py`). Where such a
part is being made at the same time, a model is shown what *that* is made of, or the lines of it that say most: so the
nodes above an insert in the middle need not wait either, and most refreshes are a single wave. The hash under which
the summary is found again stays that of the parts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeAlias

from memforest_ray.ids import MentionId, NodeId, ScopeId
from memforest_ray.models.usage import Usage
from memforest_ray.trees.nodes import Child, Leaf, Node, Range
from memforest_ray.trees.parts import PARTS_CHARS_MAX, RECENT_LEAVES_MAX, SUMMARY_CHARS_MAX, parts
from memforest_ray.trees.selection import select_lines
from memforest_ray.trees.summary import Inherited, Source, Summary, summary_inputs, summary_of_row, summary_row

__all__ = [
    "CONCAT_CHARS_MAX",
    "SUMMARY_CHARS_ASKED",
    "SUMMARY_CHARS_MAX",
    "Inherited",
    "RefreshPlan",
    "SelectionSummarizer",
    "Source",
    "Summarizer",
    "Summary",
    "SummaryReply",
    "SummaryRequest",
    "recent_leaves",
    "summary_inputs",
    "summary_of_row",
    "summary_row",
]

CONCAT_CHARS_MAX: Final = 640
"""160 tokens of about 4 characters: children's texts that fit in this are kept whole."""
SUMMARY_CHARS_ASKED: Final = 480
"""120 tokens: what a model is asked for at most. Its time goes by the length of what it writes."""
EXCERPTED_MAX: Final = 2 / 3
"""Of its leaves a node may be shown for so many what was picked out of the leaves themselves: what is built anew as a
whole is built from summaries.
"""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One summary to be made. Requests that are ready together do not depend on each other."""

    node_id: NodeId
    scope: ScopeId
    texts: tuple[str, ...]
    """Of its parts, chronological; each may have several lines."""
    source_ms: Range | None
    event_ms: Range | None
    priority: int
    """Summaries on the way to the root that wait for this one, itself included: higher first."""
    chars_max: int = SUMMARY_CHARS_MAX


@dataclass(frozen=True, slots=True)
class SummaryReply:
    """What came of one request: a text, or the reason why there is none."""

    node_id: NodeId
    text: str | None
    failure: str | None = None
    usage: Usage = field(default_factory=Usage)
    """What it has cost."""


class Summarizer(Protocol):
    """Makes summaries. A failure is a value, not an exception."""

    @property
    def model(self) -> str:
        """Names model and prompt version: part of every summary's inputs."""

    @property
    def source(self) -> Source:
        """What its texts are marked as."""

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        """One reply for each request, in order."""


class SelectionSummarizer:
    """Summarises without a model: by the lines that say most."""

    model: str = "select-1"
    source: Source = "select"

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        return [SummaryReply(request.node_id, _selected(request.texts, request.chars_max)) for request in requests]


def _selected(texts: Iterable[str], chars_max: int) -> str:
    return "\n".join(select_lines([line for text in texts for line in text.splitlines()], chars_max))


def _newest(texts: Iterable[str], chars_max: int) -> str:
    """The last lines that fit: a thirtieth of the time of a selection."""
    kept: list[str] = []
    left = chars_max
    for line in reversed([line for text in texts for line in text.splitlines()]):
        if len(line) > left and kept:
            break
        kept.append(line[:left])
        left -= len(line) + 1
    return "\n".join(reversed(kept))


Extract: TypeAlias = Callable[[Iterable[str], int], str]


def recent_leaves(model: str) -> int:
    """What `parts` is asked with: none where no call is made that could be waited for."""
    return 0 if model == SelectionSummarizer.model else RECENT_LEAVES_MAX


@dataclass(slots=True)
class _Job:
    scope: ScopeId
    node: Node
    parts: tuple[Child, ...]
    needed_by: list["_Job"] = field(default_factory=list)
    """Whose parts hold this node."""
    waiting: int = 0
    """Parts whose summary is still to come."""
    depth: int = 0
    """Longest chain of requests that ended here."""
    texts: tuple[str, ...] = ()
    """Of its parts, once all have their summaries."""
    inputs: str = ""
    """The hash of these."""
    shown: tuple[str, ...] = ()
    """What it is asked about with: these, or earlier what they are made of."""
    asked: str = ""
    """The hash of what it is asked about with; empty before."""
    asked_depth: int = 0
    """Longest chain of requests that it was asked after."""
    excerpt: str = ""
    """The lines of its parts that say most: for those above it that do not wait."""
    early: tuple[str, "Source"] | None = None
    """What came of it before its parts had their summaries."""
    inherited: Inherited | None = None
    """What it takes over: then it is not asked about at all."""


class RefreshPlan:
    """Summaries of one refresh: what to ask now, what came of it. Decides only; asking is the driver's.

    `nodes` are those that need a summary: new ones, and old ones whose summary is stale. Nodes below them
    that have none in `summaries` are planned too. `reusable` are further summaries whose text may serve
    again, such as those of nodes that the same edit removed.
    """

    def __init__(
        self,
        nodes: Iterable[tuple[ScopeId, Node]],
        *,
        summaries: Mapping[NodeId, Summary],
        model: str,
        reusable: Iterable[Summary] = (),
        recent: int | None = None,
        eager: bool = False,
        heirs: Callable[[ScopeId, Node], Inherited | None] | None = None,
    ) -> None:
        """`recent`: for `parts`; by default none where no call is made that could be waited for. `eager`: nothing waits
        for a summary that is being made, where it can be shown what that is made of. `heirs`: what a node takes over
        that would be asked about otherwise (`trees/heirs.py`).
        """
        self._heirs = None if model == SelectionSummarizer.model else heirs
        self._eager = eager
        self._summaries = summaries
        self._model = model
        selects = model == SelectionSummarizer.model
        self._recent = recent_leaves(model) if recent is None else recent
        self._chars_max = SUMMARY_CHARS_MAX if selects else SUMMARY_CHARS_ASKED
        self._known = {summary.inputs: summary for summary in reusable if summary.inputs}
        self._jobs: dict[NodeId, _Job] = {}
        self._results: dict[NodeId, Summary] = {}
        self._asked: dict[str, list[_Job]] = {}  # by inputs: one request serves all that ask the same
        self._ready: list[_Job] = []
        self._blocked: dict[NodeId, _Job] = {}
        """Those that may have become such that they need not wait."""
        self._failures: dict[NodeId, str] = {}
        for scope, node in nodes:
            self._plan(scope, node)
        self._link()
        self._settle([job for job in self._jobs.values() if not job.waiting])
        self._blocked |= {job.node.id: job for job in self._jobs.values() if job.waiting and not self._inherited(job)}

    def _plan(self, scope: ScopeId, node: Node) -> None:
        if node.id in self._jobs:
            return
        self._jobs[node.id] = _Job(scope, node, parts(node, self._recent))
        own = self._summaries.get(node.id)
        if own is not None and own.inputs:
            self._known.setdefault(own.inputs, own)
        for child in node.children:
            if isinstance(child, Node) and child.id not in self._summaries:
                self._plan(scope, child)

    def _link(self) -> None:
        for job in self._jobs.values():
            for part in job.parts:
                needed = self._jobs.get(part.id) if isinstance(part, Node) else None
                if needed is not None:
                    needed.needed_by.append(job)
                    job.waiting += 1

    @property
    def finished(self) -> bool:
        """Whether every node has its summary."""
        return len(self._results) == len(self._jobs)

    @property
    def depth(self) -> int:
        """Most requests that had to be made one after the other: the refresh's critical path so far."""
        return max((job.depth for job in self._jobs.values()), default=0)

    @property
    def failures(self) -> Mapping[NodeId, str]:
        """Why a node has a stand-in, for those whose own request failed."""
        return self._failures

    def results(self) -> dict[NodeId, Summary]:
        """Summaries made so far, children before parents; one above a stand-in is stale as that is."""
        made: dict[NodeId, Summary] = {}
        for job in sorted(self._jobs.values(), key=lambda job: job.node.level):
            own = self._results.get(job.node.id)
            if own is not None:
                stale = own.stale or self._stands_on_stale(job.node, made)
                made[job.node.id] = replace(own, stale=True) if stale and not own.stale else own
        return made

    def _stands_on_stale(self, node: Node, made: Mapping[NodeId, Summary]) -> bool:
        """Whether the summary of a child is stale; `made` are those that this plan has made so far."""
        below = [child.id for child in node.children if isinstance(child, Node)] if node.level > 1 else []
        held = (made.get(name) or self._summaries.get(name) for name in below)
        return any(summary is not None and summary.stale for summary in held)

    def ready(self, *, hasten: bool = True) -> list[SummaryRequest]:
        """Requests that can be made now and were not given out before, the longest remaining path first.

        `hasten`: those too that wait for others and can be shown what those are made of; finding out takes a while.
        """
        if hasten:
            self._hasten()
        jobs, self._ready = self._ready, []
        jobs.sort(key=lambda job: (job.node.first, job.scope))
        return sorted(map(self._request, jobs), key=lambda request: -request.priority)

    def _request(self, job: _Job) -> SummaryRequest:
        node = job.node
        return SummaryRequest(
            node.id, job.scope, job.shown, node.source_ms, node.event_ms, _way_up(job), self._chars_max
        )

    def done(self, node_id: NodeId, text: str, source: Source = "model") -> None:
        """A request came back. A blank text counts as a failure, one that is too long is cut by selection."""
        text = text.strip()
        if not text:
            self.failed(node_id, "the summary was empty")
            return
        if len(text) > SUMMARY_CHARS_MAX:
            text = _selected([text], SUMMARY_CHARS_MAX)
        jobs = self._answered(node_id)
        asked = self._jobs[node_id].asked
        self._known[asked] = Summary(text, asked, source)
        self._settle([settled for job in jobs for settled in self._heard(job, text, source)])

    def failed(self, node_id: NodeId, reason: str) -> None:
        """A request came to nothing: a selection stands in, marked stale, and so is everything above it."""
        settled: list[_Job] = []
        for job in self._answered(node_id):
            self._failures[job.node.id] = reason
            settled += self._stand_in(job, _selected)
        self._settle(settled)

    def postponed(self, node_id: NodeId) -> None:
        """A request is made later: until then the newest lines stand in, marked stale, and so is everything above."""
        self._settle([settled for job in self._answered(node_id) for settled in self._stand_in(job, _newest)])

    def _answered(self, node_id: NodeId) -> list[_Job]:
        job = self._jobs.get(node_id)
        jobs = self._asked.pop(job.asked, None) if job is not None else None
        if jobs is None:
            raise ValueError(f"no summary of node {node_id} was asked for")
        return [job for job in jobs if job.node.id not in self._results]

    def _settle(self, ready: list[_Job]) -> None:
        """Everything that can be decided without asking, from the given jobs upwards."""
        while ready:
            ready += self._decide(ready.pop())

    def _decide(self, job: _Job) -> list[_Job]:
        job.texts = tuple(map(self._text, job.parts))
        job.inputs = summary_inputs(job.texts, self._model)
        total = sum(map(len, job.texts)) + len(job.texts) - 1
        if total <= (CONCAT_CHARS_MAX if len(job.texts) > 1 else SUMMARY_CHARS_MAX):
            return self._resolve(job, "\n".join(job.texts), "concat")
        if job.early is not None:
            return self._resolve(job, *job.early, asked=True)
        known = self._known.get(job.inputs)
        if known is not None:
            return self._resolve(job, known.text, known.source, known.also, inherited=known.inherited)
        taken = None if job.asked else self._inherited(job)
        if taken is not None:
            return self._resolve(job, taken.text, "model", taken.also, inherited=True)
        if not job.asked:
            self._ask(job, job.texts, job.depth)
        return []

    def _inherited(self, job: _Job) -> Inherited | None:
        """The summary that it takes over, or has taken over in an earlier plan."""
        own = self._summaries.get(job.node.id)
        if own is not None and own.inherited:
            job.inherited = Inherited(own.text, own.also)
        elif job.inherited is None and self._heirs is not None:
            job.inherited = self._heirs(job.scope, job.node)
        return job.inherited

    def _ask(self, job: _Job, texts: tuple[str, ...], depth: int) -> None:
        job.shown, job.asked, job.asked_depth = texts, summary_inputs(texts, self._model), depth
        if job.asked in self._asked:
            self._asked[job.asked].append(job)
        else:
            self._asked[job.asked] = [job]
            self._ready.append(job)

    def _hasten(self) -> None:
        """Ask for what waits for summaries that are being made, if it can be shown what those are made of instead."""
        blocked, self._blocked = self._blocked, {}
        for job in blocked.values() if self._eager else ():
            if job.waiting and not (job.asked or job.inherited):
                ways = (self._unfolded(job, excerpts=excerpts) for excerpts in ("none", "ready", "asked"))
                found = next((way for way in ways if way is not None), None)
                if found is not None:
                    self._ask(job, *found)

    def _unfolded(
        self, job: _Job, *, excerpts: Literal["none", "ready", "asked"]
    ) -> tuple[tuple[str, ...], int] | None:
        """What a node can be shown now, and how many calls that took; None when it would be too much.

        `excerpts`: of what is being made below it only the lines that say most, if there is enough else: nowhere, where
        that waits for nothing itself, or wherever it has been asked for.
        """
        shown: list[str] = []
        chars = depth = excerpted = 0
        left = list(reversed(job.parts))
        while left:
            part = left.pop()
            below = self._jobs.get(part.id) if isinstance(part, Node) else None
            if below is None or part.id in self._results:
                shown.append(self._text(part))
            elif below.early is not None:
                shown.append(below.early[0])
            elif below.inherited is not None:
                shown.append(below.inherited.text)
            elif excerpts != "none" and (not below.waiting or (excerpts == "asked" and below.asked)):
                excerpted += sum(isinstance(each, Leaf) for each in below.parts)
                if excerpted > EXCERPTED_MAX * job.node.count:
                    return None
                shown.append(below.excerpt or _selected(below.shown or below.texts, SUMMARY_CHARS_MAX))
                below.excerpt = shown[-1]
            else:
                left += reversed(below.parts)
                continue
            chars += len(shown[-1])
            depth = max(depth, 0 if below is None else below.asked_depth + 1 if below.early else below.depth)
            if chars > PARTS_CHARS_MAX:
                return None
        return tuple(shown), depth

    def _heard(self, job: _Job, text: str, source: Source) -> list[_Job]:
        """An answer; one that came early is kept until its inputs are known, under which it is found again."""
        if job.waiting:
            job.early = text, source
            self._look_again(job)
            return []
        return self._resolve(job, text, source, asked=True)

    def _text(self, child: Child) -> str:
        return child.text if isinstance(child, Leaf) else self._summary(child.id).text

    def _summary(self, node_id: NodeId) -> Summary:
        return self._results.get(node_id) or self._summaries[node_id]

    def _resolve(
        self,
        job: _Job,
        text: str,
        source: Source,
        also: tuple[MentionId, ...] = (),
        *,
        inherited: bool = False,
        asked: bool = False,
    ) -> list[_Job]:
        """Gives a node its summary; the jobs that this makes ready."""
        stale = any(isinstance(part, Node) and self._summary(part.id).stale for part in job.parts)
        also = self._beside(job, also)
        return self._finish(job, Summary(text, job.inputs, source, stale, also, inherited), asked=asked)

    def _stand_in(self, job: _Job, extract: Extract) -> list[_Job]:
        text = extract(job.shown, SUMMARY_CHARS_MAX)
        return self._finish(job, Summary(text, "", "select", stale=True, also=self._beside(job)), asked=True)

    def _beside(self, job: _Job, also: tuple[MentionId, ...] = ()) -> tuple[MentionId, ...]:
        """`also`, and what its parts may tell of beside their leaves: whatever is made of them may tell that, too."""
        found = set(also)
        for part in job.parts:
            if isinstance(part, Node):
                summary = self._results.get(part.id) or self._summaries.get(part.id)
                below = self._jobs.get(part.id)
                if summary is not None:
                    found.update(summary.also)
                if below is not None and part.id not in self._results:
                    found.update(self._beside(below, below.inherited.also if below.inherited else ()))
        return tuple(sorted(found))

    def _finish(self, job: _Job, summary: Summary, *, asked: bool) -> list[_Job]:
        if asked:
            job.depth = job.asked_depth + 1
        self._results[job.node.id] = summary
        ready: list[_Job] = []
        for above in job.needed_by:
            above.depth = max(above.depth, job.depth)
            above.waiting -= 1
            if not above.waiting and above.node.id not in self._results:
                ready.append(above)
        self._look_again(job)
        return ready

    def _look_again(self, job: _Job) -> None:
        """Something can be told of it now: those that wait for it, also by way of others, may be shown that."""
        self._blocked |= {above.node.id: above for above in _all_above(job) if above.waiting and not above.asked}


def _way_up(job: _Job) -> int:
    """Summaries on the longest way to the root that wait for it, itself included. What was asked for early does not."""
    return 1 + max((_way_up(above) for above in job.needed_by if not above.asked), default=0)


def _all_above(job: _Job) -> Iterator[_Job]:
    """All that wait for it, also by way of others."""
    for above in job.needed_by:
        yield above
        yield from _all_above(above)
