"""Renaming: what a memory's sessions and speakers are called in another one that takes them over.

A session keeps its identity as `SOURCE/<id>`. A speaker known only by a role becomes `SOURCE/<role>`, so that the "I"
of two users never fuse; whoever has a name keeps it, since people, and what they speak of, are to meet.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from memforest_ray.facts.atoms import text_key
from memforest_ray.facts.candidates import Candidate
from memforest_ray.facts.sessions import SessionRecord, TurnRecord, storable
from memforest_ray.ids import SessionId

__all__ = ["Labels", "Renaming", "entangled", "renamed", "retitled"]

Labels = Mapping[str, str]
"""Folded name of a speaker who has none but a role -> what they are called now."""

_WORD = re.compile(r"[^\W_]+")
_SHORT_FORM_MIN = 3
"""Letters from which the beginning of a name may stand for it."""


class Renaming:
    """Names of one source in whatever takes it over."""

    def __init__(self, source: str) -> None:
        self.prefix = f"{storable(source)}/"

    def session(self, name: SessionId) -> SessionId:
        """What the source's session is called."""
        return SessionId(self.prefix + name)

    def owned(self, name: SessionId) -> SessionId | None:
        """What the source calls a session that is called so here; None when it is not the source's."""
        return SessionId(name.removeprefix(self.prefix)) if name.startswith(self.prefix) else None

    def record(self, record: SessionRecord) -> SessionRecord:
        """The session as it is taken over."""
        turns = tuple(map(self._turn, record.turns))
        return replace(record, id=self.session(record.id), turns=turns)

    def labels(self, record: SessionRecord) -> Labels:
        """Who of a session, as the source has it, is called otherwise."""
        return {text_key(turn.speaker): self._label(turn) for turn in record.turns if _nameless(turn)}

    def _label(self, turn: TurnRecord) -> str:
        return self.prefix + turn.role

    def _turn(self, turn: TurnRecord) -> TurnRecord:
        return replace(turn, speaker=self._label(turn)) if _nameless(turn) else turn


def _nameless(turn: TurnRecord) -> bool:
    return turn.hole is None and text_key(turn.speaker) == text_key(turn.role)


def renamed(candidate: Candidate, labels: Labels) -> Candidate:
    """What an extractor would have said, had it known the speakers by their labels."""
    if not labels:
        return candidate
    subject = candidate.subject
    return replace(
        candidate,
        text=retitled(candidate.text, labels),
        speaker=_called(candidate.speaker, labels),
        subject=None if subject is None else _called(subject, labels),
        entities=tuple(dict.fromkeys(_called(name, labels) for name in candidate.entities)),
    )


def retitled(text: str, labels: Labels) -> str:
    """`text` with the labels in the place of the roles."""
    if not labels:
        return text
    names = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    role = re.compile(rf"(?<![\w/])(?:{names})(?!\w)", re.IGNORECASE)
    # All at once, since a label holds the role that it stands for.
    return role.sub(lambda found: labels.get(text_key(found[0]), found[0]), text)


def entangled(texts: Iterable[str], labels: Labels) -> bool:
    """Whether words of what was said could be taken for a role or a label: then only reading it anew tells them apart.

    An extractor may take the beginning of a name for the name, so that counts, too.
    """
    if not labels:
        return False
    parts = {part for pair in labels.items() for name in pair for part in text_key(name).split()}
    parts |= {piece for part in parts for piece in _WORD.findall(part)}
    words = {word for text in texts for word in _WORD.findall(text_key(text))}
    starts = {part[:end] for part in parts for end in range(_SHORT_FORM_MIN, len(part))}
    return not words.isdisjoint(parts | starts)


def _called(name: str, labels: Labels) -> str:
    return labels.get(text_key(name), name)
