"""Summaries by selection: the lines that say most, word for word, in their order.

Budgeted maximum coverage, chosen greedily by gain per length (after Lin and Bilmes, "Multi-document
summarization via budgeted maximization of submodular functions", 2010): a line gains by the stems, names and
numbers that no chosen line has, more by those that many lines share. A line that tells of a change gains
extra, and the last line, the latest state, is always in.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from typing import Final

from memforest_ray.facts.words import STOP_WORDS, content_stems

__all__ = ["select_lines", "shorten"]

_NAMED: Final = 2.0
"""What a name or number counts beyond its stem: they cannot be guessed from the rest."""
_CHANGE: Final = 4.0
"""What a line about a change counts extra: transitions are what a summary must not lose."""
_LENGTH_POWER: Final = 0.8
"""Cost of a line is its length to this power: 1 would starve full sentences, 0.5 short ones."""
_LINE_CHARS_MIN: Final = 80
"""No line is shortened below this, whatever the budget."""

_CAPITALISED = re.compile(r"(?<![\w'])[^\W\d_]\w[\w'-]*")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_CHANGES = re.compile(
    r"\b(?:mov(?:ed|ing)|no longer|not any ?more|used to|instead|became|chang(?:ed|ing)|switch(?:ed|ing)"
    r"|start(?:ed|ing)|stopp(?:ed|ing)|quit|left|promoted|fired|hired|retired|graduated|married|divorced"
    r"|engaged|born|died|broke up|sold|bought|joined|new|now|from .{1,60}? to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Features:
    stems: frozenset[str]
    named: frozenset[str]
    change: bool


@lru_cache(maxsize=1 << 14)
def _features(line: str) -> _Features:
    # Cached: the same lines come again at every level of a tree, and in several trees.
    names = {
        word.casefold()
        for word in _CAPITALISED.findall(line)
        if word[0].isupper() and word.casefold() not in STOP_WORDS
    }
    stems = frozenset(content_stems(line)) - STOP_WORDS
    return _Features(stems, frozenset(names | set(_NUMBER.findall(line))), bool(_CHANGES.search(line)))


def shorten(line: str, chars_max: int) -> str:
    """`line`, or its beginning up to a word's end and an ellipsis, in at most `chars_max` characters."""
    if len(line) <= chars_max:
        return line
    head = line[: max(chars_max - 1, 0)]
    cut = head.rfind(" ")
    return (head[:cut] if cut > chars_max // 2 else head).rstrip() + "…"


def select_lines(lines: Sequence[str], chars_max: int) -> list[str]:
    """The most informative of `lines` in their order, at most `chars_max` characters with the ends of lines.

    The last line is always among them. Long ones are shortened. Deterministic: the same for the same lines.
    """
    line_max = max(min(chars_max, _LINE_CHARS_MIN), chars_max // 3)
    kept = list(dict.fromkeys(shorten(line.strip(), line_max) for line in reversed(lines) if line.strip()))
    kept.reverse()
    if sum(map(len, kept)) + len(kept) - 1 <= chars_max:
        return kept
    return [kept[place] for place in sorted(_Coverage(kept, chars_max).choose())]


class _Coverage:
    """One selection under way."""

    def __init__(self, lines: Sequence[str], chars_max: int) -> None:
        self.lines = lines
        self.room = chars_max
        self.features = [_features(line) for line in lines]
        shared = Counter(stem for each in self.features for stem in each.stems)
        self.weight = {stem: 1 + math.log(number) for stem, number in shared.items()}
        self.covered_stems: set[str] = set()
        self.covered_names: set[str] = set()

    def choose(self) -> list[int]:
        """Lazy greedy: gains only shrink, so an old gain is a bound, renewed when it comes to the top."""
        chosen = [len(self.lines) - 1]
        self._take(chosen[0])
        # Among equal gains the later line first.
        heap = [(-self._gain(place), -place) for place in range(len(self.lines) - 1)]
        heapify(heap)
        while heap:
            bound, place = -heap[0][0], -heap[0][1]
            gain = self._gain(place)
            if gain < bound:
                heapreplace(heap, (-gain, -place))
                continue
            heappop(heap)
            if gain > 0 and len(self.lines[place]) + 1 <= self.room:
                self._take(place)
                chosen.append(place)
        return chosen

    def _gain(self, place: int) -> float:
        features = self.features[place]
        stems = math.fsum(self.weight[stem] for stem in features.stems - self.covered_stems)
        named = _NAMED * len(features.named - self.covered_names)
        length: float = len(self.lines[place]) ** _LENGTH_POWER
        return (stems + named + _CHANGE * features.change) / length

    def _take(self, place: int) -> None:
        self.covered_stems |= self.features[place].stems
        self.covered_names |= self.features[place].named
        self.room -= len(self.lines[place]) + 1
