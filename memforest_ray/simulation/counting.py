"""Models that call nobody and count what calls would have been made: for estimates."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.extraction import prompt_text
from memforest_ray.facts.rules import RuleExtractor, spoken_turns
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.models.prompts.prompt import Prompt, tokens_of
from memforest_ray.models.prompts.summarise import SUMMARISE
from memforest_ray.simulation.replies import extraction_text
from memforest_ray.trees.summaries import SelectionSummarizer, Source, SummaryReply, SummaryRequest
from memforest_ray.trees.summarising import node_text

__all__ = ["CountingExtractor", "CountingSummarizer", "Tally"]


@dataclass(slots=True)
class Tally:
    """Calls of one role and their tokens, at four characters each."""

    calls: int = 0
    prompt_tokens: int = 0
    fixed_tokens: int = 0
    """Of the prompt tokens, those that are the same in every call: a server with a prefix cache reads them once."""
    completion_tokens: int = 0

    def add(self, prompt: Prompt, text: str, completion_tokens: int) -> None:
        """One call."""
        self.calls += 1
        self.fixed_tokens += prompt.tokens
        self.prompt_tokens += prompt.tokens + tokens_of(text)
        self.completion_tokens += completion_tokens

    def to_json(self) -> dict[str, int]:
        """Its counts by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class CountingExtractor:
    """Implements `Extractor`: the rules' candidates, and the call that would have found them."""

    tokens_min: int
    """Least tokens of an answer: a model says more than the rules do."""
    tally: Tally = field(default_factory=Tally)

    async def extract(self, cells: Sequence[CellInput]) -> list[Extraction]:
        found = await RuleExtractor().extract(cells)
        for cell, extraction in zip(cells, found, strict=True):
            turns = spoken_turns(cell.turns)
            if turns:
                answer = tokens_of(extraction_text(extraction.candidates, cell.zone))
                self.tally.add(EXTRACT, prompt_text(cell, turns), max(answer, self.tokens_min))
        return found


@dataclass(frozen=True, slots=True)
class CountingSummarizer:
    """Implements `Summarizer`: summaries by selection, and the calls that would have written them."""

    tally: Tally = field(default_factory=Tally)
    model: str = "counted"
    source: Source = "select"

    async def summarise(self, requests: Sequence[SummaryRequest]) -> list[SummaryReply]:
        replies = await SelectionSummarizer().summarise(requests)
        for request, reply in zip(requests, replies, strict=True):
            self.tally.add(SUMMARISE, node_text(request), tokens_of(reply.text or ""))
        return replies
