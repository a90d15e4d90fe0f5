"""Patterns: the wordings in which a clause says for sure what somebody's residence, employer or allergy is.

A pattern must be certain of whose it is, what, and its value. Groups: `who`, `value` (or `small`, a name in a text
without capitals), `noun` where it names the attribute, `negation` where it denies it, `unit` of an age.
"""

import re
from dataclasses import dataclass
from typing import Final

from memforest_ray.facts.candidates import Kind

__all__ = ["ENGLISH", "NAMING", "OTHER", "RELATION", "Pattern"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a clause says one attribute."""

    name: str
    """Of the attribute; "@" where the clause names it."""
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
    "have": r"(?:'ve|'s| have| has)",
    "has": r"(?:'ve|'s|'d| have| has| had)?",
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
    "pet": r"(?P<noun>{animal})",
    "animal": r"(?:dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|bird|turtle|fish|pet)",
    "kin": r"(?P<noun>{relative})",
    "relative": (
        r"(?:husband|wife|partner|boyfriend|girlfriend|fianc[eé]e?|spouse|son|daughter|brother|sister|mother|father|"
        r"mom|dad|boss|roommate|neighbou?r|best friend)"
    ),
    "years": (
        r"(?P<value>\d{1,3}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ](?:one|two|three|four|five|six|seven"
        r"|eight|nine))?|(?:thir|four|fif|six|seven|eigh|nine)teen|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
        r"|twelve)"
    ),
    "own": (
        r"(?P<noun>(?:phone |mobile |cell |account |door |wifi |pin |licen[cs]e )?(?:number|code|word|password|plate)|"
        r"phone|e-?mail(?: address)?|address|birthday|age|job|job title|employer|salary|rent|budget|pin|car|team|"
        r"school|major|diet|hobby|nationality|shoe size|blood type|middle name|last name|surname|nickname|"
        r"zip code|hometown)"
    ),
    # Whom somebody goes to: one at a time.
    "role": r"(?P<noun>{post})",
    "post": (
        r"(?:dentist|doctor|gp|therapist|landlord|landlady|manager|teacher|coach|trainer|mentor|supervisor|lawyer|"
        r"accountant|hairdresser|barber|tutor|pa?ediatrician|boss|roommate|flatmate)"
    ),
    "whose": r"(?:an?|the|my|our|his|her|their|any)",
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


_NESTED: Final = 2
"""How deep fragments stand in each other."""


def _pattern(name: str, kind: Kind, pattern: str, *, past: bool = False) -> Pattern:
    filled = pattern
    for _ in range(_NESTED):
        filled = re.sub(r"\{([a-z_]+)\}", lambda fragment: _FRAGMENTS[fragment[1]], filled)
    return Pattern(name, kind, re.compile(filled.replace(" ", r"\s+"), re.IGNORECASE), past)


ENGLISH: Final = (
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
        r"|{has}{often} (?:retired|resigned)(?=\s*(?:$|[.,!;])"
        r"| (?:from|in|on|last|this|at|after|and|two|three|yesterday|today|early)\b))",
    ),
    _pattern(
        "partner",
        Kind.TRANSITION,
        r"{we}{has}{often} (?:broke|broken|split) up(?= with (?:my|(?-i:[A-Z]))|\s*(?:$|[.,!])"
        r"| (?:last|this|in|on|two|three|a|yesterday)\b)",
    ),
    _pattern(
        "diet",
        Kind.TRANSITION,
        r"{who}(?:{am} no longer| stopped being|{am} not(?=.{0,40}?\b{no_more})) (?:an? )?(?:vegan|vegetarian)\b",
    ),
    _pattern("diet", Kind.TRANSITION, r"{who}{often}(?: started)? eat(?:s|ing)? meat again\b"),
    _pattern(
        "car",
        Kind.TRANSITION,
        r"{who}(?: no longer drives?|{dont} drive(?=.{0,60}?\b{no_more})) {whose} (?:car\b|(?-i:[A-Z])[\w-]+)",
    ),
    _pattern(
        "car",
        Kind.TRANSITION,
        r"{who}(?: no longer (?:owns?|have|has)|{dont} (?:have|own)(?=.{0,60}?\b{no_more})"
        r"|{has}{often} (?:sold|scrapped|totall?ed)) {whose} (?:old )?car\b",
    ),
    _pattern(
        "marital status",
        Kind.TRANSITION,
        r"{who}{am}(?: no longer (?:married|engaged)\b| not (?:married|engaged)\b.{0,60}?\b{no_more})",
    ),
    _pattern(
        "@",
        Kind.TRANSITION,
        r"{we}(?: no longer (?:have|has|owns?|keeps?)|{dont} (?:have|own|keep)(?=.{0,60}?\b{no_more})"
        r"|{has}{often} (?:gave away|sold|put down|rehomed)) {whose} (?:\w+ ){0,2}?{pet}s?\b",
    ),
    _pattern(
        "allergy",
        Kind.CONSTRAINT,
        r"{who}(?P<negation> no longer (?:have|has)|{dont} have|{has}{often} outgr[eo]wn?) {whose} {thing}"
        r" allerg(?:y|ies)\b",
    ),
    _pattern("residence", Kind.STATE, r"{we}{often} used to (?:live|stay) in {name}", past=True),
    _pattern("employer", Kind.STATE, r"{who}{often} used to work (?:at|for) {name}", past=True),
    _pattern(
        "@",
        Kind.TRANSITION,
        r"(?:^|\s)(?P<who>my|our) (?:old |beloved )?{pet}(?:,? (?-i:[A-Z])[\w-]+,?)? (?:died|passed away|ran away)\b",
    ),
    _pattern(
        "life",
        Kind.TRANSITION,
        r"(?:^|[\s,(])(?P<who>(?-i:(?!(?:I|We|You|My|Our)\b)[A-Z])[\w-]*[a-z]){has}{often} (?:died|passed away)\b",
    ),
    _pattern(
        "school",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:(?:transferred|switched|moved) to|enrolled (?:at|in)"
        r"|started(?: studying)? at) (?:the )?{campus}",
    ),
    # Where somebody lives.
    _pattern(
        "residence",
        Kind.TRANSITION,
        r"{we}{has}{often} (?:moved|relocated)(?: (?:back|over|out|away|down|up|here))?"
        r"(?: (?:in)?to (?:an?|our|my) (?:\w+ ){0,2}(?:house|apartment|flat|condo|place|home|cottage|loft) in"
        r"|(?: from [\w'\x20,.-]{2,40}?)? to) {name}",
    ),
    _pattern("residence", Kind.STATE, r"{we}{often} lives? in {name}"),
    _pattern("residence", Kind.STATE, r"{we}{be}{often} (?:living|based) in {name}"),
    _pattern("residence", Kind.STATE, r"{we}{have}{often} lived in {name}(?=.{0,40}?\b(?:since|for|all)\b)"),
    _pattern("residence", Kind.STATE, r"{we}{often} lived in {name}", past=True),
    _pattern("hometown", Kind.STATE, r"{who}(?:{am}{often} from| grew up in| was born in) {name}"),
    # What somebody does.
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:started|began|got|landed|found|accepted|took) (?:(?:a|my|the) "
        r"(?:new )?(?:job|position|role|internship)|working|work) (?:at|for|with) {name}",
    ),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} started at {proper}"
        r"(?= (?:as an?|last|this|yesterday|today|on (?-i:[A-Z]|\d)|in (?-i:[A-Z]|\d))|\s*$)",
    ),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:changed|switched) jobs\b.{0,20}?\b(?:now|currently) (?:work(?:s|ing)? )?(?:at|with|for)"
        r" (?:the )?{thing}{stop}",
    ),
    _pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?: was| got| were|(?:'ve|'s| have| has) been){often} hired (?:by|at) {name}",
    ),
    _pattern("employer", Kind.TRANSITION, r"{who}{has}{often} joined {name} as\b"),
    _pattern("employer", Kind.STATE, r"{who}{often} works? (?:at|for) {name}"),
    _pattern("employer", Kind.STATE, r"{who}{be}{often} (?:working|employed) (?:at|for|by) {name}"),
    _pattern("employer", Kind.STATE, r"{who}{have}{often} worked (?:at|for) {name}(?=.{0,40}?\b(?:since|for|all)\b)"),
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
        r"{who}{has}{often} turned {years}"
        r"(?=\s*(?:$|[.!,])| (?:years|now|today|yesterday|last|this|on|in|at|and|but)\b)",
    ),
    _pattern("age", Kind.STATE, r"{who}{am}{often} {years}[ -](?P<unit>years?|months?|weeks?)[ -]old\b"),
    _pattern(
        "age", Kind.STATE, r"{who}{am} (?P<value>1[01]\d|\d{1,2})(?:\s*(?:$|[.!,])| (?:now|today|yesterday|last)\b)"
    ),
    # A number in words says so little that nothing but a person or a pet may be before it: "Practice is six".
    _pattern(
        "age",
        Kind.STATE,
        r"(?:^|[\s,(])(?P<who>I){am}{often} (?!one\b){years}\s*(?:$|[.!,]|(?:now|today)\b)",
    ),
    _pattern(
        "age",
        Kind.STATE,
        r"(?:^|[\s,(])(?:my|our) (?:{animal}|{relative}),? (?P<who>(?-i:[A-Z])[\w-]+),?{am}{often} {years}"
        r"\s*(?:$|[.!,]|(?:now|today|years|and)\b)",
    ),
    _pattern(
        "age",
        Kind.STATE,
        r"\b(?:my|our) {years}[- ](?P<unit>years?|months?|weeks?)[- ]old (?:{animal}|{relative}),? "
        r"(?P<who>(?-i:[A-Z])[\w-]+)",
    ),
    _pattern(
        "birthday",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|(?-i:[A-Z])[\w-]+(?='s ))(?:'s)? birthday is (?:on )?{thing}"
        r"(?=\s*(?:$|[.!?;]|\s(?:and|but|so)\b))",
    ),
    _pattern("birthday", Kind.STATE, r"{who} was born on {thing}(?=\s*(?:$|[.!?;]|\s(?:and|but|so|in)\b))"),
    _pattern(
        "marital status",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:got|gotten) (?P<value>married|engaged|divorced)\b",
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
        r"{we}{has}{often}(?: have| has| had| got| adopted) an? (?:\w+ )?{pet}"
        r" (?:called|named) {name}",
    ),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) {kin}(?:'s name is| is (?:called|named)|,? (?:called|named)|,)?"
        r" (?P<value>(?-i:[A-Z])[\w-]+(?:'(?!s\b)\w+)?)\b",
    ),
    _pattern(
        "@", Kind.STATE, r"(?:^|\s)(?P<value>(?-i:[A-Z])[\w-]+), (?P<who>my|our) (?:new )?{kin}(?=\s*(?:$|[,.!?;]))"
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
        r"{who}{am}{often}(?: (?P<negation>not|no longer|never))?(?: \w+ly)? allergic to {thing}{stop}",
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
        r"{we}{has}{often} (?:changed|updated|reset|switched|set) (?:my|our|his|her|their|the) {own}"
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
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?(?P<noun>{post}|{relative})(?:'s name)? is"
        r" (?:now )?{not_of_a_people}{proper}",
    ),
    _pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?{own}(?: is|:(?= \S*[\d@])) (?:now )?"
        r"(?!\w+ing\b|so\b|very\b|too\b|not\b|also\b){thing}{stop}",
    ),
)

RELATION: Final = f"(?:{_FRAGMENTS['animal']}|{_FRAGMENTS['relative']})"
"""What somebody or some animal may be to somebody."""
NAMING: Final = _pattern(
    "@",
    Kind.STATE,
    r"(?:^|[\s,(])(?P<who>my|our) (?P<noun>{animal}|{relative}),? (?P<value>(?-i:[A-Z])[\w-]+(?:'(?!s\b)\w+)?)\b",
)
"""How a clause that says something of somebody may say by the way who that is: "My husband Tom moved to Oslo"."""

OTHER: Final = (
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
