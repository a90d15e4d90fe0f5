"""Choice of members, loss and return."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest

from memforest_actors.options import OFFLINE, Components, Patience
from memforest_actors.pool import Member, Pool
from memforest_actors.pooled import PooledChat, PooledEmbedder, PooledExtractor, PooledJudge, PooledSummarizer
from memforest_actors.refs import Gone
from memforest_ray.config import Settings
from memforest_ray.errors import ClusterUnavailable, LLMUnavailable
from memforest_ray.facts.candidates import CellInput, Extraction
from memforest_ray.facts.verdicts import Judgement
from memforest_ray.ids import CellId
from memforest_ray.models.chat import ChatReply
from memforest_ray.models.usage import Usage
from memforest_ray.testing.clock import SeededRandom
from tests.actors.tiny import TinyEmbedder

QUICK = Patience(retry_first_s=0.001, retry_last_s=0.002, activation_s=0.2, silence_s=0.001, pool_call_s=1.0)

Answer = Callable[[str, tuple[Any, ...]], Awaitable[Any]]


class _Fake:
    """A member that answers with a function, and can be dead."""

    def __init__(self, name: str, answer: Answer, *, dead: bool = False) -> None:
        self.name = name
        self.calls = 0
        self.dead = dead
        self._answer = answer

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        self.calls += 1
        if self.dead:
            raise Gone(self.name)
        return await self._answer(method, arguments)

    async def tell(self, on_text: Callable[[str], None], method: str, *arguments: Any, timeout_s: float) -> Any:
        """Tells its answer word by word, and dies of the word "die"."""
        for word in await self.call(method, *arguments, timeout_s=timeout_s):
            if word == "die":
                raise Gone(self.name)
            on_text(word)
        return Usage(calls=1)

    async def pid(self, within_s: float) -> int | None:
        return None if self.dead else 1


def _pool(*members: _Fake, successors: Sequence[_Fake] = ()) -> Pool:
    """Lost members are replaced by `successors` in turn, or looked up again in vain."""
    rest = list(successors)

    def reopen(member: _Fake) -> Callable[[], Awaitable[Member]]:
        async def found() -> Member:
            return rest.pop(0) if rest else member

        return found

    return Pool("embedder", [(member, reopen(member)) for member in members], SeededRandom(), QUICK)


async def _echo(_: str, arguments: tuple[Any, ...]) -> Any:
    await asyncio.sleep(0)
    return list(arguments[0])


async def test_the_least_busy_is_asked() -> None:
    """Calls at once are shared evenly."""
    members = [_Fake(name, _echo) for name in "abc"]
    pool = _pool(*members)
    await asyncio.gather(*(pool.call("x", [number]) for number in range(30)))
    assert [member.calls for member in members] == [10, 10, 10]


async def test_a_lost_member_sits_out_and_another_answers() -> None:
    """The call moves on; later calls do not try the dead one."""
    dead, alive = _Fake("a", _echo, dead=True), _Fake("b", _echo)
    pool = _pool(dead, alive)
    for number in range(5):
        assert await pool.call("x", [number]) == [number]
    assert (dead.calls, pool.sound) == (1, 1)


async def test_a_member_with_several_seats_is_lost_once() -> None:
    """After nodes have gone one process sits in all seats: it dies, is started anew, and the same call is answered."""
    dead = [_Fake("a", _echo, dead=True) for _ in range(5)]
    pool = _pool(*dead, successors=[_Fake("a", _echo) for _ in range(5)])
    assert await pool.call("x", [1]) == [1]
    assert sum(member.calls for member in dead) == 1


async def test_a_successor_takes_the_seat() -> None:
    """With one member lost, the call waits for its successor."""
    successor = _Fake("a", _echo)
    pool = _pool(_Fake("a", _echo, dead=True), successors=[successor])
    assert await pool.call("x", [1]) == [1]
    assert (successor.calls, pool.sound) == (1, 1)


async def test_nobody_left() -> None:
    """When no member comes back in time the error names the pool."""
    pool = _pool(_Fake("a", _echo, dead=True))
    with pytest.raises(ClusterUnavailable, match="embedder"):
        await pool.call("x", [1])


class _Mortal(_Fake):
    """A member that answers pings, and dies of every call."""

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        self.calls += 1
        raise Gone(self.name)


async def test_members_that_die_of_a_call() -> None:
    """A call under which every process is lost is given up after a few."""
    members = [_Mortal(str(number), _echo) for number in range(9)]
    with pytest.raises(ClusterUnavailable, match="4 of its processes died during one call"):
        await _pool(*members).call("x", [1])
    assert sum(member.calls for member in members) == 4


async def test_members_that_were_dead_before_do_not_count() -> None:
    """Nine nodes were replaced while nobody asked: the call finds the tenth, and did not die of the nine."""
    members = [*(_Fake(str(number), _echo, dead=True) for number in range(9)), _Fake("9", _echo)]
    assert await _pool(*members).call("x", [1]) == [1]
    assert [member.calls for member in members] == [1, *([0] * 8), 1]


class _Starved(_Fake):
    """A member on a starved machine: it answers calls after a number of pings, none of which it answers in time."""

    def __init__(self, name: str, pings: int) -> None:
        super().__init__(name, _echo)
        self.left = pings
        self.rested = asyncio.Event()

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        self.calls += 1
        await self.rested.wait()
        return list(arguments[0])

    async def pid(self, within_s: float) -> int | None:
        if within_s == QUICK.activation_s or not self.calls:  # it has long enough, or nothing to do yet
            return 1
        self.left -= 1
        if not self.left:
            self.rested.set()
        return None


async def test_silence_is_not_loss() -> None:
    """Where all members are too busy to answer pings the call moves on a few times, then waits, and is answered."""
    members = [_Starved(str(number), 12) for number in range(3)]
    assert await _pool(*members).call("x", [1]) == [1]
    assert sum(member.calls for member in members) == 5


async def test_a_members_error_is_its_answer() -> None:
    """An error of ours is raised, not tried elsewhere."""

    async def refuse(_: str, __: tuple[Any, ...]) -> Any:
        raise LLMUnavailable("no answer")

    members = [_Fake(name, refuse) for name in "ab"]
    with pytest.raises(LLMUnavailable):
        await _pool(*members).call("x", [1])
    assert sum(member.calls for member in members) == 1


async def test_batches_keep_their_order() -> None:
    """Items are cut into batches, shared out, and come back in order."""
    members = [_Fake(name, _echo) for name in "ab"]
    batches = await _pool(*members).spread("x", range(10), 4)
    assert batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert await _pool(*members).spread("x", [], 4) == []


async def test_pooled_extractor() -> None:
    """One extraction per cell, in order, one remote call for many."""

    async def extract(_: str, arguments: tuple[Any, ...]) -> Any:
        return [Extraction(cell.cell_id) for cell in arguments[0]]

    member = _Fake("a", extract)
    cells = [CellInput(CellId(f"c{number}"), (), None) for number in range(40)]
    found = await PooledExtractor(_pool(member), "ann").extract(cells)
    assert [each.cell_id for each in found] == [cell.cell_id for cell in cells]
    assert member.calls == 3


async def test_pooled_embedder() -> None:
    """Vectors come back in order and writable; few texts are urgent, many are not; none is no call."""
    urgent: list[bool] = []

    async def embed(method: str, arguments: tuple[Any, ...]) -> Any:
        if method == "fingerprint":
            return TinyEmbedder.fingerprint
        urgent.append(arguments[2])
        return await TinyEmbedder().embed(arguments[0])

    embedder = await PooledEmbedder.open(_pool(_Fake("a", embed)), "ann")
    texts = [f"text {number}" for number in range(300)]
    np.testing.assert_array_equal(await TinyEmbedder().embed(texts), await embedder.embed(texts))
    assert (await embedder.embed(["question"])).shape == (1, 8)
    assert (await embedder.embed([])).shape == (0, 8)
    assert urgent == [False, False, True]


async def test_pooled_summarizer() -> None:
    """It shows what its member says it is."""

    async def card(_: str, __: tuple[Any, ...]) -> Any:
        return "model-1", "model"

    summarizer = await PooledSummarizer.open(_pool(_Fake("a", card)), "ann")
    assert (summarizer.model, summarizer.source) == ("model-1", "model")


async def test_an_answer_is_heard_while_it_is_written() -> None:
    """From a member that lives; one that is lost half way is not replaced, since its words were heard."""
    pool = _pool(_Fake("a", _echo, dead=True), _Fake("b", _echo))
    chat = PooledChat(pool, "ann", "m")
    words: Any = ["bees", "on", "roofs"]
    assert [piece async for piece in chat.stream(words)] == [*words, Usage(calls=1)]
    broken: Any = ["bees", "die"]
    heard: list[Any] = []
    with pytest.raises(ClusterUnavailable, match="died while it answered"):
        await _hear(chat, broken, heard)
    assert heard == ["bees"]


async def _hear(chat: PooledChat, request: Any, heard: list[Any]) -> None:
    async for piece in chat.stream(request):
        heard.append(piece)  # noqa: PERF401 - what was heard before it broke off counts


async def test_pooled_judge_and_chat() -> None:
    """A forest's calls carry its name; judgements come back in order, batch by batch."""
    seen: list[tuple[str, str]] = []

    async def gateway(method: str, arguments: tuple[Any, ...]) -> Any:
        seen.append((method, arguments[1]))
        kind = {"judge": Judgement, "chat": ChatReply}[method]
        return [kind(None, failure=str(item)) for item in arguments[0]]

    pool = _pool(_Fake("a", gateway))
    questions: list[Any] = list(range(70))
    judged = await PooledJudge(pool, "ann", "m").judge(questions)
    assert [each.failure for each in judged] == [str(number) for number in range(70)]
    requests: list[Any] = ["q"]
    assert [each.failure for each in await PooledChat(pool, "ann", "m").chat(requests)] == ["q"]
    assert seen == [("judge", "ann"), ("judge", "ann"), ("chat", "ann")]


