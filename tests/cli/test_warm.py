"""`memforest warm`: which memories are open, and which are not."""

from memforest_ray.errors import InvalidInput, StoreUnavailable
from tests.cli.conftest import FakeClient, Program


def test_memories_are_opened(program: Program, fake: FakeClient) -> None:
    """Each with the version that it is open at."""
    fake.answers["warm"] = {"ann": 7, "ben": 9}
    run = program("warm", "ann", "ben")
    assert run.code == 0
    assert run.out.splitlines() == ["ann: open at version 7", "ben: open at version 9"]
    assert fake.asked == [("warm", "ann", {}), ("warm", "ben", {})]


def test_there_has_to_be_one(program: Program, fake: FakeClient) -> None:
    """Whoever has none is named, as by every verb."""
    fake.answers["warm"] = {"ann": 7, "ben": 0}
    run = program("warm", "ann", "ben")
    assert (run.code, run.out) == (3, "ann: open at version 7\n")
    assert "ben: user 'ben' has no memory in file://" in run.err


def test_one_that_fails_is_named(program: Program, fake: FakeClient) -> None:
    """The others are open: that is a part of what was asked."""
    fake.answers["warm"] = {"ann": 7, "ben": StoreUnavailable("the store does not answer")}
    run = program("warm", "ann", "ben", "--json")
    assert run.code == 3
    message = "the store does not answer"
    assert run.data == {
        "versions": {"ann": 7},
        "failed": [{"user": "ben", "kind": "store_unavailable", "message": message}],
    }
    assert "ben: " in run.err


def test_all_that_fail(program: Program, fake: FakeClient) -> None:
    """The exit code is that of the worst."""
    fake.answers["warm"] = {"ann": StoreUnavailable("no"), "ben": InvalidInput("no")}
    assert program("warm", "ann", "ben").code == 4
