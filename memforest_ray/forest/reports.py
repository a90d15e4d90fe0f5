"""Reports: what somebody is told of what was done, as a row of plain types and back.

A report is a frozen dataclass, and its row has the names of its fields. What may stand in them: numbers and names,
tuples of names, and mappings of such things by name.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

from memforest_ray.models.usage import Usage

__all__ = ["PricedReport", "Report"]

_DIGITS = 4
"""Of seconds and shares: a tenth of a millisecond."""


class Report:
    """Derived from by frozen dataclasses."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """As msgpack and JSON types."""
        names = [each.name for each in fields(self)]  # type: ignore[arg-type]  # it is a dataclass, see above
        return {name: _plain(getattr(self, name)) for name in names}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The report that `row` was made of."""
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
        if "usage" in values:
            values["usage"] = {stage: Usage(**numbers) for stage, numbers in row["usage"].items()}
        return cls(**values)


class PricedReport(Report):
    """One with the fields `usage` and `seconds`, by stage."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def usage(self) -> Mapping[str, Usage]: ...
        @property
        def seconds(self) -> Mapping[str, float]: ...

    def timed(self, seconds: Mapping[str, float]) -> Self:
        """With the seconds that a driver measured."""
        return replace(self, seconds={**self.seconds, **seconds})  # type: ignore[type-var]  # a dataclass, too

    def charged(self, usage: Mapping[str, Usage]) -> Self:
        """With what else it has cost, by stage."""
        stages = {stage: self.usage.get(stage, Usage()) + spent for stage, spent in usage.items()}
        return replace(self, usage={**self.usage, **stages})  # type: ignore[type-var]  # a dataclass, too


def _plain(value: Any) -> Any:
    if isinstance(value, Usage):
        return value.to_json()
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, tuple):
        return list(value)
    return {name: _plain(each) for name, each in value.items()} if isinstance(value, Mapping) else value
