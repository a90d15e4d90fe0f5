"""Signs by which an English sentence says whether a day lies behind or ahead: forms of verbs, plans, engagements.

Patterns are searched in what stands before or after a phrase in its sentence, apostrophes straight. Repetitions are
bounded. `compiled` reads a space as white space that has to be there.
"""

import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from memforest_ray.facts.irregular import BASE_FORMS
from memforest_ray.facts.letters import UPPER
from memforest_ray.facts.phrases.vocabulary import compiled

__all__ = [
    "APPOINTED",
    "ASKED_FOR",
    "AT_SOME_HOUR",
    "COUNTS_DOWN",
    "FIXED",
    "FIXED_AFTER",
    "HOUR",
    "HOUR_AFTER",
    "IS_FIXED",
    "LEAD",
    "LOOKS_BACK",
    "MEANT",
    "NO_VERB",
    "OPENS_CLAUSE",
    "PROMISED",
    "PUT_OFF",
    "SINCE",
    "SINCE_THEN",
    "TENSE",
    "THROUGH",
    "UNTIL",
    "WAS",
    "WHEREABOUTS",
    "Sign",
]


class Sign:
    """A pattern that is compiled when it is first searched for: most texts name no time that needs it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> "re.Pattern[str]":
        return compiled(self._pattern)

    def search(self, text: str) -> "re.Match[str] | None":
        return self._compiled.search(text)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> "re.Match[str] | None":
        return self._compiled.match(text, start, end)

    def finditer(self, text: str) -> "Iterator[re.Match[str]]":
        return self._compiled.finditer(text)


def _any(words: str) -> str:
    """One of the words; an underscore joins those of a phrase."""
    return f"(?:{'|'.join(words.split())})".replace("_", " ")


def _simple_past() -> str:
    """Irregular forms that need no "have": the commonest, and the first of each verb."""
    first: dict[str, str] = {}
    for form, base in BASE_FORMS.items():
        first.setdefault(base, form)
    return _any(" ".join(dict.fromkeys((*_COMMON_PAST.split(), *first.values()))))


_COMMON_PAST: Final = """
    was were wasn't weren't had went got met saw took came made bought ran left gave held won lost began felt knew
    said thought meant kept led found
"""
_NO_PAST: Final = _any("""
    need indeed feed seed speed weed breed bleed exceed proceed succeed hundred sacred naked wicked shed sled
    infrared
""")
_ED: Final = rf"(?!{_NO_PAST}\b)\w{{2,12}}ed"
_ADVERB: Final = _any("""
    also then finally only just both all already definitely probably hopefully officially not still now actually
    currently again really so provisionally
""")
_BE: Final = _any("is are am be isn't aren't i'm we're you're they're")
_PREPOSITION: Final = _any("on at for in by until till til during over around from before after")

# What is done to something in the present is to be done: "the shop is closed on 4 March".
_ARRANGED: Final = _any("""
    planned scheduled booked set fixed expected due arranged reserved postponed moved pushed delayed rescheduled
    extended supposed invited organi[sz]ed slated targeted pencill?ed confirmed released published launched
    delivered cancell?ed closed opened picked_up called_off put_off held shown paid installed collected shipped
    sent announced replaced repaired demolished
""")
# What somebody does on a day that is fixed: "we get the keys on 4 March". Nothing that lasts or is felt.
_DO: Final = _any("""
    get come start begin open close leave arrive depart fly travel go return move meet marry graduate perform sail
    visit take give hold host play present launch ship finish end run sign pay pick drop hand submit deliver retire
    turn join celebrate see do land check renew switch resume receive collect race compete speak teach drive call
    send bring stay work cook babysit sing ride walk hike camp head interview throw buy sell hear dine eat need
    break set_off
""")
# The same of one person or thing, where the form is no noun as well; of the weather it tells no time.
_DOES: Final = _any("""
    comes flies arrives begins opens departs expires graduates marries turns(?!_out) happens brings pays leaves finishes
    receives collects resumes retires joins celebrates delivers submits becomes closes meets needs takes gives hosts
    performs sails lands sees gets(?!_(?:hot|cold|dark|busy|better|worse|warm|wet|quiet|loud|crowded|old))
    goes_(?:to|back|on|off|home|up|down|into|live|away|for|in|under|out)
