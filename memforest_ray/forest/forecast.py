"""A forecast: what a merge would do, told before it is done."""

from dataclasses import dataclass

from memforest_ray.forest.reports import Report
from memforest_ray.ids import SessionId

__all__ = ["Forecast"]


@dataclass(frozen=True, slots=True)
class Forecast(Report):
    """What a merge would do."""

    version: int
    source_version: int
    sessions_new: tuple[SessionId, ...] = ()
    """By the names that they would have."""
    sessions_known: tuple[SessionId, ...] = ()
    """Merged before; of some there may be more now."""
    conflicts: tuple[SessionId, ...] = ()
    """Stored here with other turns: the merge is refused unless it may replace them."""
    forgotten: tuple[SessionId, ...] = ()
    """Forgotten here, whole or in part: what was forgotten stays out."""
    kept: tuple[SessionId, ...] = ()
    """Forgotten there, whole or in part, and still here."""
    speakers_joined: tuple[str, ...] = ()
    """Spoke in both, by name: they become one."""
    speakers_renamed: tuple[str, ...] = ()
    """Have no name but their role: what they would be called."""
    entities_joined: tuple[str, ...] = ()
    """Spoken of in both: their trees become one."""
    facts: int = 0
    """Of the source."""
    facts_joined: int = 0
    """Of these, known here already."""
    facts_withheld: int = 0
    """Of these, withheld here; or shown here and withheld there."""
    cells_to_read: int = 0
    """Cells that an extractor would have to read again."""
