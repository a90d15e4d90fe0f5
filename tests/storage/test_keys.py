"""Names of objects."""

import re

from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.ids import UserId
from memforest_ray.storage.keys import UserKeys, user_of_key

IDS = st.text(st.characters(), max_size=300)


@given(IDS)
def test_keys_hold_no_id(user: str) -> None:
    """Whatever the id, a key is plain characters and at most 150 long."""
    keys = UserKeys.of(UserId(user))
    nonce = "f" * 32
    for key in (keys.manifest, keys.slot(7), keys.part(3, 1_700_000_000_000, nonce), keys.snapshot(user, 3, nonce)):
        assert re.fullmatch(r"v1/[0-9a-f]{2}/[0-9a-f]{64}/(M|(wal|seg|snap)/[0-9a-f-]{16,72})", key)
        assert keys.hash == user_of_key(key)


def test_neighbours_are_apart() -> None:
    """No id's keys lie under another's."""
    prefixes = [UserKeys.of(UserId(user)).prefix for user in ("a", "a1", "a/1", "a ", "../a", "")]
    assert len(prefixes) == len(set(prefixes))


@given(st.integers(1, 10**16 - 1))
def test_slot_numbers_round_trip_and_sort(seq: int) -> None:
    """The number is read back from the key, and keys sort as numbers."""
    keys = UserKeys.of(UserId("a"))
    assert (seq, None) == (keys.seq_of(keys.slot(seq)), keys.seq_of(keys.manifest))
    assert keys.slot(seq - 1) < keys.slot(seq)


def test_parts_tell_their_epoch() -> None:
    """A part's key names the epoch that wrote it; no other key does."""
    keys = UserKeys.of(UserId("a"))
    assert (
        keys.epoch_of(keys.part(12, 5, "0" * 32)),
        keys.epoch_of(keys.snapshot("before", 12, "0" * 32)),
        keys.epoch_of(keys.slot(12)),
        keys.epoch_of(keys.manifest),
    ) == (12, 12, None, None)