""")
_MAY_BE_NOUN: Final = _any(
    "visits plays shows calls runs starts ends travels drives races talks returns moves launches"
)
_DOING: Final = _any("""
    moving flying leaving going seeing starting travell?ing driving visiting having getting picking coming arriving
    taking heading returning hosting throwing playing presenting celebrating dropping signing joining finishing
    turning marrying sailing
""")
_EVER: Final = r"(?:never|always) (?:forget|remember|treasure|cherish)"
_RECALL: Final = r"(?:still )?(?:believe|remember|recall|forget|imagine|hear|feel|smell|taste)"
_GOT: Final = r"(?: (?:married|engaged|divorced))?"

_AHEAD: Final = "|".join((
    rf"(?:will|'ll) have {_ED}|will(?! {_EVER})",
    _any("won't shall gonna going_to plans? planning next upcoming hop(?:e|es|ing)_to forward_to wants?_to"),
    r"(?:have|has|needs?|got|ought|intends?|aims?|expects?|promised|agreed|offered) to|(?:would|'d) (?:like|love) to",
    _any("might(?!_have) make_it can't_wait scheduled booked see_you let's hopefully fingers_crossed"),
    r"if (?:all|everything) goes",
    rf"can(?:'t|not)?(?! {_RECALL})|(?:could|would|shall|should) (?:we|you)",
    r"could (?:do|come|meet|make|be|go|take)",
    r"wants? (?:the|an?|it|you|me|us|him|her|them|my|our|your)",
    rf"(?:i|we|they|you) (?:{_ADVERB} )?{_DO}{_GOT}",
    rf"(?:my|our|the|his|her|their|your) \w{{2,20}}s (?:{_ADVERB} )?{_DO}{_GOT}",
    rf"(?-i:[{UPPER}]\w{{1,20}} and (?:[{UPPER}]\w{{1,20}}|I)) (?:{_ADVERB} )?{_DO}{_GOT}",
    rf"{_DOES}{_GOT}",
    rf"(?:do|does|don't|doesn't)(?: \w{{1,20}}){{0,3}}? {_DO}{_GOT}",
    r"(?:is|are) (?:he|she|it|they|we|you) \w{2,12}ing",
    rf"{_BE} (?:{_ADVERB} ){{0,2}}(?:getting|being) \w{{2,12}}(?:ed|en)",
    rf"(?:{_BE}|he's|she's|it's|who's) (?:{_ADVERB} ){{0,2}}\w{{2,12}}ing|(?<=\w)'s {_DOING}{_GOT}",
    rf"(?:{_BE}|it's|that's|being|to be) (?:{_ADVERB} ){{0,2}}{_ARRANGED}",
    r"(?:has|have)(?: now| just)? been (?:planned|scheduled|booked|set|postponed|moved|rescheduled|delayed) for",
    rf"(?:{_BE}|he's|she's|it's) (?:{_ADVERB} ){{0,2}}(?:about|ready|sure|likely|bound) to",
))  # fmt: skip
_NEITHER: Final = "|".join((
    rf"(?:{_BE}|being|get|gets|getting) (?:{_ADVERB} ){{0,2}}{_ED}",
    r"(?:have|has|i've|we've|you've|they've) got",
    r"(?:excited|thrilled|worried|scared|stressed|stoked|pumped) (?:about|for|of)",
))  # fmt: skip
_BEHIND: Final = "|".join((
    r"(?:did|didn't)(?: (?:i|we|they|you))?|(?:used|had|managed|got|began|started) to(?: \w{2,12})?",
    r"(?:should|would|could|might|must)(?:n't)? (?:\w{1,12} )?have|thank(?:s| you)",
    r"(?:is|are) (?:finally |all |now )?(?:done|finished|behind|over(?! (?:on|in|by|at)\b))",
    r"(?:he|she|it) (?:quit|put|cut|hit|let|read|hurt|cost|set|shut|split|spread)",
    _simple_past(),
    _ED,
))  # fmt: skip
TENSE: Final = Sign(
    rf"\b(?:(?P<future>{_AHEAD})|(?P<neither>{_NEITHER})|(?P<past>{_BEHIND}))\b|(?P<short>'ll)\b(?! {_EVER})"
)
"""A form that has a tense, as the group that it is of; participles of a passive are of neither."""

# What is fixed for a day is said in the present ("the exam is on 4 March", "my flight leaves on 4 March"), or without
# any verb ("dentist appointment 4 March"). Weaker than a tense: it counts where nothing in the sentence is past.
_STANDS: Final = _any("""
    is are isn't aren't it's that's starts? begins? opens? leaves? departs? arrives? ends? closes? expires? runs_out
    takes?_place falls?
