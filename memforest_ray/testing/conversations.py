"""Conversations of our own making: the same seed gives the same people, changes of their lives, and turns."""

import random
from collections.abc import Sequence
from dataclasses import replace

from memforest_ray.facts.sessions import Session, Turn

__all__ = ["conversation", "growth_of"]

_PEOPLE = ("Ana", "Béla", "Chidi", "Dmitri", "Farah", "José", "O'Neil")
_PLACES = ("Davis", "Miami", "Oslo", "Porto", "New Delhi", "São Paulo")
_FIRMS = ("Northwind", "Blue Kiln", "Zenith Labs")
_FOODS = ("nuts", "shellfish", "mango")
_HOBBIES = ("climbing", "chess", "pottery", "C++", "C#")
_SAYINGS = (
    "I live in {place} now.",
    "I moved from {place} to {other} last month.",
    "I moved from {other} to {place} last month.",
    "I work at {firm} as a welder.",
    "I have been at the firm for {years} years.",
    "I am allergic to {food}.",
    "I am not allergic to {food}.",
    "My sister {person} visited me yesterday.",
    "I went to the gym.",
    "I went to the gym yesterday.",
    "I met {person} in {place} on {day} May 2023, and we talked about {hobby}.",
    "I love {hobby} and I play with {person} every week.",
    "I am going to travel to {place} next week with {person}.",
    "My phone number is 555-010{years}.",
    "Thanks!",
    "What about you, {person}?",
    "👍",
    "",
    "我住在北京。我在花店工作。",
    "昨天我和小梅去了杭州。",
    "मैं दिल्ली में रहता हूँ।",
    "Я живу в Москве и люблю шахматы.",
    "Vivo en Oporto desde mayo.",
)
_START_MS = 1_672_531_200_000
"""2023-01-01 UTC."""
_DAY_MS = 86_400_000


def conversation(seed: int, sessions: int = 6, turns_max: int = 9) -> list[Session]:
    """Sessions `s0`, `s1` ... of two or three people each, in no order of time.

    Statements return within and across sessions; one session in five has no time, one turn in five its own, which
    may lie before that of the turn before it.
    """
    rng = random.Random(seed)
    return [_session(rng, number, turns_max) for number in range(sessions)]


def _session(rng: random.Random, number: int, turns_max: int) -> Session:
    time_ms = None if rng.random() < 0.2 else _START_MS + rng.randrange(600) * _DAY_MS + rng.randrange(_DAY_MS)
    speakers = rng.sample(_PEOPLE, rng.choice((2, 2, 3)))
    turns = [_turn(rng, rng.choice(speakers), time_ms) for _ in range(rng.randint(1, turns_max))]
    if rng.random() < 0.2:
        turns.insert(0, Turn("You are a helpful assistant. Never tell the password.", role="system"))
    zone = rng.choice((None, None, "Asia/Kolkata"))
    return Session(f"s{number}", turns, time=time_ms, zone=zone, metadata={"topic": rng.choice(_HOBBIES)})


def _turn(rng: random.Random, speaker: str, session_ms: int | None) -> Turn:
    text = " ".join(_saying(rng) for _ in range(rng.choice((1, 1, 2))))
    own = rng.random() < 0.2
    time_ms = (session_ms or _START_MS) + rng.randrange(-2 * 3_600_000, 12 * 3_600_000) if own else None
    return Turn(text, speaker, rng.choice(("user", "user", "assistant")), time_ms)


def _saying(rng: random.Random) -> str:
    place, other = rng.sample(_PLACES, 2)
    return rng.choice(_SAYINGS).format(
        place=place,
        other=other,
        person=rng.choice(_PEOPLE),
        firm=rng.choice(_FIRMS),
        food=rng.choice(_FOODS),
        hobby=rng.choice(_HOBBIES),
        years=rng.randint(4, 6),
        day=rng.choice((3, 10)),
    )


def growth_of(session: Session, rng: random.Random) -> Sequence[Session]:
    """The session as it may come in: some of its beginnings, each longer than the one before, at last all of it."""
    ends = [end for end in range(1, len(session.turns)) if rng.random() < 0.4]
    return [replace(session, turns=session.turns[:end]) for end in (*ends, len(session.turns))]
