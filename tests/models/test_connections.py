"""Connections: few calls share a client, keys go with them, and nothing is left open."""

import asyncio

from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.simulation.http import HttpRequest, HttpResponse, HttpServer
from memforest_ray.testing.clock import ManualClock
from memforest_ray.testing.endpoint import ScriptedEndpoint


async def test_sixteen_calls_share_a_client_and_clients_are_used_again() -> None:
    """The client's own pool looks at every connection for every call."""
    connections = Connections(ManualClock(), 5.0)
    server = ScriptedEndpoint(HttpResponse.of({"ok": True}))
    async with server:
        endpoint = Endpoint(server.url, "m")
        for _ in range(2):
            server.asked.clear()
            server.gate.clear()
            calls = [asyncio.create_task(connections.post(endpoint, "/x", {"n": number})) for number in range(40)]
            await server.reached(40)
            server.gate.set()
            assert await asyncio.gather(*calls) == [{"ok": True}] * 40
            assert [len(group) for group in connections._clients.values()] == [3]
            assert {client.in_flight for group in connections._clients.values() for client in group} == {0}
        await connections.close()


async def test_a_key_is_sent_to_its_own_endpoint() -> None:
    """And to no other; without one the server sees that there is none."""
    seen: list[tuple[str, str]] = []

    async def handle(request: HttpRequest) -> HttpResponse:
        seen.append((request.path, request.headers["authorization"]))
        return HttpResponse.of({})

    server = HttpServer(handle)
    url = await server.start()
    connections = Connections(ManualClock(), 5.0)
    await connections.post(Endpoint(f"{url}/a", "m", "secret"), "/x", {})
    await connections.post(Endpoint(f"{url}/b", "m"), "/x", {})
    await connections.close()
    await server.close()
    assert seen == [("/a/x", "Bearer secret"), ("/b/x", "Bearer none")]


async def test_who_is_cancelled_leaves_room() -> None:
    """The call is over for the count, too."""
    connections = Connections(ManualClock(), 5.0)
    async with ScriptedEndpoint(None) as server:
        call = asyncio.create_task(connections.post(Endpoint(server.url, "m"), "/x", {}))
        await server.reached(1)
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert [client.in_flight for group in connections._clients.values() for client in group] == [0]
        await connections.close()
