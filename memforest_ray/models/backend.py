"""The backend `openai`: all model doors of one process, made from settings. They share connections and permits."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, get_args

import openai

from memforest_ray.ambient import Clock, Random
from memforest_ray.config import OPENAI_URL, EndpointSettings, Settings, endpoint_key
from memforest_ray.errors import InvalidInput, LLMUnavailable
from memforest_ray.models.chat import ChatReply, ChatRequest, ChatRole
from memforest_ray.models.connections import Connections, Endpoint
from memforest_ray.models.hedging import Hedges
from memforest_ray.models.openai_chat import OpenAIChat
from memforest_ray.models.openai_embedder import OpenAIEmbedder, fingerprint_of, vector_of
from memforest_ray.models.permits import Permits, Sleep
from memforest_ray.models.prompts.prompt import Prompt
from memforest_ray.models.usage import Usage
from memforest_ray.models.waves import wave

__all__ = ["Backend"]

_ROLES: Final[tuple[ChatRole, ...]] = get_args(ChatRole)
_ASK_S: Final = 10.0
"""For the two questions that are asked while the backend is made: which model, how many dimensions."""
_MODELS_NAMED_MAX: Final = 5


class Backend:
    """Implements `ChatModel` and `StreamingChat`: every request goes to the endpoints of its role."""

    def __init__(
        self, settings: Settings, clock: Clock, random: Random, *, members: int = 1, sleep: Sleep = asyncio.sleep
    ) -> None:
        """`members`: processes like this one, which share each endpoint's budget of calls.

        Chat models are made only where `settings` use one: with nothing but an embedder set up nobody else is called.
        Asks the endpoint for its model's name where settings leave it open; that blocks for at most 10 s.

        Raises:
            InvalidInput: an endpoint serves several models, and none is named; nothing says where a model is served.
            LLMUnavailable: an endpoint had to be asked, and did not answer.
        """
        self._settings = settings
        self._clock = clock
        self._random = random
        self._sleep = sleep
        chat_roles = _ROLES if settings.remote_chat else ()
        roles = [*chat_roles, *(["embed"] if settings.remote_embedder else [])]
        places = {role: settings.endpoints_of(role) for role in roles}
        for role, place in places.items():
            _check_served(role, place)
        share = max(1, settings.llm_permits // members)
        self._connections = Connections(clock, settings.llm_timeout_s)

        def permits(*roles: str) -> Permits:
            urls = {url for role in roles if role in places for url in places[role].urls}
            return Permits(dict.fromkeys(sorted(urls), share), clock, random, sleep=sleep)

        # Vectors take no place where answers are decoded, and hundredths of the time: they wait for none of them.
        self._permits, self._embed_permits = permits(*_ROLES), permits("embed")
        self._served: dict[str, str] = {}
        self._places = places
        self._chats = {
            role: OpenAIChat(
                self._endpoints(role),
                self._connections,
                self._permits,
                clock,
                random,
                body=settings.llm_body,
                hedges=Hedges(clock, settings.llm_hedges),
                sleep=sleep,
            )
            for role in chat_roles
        }

    @property
    def model(self) -> str:
        """The models of all roles."""
        return ", ".join(sorted({chat.model for chat in self._chats.values()}))

    @property
    def permits(self) -> Permits:
        """The budget of chat calls."""
        return self._permits

    def of(self, role: ChatRole) -> OpenAIChat:
        """The chat model of one role; there are none where only an embedder is behind an endpoint."""
        return self._chats[role]

    def embedder(self) -> OpenAIEmbedder:
        """The embedder. Where its dimension is not set one text is embedded; that blocks for at most 10 s.

        Raises:
            LLMUnavailable: the endpoint did not answer with a vector.
            InvalidInput: a threshold is named that does not exist.
        """
        settings = self._settings
        endpoints = self._endpoints("embed")
        dimension = settings.embed_dimension or _dimension(endpoints[0])
        fingerprint = fingerprint_of(endpoints[0].model, dimension, settings.embed_thresholds)
        return OpenAIEmbedder(
            endpoints,
            self._connections,
            self._embed_permits,
            self._random,
            fingerprint,
            texts_max=settings.embed_texts_max,
            hedges=Hedges(self._clock, settings.llm_hedges),
            sleep=self._sleep,
        )

    async def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """One reply for each, in order. Raises Overloaded when too many calls wait in this process."""
        replies = await wave(self._chats[request.role].chat([request]) for request in requests)
        return [reply for (reply,) in replies]

    def stream(self, request: ChatRequest) -> AsyncIterator[str | Usage]:
        """The answer's text, piece by piece, and what it has cost last. Raises LLMUnavailable."""
        return self._chats[request.role].stream(request)

    async def warm(self, prompts: Sequence[Prompt]) -> None:
        """Have each endpoint read the fixed text and the schema of `prompts` before somebody waits for it.

        That compiles a server's grammar (seconds, for the first use of a schema) and fills its prefix cache. What
        is answered does not matter.
        """
        await self.chat([prompt.request("Nothing yet.", tokens_max=1) for prompt in prompts])

    async def close(self) -> None:
        """End all connections."""
        self._permits.close()
        self._embed_permits.close()
        await self._connections.close()

    def _endpoints(self, role: str) -> list[Endpoint]:
        place = self._places[role]
        key = endpoint_key(place.key_variable)
        model = place.model or self._model(place, key)
        return [Endpoint(url, model, key) for url in place.urls]

    def _model(self, place: EndpointSettings, key: str) -> str:
        """The one model that is served there."""
        url = place.urls[0]
        if url not in self._served:
            self._served[url] = _served_model(url, key)
        return self._served[url]


