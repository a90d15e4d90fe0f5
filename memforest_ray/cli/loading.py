"""A bulk load at work: users a bounded number at a time, each with its line, until the end or a signal."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import INTERRUPTED, OK, PARTIAL, TERMINATED, UNAVAILABLE, USAGE, exit_code, sentence
from memforest_ray.cli.ingest import Outcome, Work, read_work
from memforest_ray.cli.journal import Journal
from memforest_ray.cli.screen import json_text
from memforest_ray.cli.sources import Source, find_sources
from memforest_ray.client import AsyncClient, connect_async
from memforest_ray.errors import MemForestError, Overloaded, StoreUnavailable
from memforest_ray.facts.sessions import Session
from memforest_ray.forest.intents import Receipt
from memforest_ray.storage.open import open_store

__all__ = ["Plan", "run_load"]

UNAVAILABLE_IN_A_ROW_MAX = 5
"""Users that fail for want of a dependency, one after the other, until the rest is left for another run."""
OVERLOADED_TRIES_MAX = 8
FAILURES_NAMED_MAX = 100
"""In the result; each stands in its user's line, too."""
COUNTS = ("users", "skipped", "failed", "sessions", "duplicates", "cells", "facts_added", "facts_merged")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be loaded."""

    paths: tuple[str, ...]
    prefix: str
    format: str
    concurrency: int
    name: str
    """By which a later run finds what this one has done."""
    time: str | None = None
    """When sessions without a time took place."""


@dataclass(slots=True)
class _Load:
    """One run: what it works with, and what became of it so far."""

    call: Call
    client: AsyncClient
    journal: Journal
    window: asyncio.Semaphore
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    failures: list[dict[str, Any]] = field(default_factory=list)
    codes: set[int] = field(default_factory=set)
    """Exit codes of what failed."""
    unavailable: int = 0
    """Users in a row that failed for want of a dependency."""

    @property
    def hopeless(self) -> bool:
        return self.unavailable >= UNAVAILABLE_IN_A_ROW_MAX

    def fail(self, code: int, failures: list[dict[str, Any]]) -> None:
        self.codes.add(code)
        self.failures.extend(failures[: FAILURES_NAMED_MAX - len(self.failures)])

    def line(self, data: dict[str, Any]) -> None:
        """One JSON line: on stdout, or on stderr where stdout is to hold one object."""
        stream = self.call.stderr if self.call.json else self.call.stdout
        stream.write(json_text(data) + "\n")
        stream.flush()

    def result(self, stopped: int | None) -> None:
        """The last line."""
        more = {"failures": self.failures, "stopped": stopped is not None, "given_up": self.hopeless}
        text = json_text({**self.counts, **more})
        self.call.stdout.write(f"{text}\n" if self.call.json else f"RESULT {text}\n")
        self.call.stdout.flush()


def run_load(call: Call, plan: Plan) -> int:
    """Load; the exit code. Raises InvalidInput, StoreUnavailable, ClusterUnavailable: then nothing was begun."""
    return asyncio.run(_load(call, plan))


async def _load(call: Call, plan: Plan) -> int:
    store = open_store(call.durable_store())
    call.configure_logs()
    sources = await find_sources(plan.paths)
    journal = Journal(store, plan.name)
    await journal.read()
    async with await connect_async(**call.given) as client:
        run = _Load(call, client, journal, asyncio.Semaphore(plan.concurrency))
        stopped = await _until_stopped(_work_off(run, _works(run, sources, plan)))
        if stopped is not None:
            run.line({"stopped": signal.Signals(stopped).name, "message": "run the same command again to go on"})
        elif not run.codes:
            await journal.remove()
        run.result(stopped)
    return _code(run, stopped)


async def _until_stopped(work: Coroutine[Any, Any, None]) -> int | None:
    """Do `work`, or drop it at SIGINT or SIGTERM: the signal. What was acknowledged by then stays."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    caught: list[int] = []

    def stop(number: int) -> None:
        caught.append(number)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        await task
    except asyncio.CancelledError:
        if not caught:
            raise
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
    return caught[0] if caught else None


