"""What operators watch, in Prometheus' names; Ray exports each as `ray_memforest_...` on every node.

No label ever holds a user or a text: labels are verbs, stages, roles, reasons, a dozen values each. Gauges are per
process, so sum them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from ray.util.metrics import Counter, Gauge, Histogram

from memforest_actors.reply import Reply
from memforest_ray.errors import MemForestError
from memforest_ray.forest.intents import Receipt

__all__ = ["NAMES", "DirectoryMetrics", "ForestMetrics", "GatewayMetrics"]

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Bounds of histograms: from a warm query's milliseconds to a long write behind slow models."""

NAMES = {
    "memforest_activations": "Forests that were opened in an actor.",
    "memforest_cold_start_seconds": "Time of an actor's first call, in which its forest is opened.",
    "memforest_passivations": "Actors that left, by reason: idle, asked or fenced.",
    "memforest_fenced": "Of these, those that another owner had replaced.",
    "memforest_residents": "Forests that are known to be in memory.",
    "memforest_calls": "Calls of forests, by verb and outcome.",
    "memforest_call_seconds": "Time of a call inside the actor, by verb.",
    "memforest_lane_depth": "Writes that are not answered yet.",
    "memforest_refresh_backlog": "Summaries that are still to be written.",
    "memforest_commit_seconds": "Time of a commit in the store.",
    "memforest_stage_seconds": "Time of a write by stage.",
    "memforest_llm_calls": "Requests to chat models for writes, by stage, retries included.",
    "memforest_llm_retries": "Of these requests, those that were retries.",
    "memforest_llm_tokens": "Tokens of these, by stage and kind: prompt, cached or completion.",
    "memforest_llm_in_flight": "Items at a gateway that wait for a model's answer, by role.",
}
"""Every metric and what it counts. Counters are exported with `_total` behind."""


def _counter(name: str, *labels: str) -> Counter:
    return Counter(name, NAMES[name], labels)


def _histogram(name: str, *labels: str) -> Histogram:
    return Histogram(name, NAMES[name], list(_SECONDS), labels)


class ForestMetrics:
    """What one forest's actor counts. Made inside an actor."""

    def __init__(self) -> None:
        self._activations = _counter("memforest_activations")
        self._cold_start = _histogram("memforest_cold_start_seconds")
        self._calls = _counter("memforest_calls", "verb", "outcome")
        self._call_seconds = _histogram("memforest_call_seconds", "verb")
        self._lane = Gauge("memforest_lane_depth", NAMES["memforest_lane_depth"])
        self._backlog = Gauge("memforest_refresh_backlog", NAMES["memforest_refresh_backlog"])

    @cached_property
    def _writes(self) -> "_WriteMetrics":
        return _WriteMetrics()  # most forests are only read

    def activated(self, seconds: float) -> None:
        self._activations.inc()
        self._cold_start.observe(seconds)

    def waiting(self, writes: int, summaries: int) -> None:
        """What is under way in this forest now."""
        self._lane.set(writes)
        self._backlog.set(summaries)

    def answered(self, verb: str, seconds: float, reply: Reply) -> None:
        """A call has ended."""
        outcome = reply[1].kind if isinstance(reply[1], MemForestError) else "ok"
        self._calls.inc(tags={"verb": verb, "outcome": outcome})
        self._call_seconds.observe(seconds, tags={"verb": verb})
        if isinstance(reply[1], Receipt):
            self._writes.count(reply[1])


class _WriteMetrics:
    """What receipts tell."""

    def __init__(self) -> None:
        self._commit = _histogram("memforest_commit_seconds")
        self._stages = _histogram("memforest_stage_seconds", "stage")
        self._calls = _counter("memforest_llm_calls", "stage")
        self._retries = _counter("memforest_llm_retries", "stage")
        self._tokens = _counter("memforest_llm_tokens", "stage", "kind")

    def count(self, receipt: Receipt) -> None:
        if receipt.duplicate:
            return
        for stage, seconds in receipt.seconds.items():
            self._stages.observe(seconds, tags={"stage": stage})
        if "commit" in receipt.seconds:
            self._commit.observe(receipt.seconds["commit"])
        for stage, usage in receipt.usage.items():
            _add(self._calls, usage.calls, stage=stage)
            _add(self._retries, usage.retries, stage=stage)
            _add(self._tokens, usage.prompt_tokens, stage=stage, kind="prompt")
            _add(self._tokens, usage.cached_tokens, stage=stage, kind="cached")
            _add(self._tokens, usage.completion_tokens, stage=stage, kind="completion")


def _add(counter: Counter, number: int, **labels: str) -> None:
    if number:  # a counter refuses to grow by nothing
        counter.inc(number, tags=labels)


class DirectoryMetrics:
    """What the cluster's directory counts: an actor that leaves would take its own last numbers with it."""

    def __init__(self) -> None:
        self._passivations = _counter("memforest_passivations", "reason")
        self._fenced = _counter("memforest_fenced")
        self._residents = Gauge("memforest_residents", NAMES["memforest_residents"])

    def left(self, reason: str) -> None:
        """A forest's actor has left."""
        self._passivations.inc(tags={"reason": reason})
        if reason == "fenced":
            self._fenced.inc()

    def residents(self, number: int) -> None:
        self._residents.set(number)


class GatewayMetrics:
    """What a gateway has at its endpoints."""

    def __init__(self) -> None:
        name = "memforest_llm_in_flight"
        self._gauge = Gauge(name, NAMES[name], ("role",))
        self._now: dict[str, int] = {}

    @contextmanager
    def in_flight(self, role: str, items: int) -> Iterator[None]:
        """Count `items` as long as they wait for answers."""
        self._move(role, items)
        try:
            yield
        finally:
            self._move(role, -items)

    def _move(self, role: str, items: int) -> None:
        self._now[role] = self._now.get(role, 0) + items
        self._gauge.set(self._now[role], tags={"role": role})
