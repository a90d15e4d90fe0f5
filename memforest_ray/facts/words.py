"""Words: what a text is cut into for the lexical index, for the equality of statements and for the rules.

A word is a run of letters, digits and combining marks (so Devanagari stays whole), with inner apostrophes
("O'Neil") and the `+` and `#` of short names and of doubled ones ("C++", "C#", "notepad++"; "LGBTQ+" is
"lgbtq"). Scripts that are written without spaces give pairs of neighbouring characters instead, and single
Han characters, each of which carries a meaning of its own.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

import Stemmer

from memforest_ray.facts.irregular import BASE_FORMS

__all__ = [
    "NEGATIONS",
    "STOP_WORDS",
    "content_stems",
    "content_tokens",
    "fold",
    "query_terms",
    "query_tokens",
    "stem",
    "tokens",
    "unaccented",
    "word_set",
    "words",
]


def word_set(listed: str) -> frozenset[str]:
    """The words of a list that is written for reading, as a set."""
    return frozenset(listed.split())


STOP_WORDS: Final = word_set("""
    a about above after again all also am an and any are aren't as at be because been before being below
    between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down
    during each few for from further had hadn't has hasn't have haven't having he he's her here here's
    hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it it's its itself
    just let's me more most my myself no nor not of off on once only or other our ours ourselves out
    over own really same she she's should shouldn't so some such than that that's the their theirs them
    themselves then there there's these they they'd they'll they're they've this those through to too
    under until up us very was wasn't we we'd we'll we're we've were weren't what what's when when's
    where where's which while who who's whom why why's will with won't would wouldn't you you'd you'll
    you're you've your yours yourself yourselves
""")
"""English words that say little about what a text is about."""

NEGATIONS: Final = word_set("not no never without neither nor nobody nothing none")

# What adds nothing to a statement: articles, the present copula, particles of speech. Prepositions stay,
# since "from Boston to Davis" is not "to Boston from Davis"; so do "was", "had", "will": tense is meaning.
_EMPTY = word_set("a an the is am are be been being do does that also too just really very quite so and")
_SPELT_OUT = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("not",),
    "has": ("have",),
    "i'm": ("i",),
    "let's": ("let", "us"),
}
_ENDINGS = {"n't": ("not",), "'ve": ("have",), "'ll": ("will",), "'d": ("would",), "'re": ()}

_APOSTROPHES = {ord(mark): "'" for mark in "’‘ʼ＇′´`"}
# Soft hyphen, joiners, direction marks, variation selectors.
_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_HIDDEN = re.compile(f"[{_INVISIBLE}]")


def _marks() -> str:
    """A regular expression's class body of all combining marks: `\\w` leaves them out."""
    blocks = (range(0x300, 0x1E00), range(0x20D0, 0x2100), range(0x302A, 0x309B), range(0xA66F, 0xABEE))
    points = [
        point
        for block in (*blocks, range(0xFE20, 0xFE30), range(0x10A01, 0x11A9A))
        for point in block
        if unicodedata.category(chr(point)).startswith("M")
    ]
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" if last > first else chr(first) for first, last in runs)


_MARKS: Final = _marks()
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Kana, Hangul (spaces, but particles cling to nouns), Thai, Lao, Myanmar, Khmer.
_SPACELESS = _HAN + "\u3041-\u30ff\u31f0-\u31ff\u1100-\u11ff\uac00-\ud7a3\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)+|(?:[^\W_]|[{_MARKS}])+(?:'(?:[^\W_]|[{_MARKS}])+)*[+#]*")
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)+|[a-z0-9]+(?:'[a-z0-9]+)*[+#]*")
_UNSPACED_RUN = re.compile(rf"((?:[{_SPACELESS}][{_MARKS}]*)+)")
_UNSPACED = re.compile(rf"[{_SPACELESS}]")
_CLUSTER = re.compile(rf"[{_SPACELESS}][{_MARKS}]*")
_IDEOGRAPH = re.compile(rf"[{_HAN}]")
_RUN_CHARS: Final = 24
"""Longer runs without a space are whole sentences of a script without any: they do not return."""


def fold(text: str) -> str:
    """The spelling in which texts are compared: NFKC, casefold, straight apostrophes, nothing invisible."""
    if text.isascii():
        return text.lower().replace("`", "'")
    plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", text).translate(_APOSTROPHES)).casefold()
    return unicodedata.normalize("NFKC", plain)


def words(text: str) -> list[str]:
    """Words in order, folded but not stemmed; scripts without spaces as single and paired characters."""
    folded = fold(text)
    if folded.isascii():
        return [_bare(word) for word in _ASCII_WORD.findall(folded)]
    return list(_split(_WORD.findall(folded)))


def _split(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        if not _UNSPACED.search(word):
            yield _bare(word)
            continue
        for place, part in enumerate(_UNSPACED_RUN.split(word)):
            if place % 2:
                yield from _grams(part)
            elif part.strip("+#"):
                yield _bare(part)


def _bare(word: str) -> str:
    """1,000 as 1000, LGBTQ+ as lgbtq; C++, C# and 3.5 as they are."""
    if word[-1] in "+#":
        stripped = word.rstrip("+#")
        return word if word.endswith("++") or (len(stripped) < 3 and stripped.isalpha()) else stripped
    return word.replace(",", "") if "," in word else word


def _grams(run: str) -> Iterator[str]:
    clusters = _CLUSTER.findall(run)
    for place, cluster in enumerate(clusters):
        if len(clusters) == 1 or _IDEOGRAPH.match(cluster):
            yield cluster
        if place:
            yield clusters[place - 1] + cluster


@lru_cache(maxsize=1 << 16)
def unaccented(word: str) -> str:
    """Latin letters without accents, others as they are: people look for "Jose" and mean "José"."""
    if word.isascii():
        return word
    kept, latin = [], False
    for letter in unicodedata.normalize("NFD", word):
        if not unicodedata.combining(letter):
            latin = letter <= "\u024f"
        elif latin:
            continue
        kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept))


