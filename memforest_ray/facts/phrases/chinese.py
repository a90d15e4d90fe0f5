"""Chinese phrases that name a time, in both scripts. A month or day without its year is the last one."""

import re
from datetime import date, timedelta
from typing import Final

from memforest_ray.facts.periods import (
    Period,
    day,
    decade,
    month,
    month_from,
    nearest_month,
    season,
    span,
    week,
    weekday_from,
    weekend,
    year,
)
from memforest_ray.facts.phrases.phrase import Annual, Phrase, Setting, ago, ahead

__all__ = ["CHINESE"]

_DIGITS: Final = {character: number for number, character in enumerate("一二三四五六七八九", start=1)} | {
    "两": 2,
    "兩": 2,
    "十": 10,
}
_NUMBER = (
    r"(?:\d{1,4}|[一二两兩三四五六七八九]?十[一二三四五六七八九]?|[一二两兩三四五六七八九]百|[一二两兩三四五六七八九])"
)
_UNITS: Final = {
    "天": "day",
    "日": "day",
    "周": "week",
    "週": "week",
    "个星期": "week",
    "個星期": "week",
    "星期": "week",
    "个礼拜": "week",
    "个月": "month",
    "個月": "month",
    "年": "year",
    "个小时": "hour",
    "個小時": "hour",
    "小时": "hour",
    "小時": "hour",
    "个钟头": "hour",
    "分钟": "minute",
    "分鐘": "minute",
}
_HALVES: Final = {
    "年": (6, "month"),
    "个月": (2, "week"),
    "個月": (2, "week"),
    "天": (12, "hour"),
    "小时": (30, "minute"),
} | {
    "个小时": (30, "minute"),
    "小時": (30, "minute"),
    "個小時": (30, "minute"),
}
"""Half a year is told in months, half a month in weeks."""
_UNIT = rf"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_DAYS: Final = {
    "大前天": -3, "大后天": 3, "大後天": 3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1,
    "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "明天": 1, "明日": 1, "明晚": 1, "后天": 2, "後天": 2,
}  # fmt: skip
_YEARS: Final = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "後年": 2}
_SEASONS: Final = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_WHICH: Final = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "下": 1, "下下": 2}
_WEEKDAYS: Final = {character: number for number, character in enumerate("一二三四五六")} | {"日": 6, "天": 6}
_WEEK = r"(?P<which>上上|上|这|這|本|下下|下)(?:个|個)?(?:周|週|星期|礼拜|禮拜)"
_YEAR = r"(?P<year>(?:1[5-9]|20)\d\d|[一二][〇零一二三四五六七八九]{3})\s?年"
_READ_OUT: Final = str.maketrans("〇零一二三四五六七八九", "00123456789")
_AHEAD: Final = re.compile(r"要|会|會|将|將|打算|准备|準備|计划|計劃|见面|見面|记得|記得")
_PAST: Final = re.compile(r"[了过過]")


def number_of(said: str) -> int:
    """A number below 100, or of whole hundreds, in figures or Chinese numerals."""
    if said.isdecimal():
        return int(said)
    if said.endswith("百"):
        return 100 * _DIGITS[said[0]]
    tens, ten, ones = said.rpartition("十")
    if not ten:
        return _DIGITS[said]
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def _near_day(found: re.Match[str], setting: Setting) -> Period:
    return day(setting.today + timedelta(_DAYS[found["near"]]))


def _ago(found: re.Match[str], setting: Setting) -> Period:
    count = number_of(found["count"])
    return ago(setting.now, count, count, _UNITS[found["unit"]])


def _one_or_other_ago(found: re.Match[str], setting: Setting) -> Period:
    return ago(setting.now, _DIGITS[found["least"]], _DIGITS[found["most"]], _UNITS[found["unit"]])


def _half(found: re.Match[str], setting: Setting) -> Period:
    count, unit = _HALVES[found["unit"]]
    return (ago if "前" in found["side"] else ahead)(setting.now, count, count, unit)


def _few_ago(found: re.Match[str], setting: Setting) -> Period:
    return ago(setting.now, 2, 6, _UNITS[found["unit"]])


def _ahead(found: re.Match[str], setting: Setting) -> Period:
    count = number_of(found["count"])
    return ahead(setting.now, count, count, _UNITS[found["unit"]])


def _week(found: re.Match[str], setting: Setting) -> Period:
    away, weekday = _WHICH[found["which"]], found["weekday"]
    if weekday == "末":
        return weekend(setting.today, away)
    whole = week(setting.today, away)
    return day(whole.first + timedelta(_WEEKDAYS[weekday])) if weekday else whole


def _this_weekend(_: re.Match[str], setting: Setting) -> Period:
    return weekend(setting.today, 0 if setting.today.weekday() >= 5 else -1)


def _month_around(found: re.Match[str], setting: Setting) -> Period:
    return month_from(setting.today, _WHICH[found["which"]])


def _year_around(found: re.Match[str], setting: Setting) -> Period:
    number = setting.today.year + _YEARS[found["which"]]
    return _within(number, found)


def _absolute(found: re.Match[str], _: Setting) -> Period:
    return _within(int(found["year"].translate(_READ_OUT)), found)


def _bare_weekday(found: re.Match[str], setting: Setting) -> Period | None:
    """The nearest one, where the sentence says in which direction."""
    after = re.split(r"[。！？!?\n]", setting.text[found.end() : found.end() + 40], maxsplit=1)[0]
    direction = 1 if _AHEAD.search(after) else -1 if _PAST.search(after) else 0
    return day(weekday_from(setting.today, _WEEKDAYS[found["weekday"]], direction)) if direction else None


