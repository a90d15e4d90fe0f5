"""Whom a question is about: the people whom it names, and the relatives of somebody."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memforest_ray.facts.names import NOT_NAMES
from memforest_ray.facts.words import STOP_WORDS, fold, stem, unaccented, word_set
from memforest_ray.query.question import topic_of

__all__ = ["Whom", "names_written", "whom", "words_of"]

_TOKEN: Final = re.compile(r"[^\W\d_][\w-]*(?:['’]\w+)*(?:(?<=s)['’](?!\w))?|[^\w\s]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_AUXILIARIES: Final = word_set(
    "did does do is was were are has had have will would can could should didn't doesn't don't isn't wasn't weren't "
    "hasn't hadn't haven't won't wouldn't"
)
"""Words before the name of whoever does something."""
_BESIDE: Final = word_set("with about meet met marry married dating hug hugged")
"""Words before the name of somebody else who must be there."""
_AT: Final = word_set("to in at from near")
"""Words before the name of a place."""
_REGIONS: Final = word_set("europe asia africa america australia us usa uk eu earth internet")
"""Names of what is seldom called so by those who were there."""
_DETERMINERS: Final = word_set(
    "my your our their his her its the a an this that these those some any each every other no same more most"
)
_NO_NAMES: Final = STOP_WORDS | NOT_NAMES | _AUXILIARIES
_KIN: Final = tuple(
    map(
        word_set,
        (
            "mother mom mum mama mommy mummy parent parents",
            "father dad papa daddy parent parents",
            "parents parent mother father mom dad mum",
            "sister sis sibling siblings",
            "brother bro sibling siblings",
            "siblings sibling sister brother",
            "son boy kid kids child children",
            "daughter girl kid kids child children",
            "grandmother grandma granny nana grandparents",
            "grandfather grandpa granddad grandparents",
            "husband wife partner spouse boyfriend girlfriend fiancé fiancée fiance fiancee married engaged dating",
            "aunt auntie",
            "uncle",
            "cousin",
            "niece",
            "nephew",
        ),
    )
)
"""Relatives, each with the other words that may tell of them."""
_KIN_OF_WORD: Final = {word: frozenset(map(stem, words)) for words in reversed(_KIN) for word in words}
_SAME_KIN: Final = {word: words for words in reversed(_KIN) for word in words}
_OF_KIN: Final = {
    each: _KIN_OF_WORD[each] for words in _KIN for each in words if each not in {"boy", "girl", "married"}
}
_SUBJECT_OF: Final = re.compile(
    r"(?:[^:]{1,40}: )?(?:my|our|[^\W\d_][\w-]*(?: [\w-]+)?['’]s) (?:\w+ ){0,2}?"
    rf"(?P<who>{'|'.join(sorted(_OF_KIN, key=len, reverse=True))}|boss|friend|colleague|coworker|roommate|flatmate"
    r"|neighbou?r|landlord|landlady|teacher)\b(?!['’]s)",
    re.IGNORECASE,
)
"""How a statement begins that is of somebody whom the speaker has: "Ann's boss Karl lives in Ulm"."""
_OF_HER: Final = re.compile(r"(?P<who>[^:]{1,40}): (?:s?he|her|his)\b", re.IGNORECASE)
"""How a statement is quoted that is of somebody else than whoever says it."""
_YOU_DO: Final = re.compile(r"\b(?:do|did|are|were|have|had) you\b|\byour\b", re.IGNORECASE)
_AND_I: Final = re.compile(r"\band (?:I|me|myself)\b")
_I_DO: Final = re.compile(r"\b(?:do|did|am|was|have|had|will|would|can|could|should) I\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Whom:
    """Those of whom a question asks something."""

    people: tuple[str, ...] = ()
    """Names, as they are written, of those who do something, or are so: "did Bob and Ana"."""
    others: tuple[str, ...] = ()
    """Names of those without whom it did not happen: "Bob's", "with Ana"."""
    kin: tuple[str, ...] = ()
    """Relatives of somebody, as they are called: "Where does my dad live?"."""

    places: tuple[str, ...] = ()
    """Names of places, or what stands where they do: "to Rome", "at Siemens"."""
    own: bool = False
    """Whether it asks of whoever asks: "Where do I live?"."""
    you: bool = False
    """Whether it asks of whoever answers: "Where do you live?"."""
    spelt: frozenset[str] = frozenset()
    """All words of the question."""

    def is_of_another(self, statement: str) -> bool:
        """Whether a statement is of somebody's boss or sister, of whom the question does not speak."""
        if not (self.people or self.own) or self.others:
            return False
        quoted = _OF_HER.match(statement)
        if quoted is not None:
            return self.own or any(quoted["who"] in name or name in quoted["who"] for name in self.people)
        found = _SUBJECT_OF.match(statement)
        rest = "" if found is None else statement[found.end() :]
        if found is None or _AND_I.search(rest) or any(name in rest for name in self.people):
            return False
        return _SAME_KIN.get(fold(found["who"]), {fold(found["who"])}).isdisjoint(self.spelt)

    @property
    def told_by(self) -> tuple[frozenset[str], ...]:
        """Of each relative the stems of words one of which tells of them."""
        return tuple(_OF_KIN[each] for each in self.kin)


