"""Attributes: what a clause says for sure about somebody (residence, employer, phone), with its value.

With the subject an attribute makes a chain of states, so a pattern must be certain of all three.
"""

import re
from dataclasses import dataclass
from typing import Final

from memforest_ray.facts.candidates import Kind

__all__ = ["Attribute", "attribute_of"]


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
class _Pattern:
    name: str
    kind: Kind
    pattern: "re.Pattern[str]"
    past: bool = False


# What patterns are made of; a space in a pattern stands for any white space.
_FRAGMENTS: Final = {
    "who": r"(?:^|[\s,(])(?P<who>I|you|(?-i:(?!We\b)[A-Z][\w'-]*[a-z](?:\s[A-Z][\w'-]*[a-z])?))",
    # Of where somebody lives "we" says it, too.
    "we": r"(?:^|[\s,(])(?P<who>I|we|you|(?-i:[A-Z][\w'-]*[a-z](?:\s[A-Z][\w'-]*[a-z])?))",
    "proper": (
        r"(?P<value>(?-i:[A-Z\u00c0-\u00de\u0400-\u042f])[\w'.&+-]*"
        r"(?:\s(?-i:[A-Z\u00c0-\u00de\u0400-\u042f])[\w'.&+-]*){0,3})"
    ),
    "am": r"(?:'m| am| is|'s| are|'re)",
    "be": r"(?:'m| am| is|'s| are|'re| was| were|(?:'ve|'s| have| has) been)",
    "often": r"(?: (?:just|recently|finally|also|really|still|currently|actually|already|now|then|both|originally))?",
    # Capitalised words, or `small`, one word of a text that has no capitals at all.
    "name": (
        r"(?:(?P<value>(?-i:[A-Z\u00c0-\u00de\u0400-\u042f])[\w'.&+-]*(?:(?:\s(?:of|de|and)\s|,?\s|\s&\s)"
        r"(?-i:[A-Z\u00c0-\u00de\u0400-\u042f])[\w'.&+-]*){0,4})|(?-i:(?<=\s)(?P<small>(?!(?:a|an|the|my|our|this|that|his|"
        r"her|their|another|here|there|home|new|different|it|in|on|at|out|me|them|him|you|us|work|with|night|nights)\b)"
        r"[a-z]{3,})(?=\s*(?:$|[,.!?;]|\b(?:in|on|for|since|last|now|with|and|but|when|two|after|before)\b))))"
    ),
    "thing": r"(?P<value>[^\s,.!?;][^,.!?;]{0,60}?)",
    "stop": (
        r"(?=\s*(?:$|[,.!?;:)]|\s(?:and|but|so|because|since|when|while|for|after|before|who|which|that|at|in|now)\b))"
    ),
    "occupation": (
        r"(?:an? )(?P<value>(?:[\w-]+ ){0,2}(?:nurse|teacher|engineer|doctor|lawyer|chef|cook|designer|developer|"
        r"artist|writer|author|student|manager|driver|pilot|baker|barista|accountant|architect|analyst|scientist|researcher|"
        r"professor|counsell?or|therapist|dentist|musician|photographer|programmer|consultant|carpenter|plumber|"
        r"electrician|mechanic|firefighter|librarian|journalist|editor|farmer|veterinarian|vet|pharmacist|waiter|"
        r"waitress|cashier|director|supervisor|secretary|translator|paramedic|surgeon|banker|realtor|coach|trainer|"
        r"tutor))\b"
    ),
    "pet": r"(?P<noun>dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|bird|turtle|fish|pet)",
    "kin": (
        r"(?P<noun>husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?|spouse|son|daughter|brother|sister|mother|father|"
        r"mom|dad|boss|roommate|neighbou?r|best friend)"
    ),
    "own": (
        r"(?P<noun>(?:phone |mobile |cell |account |door |wifi |pin |licen[cs]e )?(?:number|code|word|password|plate)|"
        r"phone|e-?mail(?: address)?|address|birthday|age|job|job title|employer|salary|rent|budget|pin|car|team|"
        r"school|major|diet|hobby|nationality|shoe size|blood type|middle name|last name|surname|nickname|"
        r"zip code|hometown)"
    ),
    # Whom somebody goes to: one at a time.
    "role": (
        r"(?P<noun>dentist|doctor|gp|therapist|landlord|landlady|manager|teacher|coach|trainer|mentor|supervisor|lawyer|"
        r"accountant|hairdresser|barber|tutor|pa?ediatrician|boss|roommate|flatmate)"
    ),
    "no_more": r"(?:any\s?more|any longer)",
    "not_of_a_people": r"(?!(?:\w+(?:ish|ese|ian|ican)|german|french|greek|dutch|swiss|thai|czech)\b)",
    # A name with what it is the name of in it.
    "campus": (
        r"(?=(?-i:(?:[A-Z\u00c0-\u00de]\S*\s(?:of\s)?){0,4}(?:University|College|School|Academy|Institute))\b)"
        r"(?P<value>(?-i:[A-Z\u00c0-\u00de])[\w'.&-]*(?:\s(?:of\s)?(?-i:[A-Z\u00c0-\u00de])[\w'.&-]*){0,4})"
    ),
    "dont": r"(?: don't| do not| doesn't| does not)",
    "han": r"(?P<value>[\u4e00-\u9fffA-Za-z0-9·]{1,12}?)",
    "han_end": r"(?=[，。！？、；,.!?;\s]|$|[了的和跟呢啊吧]|已经|工作|上班|上学|附近)",
}


