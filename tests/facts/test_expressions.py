"""Time expressions: found where they are, resolved to the right interval and precision."""

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.expressions import AnyYear, _may_tell, find_any_year, find_times
from memforest_ray.facts.times import Precision

DAY, WEEKEND, WEEK, MONTH = Precision.DAY, Precision.WEEKEND, Precision.WEEK, Precision.MONTH
SEASON, YEAR, DECADE, RANGE = Precision.SEASON, Precision.YEAR, Precision.DECADE, Precision.RANGE


def instant(year: int, month: int, day: int, hour: int = 0) -> int:
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp()) * 1000


FRIDAY = instant(2023, 6, 9, 19)
"""Friday, 9 June 2023."""


def resolved(text: str, base_ms: int | None = FRIDAY) -> list[tuple[str, str, Precision]]:
    """Each expression as its first day, the day after its last, and its precision."""
    return [
        (str(found.event.start.date()), str(found.event.end.date()), found.event.precision)
        for found in find_times(text, base_ms, None)
    ]


@pytest.mark.parametrize(
    ("text", "first", "after", "precision"),
    [
        ("I went to the clinic yesterday", "2023-06-08", "2023-06-09", DAY),
        ("Saw her today", "2023-06-09", "2023-06-10", DAY),
        ("this morning we ran", "2023-06-09", "2023-06-10", DAY),
        ("slept badly last night", "2023-06-08", "2023-06-09", DAY),
        ("the day before yesterday", "2023-06-07", "2023-06-08", DAY),
        ("the day after tomorrow", "2023-06-11", "2023-06-12", DAY),
        ("tomorrow morning", "2023-06-10", "2023-06-11", DAY),
        ("the other day", "2023-06-02", "2023-06-09", RANGE),
        ("last week", "2023-05-29", "2023-06-05", WEEK),
        ("earlier this week", "2023-06-05", "2023-06-12", WEEK),
        ("next month", "2023-07-01", "2023-08-01", MONTH),
        ("last year", "2022-01-01", "2023-01-01", YEAR),
        ("last decade", "2010-01-01", "2020-01-01", DECADE),
        ("last weekend", "2023-06-03", "2023-06-05", WEEKEND),
        ("this weekend was fun", "2023-06-03", "2023-06-05", WEEKEND),
        ("we will swim this weekend", "2023-06-10", "2023-06-12", WEEKEND),
        ("this past weekend", "2023-06-03", "2023-06-05", WEEKEND),
        ("the weekend before last", "2023-05-27", "2023-05-29", WEEKEND),
        ("last Friday", "2023-06-02", "2023-06-03", DAY),
        ("a reading last Fri", "2023-06-02", "2023-06-03", DAY),
        ("next Friday", "2023-06-16", "2023-06-17", DAY),
        ("it rained on Monday", "2023-06-05", "2023-06-06", DAY),
        ("We're meeting on Monday", "2023-06-12", "2023-06-13", DAY),
        ("Friday night was loud", "2023-06-02", "2023-06-03", DAY),
        ("two Fridays ago", "2023-05-26", "2023-05-27", DAY),
        ("three days ago", "2023-06-06", "2023-06-07", DAY),
        ("two weeks ago", "2023-05-22", "2023-05-29", WEEK),
        ("2 months ago", "2023-04-01", "2023-05-01", MONTH),
        ("10 years ago", "2013-01-01", "2014-01-01", YEAR),
        ("a year back", "2022-01-01", "2023-01-01", YEAR),
        ("a few days ago", "2023-06-03", "2023-06-08", RANGE),
        ("a couple of weeks ago", "2023-05-15", "2023-05-29", RANGE),
        ("over the last few weeks", "2023-04-28", "2023-06-10", RANGE),
        ("for the past year", "2022-06-09", "2023-06-10", RANGE),
        ("we will fly in two weeks", "2023-06-19", "2023-06-26", WEEK),
        ("3 days from now", "2023-06-12", "2023-06-13", DAY),
        ("in May", "2023-05-01", "2023-06-01", MONTH),
        ("in August", "2022-08-01", "2022-09-01", MONTH),
        ("I will see you in May", "2024-05-01", "2024-06-01", MONTH),
        ("last May", "2023-05-01", "2023-06-01", MONTH),
        ("last June", "2022-06-01", "2022-07-01", MONTH),
        ("next May", "2024-05-01", "2024-06-01", MONTH),
        ("in early June", "2023-06-01", "2023-06-11", RANGE),
        ("since last May", "2023-05-01", "2023-06-10", RANGE),
        ("since 2019", "2019-01-01", "2023-06-10", RANGE),
        ("last summer", "2022-06-01", "2022-09-01", SEASON),
        ("last winter", "2022-12-01", "2023-03-01", SEASON),
        ("this summer", "2023-06-01", "2023-09-01", SEASON),
        ("in the spring", "2023-03-01", "2023-06-01", SEASON),
        ("on 18 March", "2023-03-18", "2023-03-19", DAY),
        ("May 8th", "2023-05-08", "2023-05-09", DAY),
        ("on May 8", "2023-05-08", "2023-05-09", DAY),
        ("see you on July 8", "2023-07-08", "2023-07-09", DAY),
        ("on the 8th.", "2023-06-08", "2023-06-09", DAY),
        ("on February 29", "2020-02-29", "2020-03-01", DAY),
        ("last Christmas", "2022-12-25", "2022-12-26", DAY),
        ("from 3 May to 10 May", "2023-05-03", "2023-05-11", RANGE),
        ("3 May - 10 May", "2023-05-03", "2023-05-11", RANGE),
        ("From 3 to 7 April I rested", "2023-04-03", "2023-04-08", RANGE),
        ("between 3 and 7 April", "2023-04-03", "2023-04-08", RANGE),
        ("April 3-7", "2023-04-03", "2023-04-08", RANGE),
        ("on 5 and 6 April", "2023-04-05", "2023-04-07", RANGE),
        ("the 3rd to 9th of June", "2023-06-03", "2023-06-10", RANGE),
        # Hours and minutes, numbers in words, halves.
        ("I'll call you in two hours", "2023-06-09", "2023-06-10", DAY),
        ("I'll call you in six hours", "2023-06-10", "2023-06-11", DAY),
        ("in half an hour we leave", "2023-06-09", "2023-06-10", DAY),
        ("twenty hours ago", "2023-06-08", "2023-06-09", DAY),
        ("in 30 mins I will eat", "2023-06-09", "2023-06-10", DAY),
        ("the last 48 hours", "2023-06-07", "2023-06-10", RANGE),
        ("twenty-five years ago", "1998-01-01", "1999-01-01", YEAR),
        ("a hundred and ten days ago", "2023-02-19", "2023-02-20", DAY),
        ("eighteen months ago", "2021-12-01", "2022-01-01", MONTH),
        ("half a year ago", "2022-12-01", "2023-01-01", MONTH),
        ("2.5 years ago", "2020-12-01", "2021-01-01", MONTH),
        ("one and a half years ago", "2021-12-01", "2022-01-01", MONTH),
        ("a year and a half ago", "2021-12-01", "2022-01-01", MONTH),
        ("a fortnight ago", "2023-05-22", "2023-05-29", WEEK),
        ("in three weeks' time we leave", "2023-06-26", "2023-07-03", WEEK),
        ("two summers ago", "2021-06-01", "2021-09-01", SEASON),
        ("the spring before last", "2022-03-01", "2022-06-01", SEASON),
        ("the week after next", "2023-06-19", "2023-06-26", WEEK),
        ("the other week", "2023-05-22", "2023-06-05", RANGE),
        ("for the next two weeks I'll be away", "2023-06-09", "2023-06-26", RANGE),
        ("we'll know within a month", "2023-06-09", "2023-08-01", RANGE),
        ("I will rest in the coming days", "2023-06-09", "2023-06-16", RANGE),
        # A time counted from another, or inside of another.
        ("a week ago yesterday", "2023-06-01", "2023-06-02", DAY),
        ("a year ago today", "2022-06-09", "2022-06-10", DAY),
        ("a week from tomorrow", "2023-06-17", "2023-06-18", DAY),
        ("two years ago this week", "2021-05-31", "2021-06-07", WEEK),
        ("the day before Christmas", "2022-12-24", "2022-12-25", DAY),
        ("the weekend before Halloween", "2022-10-29", "2022-10-31", WEEKEND),
        ("in May last year", "2022-05-01", "2022-06-01", MONTH),
        ("last year, in May", "2022-05-01", "2022-06-01", MONTH),
        ("two years ago in May", "2021-05-01", "2021-06-01", MONTH),
        ("on May 8 of last year", "2022-05-08", "2022-05-09", DAY),
        ("the 8th of May this year", "2023-05-08", "2023-05-09", DAY),
        ("last year on 8 May", "2022-05-08", "2022-05-09", DAY),
        ("last year on May 8", "2022-05-08", "2022-05-09", DAY),
        ("in the summer of last year", "2022-06-01", "2022-09-01", SEASON),
        ("last year in early summer", "2022-06-01", "2022-07-01", RANGE),
        ("Halloween last year", "2022-10-31", "2022-11-01", DAY),
        ("last year at Christmas", "2022-12-25", "2022-12-26", DAY),
        ("Tuesday of last week", "2023-05-30", "2023-05-31", DAY),
        ("next week on Tuesday", "2023-06-13", "2023-06-14", DAY),
        ("on the 5th of last month", "2023-05-05", "2023-05-06", DAY),
        ("last month, on the 5th", "2023-05-05", "2023-05-06", DAY),
        ("the last week of last month", "2023-05-25", "2023-06-01", RANGE),
        ("at the end of last month", "2023-05-22", "2023-06-01", RANGE),
        ("I'll finish by the end of the year", "2023-09-02", "2024-01-01", RANGE),
        ("at the start of the year I was ill", "2023-01-01", "2023-05-02", RANGE),
        ("I swim every week, but on Monday I was ill", "2023-06-05", "2023-06-06", DAY),
        ("the second half of May", "2023-05-16", "2023-06-01", RANGE),
        # Days that are named otherwise.
        ("on the fifth of May", "2023-05-05", "2023-05-06", DAY),
        ("May the twenty-first", "2023-05-21", "2023-05-22", DAY),
        ("I saw her Monday", "2023-06-05", "2023-06-06", DAY),
        ("See you Monday!", "2023-06-12", "2023-06-13", DAY),
        ("since Christmas", "2022-12-25", "2023-06-10", RANGE),
        ("on Thanksgiving", "2022-11-24", "2022-11-25", DAY),
        ("at Easter", "2023-04-09", "2023-04-10", DAY),
        ("Halloween night", "2022-10-31", "2022-11-01", DAY),
    ],
)
def test_relative_expressions(text: str, first: str, after: str, precision: Precision) -> None:
    """A relative expression is resolved against the day it was said, and is nothing without one."""
    assert resolved(text) == [(first, after, precision)]
    assert resolved(text, None) == [] or text == "since 2019"


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("June 28 - July 3, 2022", "2022-06-28", "2022-07-04"),
        ("28 December to 3 January 2023", "2022-12-28", "2023-01-04"),
        ("2019年11月到2月", "2019-11-01", "2020-03-01"),
    ],
)
def test_a_year_that_is_told_once_is_that_of_both_ends(text: str, first: str, after: str) -> None:
    """Of a range: the end that leaves it open lies in it, or in the year beside it."""
    assert resolved(text) == [(first, after, RANGE)]


