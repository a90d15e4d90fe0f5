"""The envelope: every damage is seen, and named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.commit.frames import FORMAT, off_loop, pack, seal, unpack, unseal
from memforest_ray.errors import CorruptState, InvalidInput

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SEALED = seal("part", "v1/x", {"rows": 1}, b"a body of some length")


@given(VALUES)
def test_values_round_trip(value: object) -> None:
    """Everything of msgpack's types comes back, lone surrogates and NUL too."""
    assert unpack(pack({"value": value}), "x") == {"value": value}


def test_a_lone_surrogate_round_trips() -> None:
    """Text from broken exports is stored as it is."""
    assert unpack(pack(["\ud83d", "a\0b"]), "x") == ["\ud83d", "a\0b"]


@pytest.mark.parametrize("value", [1 << 64, {"a": {1, 2}}, object()])
def test_what_cannot_be_stored_is_the_callers_affair(value: object) -> None:
    """An integer over 64 bits from some file's metadata is no accident of ours."""
    with pytest.raises(InvalidInput, match="no form"):
        pack({"value": value})


def test_an_object_opens_at_its_own_place() -> None:
    """Head and body come back; the same object under another key is refused."""
    frame = unseal(SEALED, "v1/x", "part")
    assert (frame.head["rows"], bytes(frame.body)) == (1, b"a body of some length")
    with pytest.raises(CorruptState, match=r"v1/y cannot be used: it belongs to v1/x"):
        unseal(SEALED, "v1/y", "part")
    with pytest.raises(CorruptState, match="it is a part, not a manifest"):
        unseal(SEALED, "v1/x", "manifest")


@pytest.mark.parametrize("length", range(len(SEALED)))
def test_every_cut_is_seen(length: int) -> None:
    """No prefix of an object passes, the empty one neither."""
    with pytest.raises(CorruptState, match="v1/x"):
        unseal(SEALED[:length], "v1/x", "part")


@given(st.integers(0, len(SEALED) - 1), st.integers(1, 255))
def test_every_flipped_bit_is_seen(place: int, mask: int) -> None:
    """Wherever a byte changes, the object is refused."""
    damaged = bytearray(SEALED)
    damaged[place] ^= mask
    with pytest.raises(CorruptState, match="v1/x"):
        unseal(bytes(damaged), "v1/x", "part")


def test_a_format_from_the_future_says_so() -> None:
    """The advice is a newer release, not a backup."""
    later = bytearray(SEALED)
    later[4] = FORMAT + 1
    with pytest.raises(CorruptState, match=rf"format {FORMAT + 1} is from the future .* use a newer release"):
        unseal(bytes(later), "v1/x", "part")


async def test_long_work_leaves_the_loop() -> None:
    """Short work is done at once, long work elsewhere; both answer."""
    assert [await off_loop(size, sum, [1, 2]) for size in (10, 10 << 20)] == [3, 3]