def _check_served(role: str, place: EndpointSettings) -> None:
    """Make sure that it is known where a model is served, before anybody is asked. Raises InvalidInput."""
    if place.urls != (OPENAI_URL,) or endpoint_key(place.key_variable):
        return
    what = f"the embedder {place.model!r}" if role == "embed" else "the chat model"
    urls = "MEMFOREST_EMBED_URLS or MEMFOREST_LLM_URLS" if role == "embed" else "MEMFOREST_LLM_URLS"
    raise InvalidInput(
        f"nothing says where {what} is served: {urls} names no server of yours, and {place.key_variable} holds no key "
        f"for {OPENAI_URL}; nothing was done; set one of them"
    )


def _served_model(url: str, key: str) -> str:
    """Raises InvalidInput, LLMUnavailable."""
    try:
        with openai.OpenAI(base_url=url, api_key=key or "none", timeout=_ASK_S, max_retries=1) as client:
            names = [model.id for model in client.models.list()]
    except (openai.APIError, ValueError) as error:
        raise LLMUnavailable(
            f"{url} did not say which model it serves ({type(error).__name__}); nothing was changed; start it, or "
            "name the model (MEMFOREST_LLM_MODEL)"
        ) from error
    if len(names) != 1:
        shown = ", ".join(names[:_MODELS_NAMED_MAX]) or "none"
        raise InvalidInput(
            f"{url} serves {len(names)} models ({shown}{', ...' * (len(names) > _MODELS_NAMED_MAX)}); name the one "
            "that is meant (MEMFOREST_LLM_MODEL); nothing was changed"
        )
    return names[0]


def _dimension(endpoint: Endpoint) -> int:
    """Raises LLMUnavailable."""
    try:
        with openai.OpenAI(
            base_url=endpoint.url, api_key=endpoint.key or "none", timeout=_ASK_S, max_retries=1
        ) as client:
            body = {"model": endpoint.model, "input": ["dimension"], "encoding_format": "base64"}
            answer: object = client.post("/embeddings", cast_to=dict[str, object], body=body)
    except (openai.APIError, ValueError) as error:
        raise LLMUnavailable(
            f"the embedding endpoint {endpoint.url} gave no vector ({type(error).__name__}); nothing was changed",
            role="embed",
        ) from error
    data = answer.get("data") if isinstance(answer, dict) else None
    vector = vector_of(data[0]) if isinstance(data, list) and data else None
    if vector is None:
        raise LLMUnavailable(f"the embedding endpoint {endpoint.url} gave no vector; nothing was changed", role="embed")
    return int(vector.size)