def _day_of_month_around(found: re.Match[str], setting: Setting) -> Period:
    whole = month_from(setting.today, _WHICH[found["which"]])
    return day(whole.first.replace(day=number_of(found["day"])))


def _part_of_year(found: re.Match[str], setting: Setting) -> Period:
    """The first or the last two months of a year."""
    number = setting.today.year + _YEARS[found["which"] or "今年"]
    first = 1 if found["part"] == "初" else 11
    return span(month(number, first).first, month(number, first + 1).last)


def _within(year_number: int, found: re.Match[str]) -> Period:
    if found["season"]:
        return season(year_number, _SEASONS[found["season"]])
    if not found["month"]:
        return year(year_number)
    whole = month(year_number, number_of(found["month"]))
    return day(whole.first.replace(day=number_of(found["day"]))) if found["day"] else whole


def _since(found: re.Match[str], setting: Setting) -> Period:
    return year(int(found["year"].translate(_READ_OUT))).until(setting.today)


def _bare_month(found: re.Match[str], setting: Setting) -> Period:
    return nearest_month(setting.today, number_of(found["month"]), future=False)


def _bare_day(found: re.Match[str], setting: Setting) -> Period:
    number, day_number = number_of(found["month"]), number_of(found["day"])
    this_year = date(setting.today.year, number, day_number)
    return day(this_year if this_year <= setting.today else this_year.replace(year=this_year.year - 1))


def _annual(found: re.Match[str]) -> Annual | None:
    number, said = number_of(found["month"]), found.groupdict().get("day")
    return Annual(number, number_of(said) if said else None) if 1 <= number <= 12 else None


def _years(found: re.Match[str], _: Setting) -> Period | None:
    first, last = int(found["first"]), int(found["last"])
    return span(year(first).first, year(last).last) if first < last else None


def _decade(found: re.Match[str], _: Setting) -> Period:
    number = number_of(found["decade"])
    return decade(number + (1900 if number >= 30 else 2000))


_MONTH = r"(?P<month>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])\s?月(?!前)"
_DAY = r"(?P<day>[12]\d|3[01]|[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号號]"
_REST = rf"(?:的?(?P<season>[春夏秋冬])(?!节|節)[天季]?|\s?{_MONTH}份?(?:\s?{_DAY})?)?"

CHINESE: Final = (
    Phrase(re.compile(rf"(?P<near>{'|'.join(_DAYS)})"), _near_day),
    Phrase(re.compile(rf"(?P<count>{_NUMBER})\s?{_UNIT}(?:之?前|以前)"), _ago),
    Phrase(
        re.compile(rf"(?P<least>[一二两兩三四五六七八])(?P<most>[二两兩三四五六七八九]){_UNIT}(?:之?前|以前)"),
        _one_or_other_ago,
    ),
    Phrase(
        re.compile(rf"半(?P<unit>{'|'.join(sorted(_HALVES, key=len, reverse=True))})(?P<side>之?[前后後]|以[前后後])"),
        _half,
    ),
    Phrase(re.compile(rf"几{_UNIT}(?:之?前|以前)"), _few_ago),
    Phrase(re.compile(rf"(?P<count>{_NUMBER})\s?{_UNIT}(?:之?[后後]|以[后後])"), _ahead),
    Phrase(re.compile(rf"{_WEEK}(?P<weekday>[一二三四五六日天末])?"), _week),
    Phrase(re.compile(r"(?<![上下这這本])周末"), _this_weekend),
    Phrase(
        re.compile(
            r"(?<![上下这這本每个個])(?:周|週|星期|礼拜|禮拜)(?P<weekday>[一二三四五六日天])(?![一二三四五六日天至到])"
        ),
        _bare_weekday,
    ),
    Phrase(re.compile(rf"(?P<which>上上|上|这|這|本|下)(?:个|個)?月{_DAY}"), _day_of_month_around),
    Phrase(re.compile(rf"(?P<which>{'|'.join(_YEARS)})?年(?P<part>[初底])"), _part_of_year),
    Phrase(re.compile(r"(?P<which>上上|上|这|這|本|下)(?:个|個)?月(?![一-鿿]?\d)"), _month_around),
    Phrase(re.compile(rf"(?P<which>{'|'.join(_YEARS)}){_REST}"), _year_around),
    Phrase(re.compile(rf"{_YEAR}(?!代){_REST}"), _absolute, False),
    Phrase(re.compile(rf"(?:自从?|从|打)?{_YEAR}(?:以来|以來|起|至今)"), _since),
    Phrase(
        re.compile(r"从?(?P<first>(?:19|20)\d\d)\s?年?\s?[到至]\s?(?P<last>(?:19|20)\d\d)\s?年"),
        _years,
        False,
    ),
    Phrase(
        re.compile(rf"(?<![\d年个個一二三四五六七八九十]){_MONTH}份?(?!\s?[\d一二三四五六七八九十]{{1,3}}\s?[日号號])"),
        _bare_month,
        annual=_annual,
    ),
    Phrase(re.compile(rf"(?<![\d年一二三四五六七八九十]){_MONTH}\s?{_DAY}"), _bare_day, annual=_annual),
    Phrase(re.compile(r"(?:上世纪|二十世纪|20世纪)?(?P<decade>\d0|[一二三四五六七八九]十)年代"), _decade, False),
)
"""All of them."""
