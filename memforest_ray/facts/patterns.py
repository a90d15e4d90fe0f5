"""Patterns: the wordings in which a clause says for sure what somebody's residence, employer or allergy is.

A pattern must be certain of whose it is, what, and its value. Groups: `who`, `value` (or `small`, a name in a text
without capitals), `noun` where it names the attribute, `negation` where it denies it, `unit` of an age.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from memforest_ray.facts.candidates import Kind
from memforest_ray.facts.letters import UPPER

__all__ = ["ENGLISH", "NAMING", "OTHER", "RELATION", "Pattern"]


@dataclass(frozen=True)
class Pattern:
    """How a clause says one attribute."""

    name: str
    """Of the attribute; "@" where the clause names it."""
    kind: Kind
    written: str
    """With the fragments by their names."""
    past: bool = False

    @cached_property
    def pattern(self) -> "re.Pattern[str]":
        """Compiled when it is first searched for: to compile all of them takes longer than most commands."""
        filled = self.written
        for _ in range(_NESTED):
            filled = re.sub(r"\{([a-z_]+)\}", lambda fragment: _FRAGMENTS[fragment[1]], filled)
        return re.compile(filled.replace(" ", r"\s+"), re.IGNORECASE)


# What patterns are made of; a space in a pattern stands for any white space.
_FRAGMENTS: Final = {
    "upper": f"[{UPPER}]",
    "lower": r"(?-i:[^\W\d_A-Z])",
    "who": r"(?:^|[\s,(])(?P<who>I|you|(?-i:(?!We\b){upper}[\w'-]*{lower}(?:\s{upper}[\w'-]*{lower})?))",
    # Of where somebody lives "we" says it, too.
    "we": r"(?:^|[\s,(])(?P<who>I|we|you|(?-i:{upper}[\w'-]*{lower}(?:\s{upper}[\w'-]*{lower})?))",
    "proper": r"(?P<value>{named})",
    "named": r"(?-i:{upper})[\w'.&+-]*(?:\s(?-i:{upper})[\w'.&+-]*){0,3}",
    "over": (
        r"(?=\s*(?:$|[,.!;])|\s(?:in|on|at|last|this|yesterday|today|after|because|since|for|two|three|a|and|to"
        r"|recently|early)\b)"
    ),
    "am": r"(?:'m| am| is|'s| are|'re)",
    "have": r"(?:'ve|'s| have| has)",
    "has": r"(?:'ve|'s|'d| have| has| had)?",
    "be": r"(?:'m| am| is|'s| are|'re| was| were|(?:'ve|'s| have| has) been)",
    "often": r"(?: (?:just|recently|finally|also|really|still|currently|actually|already|now|then|both|originally))?",
    # Capitalised words, or `small`, one word of a text that has no capitals at all.
    "name": (
        r"(?:(?P<value>(?-i:{upper})[\w'.&+-]*(?:(?:\s(?:of|de|and)\s|,?\s|\s&\s)"
        r"(?-i:{upper})[\w'.&+-]*){0,4})|(?-i:(?<=\s)(?P<small>(?!(?:a|an|the|my|our|this|that|his|"
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
        r"(?=(?-i:(?:{upper}\S*\s(?:of\s)?){0,4}(?:University|College|School|Academy|Institute))\b)"
        r"(?P<value>(?-i:{upper})[\w'.&-]*(?:\s(?:of\s)?(?-i:{upper})[\w'.&-]*){0,4})"
    ),
    "dont": r"(?: don't| do not| doesn't| does not)",
    "han": r"(?P<value>[\u4e00-\u9fffA-Za-z0-9·]{1,12}?)",
    "han_end": r"(?=[，。！？、；,.!?;\s]|$|[了的和跟呢啊吧]|已经|工作|上班|上学|附近)",
}


_NESTED: Final = 3
"""How deep fragments stand in each other."""


ENGLISH: Final = (
    # Ends of states stand first: their words contain those of the states.
    Pattern("residence", Kind.TRANSITION, r"{we}(?: no longer lives?|{dont} live\b.{0,60}?\b{no_more})"),
    Pattern("employer", Kind.TRANSITION, r"{who}(?: no longer works?|{dont} work\b.{0,60}?\b{no_more})"),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{often} (?:quit|left|lost|resigned from) (?:my|his|her|their|the) (?:old )?(?:job|position)\b",
    ),
    # Of which employer it is the end, its name says; "I left Rome" is that of none.
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:quit (?!Facebook|Twitter|Instagram|TikTok|Netflix|Duolingo){named}"
        r"|left {named}(?=.{0,60}?\b(?:jobs?|role|position|(?:to|and) join(?:ed)?|working there|as (?:an?|their)"
        r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+) years(?! ago))\b)){over}",
    ),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?:(?: was| got|(?:'ve|'s| have| has) been){often} (?:fired(?! up\b)|laid off|made redundant|let go)"
        r"|{has}{often} (?:retired|resigned)(?=\s*(?:$|[.,!;])"
        r"| (?:from|in|on|last|this|at|after|and|two|three|yesterday|today|early)\b))",
    ),
    Pattern(
        "partner",
        Kind.TRANSITION,
        r"{we}{has}{often} (?:broke|broken|split) up(?= with (?:my|(?-i:{upper}))|\s*(?:$|[.,!])"
        r"| (?:last|this|in|on|two|three|a|yesterday)\b)",
    ),
    Pattern(
        "diet",
        Kind.TRANSITION,
        r"{who}(?:{am} no longer| stopped being|{am} not(?=.{0,40}?\b{no_more})) (?:an? )?(?:vegan|vegetarian)\b",
    ),
    Pattern("diet", Kind.TRANSITION, r"{who}{often}(?: started)? eat(?:s|ing)? meat again\b"),
    Pattern(
        "car",
        Kind.TRANSITION,
        r"{who}(?: no longer drives?|{dont} drive(?=.{0,60}?\b{no_more})) {whose} (?:car\b|(?-i:{upper})[\w-]+)",
    ),
    Pattern(
        "car",
        Kind.TRANSITION,
        r"{who}(?: no longer (?:owns?|have|has)|{dont} (?:have|own)(?=.{0,60}?\b{no_more})"
        r"|{has}{often} (?:sold|scrapped|totall?ed)) {whose} (?:old )?car\b",
    ),
    Pattern(
        "marital status",
        Kind.TRANSITION,
        r"{who}{am}(?: no longer (?:married|engaged)\b| not (?:married|engaged)\b.{0,60}?\b{no_more})",
    ),
    Pattern(
        "@",
        Kind.TRANSITION,
        r"{we}(?: no longer (?:have|has|owns?|keeps?)|{dont} (?:have|own|keep)(?=.{0,60}?\b{no_more})"
        r"|{has}{often} (?:gave away|sold|put down|rehomed)) {whose} (?:\w+ ){0,2}?{pet}s?\b",
    ),
    Pattern(
        "allergy",
        Kind.CONSTRAINT,
        r"{who}(?P<negation> no longer (?:have|has)|{dont} have|{has}{often} outgr[eo]wn?) {whose} {thing}"
        r" allerg(?:y|ies)\b",
    ),
    Pattern("residence", Kind.STATE, r"{we}{often} used to (?:live|stay) in {name}", past=True),
    Pattern("employer", Kind.STATE, r"{who}{often} used to work (?:at|for) {name}", past=True),
    Pattern(
        "@",
        Kind.TRANSITION,
        r"(?:^|\s)(?P<who>my|our) (?:old |beloved )?{pet}(?:,? (?-i:{upper})[\w-]+,?)? (?:died|passed away|ran away)\b",
    ),
    Pattern(
        "life",
        Kind.TRANSITION,
        r"(?:^|[\s,(])(?P<who>(?-i:(?!(?:I|We|You|My|Our)\b){upper})[\w-]*{lower}){has}{often} (?:died|passed away)\b",
    ),
    Pattern(
        "school",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:(?:transferred|switched|moved) to|enrolled (?:at|in)"
        r"|started(?: studying)? at) (?:the )?{campus}",
    ),
    # Where somebody lives.
    Pattern(
        "residence",
        Kind.TRANSITION,
        r"{we}{has}{often} (?:moved|relocated)(?: (?:back|over|out|away|down|up|here))?"
        r"(?: (?:in)?to (?:an?|our|my) (?:\w+ ){0,2}(?:house|apartment|flat|condo|place|home|cottage|loft) in"
        r"|(?: from [\w'\x20,.-]{2,40}?)? to) {name}",
    ),
    Pattern("residence", Kind.TRANSITION, r"{we}{has}{often} settled(?: down)? in {name}"),
    Pattern("residence", Kind.STATE, r"{we}{often} lives? in {name}"),
    Pattern("residence", Kind.STATE, r"{we}{be}{often} (?:living|based) in {name}"),
    Pattern("residence", Kind.STATE, r"{we}{have}{often} lived in {name}(?=.{0,40}?\b(?:since|for|all)\b)"),
    Pattern("residence", Kind.STATE, r"{we}{often} lived in {name}", past=True),
    Pattern("hometown", Kind.STATE, r"{who}(?:{am}{often} from| grew up in| was born in) {name}"),
    # What somebody does.
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:started|began|got|landed|found|accepted|took) (?:(?:a|my|the) "
        r"(?:new )?(?:job|position|role|internship)|working|work) (?:at|for|with) {name}",
    ),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} started at {proper}"
        r"(?= (?:as an?|last|this|yesterday|today|on (?:the )?(?-i:{upper}|\d)|in (?-i:{upper}|\d))"
        r"|\s*[.!]?$)",
    ),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:changed|switched) jobs\b.{0,20}?\b(?:now|currently) (?:work(?:s|ing)? )?(?:at|with|for)"
        r" (?:the )?{thing}{stop}",
    ),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:changed|switched) jobs\b[^.!?]{1,12}{am}{often} (?:at|with) {proper}"
        r"(?: now\b|\s*[.!]?$)",
    ),
    Pattern(
        "employer",
        Kind.TRANSITION,
        r"{who}(?: was| got| were|(?:'ve|'s| have| has) been){often} hired (?:by|at) {name}",
    ),
    Pattern("employer", Kind.TRANSITION, r"{who}{has}{often} joined {name} as\b"),
    Pattern("employer", Kind.STATE, r"{who}{often} works? (?:at|for) {name}"),
    Pattern("employer", Kind.STATE, r"{who}{be}{often} (?:working|employed) (?:at|for|by) {name}"),
    Pattern("employer", Kind.STATE, r"{who}{have}{often} worked (?:at|for) {name}(?=.{0,40}?\b(?:since|for|all)\b)"),
    Pattern("employer", Kind.STATE, r"{who}{often} worked (?:at|for) {name}", past=True),
    Pattern("job", Kind.TRANSITION, r"{who}{often} (?:got|was|been) promoted to (?:an? )?{thing}{stop}"),
    Pattern("job", Kind.TRANSITION, r"{who}{often} became {occupation}"),
    Pattern("job", Kind.STATE, r"{who}(?:{often} works?|{am} working) as {occupation}"),
    Pattern("job", Kind.STATE, r"{who}{am}{often} {occupation}"),
    Pattern("school", Kind.STATE, r"{who}(?:{often} stud(?:y|ies)|{am} studying) at (?:the )?{name}"),
    Pattern("school", Kind.TRANSITION, r"{who}{often} graduated from (?:the )?{name}"),
    # Who somebody is.
    Pattern("name", Kind.STATE, r"(?:^|\s)(?P<who>my) name(?:'s| is) {name}"),
    Pattern(
        "phone",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) (?:(?:new )?phone|mobile|cell)?\s*number is (?:now"
        r" )?(?P<value>\+?\d[\d\x20()-]{3,18}\d)",
    ),
    Pattern(
        "email",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) e-?mail(?: address)? is (?:now )?(?P<value>[^\s@,]+@[^\s@,]+\w)",
    ),
    Pattern(
        "age",
        Kind.STATE,
        r"{who}{has}{often} turned {years}"
        r"(?=\s*(?:$|[.!,])| (?:years|now|today|yesterday|last|this|on|in|at|and|but)\b)",
    ),
    Pattern("age", Kind.STATE, r"{who}{am}{often} {years}[ -](?P<unit>years?|months?|weeks?)[ -]old\b"),
    Pattern(
        "age", Kind.STATE, r"{who}{am} (?P<value>1[01]\d|\d{1,2})(?:\s*(?:$|[.!,])| (?:now|today|yesterday|last)\b)"
    ),
    # A number in words says so little that nothing but a person or a pet may be before it: "Practice is six".
    Pattern(
        "age",
        Kind.STATE,
        r"(?:^|[\s,(])(?P<who>I){am}{often} (?!one\b){years}\s*(?:$|[.!,]|(?:now|today)\b)",
    ),
    Pattern(
        "age",
        Kind.STATE,
        r"(?:^|[\s,(])(?:my|our) (?:{animal}|{relative}),? (?P<who>(?-i:{upper})[\w-]+),?{am}{often} {years}"
        r"\s*(?:$|[.!,]|(?:now|today|years|and)\b)",
    ),
    Pattern(
        "age",
        Kind.STATE,
        r"\b(?:my|our) {years}[- ](?P<unit>years?|months?|weeks?)[- ]old (?:{animal}|{relative}),? "
        r"(?P<who>(?-i:{upper})[\w-]+)",
    ),
    Pattern(
        "birthday",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|(?-i:{upper})[\w-]+(?='s ))(?:'s)? birthday is (?:on )?{thing}"
        r"(?=\s*(?:$|[.!?;]|\s(?:and|but|so)\b))",
    ),
    Pattern("birthday", Kind.STATE, r"{who} was born on {thing}(?=\s*(?:$|[.!?;]|\s(?:and|but|so|in)\b))"),
    Pattern(
        "marital status",
        Kind.TRANSITION,
        r"{who}{has}{often} (?:got|gotten) (?P<value>married|engaged|divorced)\b",
    ),
    Pattern(
        "marital status",
        Kind.STATE,
        r"{who}{am}{often} (?P<value>married|engaged|divorced|single|widowed)\b(?! (?:mom|dad|mother|father"
        r"|parent))",
    ),
    Pattern("partner", Kind.STATE, r"{who}{am} (?:married|engaged) to {name}"),
    Pattern("partner", Kind.STATE, r"{who}{am} dating {name}"),
    Pattern("@", Kind.STATE, r"(?:^|\s)(?P<who>my) {pet} (?P<value>(?-i:{upper})[\w-]+(?:'(?!s\b)\w+)?)\b"),
    Pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) {pet}(?:'s name is| is (?:called|named)|,? (?:called|named)|,) {name}",
    ),
    Pattern(
        "@",
        Kind.STATE,
        r"{we}{has}{often}(?: have| has| had| got| adopted) an? (?:\w+ )?{pet}"
        r" (?:called|named) {name}",
    ),
    Pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my) {kin}(?:'s name is| is (?:called|named)|,? (?:called|named)|,)?"
        r" (?P<value>(?-i:{upper})[\w-]+(?:'(?!s\b)\w+)?)\b",
    ),
    Pattern(
        "@", Kind.STATE, r"(?:^|\s)(?P<value>(?-i:{upper})[\w-]+), (?P<who>my|our) (?:new )?{kin}(?=\s*(?:$|[,.!?;]))"
    ),
    # What somebody must know.
    Pattern(
        "diet",
        Kind.STATE,
        r"{who}(?:{am}|'ve been| became| went|'ve gone){often} (?:an? )?(?P<value>vegan|vegetarian"
        r"|pescatarian|gluten[- ]free|keto)\b",
    ),
    Pattern(
        "allergy",
        Kind.CONSTRAINT,
        r"{who}{am}{often}(?: (?P<negation>not|no longer|never))?(?: \w+ly)? allergic to {thing}{stop}",
    ),
    Pattern("allergy", Kind.CONSTRAINT, r"{who} (?:have|has) an? {thing} allergy\b"),
    Pattern("hobby", Kind.PREFERENCE, r"(?:^|\s)(?P<who>my) (?:new |main )?hobb(?:y|ies) (?:is|are) {thing}{stop}"),
    Pattern(
        "@favourite",
        Kind.PREFERENCE,
        r"(?:^|\s)(?P<who>my) favou?rite (?P<noun>\w+(?:\s\w+)?) (?:is|are|was) {thing}{stop}",
    ),
    Pattern("car", Kind.STATE, r"{who}{often} drives? an? (?:\w+ )?{name}"),
    Pattern(
        "@",
        Kind.TRANSITION,
        r"{we}{has}{often} (?:changed|updated|reset|switched|set) (?:my|our|his|her|their|the) {own}"
        r" to {thing}{stop}",
    ),
    Pattern(
        "@",
        Kind.TRANSITION,
        r"(?:^|\s)(?P<who>my|our) {own} (?:(?:has|was|has been) )?changed to {thing}{stop}",
    ),
    Pattern("@", Kind.STATE, r"(?:^|\s)(?P<who>my|our) (?:old|former|previous) {role} (?:is|was) {proper}", past=True),
    Pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?(?P<noun>{post}|{relative})(?:'s name)? is"
        r" (?:now )?{not_of_a_people}{proper}",
    ),
    Pattern(
        "@",
        Kind.STATE,
        r"(?:^|\s)(?P<who>my|our) (?:new |current )?{own}(?: is|:(?= \S*[\d@])) (?:now )?"
        r"(?!\w+ing\b|so\b|very\b|too\b|not\b|also\b){thing}{stop}",
    ),
)

RELATION: Final = f"(?:{_FRAGMENTS['animal']}|{_FRAGMENTS['relative']})"
"""What somebody or some animal may be to somebody."""
NAMING: Final = Pattern(
    "@",
    Kind.STATE,
    r"(?:^|[\s,(])(?P<who>my|our) (?P<noun>{animal}|{relative}),? (?P<value>(?-i:{upper})[\w-]+(?:'(?!s\b)\w+)?)\b",
)
"""How a clause that says something of somebody may say by the way who that is: "My husband Tom moved to Oslo"."""

OTHER: Final = (
    Pattern("residence", Kind.TRANSITION, r"(?P<who>我)(?:们)?[^，。]{0,8}?搬(?:家)?[到去回]了?{han}{han_end}"),
    Pattern("residence", Kind.TRANSITION, r"(?P<who>我)不再?住在?(?:[^，。]{1,8})了"),
    Pattern("residence", Kind.STATE, r"(?P<who>我)(?:以前|曾经|过去)[^，。]{0,4}?住在{han}{han_end}", past=True),
    Pattern("residence", Kind.STATE, r"(?P<who>我)[^，。不]{0,6}?住在{han}{han_end}"),
    Pattern("employer", Kind.STATE, r"(?P<who>我)[^，。不]{0,6}?在{han}(?:工作|上班)"),
    Pattern("employer", Kind.TRANSITION, r"(?P<who>我)[^，。]{0,6}?辞职"),
    Pattern("name", Kind.STATE, r"(?P<who>我)(?:的名字)?(?:叫|是叫){han}{han_end}"),
    Pattern("allergy", Kind.CONSTRAINT, r"(?P<who>我)对{han}(?:严重)?过敏"),
    Pattern(
        "residence",
        Kind.STATE,
        r"(?P<who>मैं) (?:अब |अभी )?(?P<value>[\u0900-\u097f\w\x20]{2,30}?) में रहत[ाी] (?:हूँ|हूं|है)",
    ),
    Pattern(
        "residence",
        Kind.STATE,
        r"(?P<who>मैं) (?:पहले )?(?P<value>[\u0900-\u097f\w\x20]{2,30}?) में रहत[ाी] (?:था|थी)",
        past=True,
    ),
    Pattern(
        "employer",
        Kind.STATE,
        r"(?P<who>मैं) (?P<value>[\u0900-\u097f\w\x20]{2,30}?) में काम करत[ाी] (?:हूँ|हूं|है)",
    ),
    Pattern("name", Kind.STATE, r"(?P<who>मेरा) नाम (?P<value>[\u0900-\u097f\w\x20]{1,30}?) है"),
)
