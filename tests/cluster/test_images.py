"""The Dockerfiles, as far as they can be read without Docker."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cluster.strict import CLUSTER, ROOT

FILES = sorted((CLUSTER / "docker").iterdir())
INSTRUCTION = re.compile(r"^(ARG|COPY|ENV|FROM|RUN|USER|WORKDIR)\s")


def _instructions(path: Path) -> list[str]:
    """Logical lines, continuations joined, comments left out."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return "\n".join(lines).replace("\\\n", " ").splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_instructions_are_known(path: Path) -> None:
    """Each line is an instruction, the first choosing a base that does not float."""
    lines = _instructions(path)
    assert [line for line in lines if not INSTRUCTION.match(line)] == []
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert bases
    assert [base for base in bases if not re.search(r":(\$\{RAY\}|\d+\.\d+\.\d+)-", base)] == []


def _sources() -> list[str]:
    lines = [line for line in _instructions(CLUSTER / "docker/Dockerfile.cpu") if line.startswith("COPY ")]
    plain = [line.split() for line in lines if "--from" not in line]
    return [word for words in plain for word in words[1:-1] if not word.startswith("--")]


def test_the_copied_files_make_the_package(tmp_path: Path) -> None:
    """What the image's build sees is enough to build a wheel that holds both packages."""
    source = tmp_path / "source"
    source.mkdir()
    for name in _sources():
        (source / name).symlink_to(ROOT / name, target_is_directory=(ROOT / name).is_dir())
    # As pip does it, without a network: hatchling is what the project builds with.
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True, text=True)
    names = zipfile.ZipFile(tmp_path / done.stdout.split()[-1]).namelist()
    assert {"memforest_ray/__init__.py", "memforest_actors/__init__.py"} <= set(names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_copied_files_are_the_users(path: Path) -> None:
    """The bases run as `ray`, who can neither change nor remove what a build copies without a name."""
    assert [line for line in _instructions(path) if line.startswith("COPY ") and "--chown=ray:users" not in line] == []


def test_hnswlib_is_built_for_any_cpu() -> None:
    """The switch stands before the build, in the same stage."""
    lines = _instructions(CLUSTER / "docker/Dockerfile.cpu")
    stage = lines[lines.index(next(line for line in lines if line.endswith("AS build"))) :]
    assert stage.index("ENV HNSWLIB_NO_NATIVE=1") < stage.index(next(line for line in stage if "pip wheel" in line))