def test_the_hour_decides_whether_it_is_tomorrow() -> None:
    """Shortly before midnight "in two hours" is another day, by the clocks of the session's zone."""
    late = instant(2023, 6, 9, 23)
    assert resolved("I'll call you in two hours", late)[0][0] == "2023-06-10"
    assert resolved("I'll call you in two hours", instant(2023, 6, 9, 1))[0][0] == "2023-06-09"
    assert resolved("two hours ago", instant(2023, 6, 9, 1))[0][0] == "2023-06-08"
    [found] = find_times("I'll call you in two hours", late, "America/New_York")
    assert [str(day) for day in found.event.days] == ["2023-06-09", "2023-06-09"]


@pytest.mark.parametrize(
    ("text", "first", "after", "precision"),
    [
        ("8 May 2023", "2023-05-08", "2023-05-09", DAY),
        ("1:56 pm on 8 May, 2023", "2023-05-08", "2023-05-09", DAY),
        ("on Monday, 8 May 2023", "2023-05-08", "2023-05-09", DAY),
        ("May 8th, 2023", "2023-05-08", "2023-05-09", DAY),
        ("may 8 2023", "2023-05-08", "2023-05-09", DAY),
        ("the 8th of May 2023", "2023-05-08", "2023-05-09", DAY),
        ("2023-05-08", "2023-05-08", "2023-05-09", DAY),
        ("2023/05/20 (Sat) 02:21", "2023-05-20", "2023-05-21", DAY),
        ("25/12/2023", "2023-12-25", "2023-12-26", DAY),
        ("24.12.2022", "2022-12-24", "2022-12-25", DAY),
        ("Christmas 2022", "2022-12-25", "2022-12-26", DAY),
        ("in 2019", "2019-01-01", "2020-01-01", YEAR),
        ("2019?", "2019-01-01", "2020-01-01", YEAR),
        ("the fair (2019)", "2019-01-01", "2020-01-01", YEAR),
        ("in May 2019", "2019-05-01", "2019-06-01", MONTH),
        ("mid-May 2019", "2019-05-11", "2019-05-22", RANGE),
        ("summer of 2018", "2018-06-01", "2018-09-01", SEASON),
        ("the winter of 2018", "2018-12-01", "2019-03-01", SEASON),
        ("in the 90s", "1990-01-01", "2000-01-01", DECADE),
        ("the '80s", "1980-01-01", "1990-01-01", DECADE),
        ("from 2015 to 2018", "2015-01-01", "2019-01-01", RANGE),
        ("between 2015 and 2018", "2015-01-01", "2019-01-01", RANGE),
        ("from March to June 2020", "2020-03-01", "2020-07-01", RANGE),
        ("May 8-10, 2023", "2023-05-08", "2023-05-11", RANGE),
        ("8 to 10 May 2023", "2023-05-08", "2023-05-11", RANGE),
        ("28 December 2022 to 3 January 2023", "2022-12-28", "2023-01-04", RANGE),
        ("2023-05-01 - 2023-05-03", "2023-05-01", "2023-05-04", RANGE),
        ("May 8, '22", "2022-05-08", "2022-05-09", DAY),
        ("the third of March 2021", "2021-03-03", "2021-03-04", DAY),
        ("March third, 2021", "2021-03-03", "2021-03-04", DAY),
        ("in '98", "1998-01-01", "1999-01-01", YEAR),
        ("the summer of '69", "1969-06-01", "1969-09-01", SEASON),
        ("in the nineties", "1990-01-01", "2000-01-01", DECADE),
        ("the 1800s", "1800-01-01", "1900-01-01", RANGE),
        ("Q3 2022", "2022-07-01", "2022-10-01", RANGE),
        ("the last quarter of 2022", "2022-10-01", "2023-01-01", RANGE),
        ("the first half of 2021", "2021-01-01", "2021-07-01", RANGE),
        ("H2 2021", "2021-07-01", "2022-01-01", RANGE),
        ("the second half of May 2021", "2021-05-16", "2021-06-01", RANGE),
        ("Thanksgiving 2022", "2022-11-24", "2022-11-25", DAY),
        ("Easter Monday 2021", "2021-04-05", "2021-04-06", DAY),
        ("three days before Easter 2021", "2021-04-01", "2021-04-02", DAY),
        ("ten years before 2015", "2005-01-01", "2006-01-01", YEAR),
        ("2019年11月到2020年2月", "2019-11-01", "2020-03-01", RANGE),
        ("The week before 9 June 2023", "2023-05-29", "2023-06-05", WEEK),
        ("the weekend before 9 June 2023", "2023-06-03", "2023-06-05", WEEKEND),
        ("the Sunday before 25 May 2023", "2023-05-21", "2023-05-22", DAY),
        ("two days after 8 May 2023", "2023-05-10", "2023-05-11", DAY),
        ("the month before 9 June 2023", "2023-05-01", "2023-06-01", MONTH),
        ("the week of 8 May 2023", "2023-05-08", "2023-05-15", WEEK),
        ("the weekend of 10 May 2023", "2023-05-13", "2023-05-15", WEEKEND),
        ("the first weekend of August 2023", "2023-08-05", "2023-08-07", WEEKEND),
        ("the last Friday of May 2023", "2023-05-26", "2023-05-27", DAY),
        ("the second week of May 2023", "2023-05-08", "2023-05-15", RANGE),
        ("2019年3月5日", "2019-03-05", "2019-03-06", DAY),
        ("2019年3月", "2019-03-01", "2019-04-01", MONTH),
        ("２０１９年", "2019-01-01", "2020-01-01", YEAR),
        ("九十年代", "1990-01-01", "2000-01-01", DECADE),
        ("2015年到2018年", "2015-01-01", "2019-01-01", RANGE),
        ("2019 में", "2019-01-01", "2020-01-01", YEAR),
        ("मार्च २०२०", "2020-03-01", "2020-04-01", MONTH),
        ("8 मई 2023 को", "2023-05-08", "2023-05-09", DAY),
    ],
)
def test_absolute_expressions(text: str, first: str, after: str, precision: Precision) -> None:
    """An absolute expression means the same with a base and without one."""
    assert resolved(text) == resolved(text, None) == [(first, after, precision)]


