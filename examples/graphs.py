"""Graphs over vectors: built beside the work, kept in the store, taken from it when the memory is opened again.

    python examples/graphs.py

A memory has them from 16,384 facts on, a tree in it from 4,096 leaves on; below that a scan is as fast. Here both
begin with 256, so that a small memory shows what becomes of them. Nothing waits for a graph: until one is there, and
should one be damaged, vectors are scanned.
"""

import itertools
import tempfile
import time

import memforest_ray as mf

THINGS = ("lamp", "canoe", "kite", "clock", "stove", "map", "drum", "chair", "vase", "ladder", "bench", "tent")
PLACES = ("Davis", "Oslo", "Lima", "Kyoto", "Graz", "Perth", "Accra", "Riga")
DEEDS = ("bought", "sold", "painted", "repaired", "borrowed", "lost")
SETTINGS = {"graph_rows_min": 256, "forest_graph_rows_min": 256}


def sessions() -> list[mf.Session]:
    """576 things that Bob did, 48 a month."""
    told = [
        mf.Turn(speaker="Bob", text=f"I {deed} a {thing} in {place}.")
        for deed, thing, place in itertools.product(DEEDS, THINGS, PLACES)
    ]
    return [
        mf.Session(
            id=f"month-{month + 1}",
            turns=told[48 * month : 48 * (month + 1)],
            time=f"2024-{month + 1:02d}-01T10:00:00Z",
        )
        for month in range(12)
    ]


def settled(memory: mf.User, least: int) -> str:
    """What has become of the graphs, once so many are there."""
    graphs = memory.stats()["graphs"]
    while graphs["built"] + graphs["reused"] < least:
        time.sleep(0.05)  # noqa: TID251 - they are built beside, and tell nobody
        graphs = memory.stats()["graphs"]
    return f"{graphs['built']} graphs built, {graphs['reused']} reused, {graphs['damaged']} damaged"


def main() -> None:
    """Two lives of one memory."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{folder}"
        with mf.connect(store=store, runtime="local", **SETTINGS) as client:
            bob = client.user("bob")
            bob.ingest_many(sessions())
            print("after the ingest:", settled(bob, 3))
        with mf.connect(store=store, runtime="local", **SETTINGS) as client:
            bob = client.user("bob")
            print("opened again:    ", settled(bob, 3))
            started = time.perf_counter()
            for hit in bob.query("Where did Bob repair the canoe?", k=3):
                print(f"  {hit.score:.3f}  {hit.text}")
            print(f"  in {(time.perf_counter() - started) * 1000:.0f} ms, the question's embedding included")


if __name__ == "__main__":
    main()
