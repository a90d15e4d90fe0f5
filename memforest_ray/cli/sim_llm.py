"""`memforest sim-llm`: a model server that only pretends, for tests and for planning."""

from typing import TYPE_CHECKING, Annotated

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.failures import OK
from memforest_ray.errors import InvalidInput

if TYPE_CHECKING:
    from memforest_ray.simulation.server import SimulatedServer

__all__ = ["sim_llm"]

PORT_MAX = 65_535


def sim_llm(
    call: Call,
    *,
    port: Annotated[
        int,
        typer.Option(
            "--port", "-p", metavar="N", min=0, max=PORT_MAX, help="The port to listen on; 0 picks a free one."
        ),
    ] = 8808,
    host: Annotated[str, typer.Option("--host", metavar="H", help="The address to listen on.")] = "127.0.0.1",
    latency: Annotated[
        float | None,
        typer.Option(
            "--latency", metavar="S", min=0, help="Every chat call takes S seconds, an embedding call a twentieth."
        ),
    ] = None,
    slots: Annotated[
        int, typer.Option("--slots", metavar="P", min=0, help="Calls answered at the same time; 0: no limit.")
    ] = 256,
    slower: Annotated[
        float, typer.Option("--slower", metavar="X", help="Be X times as slow as Qwen3-30B-A3B on one H200.")
    ] = 1.0,
    tokens_min: Annotated[
        int,
        typer.Option(
            "--tokens-min", "--tokens", metavar="N", min=0, help="Count at least N completion tokens per cell."
        ),
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
    import asyncio

    from memforest_ray.ambient import SystemClock
    from memforest_ray.simulation.decoding import Speed
    from memforest_ray.simulation.faults import Faults, parse_rates
    from memforest_ray.simulation.server import SimulatedServer, Workload

    if slower <= 0:
        raise InvalidInput(f"--slower must be more than 0, not {slower:g}")
    workload = Workload(latency, slots, tokens_min, speed=Speed().times(slower))
    server = SimulatedServer(workload, Faults(parse_rates(faults), seed), SystemClock())
    asyncio.run(_serve(call, server, host, port))
    return OK


async def _serve(call: Call, simulated: "SimulatedServer", host: str, port: int) -> None:
    """Listen until the process is told to end."""
    import asyncio
    import signal

    from memforest_ray.simulation.http import HttpServer

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
