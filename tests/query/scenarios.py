"""A life in small talk: what was told, out of order and among three hundred things that do not matter."""

from collections.abc import Iterator

from memforest_ray import Session, Turn

__all__ = ["TOLD", "sessions"]

TOLD = (
    # Where Lena lives. The second move is told last but one, years after it; she returns in the end.
    ("home-4", "2024-06-01", "Lena", "I moved back to Graz in May 2024."),
    ("home-1", "2019-03-02", "Lena", "I live in Graz."),
    ("home-3", "2022-02-10", "Lena", "I moved to Porto last month."),
    ("home-2", "2023-11-05", "Lena", "I moved to Turin in April 2020."),
    # Where she works.
    ("work-2", "2021-09-10", "Lena", "I started working at Halden Optics."),
    ("work-1", "2019-04-01", "Lena", "I work at Brightwater."),
    ("work-3", "2023-02-14", "Lena", "I got a job at Kestrel Maps."),
    # Numbers and codes that change.
    ("phone-1", "2019-05-05", "Lena", "My phone number is 555-0134."),
    ("phone-2", "2023-07-21", "Lena", "My new phone number is 555-0177."),
    ("code-1", "2020-01-15", "Lena", "My door code is 4471."),
    ("code-2", "2024-02-20", "Lena", "My door code is 9082."),
    # What she eats.
    ("diet-1", "2020-02-02", "Lena", "I became vegetarian."),
    ("diet-2", "2022-08-08", "Lena", "I am no longer vegetarian."),
    ("nuts", "2019-10-12", "Lena", "I'm allergic to walnuts."),
    # Tomas has a life of his own, much like hers.
    ("tomas-1", "2018-11-11", "Tomas", "I live in Oslo."),
    ("tomas-2", "2021-06-15", "Tomas", "I moved to Bergen in June 2021."),
    ("tomas-3", "2020-09-09", "Tomas", "I work at Brightwater as a surveyor."),
    ("tomas-4", "2022-03-03", "Tomas", "I'm terrified of geese."),
    ("tomas-5", "2021-12-24", "Tomas", "My cat is called Pixel."),
    # Omar says "we", leaves one job before he has the next, and has things changed rather than new ones.
    ("omar-home-1", "2018-02-01", "Omar", "I live in Leeds."),
    ("omar-home-2", "2019-06-10", "Omar", "We relocated to Narvik two weeks ago."),
    ("omar-work-1", "2018-03-01", "Omar", "I work for Brandt & Co."),
    ("omar-work-2", "2020-01-05", "Omar", "I quit my job at Brandt & Co. yesterday."),
    ("omar-work-3", "2020-03-05", "Omar", "I've been hired by Nordlys."),
    ("omar-wifi-1", "2020-08-07", "Omar", "My wifi password is tulip-7."),
    ("omar-wifi-2", "2021-08-07", "Omar", "I changed my wifi password to crocus-9."),
    ("omar-dentist-1", "2018-05-06", "Omar", "My dentist is Dr. Halloran."),
    ("omar-dentist-2", "2022-05-06", "Omar", "My new dentist is Dr. Petersen."),
    ("omar-mia-1", "2022-05-02", "Omar", "My girlfriend is called Mia."),
    ("omar-mia-2", "2023-01-02", "Omar", "Mia and I broke up last month."),
    ("omar-sara", "2023-06-02", "Omar", "My wife is called Sara."),
    # Omar's age is told in two ways, and a stay by its first and last day.
    ("omar-age-1", "2022-06-14", "Omar", "I'm 33 years old."),
    ("omar-age-2", "2023-06-14", "Omar", "I turned 34 last week."),
    ("omar-stay", "2023-06-16", "Omar", "From 3 to 7 April I was in hospital."),
    # Xiaoming tells of a move in the month in which he said where he lives.
    ("ming-home-1", "2022-01-08", "小明", "我住在北京。"),
    ("ming-home-2", "2022-02-08", "小明", "我上个月搬到上海了。"),
    # Things that happened, some of them often.
    ("race-2", "2022-05-15", "Lena", "I ran the Harbour Race in 49 minutes today."),
    ("race-1", "2021-05-16", "Lena", "I ran the Harbour Race in 52 minutes today."),
    ("race-3", "2023-05-14", "Lena", "I ran the Harbour Race in 47 minutes today."),
    *((f"gym-{day}", f"2023-03-{day:02d}", "Lena", "I went to the climbing hall today.") for day in (3, 6, 9, 17, 25)),
    ("wrist", "2021-09-20", "Lena", "I broke my wrist on 9 September 2021."),
    ("wedding", "2022-07-01", "Lena", "My sister Ines got married on 18 June 2022."),
    ("lisbon", "2021-05-06", "Lena", "I flew to Lisbon on 3 May 2021 to see the tile museum."),
    ("cello", "2023-01-08", "Lena", "I began cello lessons with Mrs Okafor last week."),
    ("kiln", "2022-10-10", "Lena", "I bought a small kiln yesterday."),
    ("vase", "2022-11-20", "Lena", "I sold my first vase yesterday."),
    ("canoe", "2023-08-19", "Lena", "We capsized the canoe on the Mur, and my camera sank."),
    ("plan", "2024-06-03", "Lena", "I plan to move to Malmo next year."),
    ("undated", None, "Lena", "My grandmother kept bees in a blue hive."),
    ("storm", "2023-09-30", "Tomas", "A storm took the roof off my boathouse last night."),
)
"""Session, day on which it was said, who said it, what."""

