"""Entries: the links of a chain, in an order of time that is seldom told in so many words.

A dated entry stands where it says. For the others, what people do when they tell a story decides:

* Changes are told in the order in which they happened. "I moved to Davis", with no word about when, told in one
  sitting before "I moved to Miami last month", is the older of the two; told after it, the newer. What lies further
  back than a year is history that somebody adds to his news ("I moved to Davis! I moved to Boston in 2010"), and what
  has "just" happened is news whatever follows.
* "Before that" and "had moved" step back: such an entry comes before the one that was told before it.
* "I used to live in Davis" reaches back as far as a life does, and is never how it is now.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from memforest_ray.facts.candidates import Kind, Mention
from memforest_ray.facts.canonical import Fact
from memforest_ray.facts.letters import UPPER
from memforest_ray.facts.words import fold
from memforest_ray.index.rows import index_words

__all__ = ["NEWS", "UNDATED_MS", "Entry", "in_order"]

UNDATED_MS: Final = -62_135_596_800_000
"""Where an entry of unknown time stands: at the beginning of the calendar, before anything that may be dated."""
_DAY_MS: Final = 86_400_000
_SITTING_MS: Final = _DAY_MS // 4
"""Turns of one session within six hours are one telling; cells are cut at longer gaps, too."""
_RECENT_MS: Final = 366 * _DAY_MS
"""How far back a dated change may lie and still be newer than an undated one that was told before it ..."""
_RECENT_AFTER_END_MS: Final = 92 * _DAY_MS
"""... and how far back it may have begun when that one is an end: "I lost my job. I started at Acme last year" tells of
one job, not of two."""
NEWS: Final = re.compile(r"\b(?:just|recently|finally|now|today|already|has|have)\b|'ve\b", re.IGNORECASE)
"""What an undated change says that has only just happened."""
_STEPS_BACK: Final = re.compile(
    r"\bbefore (?:that|then|this)\b|\b(?:previously|formerly|earlier(?! (?:today|this|in)))\b"
    r"|(?:\bhad|\b(?:I|we|s?he)'d) (?:\w+ly )?(?:\w+ed|quit|left|gone|been|begun|gotten|found|taken)\b|之前|以前",
    re.IGNORECASE,
)
"""What an entry says that comes before what was told before it."""
_QUITS: Final = re.compile(rf"\b(?:quit|left) [{UPPER}]")
"""What an end says of whose employment it is the end."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One link of a chain: what was so from when on, by adjacent mentions of one fact."""

    start_ms: int
    fact: Fact
    mention: Mention
    """The first of them."""

    @property
    def is_dated(self) -> bool:
        """Whether it is known when it was so, or said."""
        return self.start_ms != UNDATED_MS

    @property
    def value(self) -> str:
        """What the attribute is from here on."""
        return fold(self.mention.candidate.value or self.mention.candidate.text)

    @property
    def ends(self) -> bool:
        """Whether nothing is so from here on, as after "I quit my job"."""
        candidate = self.mention.candidate
        return candidate.value is None and candidate.kind is Kind.TRANSITION

    @property
    def denies(self) -> bool:
        """Whether it says of something that it is not so: an end, or "I'm not allergic to nuts"."""
        return self.ends or (self.mention.candidate.value is None and self.mention.candidate.kind is Kind.CONSTRAINT)

    @property
    def words(self) -> frozenset[str]:
        """The words of its statement, as the index has them."""
        return frozenset(index_words(self.mention.candidate.text))

    @property
    def told_ms(self) -> int:
        """When it was said; of unknown source time, when it was so."""
        return self.start_ms if self.mention.source_ms is None else self.mention.source_ms

    @property
    def history(self) -> bool:
        """Whether all that is known of its time is that it was over when it was told."""
        event = self.mention.candidate.event
        return event is not None and event.open_start


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """The entries of one chain, the oldest first."""
    return list(_of_what_was(sorted(_narrated(list(_settled(list(entries)))), key=_place)))