@pytest.mark.parametrize(
    ("text", "first", "after", "precision"),
    [
        ("我昨天去了诊所", "2023-06-08", "2023-06-09", DAY),
        ("明天见", "2023-06-10", "2023-06-11", DAY),
        ("上周", "2023-05-29", "2023-06-05", WEEK),
        ("上周五", "2023-06-02", "2023-06-03", DAY),
        ("上周末", "2023-06-03", "2023-06-05", WEEKEND),
        ("上个月", "2023-05-01", "2023-06-01", MONTH),
        ("去年", "2022-01-01", "2023-01-01", YEAR),
        ("去年夏天", "2022-06-01", "2022-09-01", SEASON),
        ("去年十二月", "2022-12-01", "2023-01-01", MONTH),
        ("三个月前", "2023-03-01", "2023-04-01", MONTH),
        ("几天前", "2023-06-03", "2023-06-08", RANGE),
        ("两年后", "2025-01-01", "2026-01-01", YEAR),
        ("3月", "2023-03-01", "2023-04-01", MONTH),
        ("三月到五月", "2023-03-01", "2023-06-01", RANGE),
        ("2019年3月到5月", "2019-03-01", "2019-06-01", RANGE),
        ("大后天", "2023-06-12", "2023-06-13", DAY),
        ("大前年", "2020-01-01", "2021-01-01", YEAR),
        ("两三年前", "2020-01-01", "2022-01-01", RANGE),
        ("半年前", "2022-12-01", "2023-01-01", MONTH),
        ("半小时后", "2023-06-09", "2023-06-10", DAY),
        ("两个小时前", "2023-06-09", "2023-06-10", DAY),
        ("二〇一九年", "2019-01-01", "2020-01-01", YEAR),
        ("二零一九年三月五日", "2019-03-05", "2019-03-06", DAY),
        ("星期三我去了医院", "2023-06-07", "2023-06-08", DAY),
        ("周三我要去医院", "2023-06-14", "2023-06-15", DAY),
        ("上个月15号", "2023-05-15", "2023-05-16", DAY),
        ("去年年底", "2022-11-01", "2023-01-01", RANGE),
        ("年初", "2023-01-01", "2023-03-01", RANGE),
        ("一百天前", "2023-03-01", "2023-03-02", DAY),
        ("2019年春节", "2019-01-01", "2020-01-01", YEAR),
        ("8月8日", "2022-08-08", "2022-08-09", DAY),
        ("自2019年以来", "2019-01-01", "2023-06-10", RANGE),
        ("पिछले साल", "2022-01-01", "2023-01-01", YEAR),
        ("अगले महीने", "2023-07-01", "2023-08-01", MONTH),
        ("तीन साल पहले", "2020-01-01", "2021-01-01", YEAR),
        ("मैं कल बाज़ार गया था।", "2023-06-08", "2023-06-09", DAY),
        ("कल मैं जाऊँगा।", "2023-06-10", "2023-06-11", DAY),
        ("आज", "2023-06-09", "2023-06-10", DAY),
        ("मैं परसों बाज़ार गया था।", "2023-06-07", "2023-06-08", DAY),
        ("परसों मैं जाऊँगा।", "2023-06-11", "2023-06-12", DAY),
        ("पिछले सोमवार", "2023-06-05", "2023-06-06", DAY),
        ("सोमवार को मैं जाऊँगा", "2023-06-12", "2023-06-13", DAY),
        ("दो घंटे बाद", "2023-06-09", "2023-06-10", DAY),
        ("तीन दिन बाद मैं आऊँगा", "2023-06-12", "2023-06-13", DAY),
        ("मार्च में", "2023-03-01", "2023-04-01", MONTH),
        ("2019 से", "2019-01-01", "2023-06-10", RANGE),
    ],
)
def test_chinese_and_hindi(text: str, first: str, after: str, precision: Precision) -> None:
    """The basics of two more languages."""
    assert resolved(text)[0] == (first, after, precision)


