"""Equality of statements by their words: the rule that stands where no model can judge.

No measure of similarity can do this (MiniLM gives "from Boston to Davis" and "from Davis to Boston" a cosine
of .996, and true paraphrases .885 to .96), so two statements are one only when all that carries meaning is
equal and in the same order. What may differ: articles, sentence punctuation, plural and third-person endings.
"""

from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple

from memforest_ray.facts.candidates import Candidate
from memforest_ray.facts.words import NEGATIONS, content_stems, fold, stem, word_set, words

__all__ = ["LikeKey", "like_keys", "signature", "timeless"]

LikeKey = str
"""Names a set of atoms that the rule finds alike."""

_SEPARATOR = "\x1f"
"""White space to `str.split`, so that no word or name holds it."""
_ARTICLES = word_set("a an the")
_INFLECTIONS = frozenset({"", "s", "es", "e", "'s"})
# Empty on their own, not after a negation: "not just a nurse" is not "not a nurse".
_DEGREES = word_set("also too just really very quite so")
# Empty for what a text is about, not for what it says: "has been fired" is not "has fired".
_PASSIVE = word_set("be is are am been being")
# A dot, sign or currency before a number belongs to it, so only quotes and brackets are taken off the front.
_OPENING = "\"'“”‘’«»()[]{}「」『』¿¡"
_CLOSING = _OPENING + ".,;:!…。、।"
_DATE_PREPOSITIONS = word_set("on in at during")
_NEGATION: Final = 1
_PERSONAL_WORD: Final = 2
# Words that mean someone else in another mouth: such a text is one statement only within one speaker.
_PERSONAL: Final = word_set("""
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    i'm i've i'll i'd we're we've we'll we'd you're you've you'll you'd
    मैं मैंने मुझे मेरा मेरी मेरे हम हमने हमें हमारा हमारी हमारे आप आपका आपकी आपके तुम तुम्हारा तुम्हारी तू
    我 你 您 咱 妳 俺
""")


class _Reading(NamedTuple):
    """One word with what is written around it, read once however often it returns."""

    stems: str
    """Joined by spaces."""
    exact: str
    """What its stems hide and meaning needs, or nothing."""
    degree: str
    """The word, if it is one that counts only after a negation."""
    marks: int
    """`_NEGATION`, `_PERSONAL_WORD`: what it is."""


@lru_cache(maxsize=1 << 15)
def _read(token: str) -> _Reading:
    """Read a run of text without white space.

    Exact are names, numbers with their signs and units ("7-A", "-5", "$5"), words in scripts without case, and
    of a plain word its ending, unless that is an inflection: markets are not marketing.
    """
    bare = token.lstrip(_OPENING).rstrip(_CLOSING)
    word = fold(bare)
    stems = content_stems(bare)
    plain = bare.islower() and word.replace("-", "").replace("'", "").isalpha()
    ending = word[len(stem(word)) :]
    exact = word if not plain or word in _PASSIVE else "" if ending in _INFLECTIONS else ending
    negation, personal = not NEGATIONS.isdisjoint(stems), not _PERSONAL.isdisjoint(words(bare))
    degree = word if word in _DEGREES else ""
    return _Reading(" ".join(stems), exact, degree, _NEGATION * negation | _PERSONAL_WORD * personal)


def signature(text: str) -> str:
    """Equal for two texts that are one statement. Empty for a text without words."""
    return _signed(text)[0]


def _signed(text: str) -> tuple[str, int]:
    """The signature of a text, and the marks of its words."""
    tokens = text.split()
    stems, exact, marks = [], [], 0
    # One plain loop: it runs over every word of a memory that is opened.
    for said, ending, _, mark in map(_read, tokens):
        if said:
            stems.append(said)
        if ending:
            exact.append(ending)
        marks |= mark
    if not stems:
        return "", marks
    if marks & _NEGATION:
        exact = [word for reading in map(_read, tokens) if (word := reading.degree or reading.exact)]
    if tokens[0].lower() in _ARTICLES and _read(tokens[0]).exact:
        del exact[0]
    return _SEPARATOR.join((" ".join(stems), *exact)), marks


def timeless(text: str, expression: str) -> str:
    """The text without its time expression and the preposition before that."""
    at = text.find(expression) if expression else -1
    end = at + len(expression)
    if at < 0 or text[at - 1 : at].isalnum() or text[end : end + 1].isalnum():
        return text
    before = text[:at].rstrip()
    head, _, last = before.rpartition(" ")
    return f"{head if last.lower() in _DATE_PREPOSITIONS else before} {text[end:].lstrip()}"


def _voice(candidate: Candidate, marks: int) -> str:
    """In whose mouth the statement is one: anyone's who names the same subject, else its speaker's."""
    if candidate.subject is None or marks & _PERSONAL_WORD:
        return "speaker " + _name(candidate.speaker)
    return "subject " + _name(candidate.subject)


@lru_cache(maxsize=1 << 12)
def _name(name: str) -> str:
    return " ".join(fold(name).split())


def like_keys(
    candidate: Candidate, places: Collection[str | int] | None
) -> tuple[tuple[LikeKey, ...], tuple[LikeKey, ...]]:
    """Where the rule finds what is alike: the keys among equal intervals, and those for an unknown one.

    `places` are those of something that happens, `None` for something that holds. With known time the time
    expression is not compared ("yesterday", said on the 4th, is "today", said on the 3rd); with one unknown
    it is, as then nothing else keeps the two times apart.
    """
    said, marks = _signed(candidate.text)
    if not said:
        return (), ()
    voice = f"{candidate.kind} {_voice(candidate, marks)}"
    like: tuple[LikeKey, ...] = (_SEPARATOR.join((voice, said)),)
    if places is not None:
        like = tuple(sorted(_SEPARATOR.join((like[0], repr(where))) for where in places))
    event = candidate.event
    if event is None:
        return (), like
    text = timeless(candidate.text, event.expression)
    bare = said if text is candidate.text else signature(text)
    return ((_SEPARATOR.join((voice, bare, repr(event.interval))),) if bare else ()), like
