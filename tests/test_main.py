"""The package as a program."""

import runpy
import sys

import pytest


def test_the_package_runs_as_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m memforest_ray`, where the script is not on the path."""
    monkeypatch.setattr(sys, "argv", ["memforest_ray", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("memforest_ray", run_name="__main__")
    assert (left.value.code, capsys.readouterr().out[:10]) == (0, "memforest ")
