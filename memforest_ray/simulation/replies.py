"""What a simulated model answers: the offline backend, behind the prompts of a real one."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from memforest_ray.facts.candidates import Candidate, CellInput, TurnInput
from memforest_ray.facts.equality import signature
from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.times import EPOCH, to_datetime
from memforest_ray.facts.words import STOP_WORDS, content_stems
from memforest_ray.ids import CellId, NodeId, ScopeId
from memforest_ray.models.prompts.answer import REFUSAL
from memforest_ray.trees.summaries import SelectionSummarizer, SummaryRequest

__all__ = ["extraction_text", "reply_text"]

_TURN: Final = re.compile(
    r"(?P<number>\d+) \| (?P<time>[^|]*) \| (?P<speaker>.*?)(?: \((?P<role>[a-z]+)\))?: (?P<text>.*)"
)
_TIME_FORMAT: Final = "%a %Y-%m-%d %H:%M"
_ROLES: Final = frozenset({"assistant", "system", "developer", "tool", "function"})
_LIMIT: Final = re.compile(r"At most (\d+) characters\.")
_NOTE: Final = re.compile(r"\d+\. (.*)")
_STATEMENT: Final = re.compile(r"[AB]: (.*) \([^()]*\)")
_QUESTION: Final = "Question: "
_ENTRY: Final = re.compile(r"(?:\[(\d+)\]|(\d+)\.) (.*)")
_GRADES: Final = (0.2, 0.4, 0.6)
"""Shares of the question's words from which an entry is graded 1, 2 and 3."""
_FOUND_MAX: Final = 24
_DEPTH_MAX: Final = 8


async def reply_text(role: str, text: str, schema: Mapping[str, Any] | None) -> str:
    """The content of an answer to `text`, in the role whose prompt it came with."""
    if role == "extract":
        return await _extracted(text)
    if role == "summarise":
        return _json({"summary": await _summary(text)})
    if role == "judge":
        return _json({"same": _same(text)})
    if role in ("plan", "rank", "answer"):
        return _found(role, text)
    return "I cannot say." if schema is None else _json(_least(schema))


def _json(value: Any) -> str:
    """As compact as a model that is held to a schema writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


async def _extracted(text: str) -> str:
    cell = _cell(text)
    (extraction,) = await RuleExtractor().extract([cell])
    return extraction_text(extraction.candidates, cell.zone)


def extraction_text(candidates: Sequence[Candidate], zone: str | None) -> str:
    """Candidates in the form in which a model is asked for them."""
    return _json({"facts": [_item(candidate, zone) for candidate in candidates]})


def _cell(text: str) -> CellInput:
    """The cell that a prompt shows (`facts/extraction.py`)."""
    head: dict[str, str] = {}
    turns: list[TurnInput] = []
    for line in text.split("\n"):
        match = _TURN.fullmatch(line)
        if match is not None:
            turns.append(_turn(match, head.get("Zone")))
        elif line.startswith("  ") and turns:
            last = turns[-1]
            turns[-1] = TurnInput(last.index, last.speaker, last.role, f"{last.text}\n{line[2:]}", last.source_ms)
        elif not turns:
            name, _, value = line.partition(": ")
            head[name] = value
        else:
            break  # notes for the model, behind the turns
    names, terms = (tuple(head[key].split("; ")) if key in head else () for key in ("People", "Terms"))
    return CellInput(CellId("c"), tuple(turns), head.get("Zone"), names, terms)


def _turn(match: re.Match[str], zone: str | None) -> TurnInput:
    speaker = match["speaker"]
    role = match["role"] or (speaker if speaker in _ROLES else "user")
    source_ms = None
    if match["time"] != "time unknown":
        said = datetime.strptime(match["time"], _TIME_FORMAT).replace(tzinfo=zone_of(zone))
        source_ms = (said - EPOCH) // timedelta(milliseconds=1)
    return TurnInput(int(match["number"]), speaker, role, match["text"], source_ms)


def _item(candidate: Candidate, zone: str | None) -> dict[str, Any]:
    """A candidate in the form that the prompt asks for."""
    holding = [candidate.subject, candidate.attribute, candidate.value or ""] if candidate.attribute else []
    return {
        "t": candidate.text,
        "k": candidate.kind.value,
        "n": list(candidate.turns),
        "s": holding,
        "e": list(candidate.entities),
        "d": candidate.domain,
        "w": _when(candidate, zone),
        "c": round(candidate.confidence * 10) - 1,
    }


def _when(candidate: Candidate, zone: str | None) -> list[str]:
    event = candidate.event
    if event is None:
        return []
    place = zone_of(zone)
    first = to_datetime(event.start_ms).astimezone(place)
    last = to_datetime(event.end_ms - 1).astimezone(place)
    return [event.expression, "" if event.open_start else f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}"]


async def _summary(text: str) -> str:
    limit = _LIMIT.match(text)
    notes: list[str] = []
    for line in text.split("\n")[1:]:
        match = _NOTE.fullmatch(line)
        if match is not None:
            notes.append(match[1])
        elif line.startswith("  ") and notes:
            notes[-1] += f"\n{line[2:]}"
        else:
            break  # a note about an earlier answer
    request = SummaryRequest(
        NodeId("n"), ScopeId("s"), tuple(notes), None, None, 0, **({"chars_max": int(limit[1])} if limit else {})
    )
    (reply,) = await SelectionSummarizer().summarise([request])
    return reply.text or ""


def _same(text: str) -> bool:
    """Whether two statements have the same words where it matters."""
    statements = [match[1] for line in text.split("\n") if (match := _STATEMENT.fullmatch(line))]
    return len(statements) == 2 and signature(statements[0]) == signature(statements[1]) != ""


def _found(role: str, text: str) -> str:
    """What shares words with the question: trees to look into, entries with grades, or the best piece as an answer."""
    question = next((line[len(_QUESTION) :] for line in text.split("\n") if line.startswith(_QUESTION)), "")
    wanted = frozenset(content_stems(question)) - STOP_WORDS
    shares = {
        int(match[1] or match[2]): (len(wanted & frozenset(content_stems(match[3]))) / max(len(wanted), 1), match[3])
        for line in text.split("\n")
        if (match := _ENTRY.fullmatch(line))
    }
    best = sorted(shares, key=lambda number: (-shares[number][0], number))[:_FOUND_MAX]
    if role == "plan":
        return _json({"look": [{"n": number, "for": question} for number in best if shares[number][0] > 0]})
    if role == "rank":
        grades = {number: sum(shares[number][0] >= least for least in _GRADES) for number in best}
        return _json({"best": [{"n": number, "g": grade} for number, grade in grades.items() if grade]})
    if not best or shares[best[0]][0] < _GRADES[-1]:
        return REFUSAL
    return f"{shares[best[0]][1]} [{best[0]}]"


def _least(schema: Mapping[str, Any], depth: int = 0) -> Any:
    """The smallest value that fits a schema: what can be said of a question that no rule knows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        return None if "null" in kind else _least({**schema, "type": kind[0]}, depth)
    if kind == "object" and depth < _DEPTH_MAX:
        properties = schema.get("properties", {})
        return {name: _least(properties.get(name, {}), depth + 1) for name in schema.get("required", ())}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "object": {}}.get(str(kind))
