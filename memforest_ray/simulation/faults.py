"""Faults: what goes wrong with which request, the same for the same seed whatever the order of arrival."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal, get_args

from memforest_ray.errors import InvalidInput

__all__ = ["Fault", "Faults", "parse_rates"]

Fault = Literal["429", "500", "reset", "truncate", "junk", "whitespace", "silence"]
_KINDS: Final[tuple[Fault, ...]] = get_args(Fault)


def parse_rates(text: str) -> dict[Fault, float]:
    """Shares by kind from `429=0.05,reset=0.01`, or from one number that all kinds but silence share evenly.

    Raises InvalidInput.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    rates: dict[Fault, float] = {}
    try:
        if len(parts) == 1 and "=" not in parts[0]:
            spread = [kind for kind in _KINDS if kind != "silence"]
            rates = dict.fromkeys(spread, float(parts[0]) / len(spread))
        for part in parts if not rates else ():
            name, _, share = part.partition("=")
            rates[_kind(name.strip())] = float(share)
    except ValueError as error:
        raise InvalidInput(f"faults must be KIND=SHARE,... or one share, not {text!r}") from error
    if any(rate < 0 for rate in rates.values()) or sum(rates.values()) > 1:
        raise InvalidInput(f"shares of faults must be between 0 and 1, and so must their sum; not {text!r}")
    return rates


def _kind(name: str) -> Fault:
    for kind in _KINDS:
        if kind == name:
            return kind
    raise InvalidInput(f"unknown fault {name!r}; known: {', '.join(_KINDS)}")


class Faults:
    """Decides by a hash of seed, request and how often that request has come, so that a repeat may pass."""

    def __init__(self, rates: Mapping[Fault, float], seed: int = 0) -> None:
        """`rates`: share of the requests, by kind."""
        self._rates = dict(rates)
        self._seed = seed
        self._seen: Counter[bytes] = Counter()
        self.met: Counter[str] = Counter()
        """How many there were, by kind."""

    def of(self, body: bytes) -> Fault | None:
        """What goes wrong with a request, if anything."""
        if not self._rates:
            return None
        name = hashlib.blake2b(body, digest_size=16).digest()
        self._seen[name] += 1
        draw = self._draw(name, self._seen[name])
        for kind, rate in self._rates.items():
            draw -= rate
            if draw < 0:
                self.met[kind] += 1
                return kind
        return None

    def _draw(self, name: bytes, time: int) -> float:
        """A number in [0, 1)."""
        told = json.dumps([self._seed, name.hex(), time]).encode()
        return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest()) / (1 << 48)