""")
FIXED: Final = Sign(
    rf"(?:\b{_STANDS}(?: (?:due|set|back|away|off|out|over|up|free|busy|open|{_ADVERB})){{0,2}}(?: {_PREPOSITION})?"
    r"|\b(?:by|until|till|til)) $"
)
WHEREABOUTS: Final = Sign(
    r"\b(?:i'm|we're|they're|he's|she's|(?<!this\s)(?<!that\s)(?<!here\s)(?:is|are|am)(?: (?:i|we|you|they|he|she))?)"
    rf" (?:{_ADVERB} )?(?:away|out|back|free|busy|here|there|on (?:holiday|leave|call|duty)"
    rf"|off(?: to [\w'\s-]{{2,24}}?)?|(?:in|at) [\w'\s-]{{2,24}}?) {_PREPOSITION} $"
)
"""Where somebody is on that day. Of a picture it is said where it was taken: "this is in Rome in May"."""
_OWNED: Final = _any("an? my our his her their another no the choir practice dinner lunch class training")
APPOINTED: Final = Sign(
    r"\b(?:appointments?|deadlines?|reservations?|due|remind|remember to|don't forget|must|should"
    rf"|(?:have|has|got|'ve got)(?: got)? {_OWNED}|have (?:anything|something|nothing|plans)"
    r"|there(?:'s| is| are)(?!(?: \w{1,20})? (?:photos?|pictures?|videos?))"
    r"|(?:excited|thrilled|nervous|worried|scared|anxious|stressed|stoked|pumped|ready|preparing|training)"
    rf" (?:about|for|of)|{_MAY_BE_NOUN})\b"
)
FIXED_AFTER: Final = Sign(r"^,? (?:(?:is|are|starts?|begins?)\b|if (?!i\b))")
UNTIL: Final = Sign(r"(?:by|until|till|til)\b")
LOOKS_BACK: Final = Sign(r"\b(?:from|of|since|dated|back in) $")
SINCE: Final = Sign(r"(?:from|since|back in)\b")
SINCE_THEN: Final = Sign(r"\bsince (?:about |around )?(?:the )?$")
"""What holds since a day began before it was said, whatever the tense: "I'm working there since May"."""
IS_FIXED: Final = Sign(r" (?:is|isn't|will|won't|works|suits)\b")
"""What follows a day of which "since" gives the reason: "since Friday is a holiday, we leave early"."""
THROUGH: Final = Sign(r" (?:to|until|till|-|–|—) ")

_ENGAGEMENT: Final = _any("""
    dentist doctor doctor's gp vet hairdresser barber haircut mri ct scan x-ray ultrasound check-?up blood_tests?
    surgery operation physio therapy therapist appointment meeting call interview exam test quiz deadline
    presentation defen[cs]e viva demo review stand-?up workshop conference lecture class lesson training practice
    rehearsal audition gig concert show party wedding funeral baptism christening graduation ceremony reunion dinner
    lunch brunch breakfast coffee drinks barbecue bbq picnic date movies? cinema theatre theater opera ballet game
    match race marathon tournament flight train bus ferry delivery handover viewing inspection hearing trial court
    tour playdate sleepover choir yoga pilates gym football tennis swimming book_club rent evening plumber
    electrician cleaner babysitter launch release webinar seminar retreat housewarming baby_shower massage facial
    manicure tutoring finals? kick-?off move offsite festival recital audit assembly vaccination jab filling fair
    camp
""")
_OPINION: Final = _any("""
    great good nice lovely amazing fun awesome beautiful best long wonderful fantastic cool perfect bad terrible
    tough hard crazy what such love like no thanks our epic brilliant sweet worst rough delicious unforgettable
    first of how
""")
_CLAUSE_WORD: Final = _any("""
    i we he she they you it this there is are am be that who which where when because after before since from of
