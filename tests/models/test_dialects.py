"""Dialects: what an endpoint is sent, and what is learnt from its refusals."""

from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.connections import Endpoint
from memforest_ray.models.dialects import Dialect, Dialects

HERE = Endpoint("http://here/v1", "m")
REQUEST = ChatRequest("judge", "Fixed.", "Is it?", {"type": "object"}, 8)


def test_forms_of_answers_from_the_richest_to_the_plainest() -> None:
    """Each is left for the next one, until there is none."""
    dialect: Dialect | None = Dialect()
    forms = []
    while dialect is not None:
        forms.append(dialect.body(HERE, REQUEST).get("response_format", {}).get("type"))
        dialect = dialect.without("response_format is not known here")
    assert forms == ["json_schema", "json_object", None]


def test_a_question_for_plain_text_asks_for_no_form() -> None:
    """However rich the dialect."""
    plain = ChatRequest("answer", "Fixed.", "Is it?", None, 8)
    assert "response_format" not in Dialect().body(HERE, plain)


def test_the_name_of_the_limit_and_the_temperature_are_learnt_apart() -> None:
    """Neither costs the form of the answer."""
    dialect = Dialect().without("'max_tokens' is not supported, use 'max_completion_tokens'")
    assert dialect is not None
    dialect = dialect.without("'temperature' must be 1")
    assert dialect is not None
    body = dialect.body(HERE, REQUEST)
    assert body["max_completion_tokens"] == 8
    assert "temperature" not in body
    assert body["response_format"]["type"] == "json_schema"


def test_further_fields_come_last_and_win() -> None:
    """Whoever sets one knows the server."""
    body = Dialect(extra={"temperature": 0.7, "top_k": 20}).body(HERE, REQUEST)
    assert (body["temperature"], body["top_k"]) == (0.7, 20)


def test_what_is_learnt_is_kept_by_endpoint() -> None:
    """A call that was under way meanwhile does not learn it twice."""
    dialects = Dialects({})
    there = Endpoint("http://there/v1", "m")
    spoken = dialects.of(HERE)
    assert dialects.adapt(HERE, spoken, "response_format")
    assert dialects.adapt(HERE, spoken, "response_format")
    assert (dialects.of(HERE).format, dialects.of(there).format) == ("json_object", "json_schema")
    assert dialects.adapt(HERE, dialects.of(HERE), "json_object")
    assert not dialects.adapt(HERE, dialects.of(HERE), "everything")


def test_padding_is_counted_and_ends_the_grammar() -> None:
    """The third time."""
    dialects = Dialects({})
    formats = []
    for _ in range(4):
        dialects.note_padding(HERE)
        formats.append(dialects.of(HERE).format)
    assert (formats, dialects.padded) == (["json_schema", "json_schema", "text", "text"], 4)