@pytest.mark.parametrize(
    "text",
    [
        "We met at the gate",
        "I may see you",
        "this may be the one",
        "may 5 people come?",
        "May 5 people come along?",
        "May I?",
        "They march on",
        "I march 5 miles",
        "wait a second",
        "the sun rose and I sat down",
        "he wed her",
        "on Fridays we rest",
        "may 5 to 6 people come?",
        "on Sunday mornings I run",
        "every year in May we go to Rome",
        "Every year we go to Rome in May",
        "on Monday every week",
        "at the end of the year we were tired",
        "each week on Monday",
        "yearly on 4 July",
        "the rent is due on the 1st of each month",
        "we spent the next two weeks in Rome",
        "1,000 years ago",
        "my first May in Rome",
        "on the 8th floor",
        "It feels like yesterday",
        "I learnt it in two weeks",
        "for 3个月",
        "每周三我去游泳",
        "周三",
        "हर सोमवार",
        "5/6/2023",
        "room 2019",
        "30/2/2023",
        "2023-02-30",
        "the 31st of June",
        "version 1.2.2003.4",
        "June told me",
        "कल",
        "💥" * 10,
        "",
    ],
)
def test_no_time(text: str) -> None:
    """Words that look like times hold none; dates that no calendar has are left out."""
    assert resolved(text) == []


