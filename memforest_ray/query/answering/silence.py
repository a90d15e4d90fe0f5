"""Silence: what was found and tells nothing: the same question, asked before, and a reply that knows no answer.

An agent that stores its own talk has old questions in memory, and they are more like a question than any answer is.
A turn that only asks what is asked now is no evidence; nor is an assistant's "I don't know", "you haven't told me".
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from functools import cached_property
from typing import Final

from memforest_ray.facts.sessions import TurnRecord
from memforest_ray.index.rows import index_words
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.rank import Found

__all__ = ["silent_last", "tells"]

_ASSISTANT: Final = "assistant"
_CHARS_MAX: Final = 240
"""Of a reply that knows nothing: a longer one says more than that."""
_ASKS_ONLY: Final = re.compile(r"[^.!?\n]*\?\s*")
_KNOWS_NOTHING: Final = re.compile(
    r"\b(?:I|we) (?:do not|don['’]t) (?:yet |currently |actually )?(?:know|have|recall|remember|see|find)\b"
    r"|\b(?:I|we) (?:did not|didn['’]t) (?:find|see)\b"
    r"|\bI (?:have|['’]ve|found|see|can find) (?:no|nothing)\b|\bI(?: am|['’]m) not (?:sure|aware)\b"
    r"|\bI (?:can['’]t|cannot|can not|could not|couldn['’]t) (?:recall|remember|find|tell)\b"
    r"|\byou (?:have not|haven['’]t|did not|didn['’]t|never) (?:yet )?(?:tell|told|mention|say|said|share|give|given)"
    r"|\b(?:not in memory|no (?:record|mention|information|memory) (?:of|about|on))\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?P<end>[.!?\n]*)")
_POLITE: Final = re.compile(
    r"\b(?:sorry|apolog\w+|please|thanks?|let me know|tell me|if you|feel free|happy to|glad to|remind me|as an AI"
    r"|access to|(?:I will|I['’]ll|I can) (?:remember|note|keep|save|store))\b",
    re.IGNORECASE,
)
"""What a reply that knows nothing says besides."""
_GOES_ON: Final = re.compile(r"\b(?:but|however|although|though|except|only that)\b", re.IGNORECASE)


def silent_last(inquiry: Inquiry, ranked: Iterable[Found]) -> Iterator[Found]:
    """What was found in its order, what tells nothing behind all else and with a score of 0."""
    silence = _Silence(inquiry)
    silent: list[Found] = []
    for found in ranked:
        if found.score and silence.holds(found):
            silent.append(replace(found, score=0.0))
        else:
            yield found
    yield from silent


class _Silence:
    """What tells nothing to one question. Nearly all that is found tells something, and its first turn shows it."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry

    @cached_property
    def _asked(self) -> frozenset[str]:
        """Words of the question, and of the names of those who speak."""
        inquiry = self._inquiry
        return frozenset(index_words(inquiry.question.text)).union(*map(index_words, inquiry.speakers.values()))

    def holds(self, found: Found) -> bool:
        """Whether turns of it are there, and none tells anything."""
        if self._plainly_tells(found):
            return False
        turns = list(_turns(self._inquiry, found))
        return bool(turns) and not any(tells(turn, self._asked, reply) for turn, reply in turns)

    def _plainly_tells(self, found: Found) -> bool:
        """Whether its first turn is a person's, and no question: so are nearly all, and the rest is not looked at."""
        if found.fact is None:
            session, number = self._inquiry.turn(found.place)
        else:
            fact = self._inquiry.fact(found.fact)
            if fact is None:
                return True
            mention = fact.mentions[0]
            session, number = mention.session_id, mention.candidate.turns[0]
        record = self._inquiry.version.sessions.get(session)
        if record is None:
            return False
        turn = record.turns[number]
        return turn.hole is None and turn.role != _ASSISTANT and not turn.text.endswith("?")


def tells(turn: TurnRecord, asked: Set[str], reply: TurnRecord | None = None) -> bool:
    """Whether a turn tells anything to a question of these words (`index_words`), `reply` being what it was given."""
    if not turn.text.endswith("?") or not _ASKS_ONLY.fullmatch(turn.text):
        return not _knows_nothing(turn)
    if reply is not None and _knows_nothing(reply):
        return False
    words = frozenset(index_words(turn.text))
    return not (words and asked >= words)


def _knows_nothing(turn: TurnRecord) -> bool:
    """Whether an assistant says no more than that it does not know."""
    if turn.role != _ASSISTANT or len(turn.text) > _CHARS_MAX:
        return False
    if _KNOWS_NOTHING.search(turn.text) is None or _GOES_ON.search(turn.text):
        return False
    return not any(_says(sentence[0], sentence["end"]) for sentence in _SENTENCE.finditer(turn.text))


def _says(sentence: str, end: str) -> bool:
    """Whether a sentence of such a reply tells something all the same: by itself, or behind a colon."""
    if "?" in end or _POLITE.search(sentence):
        return False
    return ":" in sentence.rstrip(": ") or (len(sentence.split()) > 1 and _KNOWS_NOTHING.search(sentence) is None)


def _turns(inquiry: Inquiry, found: Found) -> Iterator[tuple[TurnRecord, TurnRecord | None]]:
    """The turns that say it, as far as they are there; of a turn itself also the reply, as far as it may be seen.

    A reply speaks of the question, not of what somebody has found in it: "Did you know that I moved to Graz?".
    """
    sessions = inquiry.version.sessions
    if found.fact is None:
        session, number = inquiry.turn(found.place)
        replied = inquiry.place_number(session, number + 1) >= 0
        yield sessions[session].turns[number], sessions[session].turns[number + 1] if replied else None
        return
    fact = inquiry.fact(found.fact)
    for session, number in () if fact is None else fact.turns:
        if session in sessions and sessions[session].turns[number].hole is None:
            yield sessions[session].turns[number], None
