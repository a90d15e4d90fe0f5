"""Telling: whether hits tell of those whom a question is about, and who of these is not remembered at all."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Final

from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.words import content_tokens, fold, stem, unaccented
from memforest_ray.ids import SessionId
from memforest_ray.query.answering.owners import is_anothers, owned_in
from memforest_ray.query.inquiry import Inquiry
from memforest_ray.query.result import Hit
from memforest_ray.query.speakers import assistants
from memforest_ray.query.whom import names_written, relatives_named, whom, words_of

__all__ = ["Telling", "refers", "telling_of"]

_SHORT_CHARS_MIN: Final = 3
"""Of a short form: "Mel" is Melanie's, "Al" may be anybody's."""
_SPELT_ALIKE: Final = 0.82
"""Likeness of two spellings from which one is a slip of the other: "Jon", "John" have .86, "Carol", "Carla" .8."""
_TURNS_BEFORE: Final = 6
"""Turns before one in which whoever it calls "she" was named."""
_REFERS: Final = re.compile(r"\b(?:he|she|they|him|her|them|his|hers|their|theirs|it|its)\b", re.IGNORECASE)
"""Words for somebody, or something, that was named before."""

_YOU: Final = re.compile(r"\byou\b|\byour|\bplease\b", re.IGNORECASE)
_OF_PERSON: Final = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Telling:
    """What there is of those whom a question is about."""

    strangers: tuple[str, ...] = ()
    """Those whom, or the place that, it is about, where nothing that is remembered mentions any of them."""
    aside: tuple[int, ...] = ()
    """Places of the hits that tell of somebody else."""


def telling_of(inquiry: Inquiry, hits: Sequence[Hit]) -> Telling:
    """Hold hits against whom the question is about: people by their names, relatives by what they are called."""
    asked = whom(inquiry.question.text)
    everybody = (*asked.people, *asked.others)
    if not (everybody or asked.you or asked.places or asked.kin or asked.own or owned_in(inquiry.question.text)):
        return Telling()
    told = [_Told.of(inquiry, hit) for hit in hits]
    names = frozenset(chain(inquiry.speakers.values(), *(each.names for each in told)))
    meant = {name: _meant(inquiry, name, names) for name in everybody}
    strangers = [name for name in asked.others if not meant[name]]
    strangers += [name for name in asked.places if not _meant(inquiry, name, names)]
    if strangers or (asked.people and not any(meant[name] for name in asked.people)):
        return Telling(strangers=tuple(strangers) or asked.people)
    serving = _serving(inquiry) if asked.you and not inquiry.question.says_i else frozenset()
    people = frozenset(chain.from_iterable(meant.values()))
    kin = [_with_names(words, told) for words in asked.told_by]
    aside = (
        place
        for place, (hit, each) in enumerate(zip(hits, told, strict=True))
        if not each.tells_of(people, kin)
        or asked.is_of_another(hit.text)
        or each.is_of_others(inquiry)
        or not each.is_to(serving)
    )
    return Telling(aside=tuple(aside))


def _with_names(words: frozenset[str], told: Sequence["_Told"]) -> frozenset[str]:
    """Words that tell of a relative, and the names that one has by what was told."""
    texts = frozenset(text for each in told for _, text in each.said)
    names = (name for text in texts for word, name in relatives_named(text) if stem(word) in words)
    return words.union(*map(words_of, names))


def _serving(inquiry: Inquiry) -> frozenset[str]:
    """Who is called "you" by those who ask."""
    return frozenset(inquiry.speakers[number] for number in assistants(inquiry.version, inquiry.speakers))


def _meant(inquiry: Inquiry, name: str, names: frozenset[str]) -> frozenset[str]:
    """Words that tell of who is called so: the name's own, those of the name it is short for, or was misspelt for."""
    own = words_of(name)
    related = [each for each in names if any(_short(one, part) for one in _parts(name) for part in _parts(each))]
    found = frozenset(word for word in own if _is_remembered(inquiry, word)).union(*map(words_of, related))
    if not found:
        related = [each for each in names if any(_slip(one, part) for one in _parts(name) for part in _parts(each))]
    return found.union(*map(words_of, related))


def _is_remembered(inquiry: Inquiry, word: str) -> bool:
    statements, dialogue = inquiry.corpus.statements, inquiry.corpus.dialogue
    found = (statements.found([word]), dialogue.words.found([word], dialogue.passages))
    return any(each.words.size for each in found) or any(word in words_of(name) for name in inquiry.speakers.values())