def test_a_gateway_serves_what_has_an_endpoint() -> None:
    """Nothing without one; chat roles and vectors each by itself; a component of one's own stays where it is."""
    own = {"extractor": "extractor", "summarizer": "summarizer", "embedder": "embedder"}
    chat = {"extractor": "gateway", "summarizer": "gateway", "embedder": "embedder"}
    urls = ("http://localhost:1/v1",)
    assert OFFLINE.served(Settings(llm_urls=())) == own
    assert OFFLINE.served(Settings(llm_urls=urls)) == chat
    assert OFFLINE.served(Settings(llm_urls=urls, embed_model="e")) == {**chat, "embedder": "vectors"}
    assert OFFLINE.served(Settings(llm_urls=(), embed_urls=urls)) == {**own, "embedder": "vectors"}
    mine = Components(extractor="mine:extractor")
    assert mine.served(Settings(llm_urls=urls)) == {**chat, "extractor": "extractor"}


class _Silent:
    """A member on a node that is gone, before the cluster has noticed: neither answers nor fails."""

    name = "silent"

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        await asyncio.get_running_loop().create_future()

    async def tell(self, on_text: Any, method: str, *arguments: Any, timeout_s: float) -> Any:
        await asyncio.get_running_loop().create_future()

    async def pid(self, within_s: float) -> int | None:
        return None