@lru_cache(maxsize=256)
def whom(text: str) -> Whom:
    """Read a question. Never raises."""
    tokens = _TOKEN.findall(text.lower() if text.isupper() else text)
    people, others = dict.fromkeys(_named(tokens, _AUXILIARIES)), dict.fromkeys(_owners(tokens))
    others.update(dict.fromkeys(_named(tokens, _BESIDE)))
    kin = tuple(_relatives(tokens))
    you = _YOU_DO.search(topic_of(text)) is not None
    spelt = frozenset(fold(_POSSESSIVE.sub("", token)) for token in tokens)
    places = tuple(name for name in _named(tokens, _AT) if fold(name) not in _REGIONS)
    return Whom(tuple(people), tuple(others), kin, places, _I_DO.search(text) is not None, you, spelt)


def _owners(tokens: Sequence[str]) -> Iterator[str]:
    """Names with a possessive: "Bob's", "Ana Lima's", and where nothing is capitalised "ana's"."""
    small = not any(_is_name(token) for token in tokens)
    for place, token in enumerate(tokens):
        name = _POSSESSIVE.sub("", token)
        if name == token or fold(token) in STOP_WORDS:
            continue
        if _is_name(name):
            first = place
            while first and _is_name(tokens[first - 1]):
                first -= 1
            yield " ".join((*tokens[first:place], name))
        elif small and _stands_alone(tokens, place) and fold(name) not in NOT_NAMES and fold(name) not in _OF_KIN:
            yield name


def _stands_alone(tokens: Sequence[str], place: int) -> bool:
    """Whether nothing before a word makes it one of a kind ("my doctor's")."""
    before = fold(tokens[place - 1]) if place else "is"
    return before in STOP_WORDS and before not in _DETERMINERS


def _named(tokens: Sequence[str], behind: frozenset[str]) -> Iterator[str]:
    """Names behind some words; and those that "and" joins to them."""
    for place, token in enumerate(tokens):
        if fold(token) in behind:
            yield from _joined(tokens, place + 1)


def _joined(tokens: Sequence[str], place: int) -> Iterator[str]:
    first = place
    while place < len(tokens) and _is_name(tokens[place]):
        place += 1
    if first == place or _POSSESSIVE.search(tokens[place - 1]):
        return
    yield " ".join(tokens[first:place])
    if place < len(tokens) and tokens[place] in {"and", "or", "&", ","}:
        yield from _joined(tokens, place + 1)


def _relatives(tokens: Sequence[str]) -> Iterator[str]:
    """Words for relatives behind whose they are: "my dad", "Bob's little sister"."""
    whose = 0
    for token in tokens:
        word = fold(_POSSESSIVE.sub("", token))
        if word in _OF_KIN and whose:
            yield word
        whose = 3 if fold(token) in {"my", "our", "his", "her", "their"} or word != fold(token) else whose - 1
        whose = max(whose, 0)


def _is_name(token: str) -> bool:
    return token[:1].isupper() and fold(token) not in _NO_NAMES


@lru_cache(maxsize=1 << 10)
def names_written(text: str) -> tuple[str, ...]:
    """Words that are written as names."""
    return tuple(_POSSESSIVE.sub("", token) for token in _TOKEN.findall(text) if _is_name(token))


def words_of(name: str) -> frozenset[str]:
    """The stems of a name's parts, without accents."""
    return frozenset(stem(unaccented(fold(part))) for part in name.split())
