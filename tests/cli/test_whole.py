"""The program with the real client on a real store: a conversation in, questions out, something forgotten."""

import json
from pathlib import Path
from typing import Any

import pytest

from memforest_ray import client
from memforest_ray.config import Settings
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.local import LocalRuntime, Models
from memforest_ray.models import offline
from memforest_ray.storage.open import open_store
from memforest_ray.testing.models import HashEmbedder
from memforest_ray.trees.summaries import SelectionSummarizer
from tests.cli.conftest import Program

ROOT = Path(__file__).parents[2]
BOB = ROOT / "examples/bob.json"


def _open(settings: Settings) -> LocalRuntime:
    """Forests in this process, with an embedder that loads nothing."""
    models = Models(RuleExtractor(), SelectionSummarizer(), HashEmbedder())
    return LocalRuntime(settings, open_store(settings.store), models)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store on disk that every run of the program opens anew."""
    monkeypatch.setattr(client, "_open_runtime", _open)
    monkeypatch.setenv("MEMFOREST_STORE", url := f"file://{tmp_path / 'store'}")
    return url


def _turn_ids(found: Any) -> list[str]:
    return [turn for hit in found["hits"] for turn in hit["turn_ids"]]


@pytest.mark.usefixtures("store")
def test_a_conversation_is_remembered_and_part_of_it_forgotten(program: Program) -> None:
    """Each run is a process of its own to the store: what one has written the next one reads."""
    first = program("ingest", str(BOB), "--user", "bob", "--json")
    assert (first.code, first.data["users"][0]["sessions"]) == (0, 16)
    again = program("ingest", str(BOB), "--user", "bob", "--json")
    assert (again.code, again.data["users"][0]["duplicates"]) == (0, 16)
    assert program("users", "--json").data == {"users": ["bob"]}

    question = "What did Biscuit swallow that needed surgery?"
    assert "bob-08#7" in _turn_ids(program("query", "bob", question, "--json").data)
    assert "corn cob" in program("query", "bob", question, "--explain").out
    assert program("ask", "bob", question).code == 0

    cards = program("show", "bob", "--json").data["trees"]
    assert {"session:bob-08", "entity:bob"} <= {card["scope"] for card in cards}
    assert "├── " in program("show", "bob", "session:bob-08").out
    before = program("stats", "bob", "--json").data

    assert program("forget", "bob", "--session", "bob-08").code == 0
    after = program("stats", "bob", "--json").data
    assert (before["sessions"], after["sessions"]) == (16, 15)
    assert "bob-08#7" not in _turn_ids(program("query", "bob", question, "--json").data)
    assert program("forget", "bob", "--session", "bob-08").code == 2
    assert program("forget", "bob", "--everything", "--yes").code == 0
    assert program("users", "--json").data == {"users": []}


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("verb", ["query", "ask"])
def test_a_question_to_nobody_has_an_answer(program: Program, verb: str) -> None:
    """That there is nothing: whoever begins to speak is asked about before anything is known of them."""
    run = program(verb, "nobody", "Where?")
    assert run.code == 0
    assert "nothing is remembered" in run.out
    assert "user 'nobody' has no memory in file://" in run.err


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "command",
    [
        "show nobody", "show nobody entity:bob", "stats nobody", "changes nobody --since 0", "changes nobody --since 7",
        "snapshots nobody",
        "snapshots nobody --delete old", "save nobody old", "restore nobody old", "query nobody Where? --snapshot old",
        "forget nobody --session s1", "forget nobody --fact f1", "forget nobody --origin ann", "correct nobody f1 text",
        "forget nobody --everything --yes", "repair nobody", "resummarise nobody", "rescene nobody", "rebuild nobody",
        "reembed nobody", "export nobody out.memory", "doctor --user nobody --deep", "merge ann nobody", "warm nobody",
    ],
)  # fmt: skip
def test_who_has_no_memory_is_told_in_the_same_words(program: Program, command: str) -> None:
    """By every verb that is about a memory; neither zeros nor what is missing of it."""
    run = program(*command.split())
    assert (run.code, run.out) == (2, "")
    assert "user 'nobody' has no memory in file://" in run.err
    assert "; `memforest users` lists the users who have one\n" in run.err
    assert "nothing was changed" not in run.err


@pytest.mark.usefixtures("store")
def test_options_that_contradict_are_input_errors(program: Program) -> None:
    """What the library refuses is one line and 2, whatever the option."""
    for options in (
        ["--mode", "guess"],
        ["--k", "0"],
        ["--since", "2021-01-01", "--until", "2020-01-01"],
        ["--as-of", "soon"],
    ):
        run = program("query", "bob", "Where?", *options)
        assert (run.code, run.out) == (2, "")
        assert len(run.err.splitlines()) == 1


@pytest.mark.usefixtures("store")
def test_growth_is_added(program: Program, tmp_path: Path) -> None:
    """A file that has grown adds what is new; one that contradicts is a conflict, unless it replaces."""
    turns = [{"text": f"I saw {number} herons on the lake."} for number in range(4)]

    def ingest(turns: list[dict[str, str]], *more: str) -> int:
        path = tmp_path / "birds.json"
        path.write_text(json.dumps({"sessions": [{"id": "lake", "turns": turns}]}), "utf-8")
        return program("ingest", str(path), "--user", "ann", *more).code

    assert ingest(turns[:2]) == 0
    assert ingest(turns) == 0
    assert ingest([{"text": "I saw none."}]) == 2
    assert ingest([{"text": "I saw none."}], "--replace") == 0
    assert program("stats", "ann", "--json").data["turns"] == 1


@pytest.mark.usefixtures("store")
def test_a_memory_is_examined(program: Program) -> None:
    """`doctor --deep` reads all of one memory, and says that it is sound or that there is none."""
    assert program("ingest", str(BOB), "--user", "bob").code == 0
    run = program("doctor", "--user", "bob", "--deep", "--json")
    assert (run.code, run.data["findings"]) == (0, [])
    assert "no problems found" in program("doctor", "--user", "bob", "--deep").out
    assert program("doctor", "--user", "nobody", "--deep").code == 2
    assert program("doctor", "--deep").code == 2


@pytest.mark.usefixtures("store")
def test_a_memory_travels_as_a_file(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `export` writes `import` makes another user's memory; neither overwrites, and each is done once."""
    monkeypatch.setattr(offline, "OnnxEmbedder", lambda *_args, **_options: HashEmbedder())
    assert program("ingest", str(BOB), "--user", "bob").code == 0
    path = str(tmp_path / "bob.memory")
    assert program("export", "bob", path).code == 0
    assert program("export", "bob", path).code == 0
    taken = program("export", "bob", str(BOB))
    assert (taken.code, f"{BOB} exists and holds something else; it was kept" in taken.err) == (2, True)
    first = program("import", path, "--user", "rob", "--json").data
    assert (first["sessions"], first["duplicate"]) == (16, False)
    assert {**first, "duplicate": True} == program("import", path, "--user", "rob", "--json").data
    assert "they came from this file before" in program("import", path, "--user", "rob").out
    assert program("import", path, "--user", "bob").code == 2
    assert program("stats", "rob", "--json").data["facts"] == program("stats", "bob", "--json").data["facts"]
    assert program("doctor", "--user", "rob", "--deep").code == 0
    foreign = program("import", str(BOB), "--user", "eve")
    assert (foreign.code, f"memforest ingest {BOB} --user eve" in foreign.err) == (2, True)
    chat = program("ingest", path, "--user", "eve")
    assert (chat.code, f"memforest import {path} --user eve" in chat.err) == (2, True)
    cut = tmp_path / "cut.memory"
    cut.write_bytes(Path(path).read_bytes()[:1_000])
    assert f"the file {cut} cannot be used" in program("import", str(cut), "--user", "eve").err
    assert program("export", "nobody", str(tmp_path / "x")).code == 2
