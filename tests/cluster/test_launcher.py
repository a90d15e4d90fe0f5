"""The launcher's files, as `ray up` reads them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray.autoscaler
from ray.autoscaler._private.util import prepare_config, validate_config

from tests.cluster.strict import CLUSTER, documents

FILES = sorted((CLUSTER / "launcher").glob("*.yaml"))
SCHEMA = json.loads((Path(str(ray.autoscaler.__file__)).parent / "ray-schema.json").read_text("utf-8"))


def _check(config: dict[str, Any]) -> dict[str, Any]:
    jsonschema.validate(config, SCHEMA)
    prepared: dict[str, Any] = prepare_config(config)
    validate_config(prepared)
    return prepared


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_a_launcher_config(path: Path) -> None:
    """It fits Ray's schema as it stands and with the provider's defaults filled in."""
    assert _check(documents(path)[0])["cluster_name"] == "memforest"


@pytest.mark.parametrize(
    "slip",
    [{"max_worker": 3}, {"head_node_type": "hed"}, {"auth": {"ssh_usr": "u"}}, {"provider": {"region": "x"}}],
    ids=str,
)
def test_the_check_catches_slips(slip: dict[str, Any]) -> None:
    """At the top, within, in names that refer to one another, and in what is missing."""
    config = {**documents(CLUSTER / "launcher/aws.yaml")[0], **slip}
    with pytest.raises((jsonschema.ValidationError, ValueError, KeyError)):
        _check(config)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_node_starts_with_the_token(path: Path) -> None:
    """Head and workers are told the same way of authentication, and get the token's file."""
    config = documents(path)[0]
    for key in ("head_start_ray_commands", "worker_start_ray_commands"):
        starts = [line for line in config[key] if "ray start" in line]
        assert starts
        assert all("RAY_AUTH_MODE=token ray start" in line for line in starts)
    assert config["file_mounts"]["/home/ray/.ray/auth_token"] == "~/.ray/auth_token"
