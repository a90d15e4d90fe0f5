"""A question, read: the words to look up, whom it names, whether it asks for a time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memforest_ray.facts.words import query_terms, stem, unaccented, word_set, words
from memforest_ray.query.speakers import OWN_SPEAKER

__all__ = ["Question"]

_WANTS_TIME: Final = re.compile(
    r"^\W*(when|how long ago|(at|on|in|since|until)? ?(what|which) (date|day|month|year|time|week|season)\b)"
    r"|什么时候|何时|几时|哪一?[年月天]|几[月号]|कब|किस (दिन|साल|महीने)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(r"什么时候|什么|为什么|哪[个家里儿些所位]?|谁|多少|怎么样?|几[个年月天次]?|[吗呢吧的了]")
"""Chinese words that only ask; they stand in no answer."""
_EMPTY: Final = word_set(
    "क्या कौन कौनसा कौनसी सा सी किस किसने किसको कब कहाँ कहां कितने कितना कितनी कैसे क्यों है हैं हूँ हो था थी थे "
    "में से का की के को ने पर और भी तो ही"
)
_EMPTY_STEMS: Final = frozenset(map(stem, _EMPTY))
"""Hindi words that only ask, or bind others."""
_OF_TIME: Final = word_set("now nowadays current currently still original originally initial initially")
"""Words that ask for how it is, or was at first (`directions`); a statement of it rarely says them."""
_FRAME: Final = re.compile(
    r"^\W*(?:please,? )?(?:(?:do|can|could|would|will) you (?:please )?)?"
    r"(?:(?:know|remember|recall)(?! me\b)|(?:tell|remind) me)(?: again)?(?: (?:about|of))?\b"
    r"|^\W*what (?:do you (?:know|remember|recall)|(?:did|have) i (?:tell|told|say|said|mention(?:ed)?)"
    r"(?: (?:to )?you)?)(?: (?:about|of))?\b",
    re.IGNORECASE,
)
"""How somebody asks for what is remembered, whatever it is: "Do you remember where ...", "Tell me about ..."."""
_FORMS: Final = re.compile(
    r"\b(?:what|which)(?:'s|’s| is| was)?(?: the)?(?P<kind> (?:kind|type|sort)s? of\b)?"
    r"(?P<form> (?:colou?r|breed|instrument|illness|disease|grade|version|brand)s?\b)?"
    r"|\b(?P<happened>happen(?:ed|s)?|wrong|thinks?|thought) (?:to|with|of|about)\b",
    re.IGNORECASE,
)
"""What says of which form an answer is: who tells of a cat says that it is grey, not that this is a colour."""
_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've", "i'd", "i'll"})


@dataclass(frozen=True, slots=True)
class Question:
    """What the words of a question say, before any memory is looked at."""

    text: str
    terms: tuple[str, ...]
    """Words to look up, each once."""
    spelt: frozenset[str]
    """All its words, as they are spelt."""
    wants_time: bool
    """Whether it asks when something is or was."""
    own: str = OWN_SPEAKER
    """Whom "I" means."""

    @classmethod
    def of(cls, text: str) -> "Question":
        """Read a question. Never raises."""
        found = words(text)
        asked = topic_of(text)
        return cls(
            text=text,
            terms=_terms(asked, found if asked == text else words(asked)) or _terms(text, found),
            spelt=frozenset(map(_spelt, found)),
            wants_time=_WANTS_TIME.search(text) is not None,
        )

    def names(self, speaker: str) -> bool:
        """Whether the question speaks of `speaker`, by any part of the name."""
        if speaker == self.own and self.says_i:
            return True
        return any(part in self.spelt for part in _names(speaker))

    @property
    def says_i(self) -> bool:
        """Whether it speaks of whoever asks."""
        return bool(self.spelt & _FIRST_PERSON)

    def named(self, speakers: Mapping[int, str]) -> int | None:
        """The number of the one speaker it names; None when it names none or several: then nobody is preferred."""
        found = [number for number, speaker in speakers.items() if self.names(speaker)]
        return found[0] if len(found) == 1 else None


def topic_of(text: str) -> str:
    """A question without the words around it that ask for no thing; the question itself where nothing is left."""
    bare = _FORMS.sub(_without_form, _FRAME.sub("", text, count=1))
    return bare if bare != text and words(bare) else text


def _without_form(match: "re.Match[str]") -> str:
    whole = match[0]
    for group in ("kind", "form", "happened"):
        if match[group]:
            whole = whole.replace(match[group], " ")
    return whole


def _terms(text: str, found: Sequence[str]) -> tuple[str, ...]:
    """Words to look up; all of them when there are only asking ones."""
    asked = found if text.isascii() else words(_ASKING.sub(" ", text))
    said = [word for word, before in zip(asked, ("", *asked), strict=False) if f"{before} {word}" != "at first"]
    said = [word for word in said if word not in _OF_TIME]
    kept = tuple(word for word in dict.fromkeys(query_terms(said)) if word not in _EMPTY_STEMS)
    return kept or tuple(dict.fromkeys(query_terms(found)))


@lru_cache(maxsize=1 << 12)
def _names(text: str) -> tuple[str, ...]:
    return tuple(map(_spelt, words(text)))


def _spelt(word: str) -> str:
    return unaccented(word.removesuffix("'s"))
