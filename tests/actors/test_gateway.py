"""Models behind endpoints, through actors: every call goes out from a gateway, which may die."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from memforest_actors import refs
from memforest_actors.cluster import RayRuntime, connect
from memforest_actors.gateway import GatewayActor
from memforest_actors.options import OFFLINE, member_name
from memforest_ray.ambient import SystemClock
from memforest_ray.config import Settings
from memforest_ray.errors import LLMUnavailable
from memforest_ray.facts.candidates import CellInput, TurnInput
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.ids import CellId, OpId, UserId
from memforest_ray.local.models import OpenModels
from memforest_ray.query.request import QueryRequest
from memforest_ray.simulation.faults import Faults
from memforest_ray.simulation.http import HttpServer
from memforest_ray.simulation.server import MODEL, SimulatedServer, Workload
from memforest_ray.testing.endpoint import ScriptedEndpoint, completion
from tests.actors.conftest import QUICK

pytestmark = pytest.mark.ray

ANN = UserId("ann behind a gateway")


@pytest.fixture
async def server() -> AsyncIterator[str]:
    """The address of a simulated server that answers at once."""
    http = HttpServer(SimulatedServer(Workload(latency_s=0.0), Faults({}, 0), SystemClock()).handle)
    yield await http.start("127.0.0.1", 0) + "/v1"
    await http.close()


@pytest.fixture
def served(settings: Settings, server: str) -> Settings:
    """Every model behind that server."""
    own = {"llm_urls": (server,), "llm_model": MODEL, "embed_urls": (server,), "embed_model": MODEL}
    return settings.model_copy(update={**own, "refresh_linger_s": 0.0})


def _session(name: str, subject: str) -> Session:
    turns = [Turn(f"I like {subject} and long walks by the river in Davis, part {n}." * 4, "Bob") for n in range(12)]
    return Session(name, turns, time="2023-05-08T10:00:00Z")


async def _ingest(runtime: RayRuntime, session: Session) -> Receipt:
    arguments = {"session": session, "replace": False, "wait": "refreshed"}
    receipt: Receipt = await runtime.call(
        ANN, "ingest", arguments, op_id=OpId(f"op {session.id}"), seen=0, deadline_s=60.0
    )
    return receipt


async def test_a_forest_calls_its_models_through_gateways(served: Settings) -> None:
    """Facts, vectors and summaries come from behind the endpoint; a gateway that is killed is replaced."""
    runtime = connect(served, OFFLINE, QUICK)
    try:
        first = await _ingest(runtime, _session("s1", "chess"))
        assert (first.refreshed, first.failed_cells, first.usage["extract"].calls) == (True, {}, 6)
        assert first.usage["summarise"].calls > 0
        for node in await refs.nodes():
            gateway = await refs.find(member_name("gateway", OFFLINE.gateway, served, node))
            assert gateway is not None
            pid = await gateway.pid(5.0)
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        second = await _ingest(runtime, _session("s2", "pottery"))
        assert (second.refreshed, second.failed_cells) == (True, {})
        asked = {"request": QueryRequest("Who likes pottery?")}
        found = await runtime.call(ANN, "query", asked, op_id=None, seen=0, deadline_s=60.0)
        assert "pottery" in next(iter(found)).text
    finally:
        await runtime.close()


async def test_owners_share_a_gateway_fairly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty cells of one forest are under way or wait: four of another are next, and four more then go at once."""
    said = completion({"facts": []})
    server = ScriptedEndpoint(answer=lambda _: said)

    async def nodes() -> list[str]:
        return ["one"]

    def cells(owner: str, count: int) -> list[CellInput]:
        return [
            CellInput(CellId(f"{owner}{number}"), (TurnInput(0, "Bob", "user", f"{owner} {number}", None),), None)
            for number in range(count)
        ]

    def asked_by() -> list[str]:
        return [asked["messages"][1]["content"].rpartition(": ")[2][0] for asked in server.asked]

    monkeypatch.setattr(refs, "nodes", nodes)
    async with server:
        settings = Settings(llm_urls=(server.url,), llm_model="m", llm_permits=8)
        actor = GatewayActor(OFFLINE.gateway, settings)
        server.gate.clear()
        big = asyncio.create_task(actor.extract(cells("big", 40), "big"))
        await server.reached(8)
        small = asyncio.create_task(actor.extract(cells("small", 4), "small"))
        await asyncio.sleep(0)
        server.gate.set()
        assert (await small)[0] == "ok"
        server.gate.clear()
        await server.reached(len(server.asked) + 1)  # the large one goes on, in its part
        again = asyncio.create_task(actor.extract(cells("small", 4), "small"))
        while asked_by().count("s") < 8:  # noqa: ASYNC110 - an endpoint tells how many have come, not whose
            await asyncio.sleep(0)
        assert not again.done()
        server.gate.set()
        assert [(await answers)[0] for answers in (again, big)] == ["ok", "ok"]
        assert asked_by()[:8] == ["b"] * 8
        assert asked_by()[8:16].count("s") == 4
        await (await actor._opened()).close()


async def test_a_gateway_is_warm_without_its_servers() -> None:
    """A cluster starts while they are down; whoever needs them then is told."""

    def down(_: Settings, __: int) -> OpenModels:
        raise LLMUnavailable("nobody answers")

    async def nodes() -> list[str]:
        return ["one"]

    patch = pytest.MonkeyPatch()
    patch.setattr(refs, "nodes", nodes)
    patch.setattr("memforest_actors.gateway.load", lambda _: down)
    actor = GatewayActor("any:thing", Settings())
    assert await actor.warm() == ("ok", None)
    kind, error = await actor.extract([], "ann")
    assert (kind, type(error)) == ("error", LLMUnavailable)
    patch.undo()
