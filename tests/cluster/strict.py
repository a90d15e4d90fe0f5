"""Schemas made strict: what no schema names is a slip of the pen, and its consumer would drop it without a word."""

import typing
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any

import yaml
from pydantic import BaseModel

__all__ = ["CLUSTER", "ROOT", "documents", "strict_schema", "unknown_keys"]

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "cluster"


def documents(path: Path) -> list[dict[str, Any]]:
    """The YAML documents of a file."""
    return [document for document in yaml.safe_load_all(path.read_text("utf-8")) if document is not None]


def strict_schema(node: Any) -> Any:
    """JSON Schema of a Kubernetes structural schema, with no room for properties that it does not name."""
    if isinstance(node, list):
        return [strict_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    made = {key: strict_schema(value) for key, value in node.items() if not key.startswith("x-kubernetes-")}
    if "properties" in node and isinstance(node["properties"], dict):
        made["properties"] = {name: strict_schema(value) for name, value in node["properties"].items()}
        if not node.get("x-kubernetes-preserve-unknown-fields"):
            made.setdefault("additionalProperties", False)
    return made


def unknown_keys(model: type[BaseModel], value: object, place: str = "") -> Iterator[str]:
    """Places in `value` that `model` has no field for, at any depth of models within models."""
    if not isinstance(value, dict):
        return
    fields = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    for key, item in value.items():
        if key not in fields:
            yield f"{place}{key}"
        for inner in _models(fields.get(key)):
            for number, element in enumerate(item if isinstance(item, list) else [item]):
                at = f"{place}{key}[{number}]." if isinstance(item, list) else f"{place}{key}."
                yield from unknown_keys(inner, element, at)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that an annotation speaks of: itself, or within a union or a list."""
    if isinstance(annotation, type) and not typing.get_origin(annotation):
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    if typing.get_origin(annotation) in (typing.Union, UnionType, list):
        for inner in typing.get_args(annotation):
            yield from _models(inner)
