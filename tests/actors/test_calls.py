"""What a call does when its forest is not there: without Ray."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from memforest_actors import refs
from memforest_actors.calls import Forests
from memforest_actors.options import OFFLINE, Patience
from memforest_actors.refs import Gone
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, Fenced, MemForestError, OutcomeUnknown, Passivating
from memforest_ray.ids import OpId, UserId
from memforest_ray.testing.clock import ManualClock, SeededRandom

QUICK = Patience(retry_first_s=0.0, retry_last_s=0.0)
ANN = UserId("ann")


@dataclass
class _World:
    """A cluster with one actor, whose answers are scripted; each call takes a second of the clock."""

    answers: list[Any]
    clock: ManualClock = field(default_factory=ManualClock)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    started: int = 0

    async def find(self, name: str) -> Any:
        return self if self.started and name.startswith("uf-") else None

    async def create(self, role: str, name: str, *arguments: Any) -> Any:
        self.started += 1
        return self

    async def call(self, method: str, *arguments: Any, timeout_s: float, patience: Patience) -> Any:
        self.asked.append(arguments)
        self.clock.advance(1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def tell(self, on_text: Callable[[str], None], method: str, *arguments: Any, timeout_s: float) -> Any:
        """One piece of text, then the answer."""
        self.asked.append((method, *arguments))
        self.clock.advance(1)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Passivating):
            raise answer
        on_text("piece")
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[_World, Forests]]:
    """A world with these answers, and the forests seen from it."""

    def make(*answers: Any) -> tuple[_World, Forests]:
        made = _World(list(answers))
        monkeypatch.setattr(refs, "find", made.find)
        monkeypatch.setattr(refs, "create", made.create)
        return made, Forests(Settings(store="file:///a"), OFFLINE, QUICK, made.clock, SeededRandom())

    return make


async def _call(forests: Forests, op_id: str | None, deadline_s: float = 10) -> Any:
    name = None if op_id is None else OpId(op_id)
    return await forests.call(ANN, "ingest", {"x": 1}, op_id=name, seen=3, deadline_s=deadline_s)


@pytest.mark.parametrize("trouble", [Passivating("p"), Fenced("f"), Gone("g"), TimeoutError()])
async def test_trouble_is_tried_again_under_the_same_op_id(
    world: Callable[..., tuple[_World, Forests]], trouble: Exception
) -> None:
    """Whatever is safe to repeat is repeated, with the same arguments."""
    made, forests = world(trouble, trouble, "done")
    assert await _call(forests, "op-1") == "done"
    assert made.asked == [("ingest", {"x": 1}, "op-1", 3)] * 3


async def test_the_forests_own_error_is_the_answer(world: Callable[..., tuple[_World, Forests]]) -> None:
    """Other errors are raised at once."""
    made, forests = world(MemForestError("no"))
    with pytest.raises(MemForestError, match="no"):
        await _call(forests, "op-1")
    assert len(made.asked) == 1


async def test_a_write_that_may_have_been_done(world: Callable[..., tuple[_World, Forests]]) -> None:
    """At the deadline the op id is handed back."""
    made, forests = world(Gone("g"))
    with pytest.raises(OutcomeUnknown) as caught:
        await _call(forests, "op-1")
    assert (caught.value.op_id, len(made.asked)) == ("op-1", 10)


async def test_a_write_that_was_never_begun(world: Callable[..., tuple[_World, Forests]]) -> None:
    """When every try was refused before it began, nothing is unknown."""
    _, forests = world(Passivating("p"))
    with pytest.raises(ClusterUnavailable, match="nothing was changed"):
        await _call(forests, "op-1")


async def test_a_read_has_no_outcome(world: Callable[..., tuple[_World, Forests]]) -> None:
    """A read that was not answered changed nothing."""
    _, forests = world(Gone("g"))
    with pytest.raises(ClusterUnavailable):
        await _call(forests, None)


async def test_a_closed_client_asks_nobody_again(world: Callable[..., tuple[_World, Forests]]) -> None:
    """A call that was under way when its client was closed ends: without a connection Ray would start a cluster."""
    made, forests = world(Gone("killed"))
    real = made.call

    async def closing(*arguments: Any, **how: Any) -> Any:
        forests.closed = True
        return await real(*arguments, **how)

    made.call = closing  # type: ignore[method-assign]
    with pytest.raises(OutcomeUnknown, match="the client was closed"):
        await _call(forests, "op")
    assert len(made.asked) == 1
    with pytest.raises(ClusterUnavailable):
        await _call(forests, None)
    assert len(made.asked) == 1


async def test_an_actor_is_started_once(world: Callable[..., tuple[_World, Forests]]) -> None:
    """The first call starts it, later ones know it."""
    made, forests = world("done")
    for _ in range(3):
        await _call(forests, None)
    assert made.started == 1


async def test_a_listener_hears_nothing_twice(world: Callable[..., tuple[_World, Forests]]) -> None:
    """Until the first piece a try is made again as it was; after it the answer comes whole."""
    made, forests = world(Passivating("p"), Gone("g"), "whole")
    told: list[str] = []
    arguments = {"x": 1, "on_text": told.append}
    assert await forests.call(ANN, "ask", arguments, op_id=None, seen=3, deadline_s=10) == "whole"
    assert told == ["piece"]
    assert made.asked == [("tell", "ask", {"x": 1}, 3)] * 2 + [("ask", {"x": 1}, None, 3)]
