"""The journal: which sessions and facts came, changed and went with each of the newest commits.

Ids and nothing else, and only so many: who follows a forest and falls further behind reads it whole.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from immutables import Map

from memforest_ray.errors import VersionGone
from memforest_ray.ids import FactId, SessionId

__all__ = ["JOURNAL_KEPT", "News", "entered", "news_since"]

JOURNAL_KEPT: Final = 256
"""Commits whose news are kept: ids of 20 facts each are 120 KB."""
_FLOOR: Final = "floor"
"""The key under which the last version stands whose news are not kept."""


@dataclass(frozen=True, slots=True)
class News:
    """What came, changed and went between two versions."""

    since: int
    version: int
    facts_added: tuple[FactId, ...] = ()
    facts_changed: tuple[FactId, ...] = ()
    facts_removed: tuple[FactId, ...] = ()
    sessions_added: tuple[SessionId, ...] = ()
    sessions_changed: tuple[SessionId, ...] = ()
    sessions_removed: tuple[SessionId, ...] = ()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return any(self.row().values())

    def row(self) -> dict[str, list[str]]:
        """What is stored; empty lists are left out."""
        lists = {
            "fa": self.facts_added,
            "fc": self.facts_changed,
            "fr": self.facts_removed,
            "sa": self.sessions_added,
            "sc": self.sessions_changed,
            "sr": self.sessions_removed,
        }
        return {name: list(ids) for name, ids in lists.items() if ids}

    def to_json(self) -> dict[str, Any]:
        """As JSON types."""
        return {
            "since": self.since,
            "version": self.version,
            "facts": {
                "added": list(self.facts_added),
                "changed": list(self.facts_changed),
                "removed": list(self.facts_removed),
            },
            "sessions": {
                "added": list(self.sessions_added),
                "changed": list(self.sessions_changed),
                "removed": list(self.sessions_removed),
            },
        }


def entered(
    journal: Map[str, Any], number: int, news: News, *, born: bool
) -> tuple[Map[str, Any], dict[str, Any], list[str]]:
    """The journal with the news of commit `number`; and the rows to put and the keys to drop for that.

    `born`: there was nothing before it.
    """
    puts: dict[str, Any] = {}
    drops: list[str] = []
    if _FLOOR not in journal:
        puts[_FLOOR] = {"version": 0 if born else number - 1}
    if row := news.row():
        puts[_key(number)] = row
    kept = sorted(key for key in {*journal, *puts} if key != _FLOOR)
    if len(kept) > JOURNAL_KEPT:
        drops = kept[: len(kept) - JOURNAL_KEPT]
        puts[_FLOOR] = {"version": int(drops[-1])}
    after = journal.update(puts)
    for key in drops:
        after = after.delete(key)
    return after, puts, drops


def news_since(journal: Mapping[str, Any], since: int, version: int) -> News:
    """All news after version `since`, up to `version`, as one: what came and went in between does not show.

    Raises VersionGone when the journal does not reach back so far.
    """
    floor = journal[_FLOOR]["version"] if _FLOOR in journal else version
    if not floor <= since <= version:
        raise VersionGone(
            f"what changed since version {since} is not known; known is what changed since versions {floor} to "
            f"{version}; nothing was changed; read the whole memory, then ask from its version on",
            oldest=floor,
            newest=version,
        )
    facts, sessions = _Folded(), _Folded()
    for key in sorted(key for key in journal if key != _FLOOR and int(key) > since):
        facts.fold(journal[key], "f")
        sessions.fold(journal[key], "s")
    return News(
        since,
        version,
        tuple(map(FactId, facts.named("added"))),
        tuple(map(FactId, facts.named("changed"))),
        tuple(map(FactId, facts.named("removed"))),
        tuple(map(SessionId, sessions.named("added"))),
        tuple(map(SessionId, sessions.named("changed"))),
        tuple(map(SessionId, sessions.named("removed"))),
    )


class _Folded:
    """News of one kind, folded from the oldest to the newest."""

    def __init__(self) -> None:
        self._state: dict[str, str] = {}

    def fold(self, row: Mapping[str, Collection[str]], kind: str) -> None:
        for name in row.get(kind + "a", ()):
            self._state[name] = "changed" if self._state.get(name) == "removed" else "added"
        for name in row.get(kind + "c", ()):
            self._state.setdefault(name, "changed")
        for name in row.get(kind + "r", ()):
            if self._state.pop(name, None) != "added":
                self._state[name] = "removed"

    def named(self, state: str) -> list[str]:
        """What has come to `state`, sorted."""
        return sorted(name for name, held in self._state.items() if held == state)


def _key(number: int) -> str:
    return f"{number:012d}"
