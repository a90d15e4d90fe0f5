"""The Kubernetes files against the schemas of their kinds, and against one another."""

import gzip
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from ray.runtime_env import RuntimeEnv

from tests.cluster.strict import CLUSTER, ROOT, documents, strict_schema

SCHEMAS = Path(os.environ.get("KUBERAY_CRD_FOLDER") or ROOT.parent / "shared/schemas")
"""Custom resource definitions of KubeRay, `crd_<kind>.yaml.gz`; they are not part of this project."""
FILES = sorted((CLUSTER / "kuberay").glob("*.yaml"))
KUBERNETES = "1.33"

EVERY = [(path, number) for path in FILES for number in range(len(documents(path)))]


def _all() -> list[dict[str, Any]]:
    return [document for path in FILES for document in documents(path)]


def _one(kind: str) -> dict[str, Any]:
    return next(document for document in _all() if document["kind"] == kind)


@cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    path = SCHEMAS / f"crd_{kind.lower()}.yaml.gz"
    if not path.is_file():
        pytest.skip(f"no {path}: name the folder with KubeRay's definitions in KUBERAY_CRD_FOLDER")
    definition = yaml.load(gzip.decompress(path.read_bytes()), yaml.CSafeLoader)  # 40,000 lines: seconds in Python
    version = next(each for each in definition["spec"]["versions"] if each["name"] == "v1")
    return jsonschema.Draft202012Validator(strict_schema(version["schema"]["openAPIV3Schema"]))


@pytest.mark.parametrize(("path", "number"), EVERY, ids=lambda value: getattr(value, "stem", value))
def test_every_document_fits_its_schema(path: Path, number: int) -> None:
    """Strictly: no key that the schema does not name."""
    document = documents(path)[number]
    if document["apiVersion"] == "ray.io/v1":
        _validator(document["kind"]).validate(document)
    elif document["apiVersion"] != "monitoring.coreos.com/v1":  # whose schema is not at hand
        kubernetes_validate.validate(document, KUBERNETES, strict=True)


@pytest.mark.parametrize(
    ("kind", "break_it"),
    [
        ("RayCluster", lambda spec: spec.update(workerGroupSpec=[])),
        ("RayCluster", lambda spec: spec["workerGroupSpecs"][0]["template"]["spec"].update(containrs=[])),
        ("RayCluster", lambda spec: spec["headGroupSpec"]["template"]["spec"]["containers"][0].update(imagee="x")),
        ("RayCluster", lambda spec: spec["workerGroupSpecs"][0].update(replicas="two")),
        ("RayService", lambda spec: spec.update(serveConfig="x")),
        ("RayJob", lambda spec: spec.update(entrypointNumCpus="one")),
    ],
)
def test_the_check_catches_slips(kind: str, break_it: Any) -> None:
    """Unknown keys in the resource and in its pods, and values of another type."""
    document = _one(kind)
    break_it(document["spec"])
    with pytest.raises(jsonschema.ValidationError):
        _validator(kind).validate(document)


def test_one_ray_version_everywhere() -> None:
    """Clusters, images and the pinned requirement agree: two versions of Ray do not talk to each other."""
    versions = {_one("RayCluster")["spec"]["rayVersion"], _one("RayService")["spec"]["rayClusterConfig"]["rayVersion"]}
    text = "\n".join(path.read_text("utf-8") for path in FILES)
    images = {line.split("ray-llm:")[1].split("-")[0] for line in text.splitlines() if "image: rayproject" in line}
    argument = (CLUSTER / "docker/Dockerfile.cpu").read_text("utf-8")
    assert versions == images == {"2.60.0"}
    assert "ARG RAY=2.60.0" in argument


def test_names_that_files_share() -> None:
    """Secrets, services and labels that one file uses stand in another, or are made by the operator."""
    made = {document["metadata"]["name"] for document in _all() if document["kind"] in ("Secret", "Service")}
    cluster = _one("RayCluster")
    used = {
        reference["secretRef"]["name"]
        for group in (cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"])
        for container in group["template"]["spec"]["containers"]
        for reference in container.get("envFrom", [])
    }
    tolerance = cluster["spec"]["gcsFaultToleranceOptions"]
    used.add(tolerance["redisAddress"].split(":")[0])
    used.add(tolerance["redisPassword"]["valueFrom"]["secretKeyRef"]["name"])
    assert used <= made
    name = cluster["metadata"]["name"]
    assert _one("RayJob")["spec"]["clusterSelector"] == {"ray.io/cluster": name}
    for kind in ("PodDisruptionBudget", "NetworkPolicy"):
        text = yaml.safe_dump(_one(kind))
        assert f"ray.io/cluster: {name}" in text


def test_metrics_ports_have_the_scraped_name() -> None:
    """Every Ray container has the port that the PodMonitor names."""
    port = _one("PodMonitor")["spec"]["podMetricsEndpoints"][0]["port"]
    for cluster in (_one("RayCluster")["spec"], _one("RayService")["spec"]["rayClusterConfig"]):
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
            names = [each["name"] for each in group["template"]["spec"]["containers"][0]["ports"]]
            assert port in names


def test_a_leaving_pod_has_time_for_its_drain() -> None:
    """The grace period outlasts the preStop hook, else forests are killed while they checkpoint."""
    for group in _one("RayCluster")["spec"]["workerGroupSpecs"]:
        pod = group["template"]["spec"]
        command = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][-1]
        assert command.startswith("python -m memforest_actors.drain --within ")
        assert pod["terminationGracePeriodSeconds"] > float(command.rpartition(" ")[2])


def test_requests_equal_limits_for_memory() -> None:
    """Ray counts the limit as its own; a pod that is promised less is killed first."""
    for cluster in (_one("RayCluster")["spec"], _one("RayService")["spec"]["rayClusterConfig"]):
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
            for container in group["template"]["spec"]["containers"]:
                resources = container["resources"]
                assert resources["requests"]["memory"] == resources["limits"]["memory"]


def test_the_job_runs_where_its_code_is() -> None:
    """A bulk load needs no runtime environment: the package is in the image, secrets are in the pod's environment."""
    text = _one("RayJob")["spec"].get("runtimeEnvYAML")
    assert text is None or RuntimeEnv(**yaml.safe_load(text))
