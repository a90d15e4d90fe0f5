"""Settings: frozen values, each with its default once, its unit and reason. Only this file reads the environment.

Precedence: defaults < TOML file < `MEMFOREST_*` environment < arguments. Unknown keys are errors.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from memforest_ray.errors import InvalidInput, meant

__all__ = ["ENVIRONMENT_PREFIX", "OPENAI_URL", "EndpointSettings", "Settings", "endpoint_key", "load_settings"]

ENVIRONMENT_PREFIX = "MEMFOREST_"
_CONFIG_VARIABLE = "MEMFOREST_CONFIG"
OPENAI_URL = "https://api.openai.com/v1"
"""Where a model is asked for that is named, but not where it is served."""
_KEY_VARIABLE = "OPENAI_API_KEY"


def _listed(value: Any) -> Any:
    """Environment variables list with commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _addresses(value: Any) -> Any:
    """Of servers; that of a host alone would be asked in no protocol."""
    listed = _listed(value)
    for url in listed if isinstance(listed, list | tuple) else ():
        parts = urlsplit(url) if isinstance(url, str) else None
        if parts is not None and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError(f"{url!r} must begin with http:// or https://, as in 'http://localhost:8000/v1'")
    return listed


def _families(value: Any) -> Any:
    """Each once, in the order in which a forest builds them."""
    listed = _listed(value)
    given = set(listed) if isinstance(listed, list | tuple | set | frozenset) else set()
    known = tuple(name for name in ("session", "entity", "scene") if name in given)
    if not known or len(known) < len(given):
        raise ValueError("name at least one family of trees, and only session, entity, scene")
    return known


Families = Annotated[tuple[Literal["session", "entity", "scene"], ...], NoDecode, BeforeValidator(_families)]
Urls = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_addresses)]


