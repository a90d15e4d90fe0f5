"""The dashboard asks for metrics that there are, and for all of them."""

import json
import re

from memforest_actors.metrics import NAMES
from tests.cluster.strict import CLUSTER

BOARD = json.loads((CLUSTER / "grafana/memforest.json").read_text("utf-8"))
EXPORTED = re.compile(r"ray_(memforest_[a-z_]+?)(?:_total|_bucket)?(?=[\[{)\s]|$)")


def test_panels_show_every_metric_and_no_other() -> None:
    """By the names under which Ray exports them."""
    asked = {name for panel in BOARD["panels"] for each in panel["targets"] for name in EXPORTED.findall(each["expr"])}
    assert asked == set(NAMES)


def test_panels_do_not_overlap() -> None:
    """Each has its place in a grid of three columns."""
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in BOARD["panels"]]
    assert len(set(places)) == len(places)
    assert {panel["datasource"]["uid"] for panel in BOARD["panels"]} == {"${datasource}"}
