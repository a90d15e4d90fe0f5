"""Reports as rows of plain types, and back."""

import json
import pickle

import pytest

from memforest_ray.forest.errands import Corrected, Merged, Reembedded, Renewed
from memforest_ray.forest.forecast import Forecast
from memforest_ray.forest.intents import Forgotten, Receipt, Restored, Saved
from memforest_ray.forest.reports import PricedReport, Report
from memforest_ray.ids import CellId, FactId, OpId, SessionId, TurnId, UserId
from memforest_ray.models.usage import Usage

OP = OpId("op1")
REPORTS: list[Report] = [
    Receipt(3, OP, SessionId("s1"), cells=2, failed_cells={CellId("c1"): "refused"}, notes=("late",), idle_share=0.25),
    Forgotten(3, OP, 2, (FactId("f1"),), (TurnId("s1#0"),)),
    Restored(3, OP, "old", 2),
    Saved(3, OP, "new"),
    Merged(
        3, OP, UserId("bob"), 7, kept=(SessionId("bob/s1"),), through=(UserId("ann"),), usage={"judge": Usage(1, 9)}
    ),
    Corrected(3, OP, FactId("f1"), FactId("f2"), (TurnId("s1#0"),)),
    Renewed(3, OP, "rebuild", trees=2, usage={"summarise": Usage(2)}),
    Reembedded(3, OP, "test-model", 32, vectors=5),
    Forecast(3, 7, speakers_joined=("Bob",)),
]


@pytest.mark.parametrize("told", REPORTS, ids=lambda told: type(told).__name__)
def test_a_report_is_a_row_and_back(told: Report) -> None:
    """As JSON and as a pickle, with every field under its name."""
    row = json.loads(json.dumps(told.to_json()))
    assert list(row) == list(type(told).__dataclass_fields__)  # type: ignore[attr-defined]  # of a dataclass
    assert type(told).from_json(row) == told
    assert pickle.loads(pickle.dumps(told)) == told


@pytest.mark.parametrize("told", [told for told in REPORTS if isinstance(told, PricedReport)])
def test_costs_add_up(told: PricedReport) -> None:
    """Seconds of a stage are those told last; calls are summed; nobody is told more digits than a clock has."""
    more = told.timed({"write": 0.123456, "commit": 1.0}).timed({"commit": 2.00004}).charged({"judge": Usage(1, 2)})
    row = more.charged({"judge": Usage(3, 4)}).to_json()
    before = told.usage.get("judge", Usage())
    assert row["seconds"] == {"write": 0.1235, "commit": 2.0}
    assert row["usage"]["judge"] == (before + Usage(4, 6)).to_json()
