"""Words that keep returning in a session: hints at names in scripts without capitals.

Where words stand apart (Devanagari, Arabic, Hebrew ...) a hint is a word; where they do not (Han, kana, Thai
...) it is a run of 2 to 4 characters. Hints of a cell are found in the turns before it and in itself only, so
that they stay what they are when the session grows.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence

from memforest_ray.facts.sessions import SessionRecord
from memforest_ray.facts.words import word_set

__all__ = ["HINTS_MAX", "TURNS_MIN", "WINDOW_TURNS", "recurring"]

TURNS_MIN = 3
"""A word returns when at least this many turns of the window hold it."""
WINDOW_TURNS = 64
"""Turns that are looked at, up to the cell's last: bounds the work that one more turn makes."""
HINTS_MAX = 32
"""Most hints of one cell."""
_CHARS_MAX = 2_000
"""Characters of a turn that are looked at: a pasted book is no dialogue."""
_LENGTHS = (2, 3, 4)

_APART = re.compile("[\u05d0-\u05ea\u0620-\u065f\u066e-\u06d3\u0900-\u0963\u0971-\u0dff\u1200-\u135f]{2,}")
_TOGETHER = re.compile(
    "[\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3]{2,}"
)
_GLUE = re.compile("[的了我你您他她它们是在不这那就也都和很吗呢吧啊哦嗯么什怎哪谁没还把被给让のはをにがでともへです]")
"""Characters that names do not hold: what they are part of is grammar."""
_ORDINARY = word_set("""
    今天 明天 昨天 现在 时候 因为 所以 但是 如果 可以 觉得 知道 喜欢 自己 一个 一起 有点 谢谢 真的 已经 非常
    है हैं था थी थे हूँ हो का की के को में से पर और मैं तुम आप वह यह वो ये हम नहीं क्या भी तो ही ने एक कि जो कर
    मेरा मेरी मेरे बहुत अब रहा रही रहे गया गई अच्छा लिए साथ
    في من على إلى عن مع هذا هذه أن لا ما هو هي كان אני את לא של על
""")
"""Words too common to be a hint."""


def recurring(session: SessionRecord, cells: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
    """For each cell, given by its first and last turn and in order, what returns in it: most frequent first.

    A piece of a longer hint that is found in the same turns is left out. Time linear in the turns from the
    window of the first cell on.
    """
    window: deque[frozenset[str]] = deque()
    counts: Counter[str] = Counter()
    hints = []
    turn = max(0, min(cells[0][0], cells[0][1] + 1 - WINDOW_TURNS)) if cells else 0
    for first, last in cells:
        for index in range(turn, last + 1):
            _enter(window, counts, frozenset(_words(session.turns[index].text[:_CHARS_MAX])))
        turn = max(turn, last + 1)
        inside = frozenset().union(*list(window)[first - last - 1 :])
        hints.append(_maximal({word: counts[word] for word in inside if counts[word] >= TURNS_MIN}))
    return hints


def _enter(window: deque[frozenset[str]], counts: Counter[str], words: frozenset[str]) -> None:
    window.append(words)
    counts.update(words)
    if len(window) > WINDOW_TURNS:
        gone = window.popleft()
        counts.subtract(gone)
        for word in gone:
            if not counts[word]:
                del counts[word]


def _words(text: str) -> Iterator[str]:
    """What could be a hint in `text`; nothing for a text in a script with capitals."""
    if text.isascii():
        return
    for match in _APART.finditer(text):
        if match[0] not in _ORDINARY:
            yield match[0]
    for run in _TOGETHER.findall(text):
        for part in _GLUE.split(run):
            grams = (part[at : at + n] for n in _LENGTHS for at in range(len(part) - n + 1))
            yield from (gram for gram in grams if gram not in _ORDINARY)


def _maximal(found: dict[str, int]) -> tuple[str, ...]:
    """Hints by falling count, ties by length and spelling; without those that a longer one accounts for."""
    accounted = {
        piece
        for word, count in found.items()
        for piece in (word[1:], word[:-1])
        if _TOGETHER.fullmatch(word) and found.get(piece) == count
    }
    kept = (word for word in found if word not in accounted)
    return tuple(sorted(kept, key=lambda word: (-found[word], -len(word), word))[:HINTS_MAX])
