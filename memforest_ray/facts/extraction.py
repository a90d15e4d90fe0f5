"""Extraction by a model: one question per cell, all of them at once.

A cell whose answer is cut off is not asked about again as it is: what was complete is kept, and the turns from there
on are asked about in halves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memforest_ray.facts.candidates import Candidate, CellInput, Extraction, TurnInput
from memforest_ray.facts.instants import zone_of
from memforest_ray.facts.replies import candidates_of, most_sure
from memforest_ray.facts.rules import spoken_turns
from memforest_ray.facts.times import to_datetime
from memforest_ray.models.asking import Asked, ask
from memforest_ray.models.chat import ChatModel
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.usage import Usage
from memforest_ray.models.waves import wave

__all__ = ["ModelExtractor", "prompt_text"]

_QUESTIONS_MAX: Final = 8
"""About one cell, however often its answers are cut off."""
_PART_CHARS_MIN: Final = 200
"""A turn shorter than this is not split: if it has no end of answers, the model is at fault."""


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Implements `Extractor` over a chat model. `owner` shares the model fairly with other owners."""

    chat: ChatModel
    owner: str = ""

    @property
    def model(self) -> str:
        """Names model and prompt version."""
        return f"{self.chat.model}/{EXTRACT.version}"

    def for_owner(self, owner: str) -> "ModelExtractor":
        """The same for another owner."""
        return replace(self, owner=owner)

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        return await wave(_Cell(self, cell).extraction() for cell in cells)


@dataclass(slots=True)
class _Cell:
    """One cell under extraction."""

    extractor: ModelExtractor
    cell: CellInput
    questions: int = 0
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None
    answered: bool = False

    async def extraction(self) -> Extraction:
        turns = spoken_turns(self.cell.turns)
        found = most_sure(await self._part(turns, ())) if turns else []
        return Extraction(
            cell_id=self.cell.cell_id,
            candidates=() if self.failure else tuple(found),
            failure=self.failure,
            answered=self.answered or not turns,
            usage=self.usage,
        )

    async def _part(self, turns: Sequence[TurnInput], noted: Sequence[str]) -> list[Candidate]:
        """What some of the turns say, `noted` left out."""
        if self.questions >= _QUESTIONS_MAX:
            self.failure = f"the answer was cut off each time, in {self.questions} parts of the cell"
        if self.failure:
            return []
        asked = await self._ask(turns, noted)
        if not asked.truncated:
            self.failure = self.failure or asked.failure
            return asked.value or []
        kept = asked.value or []
        parts = list(_rest(turns, kept))
        if not parts or (len(parts) == 1 and not kept):
            self.failure = asked.failure
            return []
        known = [candidate.text for candidate in kept]
        found = await wave(self._part(part, known if place == 0 else ()) for place, part in enumerate(parts))
        return kept + [candidate for part in found for candidate in part]

    async def _ask(self, turns: Sequence[TurnInput], noted: Sequence[str]) -> Asked[list[Candidate]]:
        self.questions += 1
        request = EXTRACT.request(prompt_text(self.cell, turns, noted), owner=self.extractor.owner)
        asked = await ask(self.extractor.chat, request, lambda value: candidates_of(value, turns, self.cell.zone))
        self.usage += asked.usage
        self.answered = self.answered or asked.answered
        return asked


def _rest(turns: Sequence[TurnInput], kept: Sequence[Candidate]) -> Iterator[list[TurnInput]]:
    """What is still to be asked about, in parts: from the last turn that was noted from, since items follow turns."""
    reached = max((candidate.turns[-1] for candidate in kept), default=turns[0].index)
    rest = [turn for turn in turns if turn.index >= reached]
    if len(rest) > 1:
        middle = len(rest) // 2
        yield rest[:middle]
        yield rest[middle:]
    elif rest:
        yield from ([part] for part in _halves(rest[0]))


def _halves(turn: TurnInput) -> list[TurnInput]:
    """The turn in two, cut at white space where there is some in its middle third; a short one stays whole."""
    length = len(turn.text)
    if length < _PART_CHARS_MIN:
        return [turn]
    space = turn.text.rfind(" ", length // 3, 2 * length // 3)
    cut = space + 1 if space > 0 else length // 2
    return [replace(turn, text=turn.text[:cut]), replace(turn, text=turn.text[cut:])]


def prompt_text(cell: CellInput, turns: Sequence[TurnInput], noted: Sequence[str] = ()) -> str:
    """What a model is shown of `turns`: who has spoken, then turns numbered from 1 with local time and speaker."""
    lines = [f"People: {'; '.join(map(_line, cell.names))}"] if cell.names else []
    if cell.recurring:
        lines.append(f"Terms: {'; '.join(map(_line, cell.recurring))}")
    if cell.zone:
        lines.append(f"Zone: {cell.zone}")
    lines += (
        f"{number} | {_time(turn, cell.zone)} | {_speaker(turn)}: {_indented(turn.text)}"
        for number, turn in enumerate(turns, start=1)
    )
    if noted:
        lines.append("Noted already, leave out: " + " / ".join(map(_line, noted)))
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    """Further lines of a turn stand under its first, so that none looks like a turn of its own."""
    return text.replace("\n", "\n  ")


def _speaker(turn: TurnInput) -> str:
    name = _line(turn.speaker)
    return name if turn.role in ("user", name) else f"{name} ({turn.role})"


def _time(turn: TurnInput, zone: str | None) -> str:
    if turn.source_ms is None:
        return "time unknown"
    said = to_datetime(turn.source_ms).astimezone(zone_of(zone))
    return f"{said:%a %Y-%m-%d %H:%M}"