def test_days_are_those_of_the_zone() -> None:
    """At 22:00 UTC it is tomorrow in Tokyo, and a day there begins at 15:00 UTC."""
    found = find_times("yesterday", instant(2023, 6, 9, 22), "Asia/Tokyo")
    assert [found[0].event.interval] == [(instant(2023, 6, 8, 15), instant(2023, 6, 9, 15))]


def test_a_day_of_a_clock_change_is_shorter() -> None:
    """A day is what its zone makes of it, not always 24 hours."""
    start_ms, end_ms = find_times("26 March 2023", None, "Europe/Berlin")[0].event.interval
    assert end_ms - start_ms == 23 * 3_600_000


def test_where_it_stands_and_what_it_came_from() -> None:
    """Offsets point at the words, which are kept with the base they were resolved against."""
    text = "In Davis  last   week, then on 8 May 2023."
    found = find_times(text, FRIDAY, None)
    assert [text[each.start : each.end] for each in found] == ["last   week", "8 May 2023"]
    assert [each.event.expression for each in found] == ["last week", "8 May 2023"]
    assert [each.event.base_ms for each in found] == [FRIDAY, None]


@pytest.mark.parametrize(("future", "expected"), [(None, "2023-06-05"), (False, "2023-06-05"), (True, "2023-06-12")])
def test_the_caller_may_know_the_tense(future: bool | None, expected: str) -> None:
    """A given tense takes the place of the one read from the words."""
    found = find_times("on Monday", FRIDAY, None, future=future)
    assert [str(each.event.start.date()) for each in found] == [expected]


