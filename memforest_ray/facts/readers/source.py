"""A chat file as it was read, before anyone asks which format it has."""

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memforest_ray.errors import InvalidInput
from memforest_ray.facts.sessions import Session

__all__ = ["Conversation", "Format", "Source", "load"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The sessions of one circle of speakers. Two conversations of a file must not share a memory."""

    id: str
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file, and its JSON value where it has one (JSON lines: the list of their values)."""

    path: Path
    text: str
    value: object = None
    fault: str | None = None
    """Why the text is not JSON; the value means nothing then."""

    @property
    def stem(self) -> str:
        return self.path.stem

    @property
    def items(self) -> list[object]:
        """The values of the file: those of its list, or its only one. InvalidInput if it is not JSON."""
        if self.fault is not None:
            raise InvalidInput(self.fault)
        return self.value if isinstance(self.value, list) else [self.value]

    @property
    def first(self) -> object:
        """The first value that says something, to tell formats apart; None when there is none."""
        return None if self.fault is not None else next((item for item in self.items if item), None)


@dataclass(frozen=True, slots=True)
class Format:
    """One chat format: how to tell it, how to read it."""

    name: str
    matches: Callable[[Source], bool]
    """Whether a file has this format, from its shape."""
    read: Callable[[Source], Iterator[Conversation]]
    """Its conversations; sessions may be empty and share ids. Raises InvalidInput naming the place."""


def load(path: Path) -> Source:
    """Read a file; it need not be JSON. Raises InvalidInput when it cannot be read or is neither UTF-8 nor UTF-16."""
    try:
        content = path.read_bytes()
        # Windows' shell writes UTF-16 where it is told to write into a file; the mark at its begin says so.
        text = content.decode("utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except FileNotFoundError as error:
        raise InvalidInput("there is no such file") from error
    except IsADirectoryError as error:
        raise InvalidInput("this is a directory; name the files in it") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"this is neither UTF-8 nor UTF-16 text (byte {error.start}); convert it first") from error
    except (OSError, ValueError) as error:
        # ValueError: a name that no file can have, such as one with NUL.
        raise InvalidInput(f"the file cannot be read: {error}") from error
    return _lines(path, text) if path.suffix in {".jsonl", ".ndjson"} else _whole(path, text)


def _whole(path: Path, text: str) -> Source:
    value, fault = _decoded(text, 1)
    if fault is None:
        return Source(path, text, value)
    as_lines = _lines(path, text)
    # JSON lines under another name: at least the first line is a value of its own.
    if isinstance(as_lines.value, list) and as_lines.value:
        return as_lines
    return Source(path, text, fault=fault)


def _lines(path: Path, text: str) -> Source:
    """JSON lines; after a fault the values before it are kept, so that the fault can be judged."""
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            value, fault = _decoded(line, number)
            if fault is not None:
                return Source(path, text, values, fault)
            values.append(value)
    return Source(path, text, values)


def _decoded(text: str, line: int) -> tuple[object, str | None]:
    try:
        return json.loads(text), None
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        return None, f"invalid JSON at {place}: {error.msg}"
    except RecursionError:
        return None, f"invalid JSON at line {line}: nested too deeply"
    except ValueError as error:  # a number of more digits than Python converts
        return None, f"invalid JSON at line {line}: {error}"
