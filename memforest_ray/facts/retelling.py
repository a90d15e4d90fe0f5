"""Retelling: a clause in the third person where that is sure, else quoted with its speaker's name.

Only what the grammar makes certain is rewritten: "I" with a form that both persons share or one of a table.
Everything else keeps its words, since they are what a question is compared with.
"""

import re
from typing import Final

from memforest_ray.facts.words import word_set

__all__ = ["opening", "retell", "statement_of"]

# Words before the statement that belong to the talk, not to it; the speakers' names go with them.
_OPENING: Final = (
    r"^(?:(?:well|oh|yeah|yep|yup|yes|no|nope|hey|hi|hello|wow|woah|whoa|woohoo|so|also|actually|anyway|btw|by the way|"
    r"thanks?|thank you|thanks so much|thanks a lot|haha|lol|ok|okay|sure|totally|absolutely|definitely|exactly|"
    r"honestly|and|but|then|guess what|you know what|you know|oh man|man|ah|aw+|hmm+|um+|uh|congrats|cool|nice|great)"
    r"(?:\s+(?:{names}|(?-i:[A-Z]\w+)(?=\s*[,!.])))?(?:\s*(?:[,!.:–—-]+\s*|$)|\s+(?=(?:I|I'm|I've|I'll|we|my)\b))"
    r"|(?:{names})\s*(?:[,!]\s*|$)"
    r"|(?:谢谢[你您]?|多谢|你好|您好|好的?|哈哈+|嗯+|是的|对|没错|再见|早安|晚安|धन्यवाद|नमस्ते|शुक्रिया|हाँ|ठीक है)"
    r"(?:[，,、！!。．.~～।\s]+|$))+"
)
_TOLD = re.compile(
    r"^(?:did you (?:know|hear)|have i told you|did i (?:tell you|mention)|can you believe|do you remember|remember|"
    r"do you know)(?:\s+(?:that|how|when))?\s*[,:]?\s+(?=(?:i|i'm|i've|my|we|we're|our)\b)",
    re.IGNORECASE,
)

_SAME: Final = word_set("""
    was had did could would should might may must can will cannot can't couldn't wouldn't shouldn't won't didn't
    hadn't wasn't went got met saw took came made bought ran left gave held won lost began found felt thought knew
    told said heard read wrote drove flew ate drank slept woke spoke taught caught brought built sold sent spent
    kept sat stood grew threw drew broke chose fell forgot hid hurt let lay led lit paid put quit rode rose sang
    shot shut stuck swam tore understood wore became began bit blew cut dealt dug fed fought hit hung laid lent
    meant set shook sought stole struck swept used
""")
"""Forms that are the same in the first and third person."""
_CHANGED: Final = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "go": "goes",
    "try": "tries",
    "study": "studies",
    "carry": "carries",
    "watch": "watches",
    "teach": "teaches",
    "wish": "wishes",
    "miss": "misses",
}
_REGULAR: Final = word_set("""
    live work love like hate prefer want need think enjoy play run own keep know feel believe remember hope plan
    speak drive eat drink cook paint read write draw make take get give see find help use start stay look wear
    visit travel spend sing swim walk volunteer manage lead attend collect commute come call consider dream
    dislike earn exercise garden grow listen meditate move practice practise rent ride say sell sleep support
    tend train treasure understand
""")
_ADVERBS: Final = word_set("""
    just really also still always usually often never finally recently actually currently sometimes definitely
    already now only even totally absolutely truly probably
""")
_SHORT: Final = {"i'm": "is", "i've": "has", "i'll": "will"}
_AGAIN = re.compile(r"\b(?:I|we|us|our|ours|you|your|yours)\b|\b(?:I|we|you)'", re.IGNORECASE)
_MINE: Final = {"my": "their", "mine": "theirs", "me": "them", "myself": "themself"}
_MINE_WORD = re.compile(r"\b(?:my|mine|me|myself)\b(?!-)", re.IGNORECASE)
_FIRST_WORD = re.compile(r"(I(?:'(?:m|ve|ll))?)\s+", re.IGNORECASE)
_THIRD_PERSON = re.compile(
    r"'s |\s(?:is|was|has|had|does|did|will|would|can|could|must|doesn't|didn't|isn't|wasn't|went|got|left"
    r"|\w{2,}(?:s|ed))\b"
)
"""What goes on after a name so that it is told of: "Will is late", not "Will you come?" or "Mark my words"."""
_MY = re.compile(r"my\s+", re.IGNORECASE)
_YOU = re.compile(r"you(?:'re| are)\s+|you(?:'ve| have)\s+|you (was|were|will|can|should)\s+", re.IGNORECASE)


def opening(names: tuple[str, ...]) -> "re.Pattern[str]":
    """What only opens a clause, when the people there are called `names`: "Thanks, Ana! By the way, ..."."""
    known = "|".join(re.escape(name) for name in names if name) or r"(?!)"
    return re.compile(_OPENING.replace("{names}", known), re.IGNORECASE)


def statement_of(clause: str, opened: "re.Pattern[str]") -> str:
    """The clause without its opening words and without "Did you know that"; it may be empty."""
    return _TOLD.sub("", opened.sub("", clause, count=1), count=1).strip()


def retell(clause: str, speaker: str, other: str | None) -> tuple[str, bool]:
    """The clause in the third person, or quoted; and whether it could be retold.

    `other` is whom "you" means, where that is certain.
    """
    named = clause.startswith((f"{speaker} ", f"{speaker}'s ")) and _THIRD_PERSON.match(clause, len(speaker))
    told = clause if named else _told(clause, speaker, other)
    if told is None:
        return f"{speaker}: {clause}", False
    return told.rstrip("!?") + ("." if told[-1] in "!?" else ""), True


def _told(clause: str, speaker: str, other: str | None) -> str | None:
    if match := _FIRST_WORD.match(clause):
        rest = _verb(match[1].lower(), clause[match.end() :])
        return None if rest is None or _AGAIN.search(rest) else f"{speaker} {_possessive(rest)}"
    if match := _MY.match(clause):
        rest = clause[match.end() :]
        return None if _AGAIN.search(rest) else f"{speaker}'s {_possessive(rest)}"
    if other and (match := _YOU.match(clause)):
        rest = clause[match.end() :]
        verb = "is" if "re" in match[0].lower().split()[0] or "are" in match[0].lower() else "has"
        verb = {"were": "was"}.get((match[1] or "").lower(), match[1] or verb)
        return None if _AGAIN.search(rest) or _MINE_WORD.search(rest) else f"{other} {verb.lower()} {rest}"
    return None


def _possessive(rest: str) -> str:
    return _MINE_WORD.sub(lambda word: _MINE[word[0].lower()], rest)


def _verb(first: str, rest: str) -> str | None:
    """The rest of the clause after "I", with its verb in the third person; nothing when that is not sure."""
    if first in _SHORT:
        return f"{_SHORT[first]} {rest}"
    before: list[str] = []
    parts = rest.split(" ")
    while parts and parts[0].lower() in _ADVERBS:
        before.append(parts.pop(0))
    if not parts:
        return None
    verb = _third_person(parts[0].lower())
    return None if verb is None else " ".join([*before, verb, *parts[1:]])


def _third_person(verb: str) -> str | None:
    bare = verb.rstrip(",.!?")
    if bare in _SAME or (bare.endswith("ed") and len(bare) > 3):
        return verb
    if bare in _CHANGED:
        return verb.replace(bare, _CHANGED[bare])
    return verb.replace(bare, f"{bare}s") if bare in _REGULAR else None