def _parts(name: str) -> list[str]:
    return [unaccented(part) for part in fold(name).split()]


def _short(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _SHORT_CHARS_MIN and longer.startswith(shorter)


def _slip(one: str, other: str) -> bool:
    """Whether one is the other with a letter more, less, or in another place."""
    if one[0] != other[0] or abs(len(one) - len(other)) > 1:
        return False
    return sorted(one) == sorted(other) or SequenceMatcher(None, one, other, autojunk=False).ratio() >= _SPELT_ALIKE


@dataclass(frozen=True, slots=True)
class _Told:
    """What a hit says, by its own words and those of its turns, and whom these may refer to."""

    words: frozenset[str]
    names: frozenset[str]
    """Who says it, and of whom."""
    around: frozenset[str]
    """Words before its turns, where these refer to somebody."""
    said: tuple[tuple[str, str], ...]
    """Who said what in its turns."""

    @property
    def refers(self) -> bool:
        """Whether one of its turns speaks of somebody who was named before."""
        return any(_OF_PERSON.search(text) and refers(text) for _, text in self.said)

    @classmethod
    def of(cls, inquiry: Inquiry, hit: Hit) -> "_Told":
        fact = None if hit.fact_id is None else inquiry.fact(hit.fact_id)
        names = {hit.speaker}
        if fact is not None:
            names |= {*fact.speakers, *fact.entities, *((fact.subject,) if fact.subject else ())}
        words, around, said = set(content_tokens(hit.text)), set[str](), list[tuple[str, str]]()
        for record, turn in _turns(inquiry, hit):
            each = record.turns[turn]
            said.append((each.speaker, each.text))
            names.update((each.speaker, *names_written(each.text)))
            words.update(content_tokens(each.text))
            around.update(_before(record, turn))
        words.update(chain.from_iterable(map(words_of, names)))
        return cls(frozenset(words), frozenset(names), frozenset(around), tuple(said))

    def is_to(self, serving: frozenset[str]) -> bool:
        """Whether one of these says it, or it is said to them; where nobody serves anybody it is to everybody."""
        return not serving or any(who in serving or _YOU.search(text) for who, text in self.said)

    def is_of_others(self, inquiry: Inquiry) -> bool:
        """Whether what the question says to be somebody's is somebody else's there."""
        own = fold(inquiry.question.own)
        unclear = {"his", "her", "their", "your"}
        if inquiry.question.own not in inquiry.speakers.values():
            unclear |= {"my", "our"}
        for asked in owned_in(inquiry.question.text):
            if asked.owner in unclear:
                continue
            owner = own if asked.owner in {"my", "our"} else asked.owner
            named = replace(asked, owner=owner)
            if is_anothers(named, [(text, owner in {fold(who), *_parts(who)}) for who, text in self.said]):
                return True
        return False

    def tells_of(self, people: frozenset[str], kin: Sequence[frozenset[str]]) -> bool:
        """Whether it speaks of one of these people; where a relative is asked for, of such a one, or of "him"."""
        if kin:
            return self.refers or all(self._has(words) for words in kin)
        return not people or self._has(people)

    def _has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words) or not words.isdisjoint(self.around)


def _turns(inquiry: Inquiry, hit: Hit) -> Iterator[tuple[SessionRecord, int]]:
    """The turns that a hit was drawn from, as far as they are there."""
    places: Sequence[tuple[SessionId, int]] = ()
    if hit.fact_id is not None and (fact := inquiry.fact(hit.fact_id)) is not None:
        places = fact.turns
    elif hit.cell_id is not None:
        places = [(hit.session_id, span.turn) for span in inquiry.version.cells[hit.cell_id].spans]
    for session, turn in places:
        record = inquiry.version.sessions.get(session)
        if record is not None and record.turns[turn].hole is None:
            yield record, turn


def refers(text: str, speaking: Collection[str] = ()) -> bool:
    """Whether it speaks of "her" before it names anybody but those who take part."""
    referring = _REFERS.search(text)
    return referring is not None and all(name in speaking for name in names_written(text[: referring.start()]))


def _before(record: SessionRecord, turn: int) -> Iterator[str]:
    """Words of the turns before one that refers to somebody, or answers a question."""
    earlier = record.turns[max(0, turn - _TURNS_BEFORE) : turn]
    speaking = {part for each in record.turns for part in each.speaker.split()}
    if not refers(record.turns[turn].text, speaking):
        earlier = tuple(each for each in earlier[-1:] if each.text.rstrip().endswith("?"))
    for each in earlier:
        yield from content_tokens(each.text)