def _pattern(name: str, kind: Kind, pattern: str, *, past: bool = False) -> _Pattern:
    filled = re.sub(r"\{([a-z_]+)\}", lambda fragment: _FRAGMENTS[fragment[1]], pattern)
    return _Pattern(name, kind, re.compile(filled.replace(" ", r"\s+"), re.IGNORECASE), past)


_ENGLISH: Final = (
    # Ends of states stand first: their words contain those of the states.
    _pattern("residence", Kind.TRANSITION, r"{we}(?: no longer lives?|{dont} live\b.{0,60}?\b{no_more})"),
    _pattern("employer", Kind.TRANSITION, r"{who}(?: no longer works?|{dont} work\b.{0,60}?\b{no_more})"),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{often} (?:quit|left|lost|resigned from) (?:my|his|her|their|the) (?:old )?(?:job|position)\b",
    ),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?:(?: was| got|(?:'ve|'s| have| has) been){often} (?:fired(?! up\b)|laid off|made redundant|let go)"
        r"|(?:'ve|'s| have| has)?{often} (?:retired|resigned)(?=\s*(?:$|[.,!;])"
        r"| (?:from|in|on|last|this|at|after|and|two|three|yesterday|today|early)\b))",
    ),
    _pattern(
        "partner",
        Kind.TRANSITION,
        r"{we}(?:'ve|'s| have| has)?{often} (?:broke|broken|split) up(?= with (?:my|(?-i:[A-Z]))|\s*(?:$|[.,!])"
        r"| (?:last|this|in|on|two|three|a|yesterday)\b)",
    ),
    _pattern("diet", Kind.TRANSITION, r"{who}(?:{am} no longer| stopped being) (?:an? )?(?:vegan|vegetarian)\b"),
    _pattern("diet", Kind.TRANSITION, r"{who}{often}(?: started)? eat(?:s|ing)? meat again\b"),
    _pattern("residence", Kind.STATE, r"{we}{often} used to (?:live|stay) in {name}", past=True),
    _pattern("employer", Kind.STATE, r"{who}{often} used to work (?:at|for) {name}", past=True),
    _pattern(
        "@",
        Kind.TRANSITION,
        r"(?:^|\s)(?P<who>my|our) (?:old |beloved )?{pet}(?:,? (?-i:[A-Z])[\w-]+,?)? (?:died|passed away|ran away)\b",
    ),
    _pattern(
        "school",
        Kind.TRANSITION,
        r"{who}(?:'ve|'s| have| has)?{often} (?:(?:transferred|switched|moved) to|enrolled (?:at|in)"
        r"|started(?: studying)? at) (?:the )?{campus}",
    ),
    # Where somebody lives.
    _pattern(
        "residence",
        Kind.TRANSITION,
        r"{who}(?:'ve|'s| have| has)?{often} (?:moved|relocated)(?: (?:back|over|out|away|down|up|here))?"
        r"(?: from [\w'\x20,.-]{2,40}?)? to {name}",
    ),
    # A team moves to a new tool; who moves back, or from one place to another, lives somewhere.
    _pattern(
        "residence",
        Kind.TRANSITION,
        r"{we}(?:'ve|'s| have| has)?{often} (?:relocated|moved(?: (?:back|over|out|away|down|up|here)"
        r"| from [\w'\x20,.-]{2,40}?)) to {name}",
    ),
    _pattern("residence", Kind.STATE, r"{we}{often} lives? in {name}"),
    _pattern("residence", Kind.STATE, r"{we}{be}{often} (?:living|based) in {name}"),
    _pattern("residence", Kind.STATE, r"{we}{often} lived in {name}", past=True),
    _pattern("hometown", Kind.STATE, r"{who}(?:{am}{often} from| grew up in| was born in) {name}"),
    # What somebody does.
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?:'ve|'s| have| has)?{often} (?:started|began|got|landed|found|accepted|took) (?:(?:a|my|the) "
        r"(?:new )?(?:job|position|role|internship)|working|work) (?:at|for|with) {name}",
    ),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?: was| got| were|(?:'ve|'s| have| has) been){often} hired (?:by|at) {name}",
    ),
    _pattern("employer", Kind.TRANSITION, r"{who}(?:'ve|'s| have| has)?{often} joined {name} as\b"),
    _pattern("employer", Kind.STATE, r"{who}{often} works? (?:at|for) {name}"),
    _pattern("employer", Kind.STATE, r"{who}{be}{often} (?:working|employed) (?:at|for|by) {name}"),
    _pattern("employer", Kind.STATE, r"{who}{often} worked (?:at|for) {name}", past=True),
    _pattern("job", Kind.TRANSITION, r"{who}{often} (?:got|was|been) promoted to (?:an? )?{thing}{stop}"),
    _pattern("job", Kind.TRANSITION, r"{who}{often} became {occupation}"),
    _pattern("job", Kind.STATE, r"{who}(?:{often} works?|{am} working) as {occupation}"),
    _pattern("job", Kind.STATE, r"{who}{am}{often} {occupation}"),
    _pattern("school", Kind.STATE, r"{who}(?:{often} stud(?:y|ies)|{am} studying) at (?:the )?{name}"),
    _pattern("school", Kind.TRANSITION, r"{who}{often} graduated from (?:the )?{name}"),
    # Who somebody is.
    _pattern("name", Kind.STATE, r"(?:^|\s)(?P<who>my) name(?:'s| is) {name}"),
    _pattern(
        "phone",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) (?:(?:new )?phone|mobile|cell)?\s*number is (?:now"
        r" )?(?P<value>\+?\d[\d\x20()-]{3,18}\d)",
    ),
    _pattern(
        "email",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) e-?mail(?: address)? is (?:now )?(?P<value>[^\s@,]+@[^\s@,]+\w)",
    ),
    _pattern(
        "age",
        Kind.STATE,
        r"{who}(?:{am}| (?:just )?turned) (?P<value>\d{1,3})(?: years old\b|\s*(?:$|[.!,])| (?:now|today"
        r"|yesterday|last))",
    ),
    _pattern(
        "birthday",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) birthday is (?:on )?{thing}(?=\s*(?:$|[.!?;]|\s(?:and|but|so)\b))",
    ),
    _pattern("birthday", Kind.STATE, r"{who} was born on {thing}(?=\s*(?:$|[.!?;]|\s(?:and|but|so|in)\b))"),
    _pattern(
        "marital status",
        Kind.TRANSITION,
        r"{who}(?:'ve|'s| have| has)?{often} (?:got|gotten) (?P<value>married|engaged|divorced)\b",
    ),
    _pattern(
        "marital status",
        Kind.STATE,
        r"{who}{am}{often} (?P<value>married|engaged|divorced|single|widowed)\b(?! (?:mom|dad|mother|father"
        r"|parent))",
    ),
    _pattern("partner", Kind.STATE, r"{who}{am} (?:married|engaged) to {name}"),
    _pattern("partner", Kind.STATE, r"{who}{am} dating {name}"),
    _pattern("@", Kind.STATE, r"(?:^|\s)(?P<who>my) {pet} (?P<value>(?-i:[A-Z])[\w-]+(?:'(?!s\b)\w+)?)\b"),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) {pet}(?:'s name is| is (?:called|named)|,? (?:called|named)|,) {name}",
    ),
    _pattern(
        "@",
        Kind.STATE,
        r"{we}(?:'ve|'s| have| has)?{often}(?: have| has| had| got| adopted) an? (?:\w+ )?{pet}"
        r" (?:called|named) {name}",
    ),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) {kin}(?:'s name is| is (?:called|named)|,? (?:called|named)|,)?"
        r" (?P<value>(?-i:[A-Z])[\w-]+(?:'(?!s\b)\w+)?)\b",
    ),
    # What somebody must know.
    _pattern(
        "diet",
        Kind.STATE,
        r"{who}(?:{am}|'ve been| became| went|'ve gone){often} (?:an? )?(?P<value>vegan|vegetarian"
        r"|pescatarian|gluten[- ]free|keto)\b",
    ),
    _pattern(
        "allergy",
        Kind.CONSTRAINT,
        r"{who}{am}{often}(?: (?P<negation>not|no longer))?(?: \w+ly)? allergic to {thing}{stop}",
    ),
    _pattern("allergy", Kind.CONSTRAINT, r"{who} (?:have|has) an? {thing} allergy\b"),
    _pattern("hobby", Kind.PREFERENCE, r"(?:^|\s)(?P<who>my) (?:new |main )?hobb(?:y|ies) (?:is|are) {thing}{stop}"),
    _pattern(
        "@favourite",
        Kind.PREFERENCE,
        r"(?:^|\s)(?P<who>my) favou?rite (?P<noun>\w+(?:\s\w+)?) (?:is|are|was) {thing}{stop}",
    ),
    _pattern("car", Kind.STATE, r"{who}{often} drives? an? (?:\w+ )?{name}"),
    _pattern(
        "@",
        Kind.TRANSITION,
        r"{we}(?:'ve|'s| have| has)?{often} (?:changed|updated|reset|switched|set) (?:my|our|his|her|their|the) {own}"
        r" to {thing}{stop}",
    ),
    _pattern(
        "@",
        Kind.TRANSITION,
        r"(?:^|\s)(?P<who>my|our) {own} (?:(?:has|was|has been) )?changed to {thing}{stop}",
    ),
    _pattern("@", Kind.STATE, r"(?:^|\s)(?P<who>my|our) (?:old|former|previous) {role} (?:is|was) {proper}", past=True),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?{role}(?:'s name)? is (?:now )?{not_of_a_people}{proper}",
    ),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?{own}(?: is|:(?= \S*[\d@])) (?:now )?"
        r"(?!\w+ing\b|so\b|very\b|too\b|not\b|also\b){thing}{stop}",
    ),
)