def test_the_nearest_sign_decides_the_tense() -> None:
    """ "I'm loving the house we bought in May" speaks of the past, "it rained, but I'll run in May" does not."""
    assert resolved("I'm loving the house we bought in August")[0][0] == "2022-08-01"
    assert resolved("It rained, but I’ll run in August")[0][0] == "2023-08-01"
    assert resolved("On Monday I will run")[0][0] == "2023-06-12"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened on 18 March?", [AnyYear(17, 25, 3, 18)]),
        ("What did Ana do in May?", [AnyYear(16, 22, 5, None)]),
        ("on May 8th or 3月", [AnyYear(3, 10, 5, 8), AnyYear(14, 16, 3, None)]),
        ("on 18 March 2023", []),
        ("in May last year", []),
        ("from 3 to 7 April", [AnyYear(0, 17, 4, None), AnyYear(10, 17, 4, 7)]),
        ("last year, on 18 March", []),
        ("May I?", []),
        ("nothing", []),
    ],
)
def test_an_open_year(text: str, expected: list[AnyYear]) -> None:
    """A question may mean the day of any year."""
    assert find_any_year(text) == expected


WORDS = st.text("thelasixofrm 0123456789/-.一三上周月年कल", max_size=3) | st.sampled_from(
    re.split(
        r"\s",
        "the a last next this since before after of in on from to and few 2 8th 31 1999 2023 0000 99999 may March sun "
        "Monday week weekends month years ago summer 90s yesterday christmas 8/8/2008 2023-02-30 上周 三 个月前 年 "
        "कल साल पहले couple first Friday until - , . ſ İ",
    )
)


