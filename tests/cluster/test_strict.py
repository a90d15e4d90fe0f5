"""The strictness of the checks themselves: a check that lets slips through is worse than none."""

from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from tests.cluster.strict import strict_schema, unknown_keys

CRD = {
    "type": "object",
    "properties": {
        "replicas": {"type": "integer"},
        "size": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "free": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"a": {"type": "string"}},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(
    "value",
    [
        {"replicas": 2, "size": "2Gi"},
        {"size": 2},
        {"free": {"b": 1}},
        {"labels": {"any": "thing"}},
        {"properties": {"name": "x"}},
    ],
)
def test_what_the_schema_names_passes(value: dict[str, Any]) -> None:
    """Integers or strings, open objects, maps, and a property that is called `properties`."""
    jsonschema.validate(value, strict_schema(CRD))


@pytest.mark.parametrize(
    "value",
    [{"replica": 2}, {"replicas": "2"}, {"labels": {"a": 1}}, {"properties": {"nam": "x"}}, {"size": []}],
)
def test_slips_are_caught(value: dict[str, Any]) -> None:
    """A name that is not there, or a value of another type."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, strict_schema(CRD))


class _Inner(BaseModel):
    port: int = 1


class _Outer(BaseModel):
    one: _Inner | None = None
    many: list[_Inner] = []
    text: str = ""


def test_unknown_keys_are_found_at_every_depth() -> None:
    """In the model, in a model within, in a list of models."""
    value = {"one": {"port": 1, "prt": 2}, "many": [{"port": 1}, {"x": 1}], "txt": "a"}
    assert sorted(unknown_keys(_Outer, value)) == ["many[1].x", "one.prt", "txt"]
    assert list(unknown_keys(_Outer, {"one": {"port": 1}, "many": [{}], "text": "a"})) == []