_PEOPLE = ("Anouk", "Bruno", "Chidi", "Dagny", "Emre", "Farida", "Goran", "Hilde", "Ivo", "Jana", "Kofi", "Lotte")
_TALK = (
    "{name} thinks the soup at the station needs more salt.",
    "{name} repaired the printer on the second floor.",
    "{name} said that the choir meets on Tuesdays.",
    "{name} planted tulips beside the fence.",
    "{name} lost a game of chess against a child.",
    "{name} has read that Turin has many arcades.",
    "{name} collects maps of rivers.",
    "{name} waited an hour for the bus to Porto.",
    "{name} prefers coffee without sugar.",
    "{name} painted the kitchen shelf yellow.",
    "{name} found a key in the library.",
    "{name} keeps two hens behind the garage.",
    "{name} wrote a letter about the street lamps.",
    "{name} heard that Graz has a clock tower.",
    "{name} bakes bread with caraway.",
    "{name} forgot an umbrella in the tram.",
    "{name} knitted a scarf in three colours.",
    "{name} dropped a plate at the party.",
    "{name} borrowed a ladder from the school.",
    "{name} watched a film about lighthouses.",
    "{name} likes the photographs in the town hall.",
    "{name} counted the steps to the castle.",
    "{name} sings too loudly in the stairwell.",
    "{name} mended a bicycle with a spoon.",
    "{name} grows lemons on the balcony.",
)
"""Three hundred things: each of twelve people and each of these."""
_TALK_TURNS = 10


def sessions() -> Iterator[Session]:
    """What was told, each in a session of its own, between sessions of small talk over the same years."""
    talk = list(_small_talk())
    for number, (name, said, speaker, text) in enumerate(TOLD):
        yield from talk[number :: len(TOLD)]
        yield Session(name, [Turn(text, speaker)], time=said)


def _small_talk() -> Iterator[Session]:
    lines = [line.format(name=name) for place, line in enumerate(_TALK) for name in _turned(place)]
    for number, first in enumerate(range(0, len(lines), _TALK_TURNS)):
        turns = [
            Turn(line, ("Lena", "Tomas")[place % 2]) for place, line in enumerate(lines[first : first + _TALK_TURNS])
        ]
        day = f"{2019 + number % 6}-{number % 12 + 1:02d}-{number % 27 + 1:02d}"
        yield Session(f"talk-{number}", turns, time=day)


def _turned(by: int) -> tuple[str, ...]:
    start = by % len(_PEOPLE)
    return _PEOPLE[start:] + _PEOPLE[:start]
