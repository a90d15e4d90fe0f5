"""`memforest sim-llm`: a model server that only pretends, for tests and for planning."""

import asyncio
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.errors import InvalidInput

if TYPE_CHECKING:  # for speed: `--help` loads neither numpy nor the rules
    from memforest_ray.simulation.server import SimulatedServer

__all__ = ["sim_llm"]

PORT_MAX = 65_535


def sim_llm(
    call: Call,
    *,
    port: Annotated[
        int, typer.Option("--port", "-p", metavar="N", help="The port to listen on; 0 picks a free one.")
    ] = 8808,
    host: Annotated[str, typer.Option("--host", metavar="H", help="The address to listen on.")] = "127.0.0.1",
    latency: Annotated[
        float | None,
        typer.Option("--latency", metavar="S", help="Every chat call takes S seconds, an embedding call a twentieth."),
    ] = None,
    slots: Annotated[
        int, typer.Option("--slots", metavar="P", help="Calls answered at the same time; 0: no limit.")
    ] = 256,
    slower: Annotated[
        float, typer.Option("--slower", metavar="X", help="Be X times as slow as Qwen3-30B-A3B on one H200.")
    ] = 1.0,
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="N", help="Count at least N completion tokens per cell.")
    ] = 0,
    faults: Annotated[
        str,
        typer.Option(
            "--faults",
            metavar="KIND=SHARE,...",
            help="Kinds: 429, 500, reset, truncate, junk, whitespace, silence; or one share for all but silence.",
        ),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The seed of the faults.")] = 0,
) -> int:
    """Run a simulated model server, as slow as a real one.

    It serves the offline backend over OpenAI's protocol. Point MEMFOREST_LLM_URLS at it; /stats counts calls and
    tokens. SIMULATED.
    """
    from memforest_ray.ambient import SystemClock  # noqa: PLC0415 - for speed
    from memforest_ray.simulation.decoding import Speed  # noqa: PLC0415 - for speed
    from memforest_ray.simulation.faults import Faults, parse_rates  # noqa: PLC0415 - for speed
    from memforest_ray.simulation.server import SimulatedServer, Workload  # noqa: PLC0415 - for speed

    if min(slots, tokens, port, latency or 0) < 0 or slower <= 0 or port > PORT_MAX:
        raise InvalidInput(
            f"--port (up to {PORT_MAX}), --latency, --slots and --tokens are 0 or more, --slower is more than 0"
        )
    workload = Workload(latency, slots, tokens, speed=Speed().times(slower))
    server = SimulatedServer(workload, Faults(parse_rates(faults), seed), SystemClock())
    asyncio.run(_serve(call, server, host, port))
    return OK


async def _serve(call: Call, simulated: "SimulatedServer", host: str, port: int) -> None:
    """Listen until the process is told to end."""
    from memforest_ray.simulation.http import HttpServer  # noqa: PLC0415 - for speed

    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    server = HttpServer(simulated.handle)
    try:
        url = await server.start(host, port) + "/v1"
    except OSError as error:
        raise InvalidInput(f"cannot listen on {host}:{port}: {error.strerror or error}; name another --port") from error
    try:
        call.answer(
            {"url": url, "simulated": True},
            lambda screen: screen.print(f"SIMULATED model server at {url}; Ctrl-C ends it", soft_wrap=True),
        )
        await ended.wait()
    finally:
        await server.close()
    call.say(f"simulated calls: {simulated.stats()}")
