"""Log lines, for people or (`json`) for machines: users as hashes, never dialogue, never a key.

The library logs through `logging` and configures nothing in an application's process; our own processes (actors, the
command line, heads) call `configure`. What is being done, and for whom, is bound once around a call (`bound`) and
stands in every line below it.
"""

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TextIO

from memforest_ray.errors import MemForestError
from memforest_ray.ids import UserId, user_hash

__all__ = ["LogFormat", "LogLevel", "bound", "configure"]

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

ROOTS = ("memforest", "memforest_ray", "memforest_actors")
"""Our loggers; those of other libraries stay as they are."""

_NOTHING: Mapping[str, Any] = {}
_bound: ContextVar[Mapping[str, Any]] = ContextVar("memforest_log", default=_NOTHING)


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Have every line within carry these fields: `user` (a hash), `op_id`, `version`, `verb`."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def configure(format_name: LogFormat, level: LogLevel, stream: TextIO | None = None) -> None:
    """Write our lines of at least `level` to `stream` (stderr), in this process. Again: only the last one counts."""
    handler = _Stderr() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(_Json() if format_name == "json" else _Text())
    for name in ROOTS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())


class _Stderr(logging.StreamHandler[TextIO]):
    """Whatever is stderr when a line is written: it may have been exchanged since."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]  # the base class keeps one stream for ever
        return sys.stderr


class _Text(logging.Formatter):
    """`2024-05-01T10:00:00.000Z warning memforest_ray.local.writer: what happened (op_id=... user=...)`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = _fields(record)
        head = f"{fields.pop('time')} {fields.pop('level')} {fields.pop('logger')}: {fields.pop('message')}"
        more = " ".join(f"{name}={value}" for name, value in fields.items())
        return f"{head} ({more})" if more else head


class _Json(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(record), default=str)


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    fields: dict[str, Any] = {
        "time": time,
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
        **_bound.get(),
        **getattr(record, "fields", _NOTHING),
    }
    if record.exc_info and record.exc_info[1] is not None:
        fields["error"] = _failure(record.exc_info[1])
    return fields


def _message(error: MemForestError) -> str:
    """What our own error says, with the user whom it names as a hash."""
    user = error.detail.get("user")
    return error.message.replace(repr(user), user_hash(UserId(user))[:12]) if isinstance(user, str) else error.message


def _failure(error: BaseException) -> dict[str, Any]:
    """What went wrong and where. Only messages of our own errors: others may quote what was said in a dialogue."""
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    told = {"kind": error.kind, "message": _message(error)} if isinstance(error, MemForestError) else {}
    return {"type": type(error).__name__, **told, "frames": frames}
