"""One conversation through Ray: 16 sessions in, four questions out, each with its source.

    python examples/quickstart_ray.py

Joins RAY_ADDRESS or the cluster of `memforest up`; else starts Ray here and stops it at the end.
"""

import json
import tempfile
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress
from rich.text import Text

import memforest_ray as mf

FOLDER = Path(__file__).parent
CONVERSATION = FOLDER / "bob.json"
QUESTIONS = FOLDER / "bob_questions.json"

screen = Console(highlight=False)


def ingest(bob: mf.User) -> None:
    """Make the conversation memory; its sessions are not in order, and need not be."""
    (conversation,) = mf.read_conversations(CONVERSATION)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("remembering", total=len(conversation.sessions))
        receipts = bob.ingest_many(conversation.sessions, on_progress=lambda *_: bar.advance(task))
    facts = sum(receipt.facts_added for receipt in receipts)
    screen.print(f"{len(receipts)} sessions are {facts} facts now, version {max(r.version for r in receipts)}")


def when(hit: mf.Hit) -> str:
    """When it was said, and when it is true or happened."""
    said = "at an unknown time" if hit.source_time is None else f"{hit.source_time:%Y-%m-%d}"
    event = hit.event_time
    if event is None:
        return f"said {said}"
    return f'said {said}, happened {event.start:%Y-%m-%d} ({event.precision}, "{event.expression}")'


def evidence(bob: mf.User, question: str) -> Panel:
    """The best piece of evidence: what it says, when, in which turns, and where in the forest it stands."""
    result = bob.query(question, k=1)
    if not result:
        return Panel(result.message, title=Text(question), title_align="left")
    hit = result[0]
    body = Text(hit.text, style="bold green")
    body.append(f"\n{when(hit)}\nturns {', '.join(hit.turn_ids)}", style="not bold default")
    body.append(f"\n{' > '.join((hit.tree, *hit.path))}", style="not bold cyan")
    return Panel(body, title=Text(question), title_align="left")


def main() -> None:
    """Ingest into a store that is gone afterwards, then ask."""
    questions = [item["question"] for item in json.loads(QUESTIONS.read_text("utf-8"))["questions"] if item["demo"]]
    with (
        tempfile.TemporaryDirectory(prefix="memforest-") as folder,
        mf.connect(store=f"file://{folder}") as client,
    ):
        bob = client.user("bob")
        ingest(bob)
        for question in questions:
            screen.print(evidence(bob, question))


if __name__ == "__main__":
    main()
