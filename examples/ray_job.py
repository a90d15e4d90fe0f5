"""Many users at once on a Ray cluster: handles travel into tasks, each user's forest is an actor of its own.

    ray job submit --address http://127.0.0.1:8265 --working-dir examples \
        -- python ray_job.py --store s3://my-bucket/memories

The cluster's nodes have memforest-ray installed, and can all reach the store.
It also runs by itself: `python examples/ray_job.py`.
"""

import argparse
import sys

import ray

import memforest_ray as mf

PEOPLE = ("Ada", "Bela", "Chidi", "Dana")
CITIES = ("Turin", "Szeged", "Enugu", "Haifa")


@ray.remote
def remember(memory: mf.User, name: str, city: str) -> int:
    """Ingest in a worker; a handle holds an id and settings, so it pickles. The version written."""
    turns = [mf.Turn(speaker=name, text=f"I live in {city} and I walk to work.")]
    return memory.ingest(mf.Session(id="hello", time="2024-05-01", turns=turns)).version


def main(arguments: list[str]) -> None:
    """One task per person writes; then each is asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--store", default=None, help="URL of the store; MEMFOREST_STORE unless given")
    given = parser.parse_args(arguments)
    with mf.connect(store=given.store) as client:
        handles = {name: client.user(f"example/{name}") for name in PEOPLE}
        work = [remember.remote(handles[name], name, city) for name, city in zip(PEOPLE, CITIES, strict=True)]
        versions = ray.get(work)
        for (name, memory), version in zip(handles.items(), versions, strict=True):
            print(f"{name} (version {version}): {memory.ask(f'Where does {name} live?').text}")


if __name__ == "__main__":
    main(sys.argv[1:])
