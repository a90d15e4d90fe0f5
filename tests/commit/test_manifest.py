"""The manifest's bytes."""

from dataclasses import replace

import pytest

from memforest_ray.commit.manifest import Manifest, Part, Pin, Retired, check_fingerprint, decode, encode
from memforest_ray.errors import CorruptState, EmbeddingMismatch
from memforest_ray.ids import OpId, UserId

PART = Part("seg/a", "text", 1, 1, 40, 7, 1234, "ab" * 32)
FULL = Manifest(
    user=UserId("Zoë 😀 \ud800"),
    state="active",
    epoch=3,
    nonce="n",
    version=41,
    floor=40,
    fingerprint={"model": "tiny", "dimension": 4, "equivalent": 0.93},
    birth={"turns_max": 2},
    parts=(PART,),
    retired=(Retired("wal/1", 5),),
    pins=(Pin(OpId("o"), 9),),
    erasures=("e",),
    sweep_until_ms=17,
    operations=(OpId("o1"), OpId("o2")),
)


def test_it_round_trips_and_is_deterministic() -> None:
    """Every field comes back; equal manifests have equal bytes."""
    assert decode(encode(FULL, "M"), "M") == FULL
    assert encode(FULL, "M") == encode(replace(FULL), "M")


def test_parts_out_of_order_are_refused() -> None:
    """A manifest whose parts cannot be true is not believed, though its checksum holds."""
    with pytest.raises(CorruptState, match="out of order"):
        decode(encode(replace(FULL, floor=39), "M"), "M")


def test_an_unknown_state_is_refused() -> None:
    """A state that we would not know how to treat stops us."""
    with pytest.raises(CorruptState, match="'frozen' is unknown"):
        decode(encode(replace(FULL, state="frozen"), "M"), "M")  # type: ignore[arg-type]  # on purpose


def test_only_the_newest_operations_are_kept() -> None:
    """The manifest stays small whatever happens."""
    kept = FULL.remembering(tuple(OpId(f"x{n}") for n in range(300)))
    assert (len(kept.operations), kept.operations[-1]) == (256, "x299")


def test_another_embedder_is_refused_but_other_thresholds_are_not() -> None:
    """Vectors of two models cannot be compared; a threshold can be tuned."""
    check_fingerprint(FULL, {"model": "tiny", "dimension": 4, "equivalent": 0.9})
    for other in ({"model": "tiny", "dimension": 8}, {"model": "large", "dimension": 4}):
        with pytest.raises(EmbeddingMismatch, match="reembed"):
            check_fingerprint(FULL, other)
