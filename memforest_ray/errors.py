"""Every error this project raises, by what the caller does next.

    MemForestError
    ├── InvalidInput          fix the call                (nothing was changed)
    ├── SessionConflict       fix the call, or replace=True
    ├── NotFound              nothing of that name is there
    ├── Denied                the policy in force does not allow it; nothing was done
    ├── Overloaded            wait `retry_after` seconds, then the same call again
    ├── LLMUnavailable        the model gave no answer; nothing was committed; the same call again
    ├── EmbeddingMismatch     the store was written with another embedder: `reembed`, or name that one
    ├── Fenced                another owner has taken over; find the forest again (the client does)
    ├── Passivating           the actor is leaving, the call was not begun; again (the client does)
    ├── OutcomeUnknown        the write may or may not have happened; again with the same `op_id`
    ├── StoreUnavailable      the store did not answer or refused; nothing was acknowledged
    ├── ClusterUnavailable    Ray cannot be reached or started; nothing was changed
    ├── CorruptState          the store holds something that must not be believed; nothing was changed
    └── VersionGone           that version is no longer kept

A message says what happened, what was kept and what to do. Errors cross process borders, so each pickles.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal, Self

__all__ = [
    "ClusterUnavailable",
    "CorruptState",
    "Denied",
    "EmbeddingMismatch",
    "Fenced",
    "InvalidInput",
    "LLMUnavailable",
    "MemForestError",
    "NotFound",
    "OutcomeUnknown",
    "Overloaded",
    "Passivating",
    "SessionConflict",
    "StoreUnavailable",
    "VersionGone",
]

What = Literal["user", "session", "turn", "fact", "tree", "snapshot", "origin"]
"""What can be asked for and not be there; a user is there who has a memory, an origin is whom it was merged from."""


class MemForestError(Exception):
    """Root of the tree; never raised itself.

    `kind` is stable and meant for programs; `detail` holds the variables of the message.
    """

    kind = "error"

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.detail)

    @classmethod
    def of(cls, message: str, detail: dict[str, Any]) -> Self:
        """The error of this type with these parts: how it comes back from another process."""
        return cls(message, **detail)


def meant(word: str, known: Iterable[str], prefix: str = "") -> str:
    """The end of a message about a name that is not known: `did you mean 'k'?`, or `known: as_of, k, mode`.

    Near is what is spelled alike, or stands in a longer word by itself (`k` in `top_k`); `prefix` is what all begin
    with, which makes none alike.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for this message

    names = {name.removeprefix(prefix).casefold(): name for name in known}
    given = word.removeprefix(prefix).casefold()
    parts = [names[part] for part in re.split(r"[_\W]+", given) if part in names]
    near = [names[name] for name in get_close_matches(given, names, n=1)] or parts
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(names.values()))}"


def _rebuild(cls: type[MemForestError], message: str, detail: dict[str, Any]) -> MemForestError:
    return cls.of(message, detail)


class InvalidInput(MemForestError):
    """The call or its data cannot be used; nothing was changed."""

    kind = "invalid_input"


class SessionConflict(MemForestError):
    """A session of that id is stored with other turns; `replace=True` puts the new one in its place."""

    kind = "session_conflict"


class NotFound(MemForestError):
    """Nothing of that name exists; `what` says what was looked for."""

    kind = "not_found"

    def __init__(self, message: str, *, what: What | None = None, **detail: Any) -> None:
        super().__init__(message, **({} if what is None else {"what": what}), **detail)
        self.what = what

    @classmethod
    def memory(cls, user: str) -> Self:
        """There is no memory of `user`: what is asked of one of its parts, and what changes it, comes to nothing."""
        return cls(f"user {user!r} has no memory; nothing was changed", what="user", user=user)


class Denied(MemForestError):
    """The policy in force does not allow this to this principal."""

    kind = "denied"


class Overloaded(MemForestError):
    """The queue is full; call again after `retry_after` seconds."""

    kind = "overloaded"

    @property
    def retry_after(self) -> float:
        """Seconds to wait before the same call is made again."""
        return float(self.detail.get("retry_after", 1.0))


class LLMUnavailable(MemForestError):
    """No call of the write got any answer from the model; nothing was committed."""

    kind = "llm_unavailable"


class EmbeddingMismatch(MemForestError):
    """The forest was written with another embedding model or dimension."""

    kind = "embedding_mismatch"


class Fenced(MemForestError):
    """Another owner holds this forest now; nothing is wrong with the data, ask for the forest again."""

    kind = "fenced"


class Passivating(MemForestError):
    """The forest's actor is leaving; the call was not begun and can be made again at once."""

    kind = "passivating"


class OutcomeUnknown(MemForestError):
    """The deadline passed while a write was under way; ask again with the same `op_id` to learn its fate."""

    kind = "outcome_unknown"

    @property
    def op_id(self) -> str:
        """The operation to ask again under; empty where the error does not name one."""
        return str(self.detail.get("op_id", ""))


class StoreUnavailable(MemForestError):
    """The store did not answer or refused; what was acknowledged before is kept."""

    kind = "store_unavailable"

    @property
    def reason(self) -> str:
        """What happened in the store, for a caller who knows better than it what was kept."""
        return re.split(r"[.;:]? (nothing was changed|what was acknowledged)", self.message, flags=re.IGNORECASE)[0]


class ClusterUnavailable(MemForestError):
    """Ray cannot be reached or started, or a forest's actor could not be in time; nothing was changed."""

    kind = "cluster_unavailable"


class CorruptState(MemForestError):
    """An object of the store is damaged, foreign, missing or from the future; it is named, nothing was changed."""

    kind = "corrupt_state"


class VersionGone(MemForestError):
    """The version asked for is no longer kept."""

    kind = "version_gone"
