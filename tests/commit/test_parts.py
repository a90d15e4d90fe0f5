"""Parts of a forest: round trip, refusal, merging by tier."""

from dataclasses import replace

import pytest

from memforest_ray.commit.changes import Changes
from memforest_ray.commit.manifest import Part
from memforest_ray.commit.parts import FANOUT, PARTS_MAX, Span, decode_part, due_merge, encode_delta
from memforest_ray.errors import CorruptState, InvalidInput

SPAN = Span(0, 1, 9)


def _delta(puts: dict[str, dict[str, object]], drops: dict[str, set[str]] | None = None) -> Changes:
    return Changes(puts=puts, drops=drops or {})


def test_rows_and_vectors_stand_apart() -> None:
    """A delta is a text part and a vector part; together they give it back."""
    vectors: dict[str, object] = {f"v{n}": bytes([n] * 8) for n in range(3)}
    delta = _delta({"cells": {"a": [1]}, "vectors": vectors}, {"vectors": {"old"}, "cells": {"b"}})
    text, vector = encode_delta(delta, SPAN, "t", "v")
    assert [(part.part.key, part.part.kind, part.part.rows) for part in (text, vector)] == [
        ("t", "text", 3),
        ("v", "vectors", 3),
    ]
    assert decode_part(text.body, text.part) == _delta({"cells": {"a": [1]}}, delta.drops)
    assert decode_part(vector.body, vector.part) == _delta({"vectors": vectors})


def test_nothing_changed_makes_no_part() -> None:
    """Emptied tables leave no object."""
    assert encode_delta(_delta({"cells": {}, "vectors": {}}, {"cells": set()}), SPAN, "t", "v") == []


def test_vectors_of_two_lengths_are_refused() -> None:
    """Before anything is written."""
    with pytest.raises(InvalidInput, match=r"\[2, 4\] bytes"):
        encode_delta(_delta({"vectors": {"a": b"12", "b": b"1234"}}), SPAN, "t", "v")


def test_an_exchanged_part_is_refused() -> None:
    """A part that is whole, but not the one the manifest names, is not believed."""
    (one,) = encode_delta(_delta({"cells": {"a": 1}}), SPAN, "t", "v")
    (other,) = encode_delta(_delta({"cells": {"a": 2}}), SPAN, "t", "v")
    with pytest.raises(CorruptState, match="not the object that the manifest names"):
        decode_part(other.body, one.part)


def _parts(tiers: list[int], kinds: tuple[str, ...] = ("text",)) -> tuple[Part, ...]:
    blank = Part("", "text", 0, 0, 0, 1, 1, "")
    return tuple(
        replace(blank, key=f"{place}{kind}", tier=tier, first=place, last=place)
        for place, tier in enumerate(tiers)
        for kind in kinds
    )


def test_eight_of_a_tier_are_due() -> None:
    """Seven are not; of nine the oldest eight, with both their parts."""
    assert due_merge(_parts([1] * 7 + [0] * 7)) == ()
    parts = _parts([1, *[0] * 9], ("text", "vectors"))
    assert due_merge(parts) == parts[2 : 2 + 2 * FANOUT]


def test_too_many_parts_are_merged_to_one() -> None:
    """However they came about, the list stays bounded."""
    parts = _parts(list(range(40, 0, -1)), ("text", "vectors"))
    assert due_merge(parts) == parts
    assert len(parts) > PARTS_MAX