def tokens(text: str) -> list[str]:
    """Terms of the lexical index: every word of `text`, stemmed, in order."""
    return [stem(unaccented(word)) for word in words(text)]


def content_tokens(text: str) -> list[str]:
    """Terms of the lexical index: stems of all words of `text` but stop words, which say nothing about it, in order."""
    found = text.split()
    if text.isascii():
        return list(chain.from_iterable(map(_content, found)))
    return [term for run in found for term in (_content(run) if len(run) <= _RUN_CHARS else _terms(run))]


def _terms(run: str) -> tuple[str, ...]:
    return tuple([_term(word) for word in words(run) if word not in STOP_WORDS])


_content = lru_cache(maxsize=1 << 15)(_terms)
"""The terms of a run of text without white space, which no word reaches across: most return again and again."""


def query_tokens(text: str) -> list[str]:
    """Terms to look up: as `tokens`, without stop words unless there is nothing else ("The Who")."""
    return query_terms(words(text))


def query_terms(found: Iterable[str]) -> list[str]:
    """`query_tokens` of a text's words."""
    kept = [_term(word) for word in found if word not in STOP_WORDS]
    return kept or [_term(word) for word in found]


def _term(word: str) -> str:
    """A folded word as it is looked up: without accents, stemmed, an irregular form of a verb as the verb."""
    return stem(unaccented(BASE_FORMS.get(word, word)))


def content_stems(text: str) -> tuple[str, ...]:
    """What must be equal, in this order, for two statements to be one when no model can judge.

    Stems of all words but the empty ones (articles, "is", "really"). Numbers, names, prepositions and
    negations ("can't" = "can not") stay, and a past form keeps its mark: "lived in Davis" is not "lives in
    Davis".
    """
    return tuple(_meaning(words(text)))


def _meaning(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        for part in _spelt_out(word):
            if part in _EMPTY:
                continue
            root = stem(part)
            yield f"{root}.ed" if part.endswith("ed") and root != part else root


def _spelt_out(word: str) -> tuple[str, ...]:
    if "'" not in word:
        return _SPELT_OUT.get(word, (word,))
    if word in _SPELT_OUT:
        return _SPELT_OUT[word]
    for ending, meaning in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return (word.removesuffix(ending), *meaning)
    return (word,)


# Snowball's languages by the first letter's script. Latin text is taken for English: its stems do little harm
# to other languages, as both sides of a comparison get the same ones.
_LANGUAGES: Final = (
    ("a", "\u024f", "english"),
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


class _Stemmers(threading.local):
    """One stemmer per language and thread: Snowball's objects hold the word they work on."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}

    def of(self, language: str) -> Stemmer.Stemmer:
        if language not in self.by_language:
            self.by_language[language] = Stemmer.Stemmer(language)
        return self.by_language[language]


_stemmers = _Stemmers()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Snowball stem of a folded word, or the word itself: C++, and scripts without a stemmer."""
    if word[-1:] in ("+", "#"):
        return word
    for first, last, language in _LANGUAGES:
        if first <= word[:1] <= last:
            return str(_stemmers.of(language).stemWord(word))
    return word
