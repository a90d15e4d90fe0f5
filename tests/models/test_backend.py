"""The backend as settings describe it: roles and their endpoints, what is asked when it is made, keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from memforest_ray.config import EndpointSettings, Settings, endpoint_key, load_settings
from memforest_ray.errors import InvalidInput, LLMUnavailable
from memforest_ray.models.backend import Backend
from memforest_ray.models.chat import ChatRole
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.simulation.http import HttpResponse
from memforest_ray.testing.clock import ManualClock, SeededRandom
from memforest_ray.testing.endpoint import ScriptedEndpoint, completion

DEAD = "http://127.0.0.1:9/v1"


def models(*names: str) -> HttpResponse:
    return HttpResponse.of({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


def backend(**settings: Any) -> Backend:
    return Backend(Settings(**settings), ManualClock(), SeededRandom())


@asynccontextmanager
async def serving(server: ScriptedEndpoint, **settings: Any) -> AsyncIterator[Backend]:
    """A backend of `server`, made beside the loop: making it may ask the server."""
    async with server:
        one = await asyncio.to_thread(lambda: backend(**{"llm_urls": (server.url,), **settings}))
        try:
            yield one
        finally:
            await one.close()


async def test_a_model_that_is_not_named_is_asked_for() -> None:
    """Once, for all roles."""
    server = ScriptedEndpoint(models("served"), completion({"same": True}))
    async with serving(server) as one:
        assert (one.model, one.of("judge").model) == ("served", "served")
        (reply,) = await one.chat([JUDGE.request("A: x\nB: x")])
        assert (reply.value, server.paths) == ({"same": True}, ["/v1/models", "/v1/chat/completions"])
        assert server.asked[1]["model"] == "served"


async def test_among_several_models_one_must_be_named() -> None:
    """The message lists some."""
    with pytest.raises(InvalidInput, match=r"serves 7 models \(m0, m1, m2, m3, m4, \.\.\.\); name the one"):
        async with serving(ScriptedEndpoint(models(*(f"m{number}" for number in range(7))))):
            pass


def test_a_server_that_cannot_be_asked() -> None:
    """Says which, and that a name would do."""
    with pytest.raises(LLMUnavailable, match="did not say which model it serves"):
        backend(llm_urls=(DEAD,))
    with pytest.raises(LLMUnavailable, match=f"the embedding endpoint {DEAD} gave no vector") as caught:
        backend(llm_urls=(DEAD,), llm_model="m", embed_model="e").embedder()
    assert caught.value.detail["role"] == "embed"


async def test_roles_have_their_own_endpoints() -> None:
    """And share permits where they share a server."""
    async with ScriptedEndpoint(completion({"same": True})) as judge:
        server = ScriptedEndpoint(completion({"facts": []}))
        roles = {"judge": EndpointSettings(urls=(judge.url,), model="wise")}
        async with serving(server, llm_model="quick", llm_roles=roles) as one:
            await one.chat([JUDGE.request("x"), EXTRACT.request("y")])
            assert ([asked["model"] for asked in judge.asked], [asked["model"] for asked in server.asked]) == (
                ["wise"],
                ["quick"],
            )
            assert one.model == "quick, wise"


async def test_processes_share_an_endpoint_s_budget() -> None:
    """Each has its part, at least one."""
    settings = Settings(llm_urls=(DEAD,), llm_model="m", llm_permits=10)
    made = [Backend(settings, ManualClock(), SeededRandom(), members=members) for members in (1, 3, 99)]
    assert [one.permits.limit(DEAD) for one in made] == [10, 3, 1]


async def test_vectors_wait_for_no_answers() -> None:
    """Where one server gives both, all permits of chat calls may be in use."""

    def answer(asked: dict[str, Any]) -> HttpResponse | None:
        vectors = HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, 0.0]}]})
        return vectors if "input" in asked else None

    server = ScriptedEndpoint(answer=answer)
    named = {"llm_model": "m", "embed_model": "e", "embed_dimension": 2, "llm_permits": 1}
    async with serving(server, **named) as one:
        silent = asyncio.create_task(one.chat([JUDGE.request("one")]))
        await server.reached(1)
        assert (await one.embedder().embed(["x"])).tolist() == [[1.0, 0.0]]
        assert one.permits.in_flight(server.url) == 1
        silent.cancel()
        await asyncio.gather(silent, return_exceptions=True)


async def test_warming_reads_prompts_and_schemas() -> None:
    """One token each, and whatever comes of it."""
    server = ScriptedEndpoint(completion("", finish="length"))
    async with serving(server, llm_model="m") as one:
        await one.warm((EXTRACT, JUDGE))
        assert [asked["max_tokens"] for asked in server.asked] == [1, 1]
        assert {asked["messages"][0]["content"] for asked in server.asked} == {EXTRACT.system, JUDGE.system}


async def test_the_dimension_is_asked_for() -> None:
    """Unless it is set."""
    server = ScriptedEndpoint(HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, 2.0, 2.0]}]}))
    async with serving(server, llm_model="m", embed_model="e") as one:
        fingerprint = (await asyncio.to_thread(one.embedder)).fingerprint
        assert (fingerprint.model, fingerprint.dimension) == ("e", 3)
    async with serving(ScriptedEndpoint(None), llm_model="m", embed_model="e", embed_dimension=5) as one:
        assert one.embedder().fingerprint.dimension == 5


async def test_an_embedder_alone_is_all_that_is_called() -> None:
    """Without a chat endpoint nobody is asked which model he serves, OpenAI least of all."""
    vector = HttpResponse.of({"data": [{"index": 0, "embedding": [1.0, 2.0, 2.0]}]})
    async with ScriptedEndpoint(vector, vector) as server:
        settings = Settings(embed_urls=(server.url,), embed_model="e")
        one = await asyncio.to_thread(Backend, settings, ManualClock(), SeededRandom())
        embedder = await asyncio.to_thread(one.embedder)
        assert (await embedder.embed(["x"])).shape == (1, 3)
        assert (one.model, server.paths) == ("", ["/v1/embeddings", "/v1/embeddings"])
        await one.close()


async def test_an_embedder_s_answer_without_a_vector() -> None:
    """Is no dimension."""
    async with serving(ScriptedEndpoint(HttpResponse.of({"data": []})), llm_model="m", embed_model="e") as one:
        with pytest.raises(LLMUnavailable, match="gave no vector"):
            await asyncio.to_thread(one.embedder)


async def test_keys_come_from_the_environment_that_settings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no setting, log or file holds one."""
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("JUDGE_KEY", "special")
    roles = {"judge": EndpointSettings(key_variable="JUDGE_KEY")}
    async with serving(ScriptedEndpoint(completion({})), llm_model="m", llm_roles=roles) as one:
        asked: tuple[ChatRole, ...] = ("extract", "judge")
        keys = {role: next(iter(one.of(role)._endpoints.values())) for role in asked}
        assert {role: endpoint.key for role, endpoint in keys.items()} == {"extract": "general", "judge": "special"}
        assert "general" not in repr(keys["extract"])
    assert endpoint_key("NO_SUCH_VARIABLE") == ""


