"""Silence: what was found and tells nothing: the same question, asked before, and a reply that knows no answer.

An agent that stores its own talk has old questions in memory, and they are more like a question than any answer is.
A turn that only asks what is asked now is no evidence; nor is an assistant's "I don't know", "you haven't told me".
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import Final

from memforest_ray.facts.sessions import SessionRecord, TurnRecord
from memforest_ray.index.rows import index_words
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.rank import Found

__all__ = ["silent_last", "tells"]

_ASSISTANT: Final = "assistant"
_CHARS_MAX: Final = 240
"""Of a reply that knows nothing: a longer one says more than that."""
_ASKS_ONLY: Final = re.compile(r"[^.!?\n]*\?\s*")
_KNOWS_NOTHING: Final = re.compile(
    r"\b(?:I|we) (?:do not|don['’]t|did not|didn['’]t) (?:yet |currently |actually )?"
    r"(?:know|have|recall|remember|see|find)\b"
    r"|\bI (?:have|['’]ve|found|see|can find) (?:no|nothing)\b|\bI(?: am|['’]m) not (?:sure|aware)\b"
    r"|\bI (?:can['’]t|cannot|can not|could not|couldn['’]t) (?:recall|remember|find|tell)\b"
    r"|\byou (?:have not|haven['’]t|did not|didn['’]t|never) (?:yet )?(?:tell|told|mention|say|said|share|give|given)"
    r"|\b(?:not in memory|no (?:record|mention|information|memory) (?:of|about|on))\b",
    re.IGNORECASE,
)
_GOES_ON: Final = re.compile(r"\b(?:but|however|although|though|except|only that)\b", re.IGNORECASE)


def silent_last(inquiry: Inquiry, ranked: Iterable[Found]) -> Iterator[Found]:
    """What was found in its order, what tells nothing behind all else and with a score of 0."""
    asked = frozenset(index_words(inquiry.question.text)).union(*map(index_words, inquiry.speakers.values()))
    silent: list[Found] = []
    for found in ranked:
        turns = list(_turns(inquiry, found)) if found.score else ()
        if turns and not any(tells(record, turn, asked) for record, turn in turns):
            silent.append(replace(found, score=0.0))
        else:
            yield found
    yield from silent


def tells(record: SessionRecord, number: int, asked: Set[str]) -> bool:
    """Whether a turn tells anything to a question of these words (`index_words`)."""
    turn = record.turns[number]
    if not turn.text.endswith("?") or not _ASKS_ONLY.fullmatch(turn.text):
        return not _knows_nothing(turn)
    replied = number + 1 < len(record.turns) and _knows_nothing(record.turns[number + 1])
    words = frozenset(index_words(turn.text))
    return not replied and not (words and asked >= words)


def _knows_nothing(turn: TurnRecord) -> bool:
    """Whether an assistant says no more than that it does not know."""
    if turn.role != _ASSISTANT or len(turn.text) > _CHARS_MAX:
        return False
    return _KNOWS_NOTHING.search(turn.text) is not None and not _GOES_ON.search(turn.text)


def _turns(inquiry: Inquiry, found: Found) -> Iterator[tuple[SessionRecord, int]]:
    """The turns that say it, as far as they are there."""
    sessions = inquiry.version.sessions
    if found.fact is None:
        session, number = inquiry.turn(found.place)
        yield sessions[session], number
        return
    fact = inquiry.version.facts.get(found.fact)
    for session, number in () if fact is None else fact.turns:
        if session in sessions and sessions[session].turns[number].hole is None:
            yield sessions[session], number
