"""Permits: how many calls may be in flight at each endpoint, and who is next.

One limit per endpoint rises slowly while few calls are turned away and falls when many are (additive increase,
multiplicative decrease: Chiu and Jain, 1989). It is looked at once a round, that is for as many calls as are in flight
together: a gateway that turns one call in ten away at random is no server that has no room, and calls that are turned
away cost little. Urgent calls go before bulk, owners take turns, and none takes what others need (`shares.py`). An
endpoint that fails many times in a row sits out, and is tried with one call at a time until one succeeds.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from memforest_ray.ambient import Clock, Random
from memforest_ray.errors import LLMUnavailable, Overloaded
from memforest_ray.models.shares import Shares

__all__ = ["Permit", "Permits", "Sleep"]

Sleep = Callable[[float], Awaitable[None]]

_ROUND_MIN: Final = 16
"""Calls of a round at least: of fewer a share says little."""
_CROWDED: Final = 0.3
"""Share of a round that is turned away, from which the limit falls to what was let in."""
_ROOMY: Final = 0.15
"""Share up to which it rises. Between the two it stays: the endpoint is full, and is kept full."""
_FALL_MAX: Final = 0.3
"""What is left of a limit after one fall, at least."""
_RISE: Final = 1 / 32
"""Share of the highest limit that one round adds: back from the half in 16 rounds."""
_FAILURES_MAX: Final = 8
"""In a row, whoever called: then the endpoint counts as dead. At one failure in ten that is one call in 10^8."""
_PROBE_S: Final = (1.0, 60.0)
"""How long a dead endpoint sits out at first, and at most; doubled by every probe that fails."""
_PAUSE_S_MAX: Final = 60.0
"""Longest rest that an endpoint may ask for (`Retry-After`)."""
_RETRY_S: Final = 5.0
"""What a caller is told when the queue is full."""


@dataclass(eq=False, slots=True)
class _Endpoint:
    name: str
    limit_max: int
    limit: float
    in_flight: int = 0
    rest_until: float = 0.0
    fallen_at: float = -1.0
    """When the limit fell last: calls that began before that tell nothing new."""
    ended: int = 0
    """Of this round: calls that have ended, ..."""
    refused: int = 0
    """... those of them that were turned away, ..."""
    peak: int = 0
    """... and the most that were in flight together."""
    failures: int = 0
    dead_since: float | None = None
    probe_s: float = 0.0
    probing: bool = False
    shares: Shares = field(default_factory=Shares)

    def takes(self, now: float) -> bool:
        """Whether one more call may go out now."""
        if now < self.rest_until or self.probing:
            return False
        return self.dead_since is not None or self.in_flight < self.most

    @property
    def most(self) -> int:
        """Calls in flight, all owners together."""
        return max(1, int(self.limit))

    def lets_in(self, owner: str, waiting: int, now: float) -> bool:
        """Whether it is one of `owner` that may go out."""
        return self.dead_since is not None or self.shares.lets_in(owner, self.most, waiting, now)


@dataclass(eq=False, slots=True)
class _Waiter:
    granted: "asyncio.Future[Permit]"
    owner: str
    after: str
    """The endpoint where an earlier try has failed."""


@dataclass(eq=False, slots=True)
class _Line:
    """Who waits for one of the same endpoints: owners in turn, urgent ones first."""

    endpoints: tuple[_Endpoint, ...]
    urgent: dict[str, deque[_Waiter]] = field(default_factory=dict)
    bulk: dict[str, deque[_Waiter]] = field(default_factory=dict)
    size: int = 0
    """Who still waits; those who have gone away stand in the queues until their turn."""

    def add(self, waiter: _Waiter, *, urgent: bool) -> None:
        queue = (self.urgent if urgent else self.bulk).setdefault(waiter.owner, deque())
        if waiter.after:
            queue.appendleft(waiter)  # what hangs on it has waited once already
        else:
            queue.append(waiter)
        self.size += 1

    def pop(self, free: Sequence[_Endpoint], now: float) -> tuple[_Waiter, Sequence[_Endpoint]] | None:
        """The next that still waits and may go out at one of `free`, and at which; its owner has had a turn."""
        while self.urgent:
            if waiter := self._first(self.urgent, next(iter(self.urgent))):
                return waiter, free
        while True:
            for owner, queue in self.bulk.items():
                if open_to := [each for each in free if each.lets_in(owner, len(queue), now)]:
                    break
            else:
                return None
            if waiter := self._first(self.bulk, owner):
                return waiter, open_to

    def pop_any(self) -> _Waiter | None:
        """Whoever still waits."""
        for queues in (self.urgent, self.bulk):
            while queues:
                if waiter := self._first(queues, next(iter(queues))):
                    return waiter
        return None

    def _first(self, queues: dict[str, deque[_Waiter]], owner: str) -> _Waiter | None:
        """The first of an owner, who goes to the end of the turn; None where it has gone away."""
        queue = queues.pop(owner)
        waiter = queue.popleft()
        if queue:
            queues[owner] = queue
        if waiter.granted.done():
            return None
        self.size -= 1
        return waiter


@dataclass(eq=False, slots=True)
class Permit:
    """Leave to make one call at `endpoint`. Say how it went; silence counts as success."""

    endpoint: str
    began: float
    overloaded: bool = False
    """The endpoint turned the call away (429, 503)."""
    failed: bool = False
    """Nobody answered, or the endpoint broke (connection, time, 5xx)."""
    rest_s: float = 0.0
    """How long the endpoint asked to be left alone."""
    owner: str = ""


class Permits:
    """The budget of calls of one process, by endpoint (base URL)."""

    def __init__(
        self,
        limits: dict[str, int],
        clock: Clock,
        random: Random,
        *,
        waiting_max: int = 65_536,
        give_up_s: float = 20.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`limits`: most calls in flight, by endpoint. `give_up_s`: how long one waits while all are dead."""
        self._endpoints = {name: _Endpoint(name, limit, float(limit)) for name, limit in limits.items()}
        self._clock = clock
        self._random = random
        self._waiting_max = waiting_max
        self._give_up_s = give_up_s
        self._sleep = sleep
        self._lines: dict[tuple[str, ...], _Line] = {}
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at = 0.0

    @property
    def waiting(self) -> int:
        """Calls that wait for a permit."""
        return sum(line.size for line in self._lines.values())

    def limit(self, endpoint: str) -> int:
        """Calls that may be in flight at `endpoint` now."""
        return self._endpoints[endpoint].most

    def in_flight(self, endpoint: str) -> int:
        """Calls that are."""
        return self._endpoints[endpoint].in_flight

    def dead(self, endpoint: str) -> bool:
        """Whether it sits out."""
        return self._endpoints[endpoint].dead_since is not None

    def close(self) -> None:
        """Nobody will ask again: let go of the alarm."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    @asynccontextmanager
    async def take(
        self, endpoints: Iterable[str], *, owner: str = "", urgent: bool = False, after: str = ""
    ) -> AsyncIterator[Permit]:
        """A permit at the least busy of `endpoints`; given back, with what was said about the call, at the end.

        `after`: where an earlier try of the same has failed: another one is better, and its owner's others wait.

        Raises:
            Overloaded: too many wait already; nothing was sent.
            LLMUnavailable: all of the endpoints are dead, and stayed so.
        """
        line = self._line(tuple(endpoints))
        if self.waiting >= self._waiting_max:
            raise Overloaded(
                f"{self._waiting_max} model calls are waiting already; nothing was sent; call again later",
                retry_after=_RETRY_S,
            )
        waiter = _Waiter(asyncio.get_running_loop().create_future(), owner, after)
        line.add(waiter, urgent=urgent)
        self._serve()
        try:
            permit = await waiter.granted
        except asyncio.CancelledError:
            if waiter.granted.cancelled():
                line.size -= 1
            elif waiter.granted.exception() is None:
                self._give_back(waiter.granted.result(), ended=False)  # granted and cancelled at the same moment
            raise
        ended = False
        try:
            yield permit
            ended = True
        finally:
            self._give_back(permit, ended=ended)

    def _line(self, names: tuple[str, ...]) -> _Line:
        if names not in self._lines:
            self._lines[names] = _Line(tuple(self._endpoints[name] for name in names))
        return self._lines[names]

    def _serve(self) -> None:
        """Grant whatever can be granted now; set an alarm for what has to wait for time to pass."""
        now = self._clock.elapsed()
        for key, line in list(self._lines.items()):
            while line.size and self._grant(line, now):
                pass
            self._abandon(line, now)
            # The line that was served goes behind the others that want the same endpoints.
            self._lines[key] = self._lines.pop(key)
        self._set_alarm(now)

    def _grant(self, line: _Line, now: float) -> bool:
        """One permit to the next in `line`, if an endpoint takes it."""
        free = [endpoint for endpoint in line.endpoints if endpoint.takes(now)]
        found = line.pop(free, now) if free else None
        if found is None:
            return False
        waiter, open_to = found
        chosen = _best(open_to, waiter.after)
        chosen.in_flight += 1
        chosen.shares.take(waiter.owner, now)
        chosen.probing = chosen.dead_since is not None
        chosen.peak = max(chosen.peak, chosen.in_flight)
        waiter.granted.set_result(Permit(chosen.name, now, owner=waiter.owner))
        return True

    def _abandon(self, line: _Line, now: float) -> None:
        """Let those go whose endpoints have all been dead for too long."""
        if not line.size or not all(
            endpoint.dead_since is not None and now - endpoint.dead_since >= self._give_up_s
            for endpoint in line.endpoints
        ):
            return
        names = ", ".join(endpoint.name for endpoint in line.endpoints)
        while (waiter := line.pop_any()) is not None:
            waiter.granted.set_exception(
                LLMUnavailable(f"no answer from {names} for {self._give_up_s:g} s; call again when it is up")
            )

    def _give_back(self, permit: Permit, *, ended: bool) -> None:
        endpoint = self._endpoints[permit.endpoint]
        now = self._clock.elapsed()
        endpoint.in_flight -= 1
        endpoint.shares.give_back(permit.owner)
        probed, endpoint.probing = endpoint.probing, False
        if permit.rest_s > 0:
            endpoint.rest_until = max(endpoint.rest_until, now + min(permit.rest_s, _PAUSE_S_MAX))
        if permit.failed:
            self._failed(endpoint, now, probed=probed)
        elif permit.overloaded or ended:
            endpoint.failures, endpoint.dead_since, endpoint.probe_s = 0, None, 0.0  # it lives
            if permit.began > endpoint.fallen_at:
                self._count(endpoint, permit, now)
        self._serve()

    @staticmethod
    def _count(endpoint: _Endpoint, permit: Permit, now: float) -> None:
        """One more call of this round; at its end the limit is set for the next."""
        endpoint.ended += 1
        endpoint.refused += permit.overloaded
        if endpoint.ended < max(_ROUND_MIN, int(endpoint.limit)):
            return
        share = endpoint.refused / endpoint.ended
        if share >= _CROWDED:
            endpoint.limit = max(1.0, min(endpoint.limit, endpoint.peak) * max(1 - share, _FALL_MAX))
            endpoint.fallen_at = now
        elif share <= _ROOMY and endpoint.peak >= int(endpoint.limit):  # a limit that nobody reached is not tried
            endpoint.limit = min(float(endpoint.limit_max), endpoint.limit + max(1.0, endpoint.limit_max * _RISE))
        endpoint.ended, endpoint.refused, endpoint.peak = 0, 0, endpoint.in_flight

    def _failed(self, endpoint: _Endpoint, now: float, *, probed: bool) -> None:
        endpoint.failures += 1
        if endpoint.failures < _FAILURES_MAX or (endpoint.dead_since is not None and not probed):
            return
        if endpoint.dead_since is None:
            endpoint.dead_since = now
        least, most = _PROBE_S
        endpoint.probe_s = min(most, endpoint.probe_s * 2) if endpoint.probe_s else least
        endpoint.rest_until = max(endpoint.rest_until, now + endpoint.probe_s * self._random.uniform(0.8, 1.2))

    def _set_alarm(self, now: float) -> None:
        """Wake up when the first endpoint that is waited for has rested, or has been dead for too long."""
        waited = {endpoint for line in self._lines.values() if line.size for endpoint in line.endpoints}
        times = [endpoint.rest_until for endpoint in waited]
        times += [each.dead_since + self._give_up_s for each in waited if each.dead_since is not None]
        next_at = min((time for time in times if time > now), default=None)
        if next_at is None or (self._alarm is not None and self._alarm_at <= next_at):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = next_at
        self._alarm = asyncio.create_task(self._wake(next_at - now))

    async def _wake(self, seconds: float) -> None:
        await self._sleep(seconds)
        self._alarm = None
        self._serve()


def _best(free: Sequence[_Endpoint], after: str) -> _Endpoint:
    """A dead endpoint whose rest is over is tried first: with one call, and only that call risks anything. Else the
    least busy one, if possible another than where it has failed.
    """
    probes = [endpoint for endpoint in free if endpoint.dead_since is not None]
    others = [endpoint for endpoint in free if endpoint.name != after] or free
    return probes[0] if probes else min(others, key=lambda endpoint: endpoint.in_flight / endpoint.limit)
