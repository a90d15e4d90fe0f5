"""Dialects: what an endpoint is sent, and what is learnt from its refusals."""

import json

from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.connections import Endpoint
from memforest_ray.models.dialects import STOPS, Dialect, Dialects

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
        dialects.note_call(HERE)
        dialects.note_padding(HERE)
        formats.append(dialects.of(HERE).format)
    assert (formats, dialects.padded) == (["json_schema", "json_schema", "text", "text"], 4)


def test_a_rare_padding_is_no_reason_to_give_up_a_grammar() -> None:
    """One answer in a hundred: the others come in their form because of it."""
    dialects = Dialects({})
    for number in range(1000):
        dialects.note_call(HERE)
        if number % 100 == 99:
            dialects.note_padding(HERE)
    assert (dialects.of(HERE).format, dialects.padded) == ("json_schema", 10)


def test_an_answer_as_json_is_stopped_where_it_is_padded() -> None:
    """Plain text is not; nor where an endpoint takes no stops, which costs nothing else."""
    plain = ChatRequest("answer", "Fixed.", "Is it?", None, 8)
    assert (Dialect().body(HERE, REQUEST)["stop"], "stop" in Dialect().body(HERE, plain)) == (list(STOPS), False)
    dialect = Dialect().without("Unsupported parameter: 'stop' is not supported with this model.")
    assert dialect is not None
    assert ("stop" in dialect.body(HERE, REQUEST), dialect.format) == (False, "json_schema")


def test_nothing_that_is_said_in_json_is_a_stop() -> None:
    """However deep it is indented: nothing that fits our schemas is deeper than four."""
    deep = {"facts": [{"e": ["a  b", {"t": ["\t\n\n\n\n\n"]}]}]}
    for indent in (None, 1, 2, 4, 8, "\t"):
        assert not any(stop in json.dumps(deep, indent=indent) for stop in STOPS[:3])
    assert not any(stop in json.dumps(deep, indent=4) for stop in STOPS)


def test_a_streamed_answer_ends_with_its_cost_where_the_endpoint_can_tell() -> None:
    """Else it is asked for without."""
    body = Dialect().streamed(HERE, REQUEST)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    dialect = Dialect().without("unknown field stream_options")
    assert dialect is not None
    body = dialect.streamed(HERE, REQUEST)
    assert (body["stream"], "stream_options" in body, dialect.format) == (True, False, "json_schema")
