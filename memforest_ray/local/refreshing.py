"""The second stage of a write: summaries are written beside the lane, and follow as commits of their own.

A round takes all that is stale at one version, has it summarised by dependency, the longest way first, and enters the
lane with what came of it. Whatever changed meanwhile is another node with other inputs, so it is simply not found
there, and is the next round's. Pairs that writes have left pending are judged in the same rounds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memforest_ray.ambient import Clock
from memforest_ray.commit.version import Version
from memforest_ray.errors import MemForestError
from memforest_ray.facts.verdicts import Pair, PairKey, Question
from memforest_ray.forest.rows import Nodes
from memforest_ray.forest.writing import stale_nodes
from memforest_ray.ids import NodeId, ScopeId
from memforest_ray.local.effects import Known, Models, embedded
from memforest_ray.local.window import Window
from memforest_ray.models.usage import Usage
from memforest_ray.trees.nodes import Node
from memforest_ray.trees.summaries import RefreshPlan, SummaryReply, SummaryRequest, summary_inputs

__all__ = ["Done", "Refresher"]

GIVE_WAY_S_MAX = 30.0
"""So long summaries that nobody waits for stand back behind writes: those want the same servers."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a round, for one who waited for it."""

    version: int
    """That holds the summaries."""
    whole: bool
    """Whether all of them were written; else stand-ins stay, and are tried again."""
    depth: int = 0
    """Calls that had to be made one after the other."""
    note: str = ""


TakeIn = Callable[[Nodes, tuple[Pair, ...], Known], Awaitable[int]]
"""Has what was made committed; the version's number."""


@dataclass(slots=True)
class _Waiter:
    version: int
    done: "asyncio.Future[Done]"