class EndpointSettings(BaseModel):
    """Where the model of one role is served, as far as that differs from the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    urls: Annotated[tuple[str, ...], BeforeValidator(_addresses)] = ()  # empty: `llm_urls`
    model: str = ""  # empty: `llm_model`, or what other urls serve
    key_variable: str = ""  # empty: `llm_key_variable`


class Settings(BaseSettings):
    """What a user may tune. Components (store, models, clock) are arguments elsewhere, never settings."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    # Where
    store: str = "file://~/.memforest/store"  # a user's memory must not depend on the folder a command runs in
    runtime: Literal["ray", "local"] = "ray"
    address: str | None = None  # of a Ray cluster; None: RAY_ADDRESS, else `memforest up`'s, else one of our own

    # What shapes a forest for ever: written into its manifest at birth, read from there afterwards
    cell_turns: int = Field(default=2, ge=1, le=64)  # b of the paper: enough context, short parallel calls
    cell_chars_max: int = Field(default=8_000, ge=200)  # bounds one extraction call
    cell_gap_hours: float = Field(default=6.0, gt=0)  # a new sitting begins after such a pause
    fanout_session: int = Field(default=4, ge=3, le=64)
    fanout_entity: int = Field(default=8, ge=3, le=64)
    fanout_scene: int = Field(default=8, ge=3, le=64)
    families: Families = ("session", "entity", "scene")  # of trees; one that is left out is never built, nor paid for

    # The owner of a forest
    refresh_linger_s: float = Field(default=0.25, ge=0)  # summaries that nobody waits for let the next write go first
    lane_depth_max: int = Field(default=256, ge=1)  # writes that wait; beyond it `Overloaded`
    prove_after_s: float = 300.0  # ownership older than this is proven again before a write is acknowledged
    fresh_s: float = 5.0  # ownership older than this is proven again before a `fresh` read
    checkpoint_commits: int = Field(default=32, ge=1)  # bounds replay when a forest opens
    checkpoint_bytes: int = Field(default=4 << 20, ge=1 << 12)  # the same, in bytes of log
    idle_s: float = 900.0  # an actor without calls leaves after this long (jittered)
    residents_max: int = Field(default=200, ge=1)  # forests in memory on one node: 60 to 90 MB each
    policy: str | None = None  # "module:name" of what decides who may do what (`policy.py`); None: all is allowed
    principal: str = ""  # who stands behind the calls of a client: what the policy is asked about
    call_deadline_s: float = 600.0  # after which a handle gives up: `OutcomeUnknown` for a write

    # Graphs over vectors; below these sizes a scan is as fast, and smaller
    graph_rows_min: int = Field(default=4_096, ge=2)  # leaves of a tree: an empty graph object costs 2.6 MB
    forest_graph_rows_min: int = Field(default=16_384, ge=2)  # facts, or cells, of the whole forest

    # The offline models
    embed_threads: int = Field(default=2, ge=1)  # one text at a time per thread, one embedder a node
    embed_folder: Path | None = None  # a folder with model.onnx and tokenizer.json instead of the shipped model

    # Models behind OpenAI-compatible endpoints
    backend: Literal["auto", "offline", "openai"] = "auto"  # auto: `openai` where `llm_urls` names an endpoint
    llm_urls: Urls = Field(
        default_factory=lambda: _listed(os.environ.get("OPENAI_BASE_URL", "")), validate_default=True
    )
    llm_model: str = ""  # empty: the one model that the endpoint serves
    llm_key_variable: str = _KEY_VARIABLE  # the environment variable with the key: settings hold no secrets
    llm_roles: dict[Literal["extract", "summarise", "judge", "plan", "rank", "answer"], EndpointSettings] = Field(
        default_factory=dict
    )
    llm_body: dict[str, Any] = Field(default_factory=dict)  # more fields of every request, as the server knows them
    llm_permits: int = Field(default=256, ge=1)  # calls in flight per endpoint at most: a vLLM server's slots
    llm_timeout_s: float = Field(default=60.0, gt=0)  # of one call: a long answer under load takes half of it
    llm_hedges: float = Field(default=0.03, ge=0, le=1)  # share of calls made again when answers are late; 0: none
    embed_urls: Urls = ()  # empty: the model that ships with the library, unless `embed_model` is named
    embed_model: str = ""  # with `embed_urls` empty: served by `llm_urls`
    embed_key_variable: str = _KEY_VARIABLE
    embed_dimension: int | None = Field(default=None, ge=1)  # None: whatever the endpoint's vectors have
    embed_texts_max: int = Field(default=64, ge=1)  # of one call: well below what servers allow
    embed_thresholds: dict[str, float] = Field(default_factory=dict)  # other than the model's known ones, by name

    # Lines of our own processes: actors, heads, the command line
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "warning"  # `info` tells of every call

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        sources = [init_settings, env_settings]
        if path := os.environ.get(_CONFIG_VARIABLE):
            sources.append(TomlConfigSettingsSource(settings_cls, toml_file=path))
        return tuple(sources)

    @property
    def remote_chat(self) -> bool:
        """Whether chat models behind endpoints are used; else everything that needs one is done offline."""
        return self.backend == "openai" or (self.backend == "auto" and bool(self.llm_urls))

    @property
    def remote_embedder(self) -> bool:
        """Whether vectors come from an endpoint; else from the model that ships with the library."""
        return self.backend != "offline" and bool(self.embed_urls or self.embed_model)

    def endpoints_of(self, role: str) -> EndpointSettings:
        """Where a role's model is served; `embed` is a role too. Its model is empty where the server is to be asked."""
        if role == "embed":
            urls = self.embed_urls or self.llm_urls or (OPENAI_URL,)
            return EndpointSettings(urls=urls, model=self.embed_model, key_variable=self.embed_key_variable)
        own = self.llm_roles.get(role, EndpointSettings())  # type: ignore[call-overload]  # any text may be asked for
        return EndpointSettings(
            urls=own.urls or self.llm_urls or (OPENAI_URL,),
            model=own.model or ("" if own.urls else self.llm_model),
            key_variable=own.key_variable or self.llm_key_variable,
        )

    @property
    def models(self) -> str:
        """All that decides which models are asked, and how: two settings with the same can share a pool."""
        names = {name for name in type(self).model_fields if name.startswith(("llm_", "embed_"))}
        return self.model_dump_json(include={"backend", *names})

    def __hash__(self) -> int:
        # Frozen, so a key of caches; the mappings among its values have no hash of their own.
        return hash(self.model_dump_json())

    @property
    def cell_gap_ms(self) -> int:
        """`cell_gap_hours` in milliseconds."""
        return round(self.cell_gap_hours * 3_600_000)

    @property
    def fanouts(self) -> dict[str, int]:
        """Children per node, by tree family."""
        return {"session": self.fanout_session, "entity": self.fanout_entity, "scene": self.fanout_scene}

    @property
    def birth(self) -> dict[str, Any]:
        """What is written into a new forest's manifest."""
        return {
            "cell_turns": self.cell_turns,
            "cell_chars_max": self.cell_chars_max,
            "cell_gap_ms": self.cell_gap_ms,
            "fanouts": self.fanouts,
            "families": list(self.families),
        }


def load_settings(**given: Any) -> Settings:
    """The settings in force. Arguments that are None count as not given.

    Raises InvalidInput naming the key, for unknown keys and values out of range.
    """
    _refuse_unknown_variables()
    path = os.environ.get(_CONFIG_VARIABLE)
    if path and not Path(path).is_file():
        raise InvalidInput(f"{_CONFIG_VARIABLE} names {path}, which is not a file; nothing was done")
    try:
        return Settings(**{key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = EndpointSettings.model_fields if len(first["loc"]) > 1 else Settings.model_fields
            hint = meant(str(first["loc"][-1]), known)
            raise InvalidInput(f"unknown setting {key!r}; nothing was done; {hint}") from error
        reason = first["msg"].removeprefix("Value error, ")  # what pydantic puts before the words of a check
        raise InvalidInput(f"setting {key!r}: {reason} (got {first['input']!r})") from error
    except ValueError as error:
        raise InvalidInput(f"the configuration cannot be read: {error}") from error


def endpoint_key(variable: str) -> str:
    """The key in an environment variable, of the process that makes the calls; empty where there is none."""
    return os.environ.get(variable, "")


def _refuse_unknown_variables() -> None:
    known = {ENVIRONMENT_PREFIX + name.upper() for name in Settings.model_fields} | {_CONFIG_VARIABLE}
    unknown = sorted(name for name in os.environ if name.startswith(ENVIRONMENT_PREFIX) and name not in known)
    if unknown:
        hint = meant(unknown[0], known, ENVIRONMENT_PREFIX)
        raise InvalidInput(f"unknown environment variable {unknown[0]}; nothing was done; {hint}")
