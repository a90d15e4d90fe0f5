"""Builds without the collector."""

import gc
from collections.abc import Iterator

import pytest

from memforest_ray.commit.building import undisturbed


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """The collector is on, and nothing frozen, before and after."""
    gc.unfreeze()
    gc.enable()
    yield
    gc.unfreeze()
    gc.enable()


def _is_old(made: object) -> bool:
    return any(each is made for each in gc.get_objects(generation=2))


def test_nothing_is_collected_meanwhile() -> None:
    """The collector is off inside, and on again after it."""
    with undisturbed():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_build_that_fails_turns_it_on_again() -> None:
    """An error leaves nothing behind."""
    with pytest.raises(ValueError, match="no"), undisturbed():
        raise ValueError("no")
    assert gc.isenabled()


def test_what_was_built_is_old() -> None:
    """No collection of the young looks through it."""
    with undisturbed():
        made = [[number] for number in range(10)]
        assert not _is_old(made)
    assert _is_old(made)
    assert gc.get_freeze_count() == 0


def test_young_garbage_is_collected_first() -> None:
    """What is garbage when a build begins does not grow old with it."""
    gc.collect()
    gc.disable()
    loop: list[object] = []
    loop.append(loop)
    known = id(loop)
    del loop
    gc.enable()
    with undisturbed():
        assert not any(id(each) == known for each in gc.get_objects())


def test_who_goes_without_goes_on_without() -> None:
    """An application that has turned the collector off keeps it off."""
    gc.disable()
    with undisturbed():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_two_builds_at_once() -> None:
    """Whichever ends first, it is on in the end."""
    one, other = undisturbed(), undisturbed()
    with one:
        other.__enter__()
    other.__exit__(None, None, None)
    assert gc.isenabled()


def test_what_is_frozen_stays_frozen() -> None:
    """A process that froze its modules has not asked for them to be looked through again."""
    gc.freeze()
    frozen = gc.get_freeze_count()
    with undisturbed():
        made = [0]
    assert not _is_old(made)
    assert 0 < gc.get_freeze_count() <= frozen
    assert gc.isenabled()
