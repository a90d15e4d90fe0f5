"""Typed ids, derived from content wherever content decides."""

import hashlib
from typing import NewType

__all__ = [
    "AtomId",
    "CellId",
    "FactId",
    "ItemId",
    "MentionId",
    "NodeId",
    "OpId",
    "ScopeId",
    "SessionId",
    "TurnId",
    "UserId",
    "digest",
    "user_hash",
]

UserId = NewType("UserId", str)
SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
CellId = NewType("CellId", str)
"""`c` + 20 hex digits, of the session id, the cell's place and its text.

Of a later part of a long turn `cx` + 7 digits, the character at which it begins, + 12 of the same digest.
"""
MentionId = NewType("MentionId", str)
"""`m` + 20 hex digits, of the cell and the candidate's number in it."""
AtomId = NewType("AtomId", str)
"""`f` + 20 hex digits, of what makes two mentions the same statement; also addresses the fact it belongs to."""
FactId = NewType("FactId", str)
"""The id of a fact's least atom."""
ItemId = NewType("ItemId", str)
"""What a leaf stands for: a `FactId` or a `CellId`."""
NodeId = NewType("NodeId", str)
"""`n` + 24 hex digits, of the scope and everything below the node."""
ScopeId = NewType("ScopeId", str)
"""`session:<id>`, `entity:<key>` or `scene:<id>`."""
OpId = NewType("OpId", str)


def digest(*parts: str | int | None, size: int = 10) -> str:
    """Hex digest of `parts` (2 x `size` digits); unambiguous, since every part goes in with its type and length."""
    pieces = []
    for part in parts:
        if part is None:
            pieces.append(b"n")
        else:
            raw = str(part).encode("utf-8", "surrogatepass")
            pieces.append(b"%c%d:%b" % (b"i" if isinstance(part, int) else b"s", len(raw), raw))
    return hashlib.blake2b(b"".join(pieces), digest_size=size).hexdigest()


def user_hash(user: UserId) -> str:
    """The only form in which a user id appears in keys, actor names and logs: sha256, hex."""
    return hashlib.sha256(user.encode("utf-8", "surrogatepass")).hexdigest()
