"""What a memory has told, fed back to it: applications put what was found into a prompt, and the prompt into a session.

Such lines are known by how evidence is rendered: `Bob lives in Davis. (time: 8 May 2023; said 9 May 2023) [f01ab...]`.
They were said before, and say nothing new.
"""

import re
from typing import Final

__all__ = ["without_remembered"]

_SAID: Final = (
    r"\((?:time: [^()\n]{1,80}; )?said (?:at an unknown time|\d{1,2} [A-Z][a-z]{2,8} \d{1,4})\)"
    r"(?: \[[fc][0-9a-fx]{20}\])?"
)
_CITED: Final = r"\[[fc][0-9a-fx]{20}\](?:[, ]{1,2}\[[fc][0-9a-fx]{20}\]){0,9}"
_REMEMBERED: Final = re.compile(rf"(?:{_SAID}|{_CITED})\W{{0,3}}$")
_WRAPPING: Final = re.compile(r"\s*(?:</?[\w -]{1,40}>|[^.!?\n]{0,60}\bmemor(?:y|ies)\b[^.!?\n]{0,60}:)\s*")
"""A mark around them, or a heading: `<memory>`, `Relevant memories:`."""


def without_remembered(text: str) -> str:
    """The text without lines that a memory has rendered, and what is put around them; itself where it has none."""
    if "said" not in text and "[" not in text:
        return text
    lines = text.split("\n")
    kept = [line for line in lines if not _REMEMBERED.search(line.rstrip()[-200:])]
    if len(kept) == len(lines):
        return text
    return "\n".join(line for line in kept if not _WRAPPING.fullmatch(line))
