"""Replies: what a chat model is shown to answer from, and what its answer comes to. Numbers become ids of evidence."""

import re
from collections.abc import Sequence
from typing import Final

from memforest_ray.facts.times import to_datetime
from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.prompts.answer import ANSWER, REFUSAL
from memforest_ray.query.grading import clipped
from memforest_ray.query.passages import passage
from memforest_ray.query.question import Question
from memforest_ray.query.render import day, line, times
from memforest_ray.query.result import Answer, Hit, Result

__all__ = ["Citing", "answer_request", "read_reply"]

_EVIDENCE_CHARS_MAX: Final = 1_200
"""Of one piece: a cell of two turns is kept whole, of a longer one the part that holds most of what is asked for."""
_MARK: Final = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
_OPEN_MARK: Final = re.compile(r"\[[\d\s,;]*$")
"""A mark that may not be written to its end yet."""


def answer_request(text: str, result: Result) -> ChatRequest:
    """The call that asks for an answer to the question `text` from the hits of `result`."""
    question = Question.of(text)
    pieces = [f"[{number}] {_piece(hit, question)}" for number, hit in enumerate(result.hits, start=1)]
    asked_ms = result.trace.asked_ms
    asked = "" if asked_ms is None else f"\nAsked: {day(to_datetime(asked_ms))}"
    read = f"\nAs to time, the question was read as: {'; '.join(result.trace.reading)}" * bool(result.trace.reading)
    body = "\n".join(pieces)
    return ANSWER.request(f"Question: {clipped(text, 2_000)}{asked}{read}\nEvidence:\n{body}", urgent=True)


def _piece(hit: Hit, question: Question) -> str:
    note = f" [{hit.note}]" * bool(hit.note)
    if len(hit.text) <= _EVIDENCE_CHARS_MAX:
        return clipped(line(hit), 2 * _EVIDENCE_CHARS_MAX) + note
    part, _ = passage(hit.text, dict.fromkeys(question.terms, 1.0), _EVIDENCE_CHARS_MAX)
    return f"... {clipped(part, 2 * _EVIDENCE_CHARS_MAX)} ... ({times(hit)}){note}"


def read_reply(text: str, result: Result) -> Answer:
    """The answer that a model's text comes to: refused when it says so, or names no evidence that it was shown."""
    names = tuple(hit.citation for hit in result.hits)
    numbers = [int(number) for mark in _MARK.findall(text) for number in re.findall(r"\d+", mark)]
    shown = list(dict.fromkeys(names[number - 1] for number in numbers if 1 <= number <= len(names)))
    if _is_refusal(text):
        return Answer("Not in memory: what is remembered does not hold the answer.", found=False, result=result)
    if not shown:
        return Answer("Not in memory: the model's answer cited no evidence.", found=False, result=result)
    return Answer(_cite(text, names).strip(), found=True, citations=tuple(shown), result=result)


def _is_refusal(text: str) -> bool:
    return text.strip().strip(" .!\"'*").casefold().startswith(REFUSAL.casefold())


def _cite(text: str, names: Sequence[str]) -> str:
    """The text with ids for the numbers of evidence; a number of nothing that was shown goes."""

    def named(mark: "re.Match[str]") -> str:
        numbers = [int(number) for number in re.findall(r"\d+", mark[1])]
        return "".join(f"[{names[number - 1]}]" for number in numbers if 1 <= number <= len(names))

    return _MARK.sub(named, text)


class Citing:
    """Turns an answer that is being written into what is shown of it: ids for numbers, and no refusal's wording."""

    def __init__(self, result: Result) -> None:
        self._names = tuple(hit.citation for hit in result.hits)
        self._held = ""
        self._begun = False

    def feed(self, piece: str) -> str:
        """What can be shown after one more piece."""
        self._held += piece
        if not self._begun and (REFUSAL.startswith(self._held.lstrip()[: len(REFUSAL)]) or not self._held.strip()):
            return ""
        self._begun = True
        open_mark = _OPEN_MARK.search(self._held)
        cut = len(self._held) if open_mark is None else open_mark.start()
        shown, self._held = _cite(self._held[:cut], self._names), self._held[cut:]
        return shown

    def end(self) -> str:
        """What is left to show."""
        return "" if not self._begun and _is_refusal(self._held) else _cite(self._held, self._names)