""")
NO_VERB: Final = Sign(
    r"(?:^|[,;:] |\band )\W*(?:(?:also|and|oh|ok|okay|reminder|note|ps|then|plus|so|yes|yeah|no),?:? )?"
    rf"(?:(?:the|my|our|an?|another|his|her|their|your|\w{{1,20}}'s|\w{{1,20}}s') )?(?:(?!{_OPINION}\b)[\w-]{{1,20}} )?"
    rf"{_ENGAGEMENT}\b(?:,? (?!{_CLAUSE_WORD}\b)[\w'.&:/-]{{1,20}},?){{0,6}} $"
)
"""Nothing but the name of what one goes to, perhaps with whom or where: "dentist", "coffee with Ana"."""
_HOUR: Final = r"(?:(?:at|@|from|around) (?:\d{1,2}\b|noon|midday|half|quarter)|\d{1,2}(?:[:.]\d\d|\s{0,2}[ap]\.?m\b))"
HOUR: Final = Sign(rf"\b{_HOUR}")
HOUR_AFTER: Final = Sign(rf"^,? {_HOUR}")
AT_SOME_HOUR: Final = Sign(
    rf"^(?=.{{1,80}}$)\W*(?!(?:{_OPINION}|{_PREPOSITION})\b)"
    rf"(?:(?!{_CLAUSE_WORD}\b)[\w'.&:/@-]{{1,20}},? ){{1,8}}$"
)
"""Anything without a verb that has an hour."""
ASKED_FOR: Final = Sign(
    r"^\W*(?:(?:please|and|then|also),? )?(?:call|email|text|ask|bring|send|pay|pick up|buy|book|meet|submit|return"
    r"|water|feed|renew|order|check|finish|prepare|cancel|move|drop|collect|join|wake) \w"
)
_DOING_ONE: Final = _any("opening launching buying selling renting adopting building hiring closing founding")
MEANT: Final = Sign(
    rf"^\W*(?:(?:and|also|so|finally),? )?(?:(?:{_DOING}|off to)\b(?! (?:was|were)\b)"
    rf"|{_DOING_ONE} (?:an?|my|our|the|another) [^.!?]{{1,60}}$)"
)
"""A plan without its subject: "moving in on 4 March", "opening a shop in October"."""

PUT_OFF: Final = Sign(
    r"\b(?:(?:mov(?:e|ed|ing)|reschedul(?:e|ed|ing)|postpon(?:e|ed|ing)|push(?:ed|ing)?|shift(?:ed|ing)?"
    r"|delay(?:ed|ing)?|extend(?:ed|ing)?|br(?:ing|ought)(?: [\w'-]{1,20}){0,2} forward"
    r"|put(?: [\w'-]{1,20}){0,2} (?:off|back))(?:,? [\w'-]{1,20}){0,6}?"
    r"|chang(?:e|ed|ing)(?: it| this| that| the(?: [\w'-]{1,20}){1,2})?(?: from [\w'\s-]{3,24}?)?)"
    r" (?:to|till|until) (?:the )?$"
)
"""What is put off is still to come, though it was put off before."""
_TICKET: Final = _any("""
    notice tickets? appointments? reservations? bookings? table slots? seats? dates? invitations? deadline flights?
    room hotel
""")
_SURE: Final = _any("""
    planned plan arranged reserved registered signed_up agreed ordered confirmed enrolled entered due aim aiming
    slated pencill?ed_in fixed on_track set
""")
_OBTAINED: Final = _any("got bought made received given reserved took found chose picked confirmed arranged")
_SOME: Final = r" [\w'.&-]{1,20}"
PROMISED: Final = Sign(
    rf"\b(?:{_TICKET}|{_SURE}|invited(?:{_SOME}){{1,3}})(?:{_SOME}){{0,3}} for (?:the )?$"
    rf"|\b{_OBTAINED}(?:{_SOME}){{0,3}} {_TICKET} (?:for|to|with|at)(?:{_SOME}){{1,6}} {_PREPOSITION} (?:the )?$"
    rf"|\binvited(?:{_SOME})? (?:to|for)(?:{_SOME}){{1,5}} {_PREPOSITION} (?:the )?$"
)
"""What somebody has got for a day: tickets, a table, the promise to be there."""
COUNTS_DOWN: Final = Sign(
    r"\b(?:days?|weeks?|weekends?|months?|sleeps|nights?)(?: left| to go| more)? (?:until|till|til|to)"
    rf"(?:{_SOME}){{0,5}}(?: {_PREPOSITION})?(?: the)? $"
)
WAS: Final = Sign(r"\b(?:was|were|had|wasn't|weren't)\b")

OPENS_CLAUSE: Final = Sign(rf"(?:[,;:–—]|\b(?:and|but|so|then|because|plus))(?: {_PREPOSITION})?(?: the)? $")
LEAD: Final = Sign(rf"(?:to|since|{_PREPOSITION}) ")
"""The preposition with which a phrase may begin."""
