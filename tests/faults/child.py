"""A process that owns a forest and does what it is told, until it is killed or stopped. Born in a nursery.

Reads commands from standard input, one JSON object a line, at its end closes and leaves; writes an answer to each,
flushed, and where it is about to halt itself.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.config import load_settings
from memforest_ray.errors import MemForestError
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.driver import ForestDriver
from memforest_ray.local.effects import Models
from memforest_ray.local.runtime import LocalRuntime
from memforest_ray.query.request import QueryRequest
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from tests.faults.halts import Halt, HaltingExtractor, HaltingStore, HaltingSummarizer
from tests.faults.programme import Orders, name, session

ANN = UserId("ann")
DEADLINE_S = 60.0


def say(row: dict[str, Any]) -> None:
    """One line for the parent."""
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


async def _standard_input() -> asyncio.StreamReader:
    """Unlike a thread that reads, this keeps nobody from leaving when a command fails in an unforeseen way."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


class Worker:
    """Does commands, `window` of them at a time, each begun in the order in which it came."""

    def __init__(self, orders: Orders) -> None:
        self._halt = Halt(orders.phase, orders.event, orders.signal, lambda place: say({"halts": place}))
        store = HaltingStore(open_store(orders.url), self._halt)
        models = Models(HaltingExtractor(self._halt), HaltingSummarizer(self._halt), HashEmbedder())
        settings = load_settings(store=orders.url, runtime="local", **orders.settings)
        self._runtime = LocalRuntime(settings, store, models)
        self._driver = ForestDriver(ANN, store, models, settings, SystemClock(), SystemRandom())
        self._retries = orders.retries
        self._window = asyncio.Semaphore(orders.window)

    async def work(self) -> None:
        commands = await _standard_input()
        async with asyncio.TaskGroup() as tasks:
            while line := await commands.readline():
                await self._window.acquire()
                tasks.create_task(self._answer(json.loads(line)))
        await self._runtime.close()
        await self._driver.close()

    async def _answer(self, command: dict[str, Any]) -> None:
        act: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]] = getattr(self, f"_{command['verb']}")
        try:
            say({"op": command["op"], "answer": await act(command)})
        except MemForestError as error:
            say({"op": command["op"], "error": error.kind})
        finally:
            self._window.release()

    async def _ingest(self, command: dict[str, Any]) -> dict[str, Any]:
        arguments = {"session": session(command["number"])}
        return dict((await self._call("ingest", arguments, OpId(command["op"]))).to_json())

    async def _forget(self, command: dict[str, Any]) -> dict[str, Any]:
        self._halt.forgetting = True
        try:
            report = await self._call("forget", {"session": name(command["number"])}, OpId(command["op"]))
        finally:
            self._halt.forgetting = False
        return dict(report.to_json())

    async def _query(self, command: dict[str, Any]) -> dict[str, Any]:
        found = await self._call("query", {"request": QueryRequest.of(command["text"], k=50)}, None)
        return {"version": found.version, "sessions": sorted({hit.session_id for hit in found})}

    async def _call(self, verb: str, arguments: dict[str, Any], op_id: OpId | None) -> Any:
        if self._retries:
            return await self._runtime.call(ANN, verb, arguments, op_id=op_id, seen=0, deadline_s=DEADLINE_S)
        return await self._driver.call(verb, arguments, op_id=op_id, seen=0)
