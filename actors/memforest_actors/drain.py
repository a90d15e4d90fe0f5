"""Empties a node before it is taken away: Ray places nothing new there, its forests checkpoint and leave.

`python -m memforest_actors.drain`, on the node, from a pod's preStop hook or by hand; `--everywhere` empties the whole
cluster before it is stopped. Without it nothing is lost either: the next call finds each forest in the store, only
with more of its log to replay.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from memforest_actors.environment import address_given, prepare_driver
from memforest_actors.options import FOREST_PREFIX, NAMESPACE

__all__ = ["drain", "main", "parser"]

WITHIN_S = 120.0


async def drain(node_id: str, within_s: float) -> int:
    """Close a node to new forests and have those there leave. How many left. Ray is connected. Raises Gone."""
    from memforest_actors import calls, refs  # noqa: PLC0415 - they import Ray, so only once it is prepared

    await refs.close_node(node_id, "its forests are asked to leave")
    return await calls.retire_node(node_id, within_s)


def parser() -> argparse.ArgumentParser:
    """What the program may be told."""
    made = argparse.ArgumentParser(prog="python -m memforest_actors.drain", description="Empty this node.")
    made.add_argument("--within", type=float, default=WITHIN_S, metavar="SECONDS", help="longest to wait (120)")
    made.add_argument("--everywhere", action="store_true", help="the forests of every node; none is closed")
    return made


def main(arguments: Sequence[str]) -> int:
    """Drain this node, or every node. The exit code."""
    given = parser().parse_args(arguments)
    prepare_driver(None)
    import ray  # noqa: PLC0415 - reads its environment when it is imported

    ray.init(address=address_given() or "auto", namespace=NAMESPACE, log_to_driver=False)
    from memforest_actors import calls, refs  # noqa: PLC0415 - as above

    if given.everywhere:
        asyncio.run(calls.retire_all(FOREST_PREFIX, given.within))
        sys.stdout.write("the cluster's forests have left\n")
    else:
        left = asyncio.run(drain(refs.whereabouts().node_id, given.within))
        sys.stdout.write(f"{left} forests have left this node\n")
    ray.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
