"""What `ask` answers offline, on invented memories: friends, families, teams, a user and an assistant. Run by hand:

    python tests/benchmarks/answers.py [FILE ...] [--list]

Each question has one verdict, by the answer's first quotation. A question whose evidence is not there must be refused.
The rules were made with the memories of `development.txt` at hand; those of `unseen.txt` were only counted.
`--list` prints every question that is not right.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import memforest_ray as mf

_FOLDER: Final = Path(__file__).with_name("memories")
_ROLES: Final = {"U": "user", "A": "assistant"}
_QUESTION: Final = re.compile(r"\? (?P<text>.+?) (?:\[(?P<filters>[^\]]+)\] )?=> (?P<expected>.+)")
_VERDICTS: Final = ("right", "right, not first", "wrong", "refused", "answered though not there")


@dataclass(slots=True)
class _Question:
    text: str
    filters: dict[str, Any]
    expected: str | None
    """What the first quotation must match; None where nothing answers the question."""

    def verdict(self, answer: mf.Answer) -> str:
        if self.expected is None:
            return "answered though not there" if answer.found else "right"
        if not answer.found:
            return "refused"
        if re.search(self.expected, _first(answer.text), re.IGNORECASE | re.DOTALL):
            return "right"
        later = re.search(self.expected, answer.text, re.IGNORECASE | re.DOTALL)
        return "right, not first" if later else "wrong"


@dataclass(slots=True)
class _Memory:
    name: str
    sessions: list[mf.Session] = field(default_factory=list)
    questions: list[_Question] = field(default_factory=list)


def _first(text: str) -> str:
    """What was computed, if anything, and the first quotation: up to the first line with a source."""
    lines = text.splitlines()
    end = next((place for place, line in enumerate(lines, start=1) if line.rstrip().endswith("]")), len(lines))
    return "\n".join(lines[:end])


def memories(path: Path) -> Iterator[_Memory]:
    """The memories of the file, with their questions."""
    held: _Memory | None = None
    turns: list[mf.Turn] = []
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            if held is not None:
                yield held
            held = _Memory(line.removeprefix("== "))
        elif held is None or not line:
            continue
        elif line.startswith("@ "):
            name, time, *zone = line.removeprefix("@ ").split()
            turns = []
            time_known = None if time == "-" else time
            held.sessions.append(mf.Session(id=name, time=time_known, zone=zone[0] if zone else None, turns=turns))
        elif asked := _QUESTION.fullmatch(line):
            filters = dict(each.split("=", 1) for each in (asked["filters"] or "").split())
            expected = None if asked["expected"] == "-" else asked["expected"]
            held.questions.append(_Question(asked["text"], filters, expected))
        else:
            speaker, text = line.split(": ", 1)
            turns.append(mf.Turn(text, role=_ROLES[speaker]) if speaker in _ROLES else mf.Turn(text, speaker=speaker))
    if held is not None:
        yield held


def verdicts(path: Path, listing: bool) -> Counter[tuple[bool, str]]:
    """Ingest each memory of a file as a user of its own and ask all its questions: has an answer, verdict -> count."""
    found: Counter[tuple[bool, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder, mf.connect(store=f"file://{folder}", runtime="local") as client:
        for number, memory in enumerate(memories(path)):
            user = client.user(f"memory-{number}")
            for session in memory.sessions:
                user.ingest(session)
            for question in memory.questions:
                answer = user.ask(question.text, **question.filters)
                verdict = question.verdict(answer)
                found[question.expected is not None, verdict] += 1
                if listing and verdict != "right":
                    print(f"{verdict}: {memory.name}: {question.text} => {question.expected}")
                    print("    " + answer.text.replace("\n", "\n    "))
    return found


def main() -> None:
    """Print the verdicts on each file."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", type=Path, help="memories, written as those beside this")
    arguments.add_argument("--list", action="store_true", help="print every question that is not right")
    given = arguments.parse_args()
    rows = []
    for path in given.files or sorted(_FOLDER.glob("*.txt")):
        found = verdicts(path, given.list)
        for answered, row in ((True, "has an answer"), (False, "has none")):
            rows.append(
                f"| {path.stem}: {row} | " + " | ".join(str(found[answered, each]) for each in _VERDICTS) + " |"
            )
    print("| | " + " | ".join(_VERDICTS) + " |\n|---|" + "---|" * len(_VERDICTS), *rows, sep="\n")


if __name__ == "__main__":
    main()