async def _works(run: _Load, sources: list[Source], plan: Plan) -> AsyncIterator[Work]:
    """Users and their sessions, file by file; a file that cannot be read is named, and the others are read."""
    for source in sources:
        try:
            async with source.local() as path:
                read = partial(read_work, path, plan.prefix + source.stem, plan.format, one_user=False, time=plan.time)
                works = await asyncio.to_thread(read)
        except MemForestError as error:
            failure = {"file": source.name, "kind": error.kind, "message": sentence(error)}
            run.line(failure)
            run.counts["failed"] += 1
            run.fail(exit_code(error), [failure])
            continue
        for work in works:
            yield work


async def _work_off(run: _Load, works: AsyncIterator[Work]) -> None:
    """Ingest users, a bounded number at a time: what is not begun is not read either."""

    async def one(work: Work) -> None:
        try:
            await _one(run, work)
        finally:
            run.window.release()

    async with asyncio.TaskGroup() as group:
        async for work in works:
            if run.journal.holds(work.user, work.sessions):
                run.counts["skipped"] += 1
                continue
            await run.window.acquire()
            if run.hopeless:
                return
            group.create_task(one(work))


async def _one(run: _Load, work: Work) -> None:
    """One user: ingested, counted, noted, told."""
    outcome = await _ingest(run.client, work)
    codes = {exit_code(error) for error in outcome.errors}
    run.unavailable = run.unavailable + 1 if UNAVAILABLE in codes and not outcome.receipts else 0
    totals, failures = outcome.totals, outcome.failures
    for key in run.counts.keys() & totals.keys():
        run.counts[key] += totals[key]
    run.counts["users"] += 1
    if failures:
        run.counts["failed"] += 1
        run.fail(max(codes, default=PARTIAL), failures)
    else:
        with suppress(StoreUnavailable):  # then another run asks this user again, and is told `duplicate`
            await run.journal.add(work.user, work.sessions)
    run.line({**totals, "failures": failures, "notes": outcome.notes})


async def _ingest(client: AsyncClient, work: Work) -> Outcome:
    """One user's sessions; those that met a full queue are tried again after the time that it named."""
    sessions, outcome = work.sessions, Outcome(work.user)
    for tries_left in reversed(range(OVERLOADED_TRIES_MAX)):
        errors = await _ingest_once(client, work.user, sessions, outcome.receipts)
        full = [error for error in errors if isinstance(error, Overloaded) and tries_left]
        outcome.errors.extend(error for error in errors if error not in full)
        if not full:
            break
        again = {error.detail.get("session") for error in full}
        sessions = tuple(session for session in sessions if session.id in again)
        await asyncio.sleep(max(error.retry_after for error in full))
    return outcome


async def _ingest_once(
    client: AsyncClient, user: str, sessions: tuple[Session, ...], receipts: list[Receipt]
) -> list[MemForestError]:
    """Try each session once: receipts are added to `receipts`, errors returned."""
    errors: list[MemForestError] = []

    def became(_done: int, _total: int, what: Receipt | MemForestError) -> None:
        if isinstance(what, MemForestError):
            errors.append(what)
        else:
            receipts.append(what)

    try:
        await client.user(user).ingest_many(sessions, on_progress=became)
    except MemForestError as error:
        return errors or [error]  # it is one of those
    return errors


def _code(run: _Load, stopped: int | None) -> int:
    if stopped is not None:
        return TERMINATED if stopped == signal.SIGTERM else INTERRUPTED
    if not run.codes:
        return OK
    if run.counts["sessions"] or run.counts["skipped"]:
        return PARTIAL
    return UNAVAILABLE if UNAVAILABLE in run.codes else USAGE
