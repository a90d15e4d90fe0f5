"""What newcomers tell in their first five minutes: small memories, most of them without a name for whoever asks."""

from memforest_ray import Session, Turn

__all__ = ["MEMORIES", "sessions_of"]

MEMORIES: dict[str, tuple[tuple[str | None, tuple[tuple[str, str], ...]], ...]] = {
    # Plain messages: the speakers are called "user" and "assistant".
    "messages": (
        (
            "2024-01-15T10:00",
            (
                ("user", "Hi! I just moved to Lisbon from Berlin for a new job at Siemens."),
                ("assistant", "Congratulations! How do you like Lisbon?"),
                ("user", "It's great. My cat Pixel purrs all day. My sister Ines lives in Porto."),
                ("assistant", "Give Pixel a hug!"),
            ),
        ),
        (None, (("user", "I'm allergic to peanuts. My phone number is 555-0134."), ("assistant", "Noted."))),
        (
            "2024-02-20",
            (
                ("user", "My wife Marta and I bought a car, a red Fiat."),
                ("assistant", "Nice!"),
                ("user", "I prefer answers in bullet points. I lost my umbrella on Monday. My son Billy is four."),
                ("assistant", "Sure."),
            ),
        ),
    ),
    # Two friends, and people of whom they speak.
    "friends": (
        (
            "2024-01-15",
            (
                ("Ana", "I adopted a cat named Pixel."),
                ("Bob", "Cute! I quit my job today."),
                ("Ana", "My friend Carla got a dog. She called it Rex."),
            ),
        ),
        (
            "2024-03-15",
            (
                ("Bob", "I started at Baptist Hospital on Monday. My sister Eve lives in Oslo."),
                ("Ana", "Nell's wedding was on Friday. Alexandra sends her love, she lives in Rome."),
            ),
        ),
    ),
    # States that follow each other.
    "moves": (
        ("2019-05-02", (("Bob", "I live in Boston."), ("Ana", "I moved to Oslo in June 2018."))),
        ("2020-08-10", (("Bob", "I moved to Davis on 3 August 2020."),)),
        ("2022-02-20", (("Bob", "I moved to Miami last month."), ("Ana", "I work at Siemens since March 2021."))),
        ("2023-03-01", (("Ana", "I've been vegetarian since 2022."), ("Bob", "I got a job at Nordlys in May 2022."))),
    ),
    # A file without a single time in it.
    "undated": (
        (
            None,
            (
                ("user", "Hi, I'm Sam. I moved to Porto last month."),
                ("assistant", "Congratulations, Sam! How do you like Porto?"),
                ("user", "Love it. My dog Rex loves the beach. I'm allergic to shellfish though."),
                ("assistant", "Noted: no shellfish."),
                ("user", "My girlfriend Lea visits often. She works as a nurse in Madrid."),
                ("assistant", "Lovely!"),
                ("user", "I play tennis every Tuesday with my colleague Tom."),
                ("assistant", "Have fun."),
            ),
        ),
    ),
    # One person, who has a name, and an assistant.
    "alone": (
        ("2024-05-01", (("Ana", "I moved to Turin in March."), ("assistant", "How nice!"))),
        ("2024-05-02", (("Ana", "My boss Karl lives in Ulm."), ("assistant", "I see."))),
        ("2024-05-03", (("Ana", "I saw the dentist in town on Monday."), ("assistant", "I hope it went well."))),
        ("2024-05-04", (("Ana", "I have a dentist appointment booked for 6 June."), ("assistant", "All right."))),
    ),
}
"""Sessions of each: when, and who said what."""


def sessions_of(name: str) -> list[Session]:
    """The sessions of a memory, in order."""
    return [
        Session(
            id=f"s{number}",
            time=time,
            turns=[
                Turn(text, role=who) if who in {"user", "assistant"} else Turn(text, speaker=who) for who, text in turns
            ],
        )
        for number, (time, turns) in enumerate(MEMORIES[name])
    ]
