"""Whom a question is about: the people whom it names, and the relatives of somebody."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from memforest_ray.facts.names import NOT_NAMES
from memforest_ray.facts.words import STOP_WORDS, fold, stem, unaccented, word_set
from memforest_ray.query.question import topic_of

__all__ = ["KEPT_CHARS_MAX", "Whom", "kin_of", "names_written", "relatives_named", "whom", "words_of"]

KEPT_CHARS_MAX: Final = 500
"""Of a text that is kept with what was read in it; a longer one is read anew, and none of it stays in memory."""

_Holds: TypeAlias = Callable[[str, str, Sequence[str]], bool]
"""Whether a name counts, by the word it stands behind and the words before that."""

_TOKEN: Final = re.compile(r"[^\W\d_][\w-]*(?:['’]\w+)*(?:(?<=s)['’](?!\w))?|[^\w\s]")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_AUXILIARIES: Final = word_set(
    "did does do is was were are has had have will would can could should didn't doesn't don't isn't wasn't weren't "
    "hasn't hadn't haven't won't wouldn't"
)
"""Words before the name of whoever does something."""
_BESIDE: Final = word_set("with about meet met marry married dating hug hugged")
"""Words before the name of somebody else who must be there."""
_TO: Final = frozenset({"to"})
_AT: Final = _TO | word_set("in at from near")
"""Words before the name of a place."""
_REGIONS: Final = word_set("europe asia africa america australia us usa uk eu earth internet")
"""Names of what is seldom called so by those who were there."""
_TIMES_AND_TONGUES: Final = word_set(
    "spring summer autumn fall winter french german spanish italian portuguese dutch danish swedish norwegian finnish "
    "polish czech hungarian romanian bulgarian greek russian ukrainian turkish arabic hebrew persian farsi hindi urdu "
    "bengali tamil chinese mandarin cantonese japanese korean vietnamese thai latin "
    "euro euros eur dollar dollars usd pound pounds gbp franc francs chf yen yuan rupee rupees crypto "
    "q1 q2 q3 q4 h1 h2 lent ramadan advent general total bed hindsight private public"
)
"""Capitalised words behind "in" that are no place: seasons, languages, currencies, quarters."""
_NO_PLACES: Final = _REGIONS | _TIMES_AND_TONGUES
_SAYS: Final = word_set(
    "say said says saying talk talked talks talking speak spoke spoken speaks write wrote written writes give gave "
    "given gives send sent sends lend lent show showed shown sell sold explain explained apologize apologized "
    "introduce introduced promise promised"
)
"""Words with which "to" leads to somebody."""
_SAYS_BEFORE: Final = 5
"""Words between them at most."""
_NAME_WORDS_MAX: Final = 6
"""Words of a name before the one with a possessive."""
_NO_OWNERS: Final = word_set(
    "tonight everyone everybody someone somebody anyone anybody nobody noone everything something work school home "
    "week month year morning evening night season one other another else"
)
"""Words with a possessive that are nobody."""
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
_SAME_KIN: Final = {
    word: words
    for words in (*map(word_set, ("neighbor neighbour", "roommate flatmate")), *reversed(_KIN))
    for word in words
}
"""Words for somebody -> all that may mean the same one."""
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
_RELATIVE: Final = (
    r"(?<![\w-])(?i:my|our|[^\W\d_][\w-]*['’]s) (?:\w+ ){0,2}?"
    rf"(?i:({'|'.join(sorted(_OF_KIN, key=len, reverse=True))}))\b"
)
_IS_RELATIVE: Final = re.compile(rf"(?<![\w-])([^\W\d_a-z][\w-]*)(?:,| is| was) {_RELATIVE}(?!['’]s)")
_RELATIVE_IS: Final = re.compile(rf"{_RELATIVE}(?:['’]s name is|,| is(?: called| named)?)? ([^\W\d_a-z][\w-]*)")
"""How a text tells the name of a relative, before or behind whose relative it is."""
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
            who = words_of(quoted["who"])
            return self.own or any(who <= words_of(name) or words_of(name) <= who for name in self.people)
        found = _SUBJECT_OF.match(statement)
        if found is None or _AND_I.search(rest := statement[found.end() :]):
            return False
        said = frozenset(map(_word, _TOKEN.findall(rest)))
        if any(words_of(name) <= said for name in self.people):
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
    others.update(dict.fromkeys(_named(tokens, _TO, _is_said)))
    places = tuple(name for name in _named(tokens, _AT, _is_place) if name not in others)
    return Whom(tuple(people), tuple(others), kin, places, _I_DO.search(text) is not None, you, spelt)


def _owners(tokens: Sequence[str]) -> Iterator[str]:
    """Names with a possessive: "Bob's", "Ana Lima's", and where nothing is capitalised "ana's"."""
    small = not any(_is_name(token) for token in tokens)
    for place, token in enumerate(tokens):
        name = _POSSESSIVE.sub("", token)
        if not name or name == token or fold(token) in STOP_WORDS or fold(name) in _NO_OWNERS:
            continue
        if _is_holiday(tokens, place):
            continue
        if _is_name(name):
            first = place
            while first and place - first < _NAME_WORDS_MAX and _is_name(tokens[first - 1]):
                first -= 1
            yield " ".join((*tokens[first:place], name))
        elif small and _stands_alone(tokens, place) and fold(name) not in NOT_NAMES and fold(name) not in _OF_KIN:
            yield name


def _is_holiday(tokens: Sequence[str], place: int) -> bool:
    """Whether a possessive is part of a day's name: "Valentine's Day", "New Year's Eve", in any case of letters."""
    behind = tokens[place + 1] if place + 1 < len(tokens) else ""
    return behind in {"Day", "Eve"} or (behind in {"day", "eve"} and tokens[place].islower())


