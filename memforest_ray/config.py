"""Settings: frozen values, each with its default once, its unit and reason. Only this file reads the environment.

Precedence: defaults < TOML file < `MEMFOREST_*` environment < arguments. Unknown keys are errors.
"""

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from memforest_ray.errors import InvalidInput

__all__ = ["ENVIRONMENT_PREFIX", "Settings", "load_settings"]

ENVIRONMENT_PREFIX = "MEMFOREST_"
_CONFIG_VARIABLE = "MEMFOREST_CONFIG"


class Settings(BaseSettings):
    """What a user may tune. Components (store, models, clock) are arguments elsewhere, never settings."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    # Where
    store: str = "file://~/.memforest/store"  # a user's memory must not depend on where he stands
    runtime: Literal["ray", "local"] = "ray"
    address: str | None = None  # of a Ray cluster; None: RAY_ADDRESS, else `memforest up`'s, else one of our own

    # What shapes a forest for ever: written into its manifest at birth, read from there afterwards
    cell_turns: int = Field(default=2, ge=1, le=64)  # b of the paper: enough context, short parallel calls
    cell_chars_max: int = Field(default=8_000, ge=200)  # bounds one extraction call
    cell_gap_hours: float = Field(default=6.0, gt=0)  # a new sitting begins after such a pause
    fanout_session: int = Field(default=4, ge=3, le=64)
    fanout_entity: int = Field(default=8, ge=3, le=64)
    fanout_scene: int = Field(default=8, ge=3, le=64)

    # The owner of a forest
    lane_depth_max: int = Field(default=256, ge=1)  # writes that wait; beyond it `Overloaded`
    prove_after_s: float = 300.0  # ownership older than this is proven again before a write is acknowledged
    fresh_s: float = 5.0  # ownership older than this is proven again before a `fresh` read
    checkpoint_commits: int = Field(default=32, ge=1)  # bounds replay when a forest opens
    checkpoint_bytes: int = Field(default=4 << 20, ge=1 << 12)  # the same, in bytes of log
    idle_s: float = 900.0  # an actor without calls leaves after this long (jittered)
    residents_max: int = Field(default=200, ge=1)  # forests in memory on one node: 60 to 90 MB each
    call_deadline_s: float = 600.0  # after which a handle gives up: `OutcomeUnknown` for a write

    # The offline models
    embed_threads: int = Field(default=2, ge=1)  # one text at a time per thread, one embedder a node
    embed_folder: Path | None = None  # a folder with model.onnx and tokenizer.json instead of the shipped model

    # A test double of the forest's driver, by dotted path; never set in production
    driver: str = "memforest_ray.local:open_driver"

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
    def cell_gap_ms(self) -> int:
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
        raise InvalidInput(f"setting {key!r}: {first['msg']} (got {first['input']!r})") from error
    except ValueError as error:
        raise InvalidInput(f"the configuration cannot be read: {error}") from error


def _refuse_unknown_variables() -> None:
    known = {ENVIRONMENT_PREFIX + name.upper() for name in Settings.model_fields} | {_CONFIG_VARIABLE}
    unknown = sorted(name for name in os.environ if name.startswith(ENVIRONMENT_PREFIX) and name not in known)
    if unknown:
        raise InvalidInput(f"unknown environment variable {unknown[0]}; known: {', '.join(sorted(known))}")