def test_offline_unless_an_endpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key alone sends nothing anywhere; `OPENAI_BASE_URL` names an endpoint."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    quiet = load_settings()
    assert (quiet.remote_chat, quiet.remote_embedder, quiet.llm_urls) == (False, False, ())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1")
    named = load_settings()
    assert (named.remote_chat, named.remote_embedder, named.llm_urls) == (True, False, ("http://one/v1",))
    assert (load_settings(backend="offline").remote_chat, load_settings(embed_model="e").remote_embedder) == (
        False,
        True,
    )
    assert "secret" not in named.model_dump_json()


def test_openai_s_own_endpoint_is_used_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only then."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    settings = Settings(backend="openai", llm_model="m")
    assert (settings.remote_chat, settings.endpoints_of("extract").urls) == (True, ("https://api.openai.com/v1",))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"embed_model": "e"}, "where the embedder 'e' is served: MEMFOREST_EMBED_URLS or MEMFOREST_LLM_URLS names no"),
        ({"backend": "openai", "llm_model": "m"}, "where the chat model is served: MEMFOREST_LLM_URLS names no server"),
    ],
)
def test_a_model_that_nobody_serves(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], told: str) -> None:
    """Without an address, and without a key for the one place that needs none: nobody is asked."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY holds no key for https://api") as caught:
        backend(**given)
    assert told in caught.value.message
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    backend(**given, embed_dimension=3)


def test_settings_of_endpoints_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists with commas, roles as JSON; what is no setting of an endpoint is refused."""
    monkeypatch.setenv("MEMFOREST_LLM_URLS", "http://a/v1, http://b/v1")
    monkeypatch.setenv("MEMFOREST_LLM_MODEL", "m")
    monkeypatch.setenv("MEMFOREST_LLM_ROLES", '{"judge": {"urls": ["http://c/v1"], "model": "j"}, "plan": {}}')
    settings = load_settings()
    assert settings.endpoints_of("judge") == EndpointSettings(
        urls=("http://c/v1",), model="j", key_variable="OPENAI_API_KEY"
    )
    assert settings.endpoints_of("plan") == EndpointSettings(
        urls=("http://a/v1", "http://b/v1"), model="m", key_variable="OPENAI_API_KEY"
    )
    assert Settings.model_validate(settings.model_dump(mode="json")) == settings
    monkeypatch.setenv("MEMFOREST_LLM_ROLES", '{"judge": {"url": "http://c/v1"}}')
    with pytest.raises(InvalidInput, match="llm_roles"):
        load_settings()


def test_settings_that_ask_the_same_models_share_a_pool() -> None:
    """What else they say does not matter."""
    one, other = Settings(llm_urls=("http://a/v1",)), Settings(llm_urls=("http://a/v1",), store="memory://")
    assert one.models == other.models != Settings(llm_urls=("http://b/v1",)).models
