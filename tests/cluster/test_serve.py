"""The model tier's files against Ray Serve's schema, and its models against Ray's configuration of an LLM."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from tests.cluster.serving import AutoscalingConfig, DeploymentSchema, ServeDeploySchema, llm_config
from tests.cluster.strict import CLUSTER, documents, unknown_keys

FILES = sorted((CLUSTER / "serve").glob("*.yaml"))
ENGINE = frozenset(
    {
        "enable_prefix_caching",
        "gpu_memory_utilization",
        "max_model_len",
        "max_num_seqs",
        "runner",
        "tensor_parallel_size",
    }
)
"""Arguments of vLLM's engine that we use. Ray hands them on unread, so a slip would only show on a GPU."""


def _config(path: Path) -> dict[str, Any]:
    return documents(path)[0]


MODELS = [
    pytest.param(model, id=f"{path.stem}-{model['model_loading_config']['model_id']}")
    for path in FILES
    for application in _config(path)["applications"]
    for model in application["args"]["llm_configs"]
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_a_serve_config(path: Path) -> None:
    """It validates, and has no key that Serve would drop without a word."""
    config = _config(path)
    ServeDeploySchema.model_validate(config)
    assert list(unknown_keys(ServeDeploySchema, config)) == []


def test_the_check_catches_slips() -> None:
    """Serve's own validation accepts unknown keys; ours does not."""
    config = _config(FILES[0])
    config["http_options"]["prt"] = 1
    config["applications"][0]["routeprefix"] = "/x"
    ServeDeploySchema.model_validate(config)
    assert sorted(unknown_keys(ServeDeploySchema, config)) == ["applications[0].routeprefix", "http_options.prt"]


@pytest.mark.parametrize("model", MODELS)
def test_deployments_are_known_to_serve(model: dict[str, Any]) -> None:
    """Options of the deployment and its scaling are Serve's, and fit together."""
    options = model["deployment_config"]
    DeploymentSchema.model_validate({"name": "x", **options})
    assert list(unknown_keys(DeploymentSchema, options)) == []
    if scaling := options.get("autoscaling_config"):
        assert list(unknown_keys(AutoscalingConfig, scaling)) == []
        assert AutoscalingConfig(**scaling).target_ongoing_requests <= options["max_ongoing_requests"]


@pytest.mark.parametrize("model", MODELS)
def test_models_are_llm_configs(model: dict[str, Any]) -> None:
    """Ray's own class accepts them; arguments of the engine are of those that we know."""
    config = llm_config()
    config(**model)
    assert set(model["engine_kwargs"]) <= ENGINE
    with pytest.raises(ValidationError):
        config(**{**model, "accelerator_type": "H1000"})
    with pytest.raises(ValidationError):
        config(**{**model, "engine_kwarg": {}})


def test_both_sizes_have_the_same_addresses() -> None:
    """Growing from one card to many changes neither paths nor names of models."""

    def addresses(path: Path) -> list[tuple[str, str]]:
        return [
            (application["route_prefix"], model["model_loading_config"]["model_id"])
            for application in _config(path)["applications"]
            for model in application["args"]["llm_configs"]
        ]

    assert [addresses(path) for path in FILES] == [[("/gen", "extractor"), ("/emb", "embedder")]] * len(FILES)


def test_one_card_is_shared_and_not_overbooked() -> None:
    """Shares of the card and of its memory add up to at most one."""
    models = [
        model
        for application in _config(CLUSTER / "serve/one_gpu.yaml")["applications"]
        for model in application["args"]["llm_configs"]
    ]
    assert sum(model["placement_group_config"]["bundles"][0]["GPU"] for model in models) <= 1
    assert sum(model["engine_kwargs"]["gpu_memory_utilization"] for model in models) <= 0.95


def test_the_ray_service_holds_the_same_config() -> None:
    """What Kubernetes deploys is the file that `serve deploy` takes."""
    service = documents(CLUSTER / "kuberay/rayservice.llm.yaml")[0]
    assert yaml.safe_load(service["spec"]["serveConfigV2"]) == _config(CLUSTER / "serve/gen_embed.yaml")


def test_nested_models_are_searched() -> None:
    """Serve's schema nests models that the search for unknown keys must enter."""
    nested = ServeDeploySchema.model_fields["http_options"].annotation
    assert isinstance(nested, type)
    assert issubclass(nested, BaseModel)