class Refresher:
    """One round at a time, while there is something to do."""

    def __init__(
        self,
        models: Models,
        name: str,
        *,
        clock: Clock,
        linger_s: float,
        calls_max: int,
        extracting: Callable[[], int],
        published: Callable[[], Version],
        quiet: Callable[[], Awaitable[bool]],
        take_in: TakeIn,
    ) -> None:
        """`linger_s`: how long a round that nobody waits for looks out for the next write, before it begins.
        `calls_max`: what the endpoints take at once; `extracting`: how many cells they have now.
        """
        self._models = models
        self._name = name
        """What logs call the forest."""
        self._published = published
        self._quiet = quiet
        """Waits until the writes that are being prepared now have had their turn: what they touch changes again.
        Whether there were any.
        """
        self._clock = clock
        self._linger_s = linger_s
        self._hurry = asyncio.Event()
        """Set when somebody waits."""
        self._take_in = take_in
        self.known = Known()
        """What was made and is not committed yet; emptied when nothing is under way."""
        self._spent = Usage()
        self._dirty: dict[NodeId, tuple[ScopeId, Node]] = {}
        self._stuck: dict[NodeId, tuple[ScopeId, Node]] = {}
        """Nodes that were tried in vain: they are tried again with what comes next."""
        self._unanswered: set[PairKey] = set()
        self._asking: dict[str, asyncio.Task[SummaryReply]] = {}
        """By inputs: who wants the same waits for the same."""
        self._prefetched: set[str] = set()
        """Those of them that nobody waits for yet."""
        self._prefetching: set[asyncio.Task[None]] = set()
        """Plans, each until all of it is written."""
        self._extracting = extracting
        self._window = Window(calls_max, extracting)
        self._waiters: list[_Waiter] = []
        self._round: asyncio.Task[None] | None = None
        self._noted: Version | None = None

    def __len__(self) -> int:
        """Summaries that are to follow."""
        return len(self._dirty) + len(self._stuck)

    # ---- what writers tell it ----------------------------------------------------------------------------

    def prefetch_plan(self, plan: Callable[[], RefreshPlan]) -> "asyncio.Task[None]":
        """Have all summaries of a plan written before a write needs them: then they are made or under way.

        `plan` is made in a thread.
        """
        task = asyncio.create_task(self._prefetch_plan(plan))
        self._prefetching.add(task)
        task.add_done_callback(self._prefetching.discard)
        task.add_done_callback(_heard)
        return task

    def prefetch(self, requests: Iterable[SummaryRequest]) -> list[str]:
        """Ask for what the next round will ask for: its calls are under way while what it stands on is committed.

        The inputs of those that were not asked for before.
        """
        new: list[str] = []
        for request in requests:
            inputs = summary_inputs(request.texts, self._models.summarizer.model)
            if inputs not in self.known.summaries:
                if inputs not in self._asking:
                    new.append(inputs)
                self._asked(inputs, request, early=False)
        self._prefetched.update(new)
        return new

    def withdraw(self, names: Iterable[str]) -> None:
        """End calls that `prefetch` has begun with these inputs, but for those that somebody else wants by now."""
        for inputs in self._prefetched & set(names):
            if (asking := self._asking.get(inputs)) is not None:
                asking.cancel()

    def noted(self, before: Version, after: Version, stale: Nodes) -> None:
        """A write has made `after` of `before`, and left `stale` to be done."""
        if self._noted is None or self._noted.summaries is not before.summaries:  # the first, or another's came between
            stale = stale_nodes(after, stale)
        self._noted = after
        self._unanswered.clear()
        self._dirty.update((node.id, (scope, node)) for scope, node in stale)
        self._go_on()

    def resume(self, version: Version) -> None:
        """Finish what an earlier owner left."""
        self.noted(version, version, stale_nodes(version))

    def taken_in(self, after: Version) -> None:
        """The commit of a round of this."""
        self._noted = after

    async def finished(self, version: int) -> Done:
        """Wait until what is stale in `version` is done."""
        waiter = _Waiter(version, asyncio.get_running_loop().create_future())
        self._waiters.append(waiter)
        self._hurry.set()
        self._go_on()
        return await waiter.done

    def extracted(self) -> None:
        """There are more cells to be extracted, or fewer, and summaries have more room."""
        self._window.look()

    def bill(self) -> Usage:
        """What summaries have cost that nobody was told of yet."""
        spent, self._spent = self._spent, Usage()
        return spent

    async def close(self) -> None:
        """Finish if anybody waits; what nobody waits for is the next owner's."""
        while self._waiters and self._round is not None and not self._round.done():
            await asyncio.wait([self._round])
        tasks = [*self._prefetching, *self._asking.values(), *([self._round] if self._round else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- rounds ------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        if (self._round is None or self._round.done()) and (self._waiters or self._dirty or self._pairs()):
            self._round = asyncio.create_task(self._rounds())

    async def _rounds(self) -> None:
        while self._dirty or self._waiters or self._pairs():
            await self._give_way()
            version = self._published()
            tried = {**self._stuck, **self._dirty}
            self._dirty, self._stuck = {}, {}
            try:
                done = await self._once(version, tried)
            except Exception as error:  # noqa: BLE001 - supervises: whoever waits has an answer, the facts are kept
                if not isinstance(error, MemForestError):
                    _log.error("a refresh of %s failed", self._name, exc_info=error)
                done = Done(version.number, whole=False, note=f"its summaries are extractive for now: {error}")
                self._stuck = tried
                self._unanswered.update(version.facts.pending)
            self._tell(version.number, done)
        if not (self._prefetching or self._asking or self._extracting()):  # else a write may count on it
            self.known = Known()

    async def _give_way(self) -> None:
        """Let writes go first: those that are here, and if nobody waits those that come, for a while."""
        until = self._clock.elapsed() + GIVE_WAY_S_MAX
        while self._linger_s and not self._waiters and self._clock.elapsed() < until:
            await self._unless_hurried(asyncio.sleep(self._linger_s, False))
            if not await self._unless_hurried(self._quiet()):
                break
        await self._quiet()

    async def _unless_hurried(self, work: Awaitable[bool]) -> bool:
        """What `work` comes to; False as soon as somebody waits."""
        self._hurry.clear()
        working, hurried = asyncio.ensure_future(work), asyncio.create_task(self._hurry.wait())
        try:
            await asyncio.wait([working, hurried], return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else False
        finally:
            working.cancel()
            hurried.cancel()

    async def _once(self, version: Version, tried: Mapping[NodeId, tuple[ScopeId, Node]]) -> Done:
        nodes = tuple(each for name, each in tried.items() if (held := version.summaries.get(name)) and held.stale)
        pairs = self._pairs()
        plan = await asyncio.to_thread(self._plan, version, nodes)
        await asyncio.gather(self._write(plan), self._judge(version, pairs))
        self._stuck = {name: tried[name] for name, made in plan.results().items() if made.stale and name in tried}
        number = version.number
        embedding = asyncio.ensure_future(self._embed(plan))
        try:
            if not self._waiters:  # nobody's turn waits for a call that nobody waits for
                await embedding
            if nodes or pairs:
                number = await self._take_in(nodes, pairs, self._known_with(embedding))
            await embedding
        finally:
            embedding.cancel()
        reasons = sorted(set(plan.failures.values()))
        note = (
            f"{len(plan.failures)} summaries could not be written, and are extractive: {reasons[0]}" if reasons else ""
        )
        return Done(number, not reasons, plan.depth, note)

    def _plan(self, version: Version, nodes: Nodes) -> RefreshPlan:
        return RefreshPlan(nodes, summaries=version.summaries, model=self._models.summarizer.model, eager=True)

    def _tell(self, version: int, done: Done) -> None:
        """Who waited for this version, or for an earlier one."""
        for waiter in self._waiters:
            if waiter.version <= version and not waiter.done.done():
                waiter.done.set_result(done)
        self._waiters = [waiter for waiter in self._waiters if not waiter.done.done()]

    # ---- summaries ---------------------------------------------------------------------------------------

    async def _prefetch_plan(self, make: Callable[[], RefreshPlan]) -> None:
        plan = await asyncio.to_thread(make)
        await self._write(plan, early=True)
        await self._embed(plan)

    async def _embed(self, plan: RefreshPlan) -> dict[str, Any]:
        """Vectors of what a plan has come to, by text; those that were not known are known then."""
        texts = [made.text for made in plan.results().values() if made.source == "model"]
        new = [text for text in dict.fromkeys(texts) if text not in self.known.vectors]
        vectors = await embedded(self._models.embedder, new)
        self.known.vectors.update(vectors)
        return vectors

    def _known_with(self, embedding: "asyncio.Future[dict[str, Any]]") -> Known:
        known = Known(coming=embedding)
        known.absorb(self.known)
        return known

    async def _write(self, plan: RefreshPlan, *, early: bool = False) -> None:
        """Each request of the plan as soon as it is ready, until none is left."""
        running: set[asyncio.Task[SummaryReply]] = set()
        try:
            while not plan.finished:
                running |= {self._begun(self._reply(request, early=early)) for request in plan.ready()}
                finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for reply in (task.result() for task in finished):
                    if reply.text is None:
                        plan.failed(reply.node_id, reply.failure or "no answer")
                    else:
                        plan.done(reply.node_id, reply.text)
        finally:
            for task in running:
                task.cancel()
        # Who takes them in looks for each under what it is made of, not under what it may have been shown early.
        made = plan.results().values()
        self.known.summaries.update(
            (each.inputs, each.text) for each in made if each.source == "model" and not each.inherited
        )

    @staticmethod
    def _begun(reply: Coroutine[Any, Any, SummaryReply]) -> "asyncio.Task[SummaryReply]":
        """Of several that fail together one is raised."""
        task = asyncio.create_task(reply)
        task.add_done_callback(_heard)
        return task

    async def _reply(self, request: SummaryRequest, *, early: bool) -> SummaryReply:
        """What is known under these inputs, or comes of the request that somebody has made with them, or of ours."""
        inputs = summary_inputs(request.texts, self._models.summarizer.model)
        text = self.known.summaries.get(inputs)
        if text is None:
            reply = await asyncio.shield(self._asked(inputs, request, early=early))
            return SummaryReply(request.node_id, reply.text, reply.failure)
        return SummaryReply(request.node_id, text)

    def _asked(self, inputs: str, request: SummaryRequest, *, early: bool) -> "asyncio.Task[SummaryReply]":
        """The call with these inputs that is under way, or one that is begun now."""
        asking = self._asking.get(inputs)
        if asking is None:
            asking = self._asking[inputs] = asyncio.create_task(self._ask(inputs, request, early=early))
            asking.add_done_callback(lambda _: self._answered(inputs))
            asking.add_done_callback(_heard)
        else:
            self._prefetched.discard(inputs)
            if not early:
                self._window.due(inputs, request.priority)
        return asking

    def _answered(self, inputs: str) -> None:
        self._asking.pop(inputs, None)
        self._prefetched.discard(inputs)

    async def _ask(self, inputs: str, request: SummaryRequest, *, early: bool) -> SummaryReply:
        await self._window.enter(inputs, request.priority, early=early)
        try:
            (reply,) = await self._models.summarizer.summarise([request])
        finally:
            self._window.leave()
        self._spent += reply.usage
        if reply.text is not None and reply.text.strip():
            self.known.summaries[inputs] = reply.text
        return reply

    # ---- pairs -------------------------------------------------------------------------------------------

    def _pairs(self) -> tuple[Pair, ...]:
        """Pending ones to be judged now; those that found no judge wait for the next write."""
        if self._models.judge is None or self._noted is None or not self._noted.facts.pending:
            return ()
        wave = self._noted.facts.pairs_to_judge((), lambda _: ())
        return tuple(pair for pair in wave.ask if pair.key not in self._unanswered)

    async def _judge(self, version: Version, pairs: Sequence[Pair]) -> None:
        judge, atoms = self._models.judge, version.facts.atoms
        questions = [
            Question(pair, atoms[pair.first].mentions[0], atoms[pair.second].mentions[0])
            for pair in pairs
            if pair.first in atoms and pair.second in atoms and pair.key not in self.known.verdicts
        ]
        if judge is None or not questions:
            return
        for question, answer in zip(questions, await judge.judge(questions), strict=True):
            if answer.equivalent is None:
                self._unanswered.add(question.pair.key)
            else:
                self.known.verdicts[question.pair.key] = answer.equivalent


def _heard(task: "asyncio.Task[Any]") -> None:
    """Nobody may be waiting for it any more: what goes wrong then shows again when a round asks for the same."""
    if not task.cancelled():
        task.exception()
