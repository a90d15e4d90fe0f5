"""Exit codes, and an error as the one line that a person reads."""

import re

from memforest_ray.errors import (
    ClusterUnavailable,
    CorruptState,
    Denied,
    EmbeddingMismatch,
    Fenced,
    InvalidInput,
    LLMUnavailable,
    MemForestError,
    NotFound,
    OutcomeUnknown,
    Overloaded,
    Passivating,
    SessionConflict,
    StoreUnavailable,
    VersionGone,
    What,
)

__all__ = [
    "BROKEN_PIPE",
    "INTERRUPTED",
    "OK",
    "PARTIAL",
    "TERMINATED",
    "UNAVAILABLE",
    "USAGE",
    "exit_code",
    "in_shell",
    "lookup",
    "sentence",
    "stopped",
]

OK = 0
USAGE = 2
"""The call, or the input it names, cannot be used."""
PARTIAL = 3
"""Part was done; what was not is named on stderr."""
UNAVAILABLE = 4
"""The store, the model or the cluster does not answer, or cannot be believed."""
INTERRUPTED = 130
TERMINATED = 143
"""Ended by SIGTERM: how a scheduler stops a job."""
BROKEN_PIPE = 141
"""The reader of our output went away; what a shell shows for SIGPIPE."""

NOTHING = "nothing was changed"
KEPT = "what was acknowledged before is kept"

# error -> exit code, what was kept, what to do; the latter two where a message does not say them itself.
_READINGS: dict[type[MemForestError], tuple[int, str, str]] = {
    InvalidInput: (USAGE, NOTHING, "correct the command and run it again"),
    SessionConflict: (
        USAGE,
        "the stored session is unchanged",
        "give --replace to put the new one in its place",
    ),
    NotFound: (USAGE, NOTHING, "correct the name and run it again"),  # or see _LISTS
    EmbeddingMismatch: (
        USAGE,
        NOTHING,
        "use the embedder that this memory was written with, or `memforest reembed USER`",
    ),
    Denied: (USAGE, NOTHING, "use a principal that may do this (MEMFOREST_PRINCIPAL)"),
    VersionGone: (USAGE, NOTHING, "ask for a later version"),
    Overloaded: (UNAVAILABLE, KEPT, "wait a little, then run the same command again"),
    LLMUnavailable: (UNAVAILABLE, KEPT, "check the model's endpoint, then run the same command again"),
    Fenced: (UNAVAILABLE, KEPT, "run the same command again: another owner had taken over"),
    Passivating: (UNAVAILABLE, KEPT, "run the same command again"),
    OutcomeUnknown: (
        UNAVAILABLE,
        KEPT,
        "run the same command again: what was already done is not done twice",
    ),
    StoreUnavailable: (
        UNAVAILABLE,
        KEPT,
        "check the store (`memforest doctor`), then run the same command again",
    ),
    ClusterUnavailable: (UNAVAILABLE, KEPT, "check the cluster (`memforest doctor`), then run the same command again"),
    CorruptState: (UNAVAILABLE, NOTHING, "restore the named object from a copy of the store"),
}
_LISTS: dict[What, str] = {
    "user": "`memforest users` lists the users who have one",
    "session": "`memforest show USER` lists the sessions",
    "turn": "`memforest query USER TEXT` shows the ids of turns",
    "fact": "`memforest query USER TEXT` shows the ids of facts",
    "tree": "`memforest show USER` lists the trees",
    "snapshot": "`memforest snapshots USER` lists the snapshots",
    "origin": "`memforest show USER` lists the sessions; a merged one is named <its user>/<its id>",
}
"""What was not found -> where it can be looked up."""
_OTHER = (UNAVAILABLE, KEPT, "run the same command again")
_KEPT_WORDS = re.compile(r"\b(nothing (was|is) \w+|(is|was|were|are|stays) (kept|unchanged))\b", re.IGNORECASE)
"""By these a message says itself what was kept."""
_NOTHING_CLAUSE = re.compile(r";? nothing was (changed|done|written)(?=;|$)")
_IN_A_SHELL = {
    "pass replace=True": "give --replace",
    "replace=True": "--replace",
    "pass including_snapshots=True": "give --including-snapshots",
    "; `trees()` lists the trees": "",
    "open the memory again": "run the same command again",
    "name one with session=": "name one with --session",
    "`until` must be later than `since`": "--until must be later than --since",
    "at_least and snapshot cannot": "--at-least and --snapshot cannot",
    "event_time ends": "--event-time ends",
}
"""Words of a message that speak of our Python names -> those of the program."""
_OPTION = re.compile(r"^(as_of|since|until|asked|speaker|time): ")
"""How a message begins that is about an option."""
_SAME_OPERATION = re.compile(r"(ask|make the same call) again,? with (the same op_id|op_id='[^']*')")
"""How a message tells a program to learn what became of a write."""


def exit_code(error: MemForestError) -> int:
    """What the process ends with when `error` is all that came of it."""
    return _READINGS.get(type(error), _OTHER)[0]


def stopped(op_id: str | None = None) -> str:
    """What an interrupt is told; `op_id` names the write that was under way."""
    again = "run it again to go on"
    if op_id:
        again = f"run it again with --op-id {op_id}: it goes on, or tells what it has done"
    return f"interrupted; what was acknowledged is kept; {again}"


def lookup(what: What, user: str | None = None) -> str:
    """The command that lists such things, of the memory of `user` where they are of one."""
    import shlex

    return _LISTS[what].replace("USER", "USER" if user is None else shlex.quote(user))


def in_shell(message: str) -> str:
    """A message of the library on one line, in the program's words."""
    line = _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')}: ", " ".join(message.split()).rstrip(".;"))
    for name, option in _IN_A_SHELL.items():
        line = line.replace(name, option)
    return line


def sentence(error: MemForestError, op_id: str | None = None, user: str | None = None, *, changes: bool = True) -> str:
    """What happened; what was kept; what to do. On one line; parts that the message has are left to it.

    `op_id` names the write that failed, for a verb that takes one; `user` is whose memory it was about; of a verb that
    `changes` nothing by its nature it is not said that nothing was.
    """
    _, kept, advice = _READINGS.get(type(error), _OTHER)
    if isinstance(error, NotFound) and error.what is not None:
        advice = lookup(error.what, user)
    message = in_shell(str(error))
    again = f"run the same command again with --op-id {op_id}" if op_id else "run the same command again"
    message = _SAME_OPERATION.sub(again, message)
    if not changes:
        message = _NOTHING_CLAUSE.sub("", message)
    says_kept = not changes or _KEPT_WORDS.search(message) is not None
    says_more = "; " in _KEPT_WORDS.sub("", message).rstrip("; ")
    return "; ".join([message, *([] if says_kept else [kept]), *([] if says_more else [advice])])
