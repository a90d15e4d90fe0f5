"""Memory in this process: no Ray, no network, no model server.

python examples/quickstart_local.py
"""

import memforest_ray as mf

SESSIONS = [
    mf.Session(
        id="spring",
        time="2023-04-15T16:45:00Z",
        turns=[
            mf.Turn(speaker="Bob", text="I moved from Boston to Davis in August 2020."),
            mf.Turn(speaker="Maya", text="The town with the bicycles and the fig tree."),
        ],
    ),
    mf.Session(
        id="winter",  # told later or earlier: the order in which sessions arrive does not matter
        time="2022-03-05T15:35:00Z",
        turns=[
            mf.Turn(speaker="Bob", text="I moved to Miami last month."),
            mf.Turn(speaker="Maya", text="I have lived in Boston all my life."),
        ],
    ),
]


def main() -> None:
    """Two sessions in, one question out."""
    with mf.connect(store="memory://quickstart", runtime="local") as client:
        bob = client.user("bob")
        for receipt in bob.ingest_many(SESSIONS):
            print(f"version {receipt.version}: {receipt.cells} cells, {receipt.facts_added} new facts")

        for hit in bob.query("Where did Bob live before moving to Miami?", k=3):
            happened = (
                f", happened {hit.event_time.start:%Y-%m} ({hit.event_time.expression})" if hit.event_time else ""
            )
            print(f"{hit.score:.2f}  {hit.text}  (said {hit.source_time:%Y-%m-%d}{happened})")

        print(bob.ask("Where did Bob live before moving to Miami?").text)


if __name__ == "__main__":
    main()
