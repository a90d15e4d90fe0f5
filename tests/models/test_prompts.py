"""Prompts: sizes, and that schema, text and reader speak of the same fields."""

import json

import pytest

from memforest_ray.facts.candidates import CANDIDATES_MAX, DOMAINS, Kind
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.judge import JUDGE
from memforest_ray.models.prompts.prompt import Prompt
from memforest_ray.models.prompts.summarise import SUMMARISE

WRITING = (EXTRACT, SUMMARISE, JUDGE)


def test_sizes() -> None:
    """In tokens: an extraction's fixed part serves two turns, and is read from a cache but for the first time."""
    assert {prompt.role: prompt.tokens for prompt in WRITING} == {"extract": 521, "summarise": 142, "judge": 150}


@pytest.mark.parametrize("prompt", WRITING, ids=lambda prompt: prompt.role)
def test_the_fixed_part_is_fixed(prompt: Prompt) -> None:
    """No time, no user: the same bytes in every call; the text comes last."""
    request = prompt.request("about this", owner="me", urgent=True)
    assert (request.system, request.text, request.schema) == (prompt.system, "about this", prompt.schema)
    assert (request.role, request.owner, request.urgent, request.tokens_max) == (
        prompt.role,
        "me",
        True,
        prompt.tokens_max,
    )


@pytest.mark.parametrize("prompt", WRITING, ids=lambda prompt: prompt.role)
def test_schemas_are_closed_and_shallow(prompt: Prompt) -> None:
    """Every field required, none beside them: what strict servers ask for."""

    def check(schema: object, depth: int) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert depth <= 2
                assert schema["required"] == list(schema["properties"])
                assert schema["additionalProperties"] is False
                depth += 1
            for inner in schema.values():
                check(inner, depth)

    check(prompt.schema, 0)


@pytest.mark.parametrize("prompt", WRITING, ids=lambda prompt: prompt.role)
def test_the_prompt_speaks_of_json(prompt: Prompt) -> None:
    """Servers that only know `json_object` insist on it."""
    assert "JSON" in prompt.system


def test_the_extractor_s_fields_are_explained() -> None:
    """Every key, kind and domain that the schema allows is in the text, and the bound."""
    assert EXTRACT.schema is not None
    facts = EXTRACT.schema["properties"]["facts"]
    fields = facts["items"]["properties"]
    assert [key for key in fields if f'"{key}": ' not in EXTRACT.system] == []
    assert fields["k"]["enum"] == [kind.value for kind in Kind]
    assert fields["d"]["enum"] == list(DOMAINS)
    assert [word for word in (*fields["k"]["enum"], *fields["d"]["enum"]) if word not in EXTRACT.system] == []
    assert facts["maxItems"] == CANDIDATES_MAX
    assert f"at most {CANDIDATES_MAX} items" in EXTRACT.system


def test_the_example_is_an_answer() -> None:
    """What the model is shown as an example can be read."""
    example = json.loads(EXTRACT.system[EXTRACT.system.index('{"facts":[{') :])
    assert [set(item) == set("tknsedwc") for item in example["facts"]] == [True, True]


def test_a_version_is_of_every_word() -> None:
    """Another text, or another schema, is another version."""
    one = Prompt("judge", "a", None, 1)
    assert len({one.version, Prompt("judge", "b", None, 1).version, Prompt("judge", "a", {}, 1).version}) == 3
    assert one.version == Prompt("judge", "a", None, 2).version
