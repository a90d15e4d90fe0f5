"""WhatsApp's text export."""

from collections.abc import Callable
from datetime import datetime

import pytest

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.readers import Conversation

Read = Callable[..., list[Conversation]]


def told(conversations: list[Conversation]) -> list[tuple[str, str | None, str, str]]:
    """Session, speaker, time and text of each turn."""
    (conversation,) = conversations
    return [
        (session.id, turn.speaker, turn.time.strftime("%Y-%m-%d %H:%M:%S"), turn.text)
        for session in conversation.sessions
        for turn in session.turns
        if isinstance(turn.time, datetime)
    ]


def test_android(read: Read) -> None:
    """Lines that continue a message belong to it, notes of WhatsApp itself are left out, each day is a session."""
    text = (
        "20/05/2023, 23:59 - Messages are end-to-end encrypted.\n"
        "20/05/2023, 23:59 - Ana Li: Look: a heron\n"
        "\n"
        "by the lake\n"
        "21/05/2023, 00:01 - Bo: <Media omitted>\n"
    )
    assert told(read(text, "lake.txt")) == [
        ("lake#2023-05-20", "Ana Li", "2023-05-20 23:59:00", "Look: a heron\n\nby the lake"),
        ("lake#2023-05-21", "Bo", "2023-05-21 00:01:00", "[media]"),
    ]


def test_iphone(read: Read) -> None:
    """Brackets, seconds, direction marks and narrow spaces."""
    text = "\ufeff[5/20/23, 2:21:05\u202fPM] ~ Ana: hi\r\n\u200e[5/20/23, 12:00:00\u202fAM] Bo: \u200eimage omitted\r\n"
    assert told(read(text, "chat.txt")) == [
        ("chat#2023-05-20", "Ana", "2023-05-20 14:21:05", "hi"),
        ("chat#2023-05-20", "Bo", "2023-05-20 00:00:00", "[media: image omitted]"),
    ]


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("3/4/23, 14:00 - Ana: x", "2023-04-03"),
        ("3/4/23, 2:00 PM - Ana: x", "2023-03-04"),
        ("3/25/23, 14:00 - Ana: x", "2023-03-25"),
        ("25/3/23, 2:00 pm - Ana: x", "2023-03-25"),
        ("03.04.23, 14:00 - Ana: x", "2023-04-03"),
        ("2023-04-03, 14:00 - Ana: x", "2023-04-03"),
        ("[2023/4/3, 14:00:00] Ana: x", "2023-04-03"),
        ("03/04/2023 à 14:00 - Ana: x", "2023-04-03"),
        ("3.4.2023 klo 14.00 - Ana: x", "2023-04-03"),
        ("[03/04/2023 um 14:00:00] Ana: x", "2023-04-03"),
        ("[2023/4/3 下午2:00:00] Ana: x", "2023-04-03"),
    ],
)
def test_day_and_month(read: Read, line: str, day: str) -> None:
    """Numbers above 12 tell the day; else a clock of twelve hours, with slashes, means month first."""
    assert told(read(line, "chat.txt"))[0][2][:10] == day


@pytest.mark.parametrize(("half", "hour"), [("上午", 0), ("下午", 12), ("午後", 12), ("오전", 0)])
def test_halves_of_the_day_that_stand_before_the_time(read: Read, half: str, hour: int) -> None:
    """As Chinese, Japanese and Korean phones write them."""
    assert told(read(f"[2023/4/3 {half}12:05:09] Ana: x", "chat.txt"))[0][2] == f"2023-04-03 {hour:02d}:05:09"


def test_edited_and_deleted_messages(read: Read) -> None:
    """That one was edited is no part of it, and one that was deleted says nothing; a caption stays."""
    text = (
        "20/05/2023, 10:00 - Ana: see you at six <This message was edited>\n"
        "20/05/2023, 10:01 - Bo: This message was deleted\n"
        "20/05/2023, 10:02 - Ana: You deleted this message.\n"
        "20/05/2023, 10:03 - Bo: \u200eThis message was deleted.\n"
        "20/05/2023, 10:04 - Bo: the lake \u200e<attached: 0012-PHOTO.jpg>\n"
        "20/05/2023, 10:05 - Bo: a < b and b > c\n"
        "20/05/2023, 10:06 - Bo: I love it <3 and use <strong tags>\n"
    )
    assert [turn[3] for turn in told(read(text, "chat.txt"))] == [
        "see you at six",
        "the lake [media]",
        "a < b and b > c",
        "I love it <3 and use <strong tags>",
    ]


def test_an_impossible_date(read: Read) -> None:
    """A date that does not exist is refused with its line."""
    with pytest.raises(InvalidInput, match="line 2: no such date"):
        read("20/05/2023, 14:21 - Ana: hi\n31/02/2023, 14:21 - Ana: hi\n", "chat.txt")
