"""Ray Serve's own classes, imported without their warnings: Serve builds them in ways that Pydantic deprecates."""

import warnings
from importlib import import_module
from typing import Any

import pytest

__all__ = ["AutoscalingConfig", "DeploymentSchema", "ServeDeploySchema", "llm_config", "serve_cli"]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ray.serve.config import AutoscalingConfig
    from ray.serve.schema import DeploymentSchema, ServeDeploySchema


def llm_config() -> Any:
    """The class that `ray.serve.llm.LLMConfig` extends; that public module itself needs vLLM."""
    pytest.importorskip("pyarrow", reason="Ray's configuration of an LLM needs pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("ray.llm._internal.serve.core.configs.llm_config").LLMConfig


def serve_cli() -> Any:
    """The program `serve`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("ray.serve.scripts").cli