def _stands_alone(tokens: Sequence[str], place: int) -> bool:
    """Whether nothing before a word makes it one of a kind ("my doctor's")."""
    before = fold(tokens[place - 1]) if place else "is"
    return before in STOP_WORDS and before not in _DETERMINERS


def _named(tokens: Sequence[str], behind: frozenset[str], holds: _Holds | None = None) -> Iterator[str]:
    """Names behind some words, and those that "and" joins to them, where the words before them allow it."""
    for place, token in enumerate(tokens):
        if fold(token) in behind:
            before = [fold(each) for each in tokens[max(0, place - _SAYS_BEFORE) : place]]
            yield from (
                name for name in _joined(tokens, place + 1) if holds is None or holds(name, fold(token), before)
            )


def _is_said(name: str, token: str, before: Sequence[str]) -> bool:
    """Whether a name behind "to" is of somebody to whom something is said or given, not of where somebody goes."""
    return fold(name) not in _NO_PLACES and not _SAYS.isdisjoint(before)


def _is_place(name: str, token: str, before: Sequence[str]) -> bool:
    return fold(name) not in _NO_PLACES and not (token == "to" and _is_said(name, token, before))


def _joined(tokens: Sequence[str], place: int) -> Iterator[str]:
    while True:
        first = place
        while place < len(tokens) and _is_name(tokens[place]):
            place += 1
        if first == place or _POSSESSIVE.search(tokens[place - 1]):
            return
        yield " ".join(tokens[first:place])
        if place >= len(tokens) or tokens[place] not in {"and", "or", "&", ","}:
            return
        place += 1


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


def names_written(text: str) -> tuple[str, ...]:
    """Words that are written as names."""
    return _short_names(text) if len(text) <= KEPT_CHARS_MAX else _names(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(_POSSESSIVE.sub("", token) for token in _TOKEN.findall(text) if _is_name(token))


_short_names = lru_cache(maxsize=1 << 9)(_names)
"""Of short texts, which are held against one question after the other."""


def relatives_named(text: str) -> Iterator[tuple[str, str]]:
    """Relatives whose names a text tells, the word for each and the name: "Mia is my wife", "my wife Mia"."""
    for match in _IS_RELATIVE.finditer(text):
        if _is_name(match[1]):
            yield fold(match[2]), match[1]
    for match in _RELATIVE_IS.finditer(text):
        if _is_name(match[2]):
            yield fold(match[1]), match[2]


def words_of(name: str) -> frozenset[str]:
    """The stems of a name's parts, without accents."""
    return frozenset(stem(unaccented(fold(part))) for part in name.split())


def kin_of(word: str) -> frozenset[str]:
    """Words that may mean the same relative as a folded one does; none where it is no relative's."""
    return _SAME_KIN.get(word, frozenset())


def _word(token: str) -> str:
    return stem(unaccented(fold(_POSSESSIVE.sub("", token))))
