"""Kinds and domains: what sort of statement a clause is, and what part of life it is about, by its words."""

import re
from typing import Final

from memforest_ray.facts.candidates import DOMAINS, Kind
from memforest_ray.facts.words import stem, word_set, words

__all__ = ["domain_of", "kind_of"]


def _compile(pattern: str, other: str = "(?!)") -> "re.Pattern[str]":
    """English words at their start, and what stands anywhere: scripts without spaces have no starts."""
    return re.compile(rf"\b(?:{pattern})|{other}".replace(" ", r"\s+"), re.IGNORECASE)


_CONSTRAINT = _compile(
    r"allergic to\b|intolerant\b|(?:have|has|had) to avoid\b|(?:must not|mustn't|not allowed to)\b|"
    r"(?:can't|cannot|can not) (?:eat|have|drink|stand|use|take|go|do|be|drive|wear|touch|work|lift|fly|"
    r"afford|swim|hear|see|walk)\b",
    "不能|过敏",
)
_TRANSITION = _compile(
    r"no longer\b|any\s?more\b|moved (?:back |away |out |in |over )?(?:to|from|into)\b|(?:just |recently )?started "
    r"(?:a|an|my|working|learning|taking|playing|doing|going|at)\b|quit\b|(?:left|lost|changed) my job|"
    r"(?:got|was|been) (?:promoted|married|engaged|divorced|fired|hired|laid off|accepted|pregnant)\b|became\b|"
    r"switched\b|graduated\b|retired\b|adopted\b|joined\b|gave up\b|stopped\b|broke up\b|signed up\b",
    "搬到|搬家|辞职|不再",
)
_PREFERENCE = _compile(
    r"(?:i|he|she|they|we|you) (?:really |also |still |just |absolutely |do |don't |doesn't )*(?:like|likes|love|loves|"
    r"hate|hates|prefer|prefers|enjoy|enjoys|adore|adores|dislike|dislikes|can't stand)\b(?! to (?:see|"
    r"hear|know|help)\b)|"
    r"\w+ (?:likes|loves|hates|prefers|enjoys|adores)\b|favou?rites?\b|(?:big |huge )?fan of\b|"
    r"(?:i'm|i am) (?:really |so |totally )?into\b",
    "喜欢|讨厌|पसंद",
)
_PLAN = _compile(
    r"will\b|won't\b|\w+'ll\b|going to\b|gonna\b|plan(?:s|ning)? (?:to|on|for|a)\b|hop(?:e|ing) to\b|wants? to\b|"
    r"i'd love to\b|thinking (?:of|about) \w+ing\b|looking forward\b|can't wait\b|off to\b|aiming to\b|intend\b|"
    r"goal is\b|next (?:week|month|year|weekend|summer|\w+day)\b|tomorrow\b",
    "打算|计划|将要|明天|下周|जाऊँगा|जाऊंगा|करूँगा|करूंगा",
)
_PAST = _compile(
    r"was\b|were\b|had\b|did\b|didn't\b|went\b|got\b|met\b|saw\b|took\b|came\b|made\b|bought\b|ran\b|left\b|gave\b|held\b|"
    r"won\b|lost\b|began\b|found\b|felt\b|told\b|heard\b|wrote\b|drove\b|flew\b|ate\b|slept\b|taught\b|caught\b|brought\b|"
    r"built\b|sold\b|sent\b|spent\b|kept\b|chose\b|fell\b|led\b|paid\b|broke\b|grew\b|threw\b|drew\b|sang\b|swam\b|"
    r"\w{2,}[^e\W]ed\b|\w{2,}[^e\W]ied\b"
)
_STATE = _compile(
    r"am\b|is\b|are\b|i'm\b|\w+'s\b|\w+'re\b|live\b|lives\b|work\b|works\b|have\b|has\b|i've\b|own\b|owns\b|know\b|knows\b|"
    r"study\b|studies\b",
    "住在|工作|रहत",
)
_IS = re.compile(
    r"(?:i'm|i am|it's|we're|they're|you're|that's|there's|he's|she's|(?:[\w']+\s+){1,3}(?:is|are))\b", re.IGNORECASE
)


def kind_of(clause: str, *, dated_past: bool, dated_future: bool) -> Kind:
    """What sort of statement: `dated_past` and `dated_future` say that its time expression lies before or after."""
    if _CONSTRAINT.search(clause):
        return Kind.CONSTRAINT
    if dated_future or (_PLAN.search(clause) and not dated_past):
        return Kind.PLAN
    if _TRANSITION.search(clause):
        return Kind.TRANSITION
    if dated_past:
        return Kind.EVENT
    return _undated_kind(clause)


def _undated_kind(clause: str) -> Kind:
    if _PREFERENCE.search(clause):
        return Kind.PREFERENCE
    if _IS.match(clause):
        return Kind.STATE
    if _PAST.search(clause):
        return Kind.EVENT
    return Kind.STATE if _STATE.search(clause) else Kind.DETAIL


_DOMAIN_WORDS: Final = {
    "home": """
        home house apartment flat rent move moved neighborhood neighbour garden kitchen furniture room
        yard roof 家 房子 घर
    """,
    "work": """
        work job boss office company career colleague coworker project business client salary promotion
        interview startup store shop employer meeting deadline 工作 公司 काम
    """,
    "study": """
        school college university class course study exam degree teacher student lesson learn graduate
        homework campus research thesis 学习 学校 大学
    """,
    "family": """
        family mom dad mother father son daughter kid child children brother sister husband wife parent
        baby grandma grandpa aunt uncle cousin adoption wedding married 家人 妈妈 爸爸 परिवार
    """,
    "people": """
        friend neighbor community group support volunteer party date boyfriend girlfriend partner people
        team charity church 朋友 दोस्त
    """,
    "health": """
        health doctor hospital sick ill allergy allergic medicine diet gym exercise yoga run running
        workout therapy therapist clinic injury pain sleep stress mental weight 医院 健康
    """,
    "food": """
        food eat cook cooking recipe restaurant dinner lunch breakfast bake cake coffee tea pizza vegan
        vegetarian meal drink wine fruit dessert ice cream 吃 饭 खाना
    """,
    "travel": """
        travel trip flight visit vacation hotel beach hike hiking camping mountain country city airport
        tour abroad roadtrip passport island 旅行 旅游
    """,
    "leisure": """
        game play music song guitar piano violin paint painting art book read movie film dance sport
        football soccer basketball tennis photography pottery concert museum craft draw swim show festival
        hobby 音乐 电影 游戏
    """,
    "money": """
        money buy bought sell sold price cost loan bank budget invest debt pay paid save savings tax
        donate 钱
    """,
    "things": """
        car phone laptop computer camera bike dog cat pet puppy kitten gift necklace clothes shoes dress
        app 狗 猫 车
    """,
}
_DOMAIN_OF: Final = {
    stem(word): domain for domain, listed in _DOMAIN_WORDS.items() for word in sorted(word_set(listed))
}


def domain_of(clause: str) -> str:
    """The part of life that most of its words belong to; of equal ones the first listed."""
    counts = dict.fromkeys(DOMAINS, 0)
    for word in words(clause):
        counts[_DOMAIN_OF.get(stem(word), "other")] += 1
    best = max(DOMAINS[:-1], key=counts.__getitem__)
    return best if counts[best] else "other"