_OTHER: Final = (
    _pattern("residence", Kind.TRANSITION, r"(?P<who>我)(?:们)?[^，。]{0,8}?搬(?:家)?[到去回]了?{han}{han_end}"),
    _pattern("residence", Kind.TRANSITION, r"(?P<who>我)不再?住在?(?:[^，。]{1,8})了"),
    _pattern("residence", Kind.STATE, r"(?P<who>我)(?:以前|曾经|过去)[^，。]{0,4}?住在{han}{han_end}", past=True),
    _pattern("residence", Kind.STATE, r"(?P<who>我)[^，。不]{0,6}?住在{han}{han_end}"),
    _pattern("employer", Kind.STATE, r"(?P<who>我)[^，。不]{0,6}?在{han}(?:工作|上班)"),
    _pattern("employer", Kind.TRANSITION, r"(?P<who>我)[^，。]{0,6}?辞职"),
    _pattern("name", Kind.STATE, r"(?P<who>我)(?:的名字)?(?:叫|是叫){han}{han_end}"),
    _pattern("allergy", Kind.CONSTRAINT, r"(?P<who>我)对{han}(?:严重)?过敏"),
    _pattern(
        "residence",
        Kind.STATE,
        r"(?P<who>मैं) (?:अब |अभी )?(?P<value>[\u0900-\u097f\w\x20]{2,30}?) में रहत[ाी] (?:हूँ|हूं|है)",
    ),
    _pattern(
        "residence",
        Kind.STATE,
        r"(?P<who>मैं) (?:पहले )?(?P<value>[\u0900-\u097f\w\x20]{2,30}?) में रहत[ाी] (?:था|थी)",
        past=True,
    ),
    _pattern(
        "employer",
        Kind.STATE,
        r"(?P<who>मैं) (?P<value>[\u0900-\u097f\w\x20]{2,30}?) में काम करत[ाी] (?:हूँ|हूं|है)",
    ),
    _pattern("name", Kind.STATE, r"(?P<who>मेरा) नाम (?P<value>[\u0900-\u097f\w\x20]{1,30}?) है"),
)

