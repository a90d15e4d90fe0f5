"""How long a model server takes: sequences decode together, one token a step, and a step takes longer the more of
them there are.

The shape and the default numbers were fitted to Qwen3-30B-A3B (bf16) on one H200 under vLLM 0.22: a step takes
0.0035 + 0.0135 (1 - (15/16)^n) + 18e-6 n + 5.5e-9 k seconds for n sequences with k tokens of context together, each
token of a prompt that is not in the prefix cache adds 21.6e-6 seconds to the steps of all, and each request 12 ms.
"""

import heapq
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["ClockedDecoder", "PrefixCache", "SharedDecoder", "Speed"]

_BLOCK_CHARS: Final = 64
"""16 tokens: the unit in which servers keep prefixes."""


@dataclass(frozen=True, slots=True)
class Speed:
    """The constants of one model on one machine, in seconds."""

    request_s: float = 0.012
    step_s: float = 0.0035
    experts_s: float = 0.0135
    """Reading the weights of all experts; a token needs one in sixteen of them."""
    sequence_s: float = 18e-6
    context_s: float = 5.5e-9
    prompt_s: float = 21.6e-6

    def step(self, sequences: int, context: int) -> float:
        """Seconds of one step."""
        experts = self.experts_s * (1 - (15 / 16) ** sequences)
        return self.step_s + experts + self.sequence_s * sequences + self.context_s * context

    def times(self, factor: float) -> "Speed":
        """A machine that takes `factor` times as long for everything."""
        numbers = {name: getattr(self, name) * factor for name in self.__dataclass_fields__}
        return replace(self, **numbers)


@dataclass(slots=True)
class _Sequence:
    ends_at: float
    """In steps."""
    context: int


class SharedDecoder:
    """Sequences under way. Pure: whoever calls says what time it is (seconds, rising).

    All sequences make one token a step, so one count of steps serves them all, and a sequence ends at a known step.
    """

    def __init__(self, speed: Speed) -> None:
        self._speed = speed
        self._now = 0.0
        self._steps = 0.0
        self._stall_s = 0.0
        """Time that prompts take, in which no sequence goes on."""
        self._sequences: dict[int, _Sequence] = {}
        self._ends: list[tuple[float, int]] = []
        self._context = 0

    def add(self, key: int, now: float, *, prompt: int, context: int, tokens: int) -> None:
        """A sequence begins: `prompt` tokens to be read, `tokens` to be written, beside `context` in the cache."""
        self._advance(now)
        self._stall_s += self._speed.request_s + prompt * self._speed.prompt_s
        sequence = _Sequence(self._steps + max(tokens, 1), context + tokens // 2)
        self._sequences[key] = sequence
        self._context += sequence.context
        heapq.heappush(self._ends, (sequence.ends_at, key))

    def drop(self, key: int, now: float) -> None:
        """Nobody waits for that sequence any more."""
        self._advance(now)
        sequence = self._sequences.pop(key, None)
        if sequence is not None:
            self._context -= sequence.context

    def finished(self, now: float) -> list[int]:
        """Sequences that have ended by now; each is told once."""
        self._advance(now)
        ended = []
        while (first := self._first()) is not None and self._sequences[first].ends_at <= self._steps + 1e-6:
            self.drop(first, now)
            ended.append(first)
        return ended

    def next_in(self) -> float | None:
        """Seconds until the next sequence ends, if nothing else begins; None without any."""
        first = self._first()
        if first is None:
            return None
        return self._stall_s + max(0.0, self._sequences[first].ends_at - self._steps) * self._step()

    def _first(self) -> int | None:
        """The sequence that ends first."""
        while self._ends and self._ends[0][1] not in self._sequences:
            heapq.heappop(self._ends)
        return self._ends[0][1] if self._ends else None

    def _step(self) -> float:
        return self._speed.step(len(self._sequences), self._context)

    def _advance(self, now: float) -> None:
        elapsed = max(0.0, now - self._now)
        self._now = max(now, self._now)
        stalled = min(self._stall_s, elapsed)
        self._stall_s -= stalled
        if self._sequences:
            self._steps += (elapsed - stalled) / self._step()


class ClockedDecoder:
    """Every answer takes the same time, whatever is asked and however many ask."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._now = 0.0
        self._ends: dict[int, float] = {}

    def add(self, key: int, now: float, *, prompt: int, context: int, tokens: int) -> None:
        self._now = now
        self._ends[key] = now + self._latency_s

    def drop(self, key: int, now: float) -> None:
        self._now = now
        self._ends.pop(key, None)

    def finished(self, now: float) -> list[int]:
        self._now = now
        ended = []
        for key, end in self._ends.items():  # in the order in which they began, which is that in which they end
            if end > now:
                break
            ended.append(key)
        for key in ended:
            del self._ends[key]
        return ended

    def next_in(self) -> float | None:
        return max(0.0, next(iter(self._ends.values())) - self._now) if self._ends else None


class PrefixCache:
    """Which beginnings of prompts a server holds, in blocks; the longest unused go first."""

    def __init__(self, blocks_max: int = 1 << 16) -> None:
        """`blocks_max`: a million tokens unless said otherwise."""
        self._blocks_max = blocks_max
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def read(self, text: str) -> int:
        """Characters at the beginning of `text` that are held already; all of it is held afterwards."""
        held, block, missed = 0, 0, False
        for start in range(0, len(text) - _BLOCK_CHARS + 1, _BLOCK_CHARS):
            block = hash((block, text[start : start + _BLOCK_CHARS]))
            missed = missed or block not in self._blocks
            held += 0 if missed else _BLOCK_CHARS
            self._blocks[block] = None
            self._blocks.move_to_end(block)
        while len(self._blocks) > self._blocks_max:
            self._blocks.popitem(last=False)
        return held
