"""Policies: who may do what to whose memory. Asked before a call leaves the client.

A seam for whoever serves many people through one client: the principal is who stands behind a call, and
`settings.policy` names what decides ("module:name", something that is called without arguments and gives a `Policy`).
It guards the client and nothing else: who can reach the store can read it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from memforest_ray.errors import Denied, InvalidInput

__all__ = ["AllowAll", "Policy", "TenantsApart", "check", "named_policy"]


class Policy(Protocol):
    """Decides. Quick, and the same for the same question: it is asked at every call, from whatever thread makes it."""

    def allows(self, principal: str, verb: str, user: str) -> bool:
        """Whether `principal` may do `verb` to this user's memory.

        Reading: query, ask, stats, trees, tree, snapshots, changes, warm, and `users`, which hides an id from the list.
        Writing: ingest, forget, correct, save, restore, delete_snapshot, repair, renew (resummarise, rescene, rebuild),
        reembed, delete_user. Merging asks `merge` (or `forecast`, for a dry run) of the memory that takes over, and
        `lend` of the one that is copied; `lend` and `return` are also what the copier itself calls there.
        """


class AllowAll:
    """The default: who has the client has every memory."""

    def allows(self, principal: str, verb: str, user: str) -> bool:
        return True


class TenantsApart:
    """An example: each tenant has the users whose ids begin with its name and a slash, and no others."""

    def allows(self, principal: str, verb: str, user: str) -> bool:
        return bool(principal) and user.startswith(f"{principal}/")


def named_policy(name: str | None) -> Policy:
    """The policy that a setting names; the default for None. Raises InvalidInput."""
    if name is None:
        return AllowAll()
    module, _, attribute = name.partition(":")
    try:
        make: Callable[[], Policy] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidInput(
            f"policy {name!r} cannot be loaded ({error}); nothing was done; name module:attribute"
        ) from error
    return make()


def check(policy: Policy, principal: str, verb: str, user: str) -> None:
    """Raises Denied."""
    if not policy.allows(principal, verb, user):
        raise Denied(
            f"{principal or 'an unnamed principal'} may not {verb} the memory of {user!r}; nothing was done",
            principal=principal,
            verb=verb,
            user=user,
        )
