"""House rules that a linter does not know: sizes, names, and what every test says about itself."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHIPPED = ("memforest_ray", "actors")
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
FILE_EXCEPTIONS: dict[str, str] = {}
"""File -> why it is better as one file than as two. Checked: an entry that is no longer needed must go."""
BANNED_NAMES = {
    "utils": "name it by the noun that it produces",
    "util": "name it by the noun that it produces",
    "helpers": "put each function where its noun is made",
    "common": "put each thing where its noun is made",
    "manager": "say what it does: owner, lane, directory, pool",
    "base": "say what it is",
    "misc": "put each thing where its noun is made",
}
PROGRAMS = ("tests/benchmarks/",)
"""Run by hand and read on a terminal: they print."""
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


EVERY_FILE = _files(*SHIPPED, "tests", "examples")
EVERY_TEST_FILE = [path for path in _files("tests") if path.name.startswith("test_")]


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", EVERY_FILE, ids=_name)
def test_functions_are_short(path: Path) -> None:
    """No function has more lines than fit on a screen or two."""
    long = {
        function.name: lines
        for function in _functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES_MAX
    }
    assert long == {}


@pytest.mark.parametrize("path", EVERY_FILE, ids=_name)
def test_files_are_short(path: Path) -> None:
    """A file over the limit has a reason written down, and a file with a reason needs it."""
    lines = len(path.read_text("utf-8").splitlines())
    assert (_name(path) in FILE_EXCEPTIONS) == (lines > FILE_LINES_MAX), f"{lines} lines"


@pytest.mark.parametrize(
    "path", [path for path in _files(*SHIPPED, "tests") if not _name(path).startswith(PROGRAMS)], ids=_name
)
def test_nothing_prints(path: Path) -> None:
    """The library speaks through results, errors and logging; only examples and benchmarks print."""
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert calls == []


@pytest.mark.parametrize("path", EVERY_FILE, ids=_name)
def test_modules_are_named_by_their_noun(path: Path) -> None:
    """No module or package has a name that says nothing; the message says what to do instead."""
    parts = [*path.relative_to(ROOT).parts[:-1], path.stem]
    assert {part: BANNED_NAMES[part] for part in parts if part in BANNED_NAMES} == {}


@pytest.mark.parametrize("path", EVERY_TEST_FILE, ids=_name)
def test_tests_say_what_they_check(path: Path) -> None:
    """Each test has one sentence."""
    silent = [item.name for item in _functions(path) if item.name.startswith("test_") and not ast.get_docstring(item)]
    assert silent == []


@pytest.mark.parametrize("path", [path for path in EVERY_FILE if path != Path(__file__)], ids=_name)
def test_nothing_is_left_unfinished(path: Path) -> None:
    """What is left to do is tracked elsewhere, not in the source."""
    lines = path.read_text("utf-8").splitlines()
    assert [number for number, line in enumerate(lines, start=1) if UNFINISHED.search(line)] == []