class _Slow(_Silent):
    """A member that works for long, and answers pings meanwhile."""

    name = "slow"

    def __init__(self) -> None:
        self.pinged = 0
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def call(self, method: str, *arguments: Any, timeout_s: float) -> Any:
        return await self.answer

    async def pid(self, within_s: float) -> int | None:
        self.pinged += 1
        if self.pinged == 5:
            self.answer.set_result("done")
        return 1


QUICK_SILENCE = Patience(silence_s=0.01, retry_first_s=0.01, retry_last_s=0.01)


async def _never() -> Any:
    raise Gone("it stays away")


async def test_a_silent_member_is_left_for_another() -> None:
    """Its work is done elsewhere soon, and it sits out; the cluster itself would tell much later."""
    quick = _Slow()
    quick.answer.set_result("elsewhere")
    pool = Pool("extractor", [(_Silent(), _never), (quick, _never)], SeededRandom(1), QUICK_SILENCE)
    assert await pool.call("work") == "elsewhere"
    assert pool.sound == 1


async def test_a_slow_member_is_waited_for() -> None:
    """As long as it answers pings, however long its work takes."""
    slow = _Slow()
    pool = Pool("extractor", [(slow, _never), (_Silent(), _never)], SeededRandom(1), QUICK_SILENCE)
    assert await pool.call("work") == "done"
    assert slow.pinged == 5