def _of_what_was(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries without the end of what was not so: "I quit Acme" is no end of working at Globex."""
    last: Entry | None = None
    for entry in entries:
        if not entry.ends:
            last = entry
        elif _QUITS.search(entry.mention.candidate.text) and not (
            last is not None and entry.words.issuperset(index_words(last.value))
        ):
            continue
        yield entry


def _place(entry: Entry) -> tuple[int, int, str, int, int]:
    return entry.start_ms, entry.told_ms, *_telling(entry)


def _telling(entry: Entry) -> tuple[str, int, int]:
    mention = entry.mention
    return mention.session_id, mention.candidate.turns[0], mention.number


def _settled(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Entries with what others say about when they began.

    "I moved to Porto last month", said in February, is some day of January. Where on the 8th something else was said to
    be so, it was after that.
    """
    said = [(entry.start_ms, entry.value) for entry in entries if entry.mention.candidate.event is None]
    for entry in entries:
        event, source_ms = entry.mention.candidate.event, entry.mention.source_ms
        if event is None or source_ms is None or entry.history:
            yield entry
            continue
        end_ms = min(event.end_ms, source_ms)
        end_ms = min(
            (at for at, value in said if value == entry.value and entry.start_ms < at < end_ms), default=end_ms
        )
        other = [at for at, value in said if value != entry.value and entry.start_ms <= at < end_ms]
        yield replace(entry, start_ms=max(other)) if other else entry


def _narrated(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Entries with what the order of telling says about those that are not dated."""
    for _, told in groupby(sorted(entries, key=_telling), key=lambda entry: entry.mention.session_id):
        session = list(told)
        newer = [_before_newer(entry, session[:place], session[place + 1 :]) for place, entry in enumerate(session)]
        yield from _stepping_back(newer, entries)


def _before_newer(entry: Entry, earlier: Sequence[Entry], later: Sequence[Entry]) -> Entry:
    """An undated change, before the recent dated ones that are told after it for the first time."""
    candidate = entry.mention.candidate
    if candidate.event is not None or candidate.kind is not Kind.TRANSITION or NEWS.search(candidate.text):
        return entry
    known = {each.value for each in earlier}
    starts = [each.start_ms for each in later if _is_newer(each, entry) and each.value not in known]
    return replace(entry, start_ms=min(starts) - 1) if starts else entry


def _is_newer(entry: Entry, undated: Entry) -> bool:
    """Whether a change that was told after an undated one happened after it, though it is dated before the telling."""
    candidate, event = entry.mention.candidate, entry.mention.candidate.event
    if event is None or entry.history or candidate.kind is not Kind.TRANSITION or _STEPS_BACK.search(candidate.text):
        return False
    if not _in_one_sitting(entry, undated) or entry.start_ms >= undated.start_ms:
        return False
    if not undated.ends:
        return event.end_ms > entry.told_ms - _RECENT_MS
    same = undated.words.issuperset(index_words(entry.value))
    return event.start_ms > entry.told_ms - _RECENT_AFTER_END_MS and not same


def _in_one_sitting(one: Entry, other: Entry) -> bool:
    speakers = {one.mention.candidate.speaker, other.mention.candidate.speaker}
    return abs(one.told_ms - other.told_ms) <= _SITTING_MS and len(speakers) == 1


def _stepping_back(session: Sequence[Entry], entries: Sequence[Entry]) -> Iterator[Entry]:
    """What steps back, right before what was told before it; no later than it says itself."""
    last: Entry | None = None
    for entry in session:
        own = entry
        if last is not None and _steps_back(entry) and _in_one_sitting(last, entry):
            own = replace(entry, start_ms=_just_before(last, entry, entries))
        yield own
        last = own


def _steps_back(entry: Entry) -> bool:
    candidate = entry.mention.candidate
    return (candidate.event is None or entry.history) and bool(_STEPS_BACK.search(candidate.text))


def _just_before(last: Entry, entry: Entry, entries: Sequence[Entry]) -> int:
    """When an entry began that was over when `last` began: as early as it may, if nothing else was so in between."""
    between = any(entry.start_ms <= each.start_ms < last.start_ms for each in entries if each is not entry)
    return last.start_ms - 1 if between or entry.start_ms >= last.start_ms else entry.start_ms
