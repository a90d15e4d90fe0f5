"""Speakers: which of those who speak serve others, and whom "I" means in a question."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from memforest_ray.commit.version import Version
from memforest_ray.ids import SessionId
from memforest_ray.index.table import place_of

__all__ = ["OWN_SPEAKER", "ROLES", "assistants", "own_speaker"]

OWN_SPEAKER: Final = "user"
"""The speaker of a turn that has no name and is the user's."""
ROLES: Final = frozenset({OWN_SPEAKER, "assistant", "system", "developer", "tool"})
"""What a turn without a speaker's name has for one."""
_ASSISTANT: Final = "assistant"
_SPEAKERS_MAX: Final = 4
"""More are a group, in which "I" may be anybody."""


def own_speaker(version: Version, speakers: Mapping[int, str]) -> str:
    """Whom "I" means: the user who has no name, else the only one who speaks and is no assistant."""
    names = set(speakers.values())
    if OWN_SPEAKER in names or len(names) > _SPEAKERS_MAX:
        return OWN_SPEAKER
    serving = assistants(version, speakers)
    people = [name for number, name in speakers.items() if number not in serving and name not in ROLES]
    return people[0] if len(people) == 1 else OWN_SPEAKER


def assistants(version: Version, speakers: Mapping[int, str]) -> frozenset[int]:
    """Numbers of those who speak as assistants, by the first turn of each that is there."""
    return frozenset(number for number in speakers if _first_role(version, number) == _ASSISTANT)


def _first_role(version: Version, speaker: int) -> str | None:
    """The role of a speaker's first turn, which the index finds; None where none of them is left."""
    dialogue = version.index.corpus.dialogue
    found = np.flatnonzero(dialogue.speakers == speaker)
    if not found.size:
        return None
    session, turn = place_of(int(dialogue.places[found[0]]))
    record = version.sessions.get(SessionId(version.index.registers.sessions.names[session]))
    return None if record is None else record.turns[turn].role
