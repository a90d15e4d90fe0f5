"""Attributes: what a clause says for sure about somebody (residence, employer, phone), with its value.

With the subject an attribute makes a chain of states, so a pattern must be certain of all three.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.homes import is_home, names_no_place
from memforest_ray.facts.patterns import ENGLISH, NAMING, OTHER, Pattern
from memforest_ray.facts.phrases.numbers import amount

__all__ = ["Attribute", "Naming", "attribute_named", "attribute_of", "naming_of"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """What one clause says for sure."""

    name: str
    """A short normal-form noun."""
    value: str | None
    """Nothing where the clause ends a state: "I quit my job"."""
    kind: Kind
    subject: str
    """As the clause names it: "I", "you" or a name."""
    past: bool = False
    """Whether it held before, at a time that is not said: "I used to live in Davis"."""


@dataclass(frozen=True, slots=True)
class Naming:
    """What a clause says by the way: who somebody's husband or cat is that it tells of."""

    noun: str
    """As the clause has it: "husband"."""
    attribute: Attribute


_HISTORY: Final = re.compile(
    r"\bbefore (?:that|then|this|moving)\b|\b(?:years|ages|decades|long) ago\b"
    r"|\b(?:previously|formerly|originally|initially|earlier(?! (?:today|this|in)))\b"
    r"|\bas an? (?:young )?(?:kid|child|teen(?:ager)?|boy|girl|student|baby|toddler)\b"
    r"|\bwhen (?:I|he|she|we) (?:was|were) (?:an?|in|very|still|little|young|small|about|\d+|\w+teen|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|twenty)\b",
    re.IGNORECASE,
)
"""Words of a change that is long over: "I moved to Davis when I was a kid"."""
_HOOKS: Final = {
    "residence": ("liv", "moved", "relocated", "settled", "stay", "based"),
    "hometown": ("from", "grew", "born"),
    "employer": ("work", "job", "position", "role", "intern", "employ", "hired", "fired", "laid", "let go", "redundant",
                 "retired", "resigned", "joined", "started", "quit", "left "),
    "job": (" a ", " an ", "promoted"),
    "school": ("stud", "enrolled", "transferred", "switched", "moved", "started", "graduated"),
    "name": ("name",),
    "phone": ("number",),
    "email": ("mail",),
    "age": ("turned", "old", "m ", "is ", "'s ", "re "),
    "birthday": ("birthday", "born"),
    "marital status": ("married", "engaged", "divorced", "single", "widowed"),
    "partner": ("broke", "split", "married", "engaged", "dating"),
    "diet": ("vegan", "vegetarian", "pescatarian", "gluten", "keto", "meat"),
    "allergy": ("allerg",),
    "hobby": ("hobb",),
    "life": ("died", "passed away"),
    "car": ("drive", "car"),
    "@favourite": ("favo",),
    "@": ("my ", "our ", "called", "named", "no longer", "n't ", "not ", "gave away", "sold", "put down", "rehomed",
          "changed", "updated", "reset", "switched", "set "),
}  # fmt: skip
"""By the name of a pattern, parts of words of which one stands in every clause that it holds of."""
_SPEAKING: Final = frozenset({"i", "my", "we", "our", "我", "मैं", "मेरा"})
_NOT_NAMES: Final = frozenset(
    ["What", "Who", "That", "This", "It", "He", "She", "They", "There", "Here", "Everyone", "Someone", "Which"]
)
_SAME_NOUNS: Final = {
    "e-mail": "email", "e-mail address": "email", "email address": "email", "phone number": "phone",
    "mobile number": "phone",
    "cell number": "phone", "husband": "partner", "wife": "partner", "spouse": "partner", "boyfriend": "partner",
    "girlfriend": "partner", "fiancé": "partner", "fiance": "partner", "fiancée": "partner", "fiancee": "partner",
    "mom": "mother", "dad": "father", "job title": "job", "neighbour": "neighbor", "puppy": "dog",
    "kitten": "cat",
}  # fmt: skip


def attribute_of(clause: str, said: str = "") -> Attribute | None:
    """What the clause says for sure: the first pattern that holds. `said` is what it stands in, where that is more."""
    for pattern in _possible(clause):
        match = pattern.pattern.search(clause)
        if match and match["who"] not in _NOT_NAMES and (clause.islower() or not match.groupdict().get("small")):
            found = _attribute(pattern, clause, match.groupdict())
            if pattern.name != "residence" or _is_place(match["who"], found, clause, said):
                return found
    return None


def _possible(clause: str) -> Iterator[Pattern]:
    """The patterns that may hold, by the words of the clause: to look for these is quicker than for all of them."""
    plain = " ".join(clause.lower().split())
    names = {name for name, hooks in _HOOKS.items() if any(hook in plain for hook in hooks)}
    yield from (pattern for pattern in ENGLISH if pattern.name in names)
    if not clause.isascii():
        yield from OTHER


def naming_of(clause: str) -> Naming | None:
    """Who it is that a clause tells of, where it says so: "My husband Tom moved to Oslo"."""
    match = NAMING.pattern.search(clause)
    if match is None:
        return None
    return Naming(match["noun"].lower(), _attribute(NAMING, clause, match.groupdict()))


def _is_place(who: str, found: Attribute, clause: str, said: str) -> bool:
    """Whether somebody moved to a place to live in: of "we" that takes more, since a team moves to a tool, too."""
    if found.kind is not Kind.TRANSITION or found.value is None or not who.isascii():
        return True
    if who.lower() == "we":
        return is_home(found.value, clause, said or clause)
    return not names_no_place(found.value, capitals=who.lower() == "i")


def _attribute(pattern: Pattern, clause: str, groups: dict[str, str | None]) -> Attribute:
    value = None if groups.get("negation") else groups.get("value") or groups.get("small")
    named = groups["who"] or ""
    who = "I" if named.lower() in _SPEAKING else named
    value = value.strip(" .,'") if value else None
    if value and pattern.name == "age":
        value = _age(value, groups.get("unit") or "")
    past = pattern.past or bool(value and pattern.kind is Kind.TRANSITION and _HISTORY.search(clause))
    return Attribute(_name(pattern.name, groups.get("noun")), value or None, pattern.kind, who, past)


def _age(said: str, unit: str) -> str:
    """In figures, with its unit if that is not years: "three" and "3" are one age."""
    years = amount(said)[0]
    finer = unit.lower().rstrip("s")
    return f"{years} {finer}s" if finer in ("month", "week") else f"{years}"


def _name(name: str, noun: str | None) -> str:
    if not noun:
        return name
    return f"favourite {' '.join(noun.lower().split())}" if name == "@favourite" else attribute_named(noun)


def attribute_named(noun: str) -> str:
    """The attribute that a noun means: a husband is a partner."""
    plain = " ".join(noun.lower().split())
    return _SAME_NOUNS.get(plain, plain)