@given(
    st.one_of(st.text(st.characters(codec=None)), st.lists(WORDS, max_size=12).map(" ".join)),
    st.one_of(st.none(), st.integers(-(10**17), 10**17)),
)
def test_any_text_at_any_time(text: str, base_ms: int | None) -> None:
    """No text raises at any base; what is found lies in the text, in order and apart."""
    end = 0
    for found in find_times(text, base_ms, "Asia/Kolkata"):
        assert end <= found.start < found.end <= len(text)
        end = found.end
        assert found.event.expression == " ".join(text[found.start : found.end].split())
    assert all(text[each.start : each.end] for each in find_any_year(text))


@pytest.mark.parametrize("part", ["last ", "in ", "8 ", "the week before ", "一", "may 8 ", " ", "१ ", "2023-"])
def test_a_long_text(part: str) -> None:
    """400,000 characters that nearly match everywhere are searched in linear time."""
    assert find_times(part * (400_000 // len(part)), FRIDAY, None) is not None


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("I started last Friday.", "last Friday"),
        ("I started last Friday. It was fun.", "last Friday"),
        ("We met in March.", "in March"),
        ("We met on Fri. at the lake.", "on Fri."),
        ("We met on 5 May.", "5 May"),
        ("I came on May 5, 2021.", "May 5, 2021"),
        ("We met on Jan. 5.", "Jan. 5"),
    ],
)
def test_the_full_stop_is_the_sentence_s(text: str, expression: str) -> None:
    """Not the expression's; within a sentence it is that of an abbreviation."""
    assert [found.event.expression for found in find_times(text, FRIDAY, None)] == [expression]


def test_leap_days_and_first_years() -> None:
    """The first and last days of the calendar have neighbours that no calendar has."""
    assert find_times("last week", instant(1, 1, 1), None) == []
    assert find_times("next week", int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * 1000, None) == []
    assert date.max.year == 9999


def test_only_whole_names_of_months_and_weekdays_are_looked_for() -> None:
    """Nothing is searched in a text about marathons; "yesterday" holds a day, though."""
    assert not _may_tell("Maybe he married and decided separately at the Junior Marathon, mondo frisbee")
    for said in ("in MAY", "on Sat.", "yesterday", "a fortnight", "from now", "3 times", "\u4e09\u6708", "(thurs)"):
        assert _may_tell(said), said
