"""Models behind endpoints, through actors: every call goes out from a gateway, which may die."""

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
from memforest_ray.facts.sessions import Session, Turn
from memforest_ray.forest.intents import Receipt
from memforest_ray.ids import OpId, UserId
from memforest_ray.local.models import OpenModels
from memforest_ray.query.request import QueryRequest
from memforest_ray.simulation.faults import Faults
from memforest_ray.simulation.http import HttpServer
from memforest_ray.simulation.server import MODEL, SimulatedServer, Workload
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
    driver = Settings.model_fields["driver"].default
    return settings.model_copy(update={**own, "driver": driver, "refresh_linger_s": 0.0})


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
