"""A Ray head with its dashboard, as an operator's cluster has one: `python -m tests.cluster.dashboard FOLDER`.

Tells its addresses as one line of JSON, and ends when its stdin does. All its ports are free ones.
"""

import json
import sys

from ray.cluster_utils import Cluster

OBJECT_STORE_BYTES = 100 << 20


def main(folder: str) -> None:
    """Keep the head until nobody holds the other end of stdin."""
    cluster = Cluster()
    cluster.add_node(
        num_cpus=2,
        include_dashboard=True,
        dashboard_host="127.0.0.1",
        dashboard_port=0,
        dashboard_agent_listen_port=None,  # else all heads of a machine want the same
        object_store_memory=OBJECT_STORE_BYTES,
        temp_dir=folder,
    )
    state = {"dashboard": f"http://{cluster.webui_url}", "address": cluster.address}
    sys.stdout.write(json.dumps(state) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    cluster.shutdown()  # type: ignore[no-untyped-call]  # Ray's own signature


if __name__ == "__main__":
    main(sys.argv[1])
