"""Summaries: new nodes -> requests in dependency order; replies -> summaries.

A summary is looked up by the hash of its inputs, so a subtree that says the same makes no request. Children
that fit together *are* the summary. The rest is scheduled by dependency, not by level: a node is ready when
its last child is, whatever its tree, and the one with the longest way to its root comes first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from memforest_ray.ids import NodeId, ScopeId, digest
from memforest_ray.trees.nodes import Child, Leaf, Node, Range
from memforest_ray.trees.selection import select_lines

__all__ = [
    "CONCAT_CHARS_MAX",
    "SUMMARY_CHARS_MAX",
    "RefreshPlan",
    "SelectionSummarizer",
    "Source",
    "Summarizer",
    "Summary",
    "SummaryReply",
    "SummaryRequest",
    "summary_inputs",
    "summary_of_row",
    "summary_row",
]

CONCAT_CHARS_MAX: Final = 640
"""160 tokens of about 4 characters: children's texts that fit in this are kept whole."""
SUMMARY_CHARS_MAX: Final = 800
"""200 tokens: bounds every summary, and by k times itself the prompt of the next level."""

Source: TypeAlias = Literal["concat", "select", "model"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for an interval of leaves."""

    text: str
    inputs: str
    """Hash of the children's texts and of what summarises them; empty for the stand-in of a failure."""
    source: Source
    stale: bool = False
    """It, or a summary below it, stands in for one that failed or has not been made yet."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One summary to be made. Requests that are ready together do not depend on each other."""

    node_id: NodeId
    scope: ScopeId
    texts: tuple[str, ...]
    """Of the children, chronological; each may have several lines."""
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
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


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


def summary_inputs(texts: Sequence[str], model: str) -> str:
    """The hash under which a summary is found again."""
    return digest(model, *texts)


def summary_row(summary: Summary) -> dict[str, Any]:
    """What is stored of a summary under its node's id."""
    return {
        "text": summary.text,
        "inputs": summary.inputs,
        "source": summary.source,
        "stale": summary.stale,
    }


def summary_of_row(row: Mapping[str, Any]) -> Summary:
    """The summary that a row tells of."""
    return Summary(row["text"], row["inputs"], row["source"], row["stale"])


@dataclass(slots=True)
class _Job:
    scope: ScopeId
    node: Node
    parent: NodeId | None = None
    waiting: int = 0
    """Children whose summary is still to come."""
    priority: int = 0
    depth: int = 0
    """Longest chain of requests that ended here."""
    inputs: str = ""
    texts: tuple[str, ...] = ()


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
    ) -> None:
        self._summaries = summaries
        self._model = model
        self._known = {summary.inputs: summary for summary in reusable if summary.inputs}
        self._jobs: dict[NodeId, _Job] = {}
        self._results: dict[NodeId, Summary] = {}
        self._asked: dict[str, list[_Job]] = {}  # by inputs: one request serves all that ask the same
        self._ready: list[_Job] = []
        self._failures: dict[NodeId, str] = {}
        for scope, node in nodes:
            self._plan(scope, node)
        self._link()
        self._settle([job for job in self._jobs.values() if not job.waiting])

    def _plan(self, scope: ScopeId, node: Node) -> None:
        if node.id in self._jobs:
            return
        self._jobs[node.id] = _Job(scope, node)
        own = self._summaries.get(node.id)
        if own is not None and own.inputs:
            self._known.setdefault(own.inputs, own)
        for child in node.children:
            if isinstance(child, Node) and child.id not in self._summaries:
                self._plan(scope, child)

    def _link(self) -> None:
        for job in self._jobs.values():
            for child in job.node.children:
                below = self._jobs.get(child.id) if isinstance(child, Node) else None
                if below is not None:
                    below.parent = job.node.id
                    job.waiting += 1
        for job in sorted(self._jobs.values(), key=lambda job: -job.node.level):
            job.priority = 1 + (self._jobs[job.parent].priority if job.parent else 0)

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
        """Summaries made so far, children before parents."""
        return dict(self._results)

    def ready(self) -> list[SummaryRequest]:
        """Requests that can be made now and were not given out before, the longest remaining path first."""
        jobs, self._ready = self._ready, []
        jobs.sort(key=lambda job: (-job.priority, job.node.first, job.scope))
        return [
            SummaryRequest(job.node.id, job.scope, job.texts, job.node.source_ms, job.node.event_ms, job.priority)
            for job in jobs
        ]

    def done(self, node_id: NodeId, text: str, source: Source = "model") -> None:
        """A request came back. A blank text counts as a failure, one that is too long is cut by selection."""
        text = text.strip()
        if not text:
            self.failed(node_id, "the summary was empty")
            return
        if len(text) > SUMMARY_CHARS_MAX:
            text = _selected([text], SUMMARY_CHARS_MAX)
        jobs = self._answered(node_id)
        self._known[jobs[0].inputs] = Summary(text, jobs[0].inputs, source)
        self._settle([settled for job in jobs for settled in self._resolve(job, text, source, asked=True)])

    def failed(self, node_id: NodeId, reason: str) -> None:
        """A request came to nothing: a selection stands in, marked stale, and so is everything above it."""
        settled: list[_Job] = []
        for job in self._answered(node_id):
            self._failures[job.node.id] = reason
            settled += self._stand_in(job)
        self._settle(settled)

    def give_up(self, reason: str) -> None:
        """Ends the refresh now: a stand-in for every request that is open, and for those that follow."""
        while self._asked:
            self._ready.clear()
            for jobs in list(self._asked.values()):
                self.failed(jobs[0].node.id, reason)

    def _answered(self, node_id: NodeId) -> list[_Job]:
        job = self._jobs.get(node_id)
        jobs = self._asked.pop(job.inputs, None) if job is not None else None
        if jobs is None:
            raise ValueError(f"no summary of node {node_id} was asked for")
        return jobs

    def _settle(self, ready: list[_Job]) -> None:
        """Everything that can be decided without asking, from the given jobs upwards."""
        while ready:
            ready += self._decide(ready.pop())

    def _decide(self, job: _Job) -> list[_Job]:
        job.texts = tuple(self._text(child) for child in job.node.children)
        job.inputs = summary_inputs(job.texts, self._model)
        total = sum(map(len, job.texts)) + len(job.texts) - 1
        if total <= (CONCAT_CHARS_MAX if len(job.texts) > 1 else SUMMARY_CHARS_MAX):
            return self._resolve(job, "\n".join(job.texts), "concat")
        known = self._known.get(job.inputs)
        if known is not None:
            return self._resolve(job, known.text, known.source)
        if job.inputs in self._asked:
            self._asked[job.inputs].append(job)
        else:
            self._asked[job.inputs] = [job]
            self._ready.append(job)
        return []

    def _text(self, child: Child) -> str:
        return child.text if isinstance(child, Leaf) else self._summary(child.id).text

    def _summary(self, node_id: NodeId) -> Summary:
        return self._results.get(node_id) or self._summaries[node_id]

    def _resolve(self, job: _Job, text: str, source: Source, *, asked: bool = False) -> list[_Job]:
        """Gives a node its summary; the jobs that this makes ready."""
        below = [child.id for child in job.node.children if isinstance(child, Node)]
        stale = any(self._summary(name).stale for name in below)
        return self._finish(job, Summary(text, job.inputs, source, stale), asked=asked)

    def _stand_in(self, job: _Job) -> list[_Job]:
        text = _selected(job.texts, SUMMARY_CHARS_MAX)
        return self._finish(job, Summary(text, "", "select", stale=True), asked=True)

    def _finish(self, job: _Job, summary: Summary, *, asked: bool) -> list[_Job]:
        job.depth += asked
        self._results[job.node.id] = summary
        if job.parent is None:
            return []
        parent = self._jobs[job.parent]
        parent.depth = max(parent.depth, job.depth)
        parent.waiting -= 1
        return [] if parent.waiting else [parent]