_SPEAKING: Final = frozenset({"i", "my", "we", "our", "我", "मैं", "मेरा"})
_NOT_NAMES: Final = frozenset(
    ["What", "Who", "That", "This", "It", "He", "She", "They", "There", "Here", "Everyone", "Someone", "Which"]
)
_SAME_NOUNS: Final = {
    "e-mail": "email", "e-mail address": "email", "email address": "email", "phone number": "phone",
    "mobile number": "phone",
    "cell number": "phone", "husband": "partner", "wife": "partner", "spouse": "partner", "boyfriend": "partner",
    "girlfriend": "partner", "fiancé": "partner", "fiance": "partner", "fiancée": "partner", "fiancee": "partner",
    "mom": "mother", "dad": "father", "job title": "job", "neighbour": "neighbor",
}  # fmt: skip


def attribute_of(clause: str) -> Attribute | None:
    """What the clause says for sure: the first pattern that holds."""
    patterns = _ENGLISH if clause.isascii() else (*_ENGLISH, *_OTHER)
    for pattern in patterns:
        match = pattern.pattern.search(clause)
        if match and match["who"] not in _NOT_NAMES and (clause.islower() or not match.groupdict().get("small")):
            return _attribute(pattern, match.groupdict())
    return None


def _attribute(pattern: _Pattern, groups: dict[str, str | None]) -> Attribute:
    value = None if groups.get("negation") else groups.get("value") or groups.get("small")
    named = groups["who"] or ""
    who = "I" if named.lower() in _SPEAKING else named
    value = value.strip(" .,'") if value else None
    return Attribute(_name(pattern.name, groups.get("noun")), value or None, pattern.kind, who, pattern.past)


def _name(name: str, noun: str | None) -> str:
    if not noun:
        return name
    plain = " ".join(noun.lower().split())
    return f"favourite {plain}" if name == "@favourite" else _SAME_NOUNS.get(plain, plain)
