"""Sayings: the clauses of a turn that say something, without courtesies, questions and what only opens them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from memforest_ray.facts.attributes import Attribute, attribute_of
from memforest_ray.facts.candidates import TurnInput
from memforest_ray.facts.clauses import Clause, clauses, content_words
from memforest_ray.facts.names import Speakers
from memforest_ray.facts.retelling import opening, statement_of
from memforest_ray.facts.words import word_set

__all__ = ["Saying", "sayings"]


@dataclass(frozen=True, slots=True)
class Saying:
    """A clause with what makes a candidate of it, and the sentences that only speak on about it."""

    turn: TurnInput
    clause: Clause
    statement: str
    """The clause without its opening words."""
    content: tuple[str, ...]
    """Its words that say something."""
    attribute: Attribute | None
    speaking_on: str = ""
    """"It was loud." and the like, in their own words."""
    end: int = 0
    """Where in the turn the last of all this ends."""

    @property
    def first(self) -> str:
        """The first word, folded."""
        return self.statement.split()[0].lower().strip(",.'\"") if self.statement else ""


_MERGED_CHARS_MAX: Final = 240
"""A statement that has grown to this length takes up no further sentence: its meaning would blur."""

_FIRST_PERSON: Final = word_set("i my we i'm i've i'll i'd our we're we've mine me")
_YOU: Final = word_set("you your you're you've you'll you'd yours")
_PRAISING: Final = word_set("""
    that's thanks thank glad wish wishing keep let's sounds sound looks great so what congrats hope good take enjoy
    have best happy proud wow love loving such can't must tell let
""")
"""First words of praise, thanks and wishes: such clauses are kept where they say much, or a turn nothing else."""
_SPEAKING_ON: Final = word_set(
    "it it's it'll they they're they've they'll that this those these which its their them he's she's"
)
"""First words that mean something said before: alone such a sentence speaks of nothing."""
_ASKING: Final = word_set("""
    what when where who whom whose why which how do does did is are am was were have has had can could will would
    should shall may might any anything ever got don't doesn't didn't isn't aren't haven't won't can't whats what's
    how's who's where's when's wanna care
""")


def sayings(turn: TurnInput, speakers: Speakers, said: str = "") -> list[Saying]:
    """What a turn says, in order; of a turn that says little, the fullest clause. `said` is the talk it is part of."""
    opened = opening(tuple(sorted(speakers.folded)))
    heard = [_heard(clause, turn, speakers, opened, said or turn.text) for clause in clauses(turn.text)]
    telling = [saying for saying in heard if _is_telling(saying)]
    kept = list(_merged(telling))
    if kept or not telling:
        return kept
    return [max(telling, key=lambda saying: len(saying.content))]


def _heard(clause: Clause, turn: TurnInput, speakers: Speakers, opened: "re.Pattern[str]", said: str) -> Saying:
    statement = clause.text if clause.image else statement_of(clause.text, opened)
    content = tuple(content_words(statement, speakers.folded))
    attribute = None if clause.image or not content else attribute_of(statement, said)
    return Saying(turn, clause, statement, content, attribute, end=clause.end)


def _is_telling(saying: Saying) -> bool:
    """Whether a clause tells anything: no courtesy, no question, but "Did you know I moved?" does."""
    if saying.clause.image:
        return True
    if not saying.clause.question:
        return bool(saying.content)
    if len(saying.content) < 2 or not saying.statement.isascii():
        return False
    told = saying.first in _FIRST_PERSON and saying.statement != saying.clause.text
    return told or (saying.first not in _ASKING and saying.attribute is not None)


def _is_strong(saying: Saying) -> bool:
    """Whether a clause is worth a candidate beside others: not praise, not a word in passing."""
    if saying.clause.image or saying.attribute is not None or not saying.statement.isascii():
        return True
    if saying.first in _FIRST_PERSON:
        return len(saying.content) >= 2 or (len(saying.content) == 1 and len(saying.statement.split()) >= 4)
    if saying.first in _YOU:
        return False
    if saying.first in _PRAISING:
        return len(saying.content) >= 4
    return len(saying.content) >= 3 or _has_sign(saying)


def _has_sign(saying: Saying) -> bool:
    """A number, a name or a quotation."""
    return bool(saying.content) and any(
        letter.isdigit() or letter in '"“' or (letter.isupper() and place > 0 and saying.statement[place - 1] == " ")
        for place, letter in enumerate(saying.statement)
    )


def _merged(telling: list[Saying]) -> Iterator[Saying]:
    """Clauses that are worth a candidate; what only speaks on ("It was loud.") joins what it speaks of."""
    held: Saying | None = None
    for saying in telling:
        if held is not None and _joins(held, saying):
            tail = f"{held.speaking_on} {saying.clause.text}"
            held = replace(held, content=held.content + saying.content, speaking_on=tail, end=saying.end)
        elif _is_strong(saying) or (held is None and _may_open(saying)):
            if held is not None:
                yield held
            held = saying
    if held is not None:
        yield held


def _may_open(saying: Saying) -> bool:
    """Whether a clause that says little tells something all the same, which others may speak on about."""
    return len(saying.content) >= 2 and saying.first not in _YOU and saying.first not in _PRAISING


def _joins(held: Saying, saying: Saying) -> bool:
    """Whether a clause speaks on: it needs what stands before it, or says too little alone."""
    if saying.attribute is not None or held.clause.image or saying.clause.image or not saying.statement.isascii():
        return False
    if len(held.statement) + len(held.speaking_on) + len(saying.statement) > _MERGED_CHARS_MAX:
        return False
    if saying.first in _SPEAKING_ON:
        return True
    return not _is_strong(saying) and saying.first not in _YOU and saying.first not in _PRAISING
