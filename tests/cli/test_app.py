"""The program as a whole: help, usage, shared options, errors, streams."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer

from memforest_ray import errors
from memforest_ray.cli import app, cluster
from memforest_ray.facts.readers import FORMATS
from tests.cli.conftest import FakeClient, Program

ROOT = Path(__file__).parents[2]
HEAVY = ("ray", "asyncio", "numpy", "rich", "onnxruntime", "tokenizers", "obstore", "memforest_actors")


def _start(code: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that runs `code`."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "actors")])
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_help_is_light() -> None:
    """`memforest --help` loads nothing that it does not show."""
    code = (
        "import sys\nfrom memforest_ray.cli import main\ntry: main()\nfinally: "
        f"sys.stderr.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = _start(code, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ingest" in done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["query", "--help"], []])
def test_help_goes_to_stdout(program: Program, arguments: list[str]) -> None:
    """Help was asked for, so it is the output; no verb is a question about the verbs."""
    run = program(*arguments)
    assert (run.code, run.err) == (0, "")
    assert "Usage: memforest" in run.out


def test_exit_codes_are_documented(program: Program) -> None:
    """What a script can rely on stands in the help."""
    assert "Exit codes: 0 ok, 2 usage or input, 3 partial" in " ".join(program("--help").out.split())


def test_help_says_how_to_begin(program: Program) -> None:
    """Two commands that work as they stand, once there is a chat."""
    lines = [line.strip() for line in program("--help").out.splitlines()]
    begin = lines.index("To begin with:")
    assert lines[begin + 1 : begin + 3] == [
        "memforest ingest chat.json --user alice",
        'memforest query alice "Where does Bob live now?"',
    ]


def test_version(program: Program) -> None:
    """The program names itself."""
    run = program("--version")
    assert run.code == 0
    assert run.out.startswith("memforest ")
    assert f"memforest {program('--version', '--json').data['version']}\n" == run.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nosuch"],
        ["query", "bob", "Where?", "--nosuch"],
        ["query"],
        ["query", "b", "t", "--k", "x"],
        ["ingest", "x", "--user", "b", "--wait", "long"],
    ],
)
def test_bad_usage_is_one_line(program: Program, fake: FakeClient, arguments: list[str]) -> None:
    """Unknown verbs and options, missing and malformed arguments: 2, one line, nothing on stdout."""
    run = program(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("memforest: ")
    assert len(run.err.splitlines()) == 1
    assert "--help`" in run.err
    assert "Value error" not in run.err


@pytest.mark.parametrize("arguments", [["--json", "nosuch"], ["query", "--json"], ["ingest", "x.json", "--json"]])
def test_bad_usage_gives_a_script_its_object(program: Program, fake: FakeClient, arguments: list[str]) -> None:
    """With `--json` there is exactly one JSON object on stdout, whatever went wrong."""
    run = program(*arguments)
    assert (run.code, run.data["error"]["kind"]) == (2, "usage")
    assert run.err == f"memforest: {run.data['error']['message']}\n"


def test_an_error_keeps_its_kind(program: Program, fake: FakeClient) -> None:
    """Details of an error stand beside its kind and message, not in their place."""
    fake.answers["stats"] = errors.InvalidInput("no such store", kind="nope", url="nope://x")
    error = program("stats", "bob", "--json").data["error"]
    assert error == {"kind": "invalid_input", "message": "no such store", "url": "nope://x"}


def test_an_empty_option_is_not_a_missing_one(program: Program, fake: FakeClient) -> None:
    """`--store "$UNSET"` must not fall back to another store in silence."""
    fake.answers["users"] = []
    program("--store", "file:///nowhere/a", "users", "--store", "")
    assert fake.settings == {"store": ""}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--store", "file:///nowhere/a", "--runtime", "local", "--json", "users"],
        ["users", "--store", "file:///nowhere/a", "--runtime", "local", "--json"],
        ["--store", "file:///nowhere/other", "--runtime", "local", "users", "--store", "file:///nowhere/a", "--json"],
    ],
)
def test_shared_options_stand_anywhere(program: Program, fake: FakeClient, arguments: list[str]) -> None:
    """Before the verb or after it; the later one wins."""
    fake.answers["users"] = ["bob"]
    run = program(*arguments)
    assert run.data == {"users": ["bob"]}
    assert fake.settings == {"store": "file:///nowhere/a", "runtime": "local"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidInput("x"), 2),
        (errors.SessionConflict("x"), 2),
        (errors.NotFound("x"), 2),
        (errors.EmbeddingMismatch("x"), 2),
        (errors.VersionGone("x"), 2),
        (errors.Overloaded("x", retry_after=2), 4),
        (errors.LLMUnavailable("x"), 4),
        (errors.Fenced("x"), 4),
        (errors.Passivating("x"), 4),
        (errors.OutcomeUnknown("x", op_id="o"), 4),
        (errors.StoreUnavailable("x"), 4),
        (errors.ClusterUnavailable("x"), 4),
        (errors.CorruptState("x"), 4),
    ],
)
def test_every_error_has_a_code_and_three_parts(
    program: Program, fake: FakeClient, error: errors.MemForestError, code: int
) -> None:
    """What happened; what was kept; what to do. Never a traceback."""
    fake.answers["forget"] = error
    run = program("forget", "bob", "--session", "s1", "--json")
    assert code == run.code
    assert len(run.err.split("; ")) == 3
    assert run.err.startswith("memforest: x; ")
    assert error.kind == run.data["error"]["kind"]


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("it broke; nothing was changed", "it broke; nothing was changed; correct the command and run it again"),
        ("it broke; all is kept; do that.", "it broke; all is kept; do that"),
        ("two\nlines", "two lines; nothing was changed; correct the command and run it again"),
        ("no mode 'x'; known: embed, flat", "no mode 'x'; known: embed, flat; nothing was changed"),
        ("it broke. Nothing was changed; do that", "it broke. Nothing was changed; do that"),
        ("all is kept; wait, or pass replace=True.", "all is kept; wait, or give --replace"),
    ],
)
def test_a_message_is_completed_not_repeated(program: Program, fake: FakeClient, message: str, line: str) -> None:
    """Parts that a message has are left to it; names of the Python interface become the program's."""
    fake.answers["forget"] = errors.InvalidInput(message)
    assert f"memforest: {line}\n" == program("forget", "bob", "--session", "s1").err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.InvalidInput("it broke; nothing was changed"), "it broke; correct the command and run it again"),
        (errors.InvalidInput("unknown x; nothing was done; known: y"), "unknown x; known: y"),
        (errors.InvalidInput("as_of: no time"), "--as-of: no time; correct the command and run it again"),
        (errors.InvalidInput("turn 3, time: no; do that"), "turn 3, time: no; do that"),
        (errors.CorruptState("it is cut"), "it is cut; restore the named object from a copy of the store"),
        (errors.Overloaded("full"), "full; wait a little, then run the same command again"),
    ],
)
def test_of_what_only_reads_nobody_hears_that_nothing_was_changed(
    program: Program, fake: FakeClient, error: errors.MemForestError, line: str
) -> None:
    """It never changes anything."""
    fake.answers["stats"] = error
    assert f"memforest: {line}\n" == program("stats", "bob").err
    assert "nothing was changed" not in program("query", "bob").err
    assert "nothing was changed" in program("forget").err


@pytest.mark.parametrize(
    ("variable", "hint"),
    [("MEMFOREST_STOER", "did you mean 'MEMFOREST_STORE'?"), ("MEMFOREST_QQQQQ", "known: MEMFOREST_ADDRESS, ")],
)
def test_a_misspelt_variable_is_corrected(
    program: Program, fake: FakeClient, monkeypatch: pytest.MonkeyPatch, variable: str, hint: str
) -> None:
    """By the setting it is most like; if there is none, by all."""
    fake.answers["users"] = []
    monkeypatch.setenv(variable, "1")
    run = program("users")
    assert run.code == 2
    assert f"unknown environment variable {variable}; {hint}" in run.err


@pytest.mark.parametrize(
    ("what", "advice"),
    [
        ("user", "`memforest users` lists the users who have one"),
        ("session", "`memforest show 'Bob B'` lists the sessions"),
        ("turn", "`memforest query 'Bob B' TEXT` shows the ids of turns"),
        ("fact", "`memforest query 'Bob B' TEXT` shows the ids of facts"),
        ("tree", "`memforest show 'Bob B'` lists the trees"),
        ("snapshot", "`memforest snapshots 'Bob B'` lists the snapshots"),
        ("origin", "a merged one is named <its user>/<its id>"),
        (None, "correct the name and run it again"),
    ],
)
def test_what_was_not_found_is_to_be_looked_up(
    program: Program, fake: FakeClient, what: errors.What | None, advice: str
) -> None:
    """With the one command that lists such things, ready to be run."""
    fake.answers["forget"] = errors.NotFound("there is no such thing; `trees()` lists the trees", what=what)
    run = program("forget", "Bob B", "--session", "s1")
    none, nothing = "user 'Bob B' has no memory in file://", "there is no such thing; nothing was changed; "
    found = none if what == "user" else nothing
    assert run.err.startswith(f"memforest: {found}")
    assert run.err.count("`memforest") <= 1
    assert advice in run.err


def test_a_user_without_a_memory_is_named() -> None:
    """In the message and for programs, which learn what was not found; pickled as well."""
    error = pickle.loads(pickle.dumps(errors.NotFound.memory("bob")))
    assert str(error) == "user 'bob' has no memory; nothing was changed"
    assert (error.what, error.detail) == ("user", {"what": "user", "user": "bob"})


def test_a_store_that_fails_on_leaving_is_told_and_no_failure(program: Program, fake: FakeClient) -> None:
    """What the verb did stands; where the verb has failed, too, that is what is told."""
    fake.answers |= {"users": ["ann"], "close": errors.StoreUnavailable("no space: no checkpoint; all is kept")}
    run = program("users", "--json")
    assert (run.code, run.data, run.err) == (0, {"users": ["ann"]}, "memforest: no space: no checkpoint; all is kept\n")
    fake.answers["users"] = errors.CorruptState("it is damaged; all is kept; restore it")
    run = program("users")
    assert (run.code, run.err) == (4, "memforest: it is damaged; all is kept; restore it\n")


def test_an_interrupt_ends_with_130(program: Program, fake: FakeClient) -> None:
    """Ctrl-C in a verb says that what was acknowledged is kept."""
    fake.answers["stats"] = KeyboardInterrupt()
    run = program("stats", "bob")
    assert run.code == 130
    assert "memforest: interrupted; what was acknowledged is kept" in run.err


def test_an_interrupt_while_it_loads_is_no_traceback() -> None:
    """Most of a short command's life is imports; nothing is half done then."""
    code = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from memforest_ray.cli import main; main()"
    )
    done = _start(code, "stats", "bob")
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "memforest: interrupted; what was acknowledged is kept; run it again to go on\n"


def test_an_interrupt_while_it_leaves_is_no_traceback() -> None:
    """All is said and durable then: the process just ends. Unless whoever started it wants interrupts ignored."""
    code = (
        "import signal, sys\nfrom memforest_ray.cli import main\n"
        "if sys.argv.pop() == 'ignored': signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "try: main()\nfinally: print(signal.getsignal(signal.SIGINT).name)"
    )
    assert _start(code, "--version", "handled").stdout.splitlines()[-1] == "SIG_DFL"
    assert _start(code, "--version", "ignored").stdout.splitlines()[-1] == "SIG_IGN"


def test_an_interrupt_while_words_are_read(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a verb has begun, too, a person gets a line and a script its object."""
    monkeypatch.setattr(type(app._command()), "make_context", _interrupted)
    run = program("stats", "bob", "--json")
    assert (run.code, run.data["error"]["kind"]) == (130, "interrupted")
    assert "interrupted; what was acknowledged is kept" in run.err


def test_an_interrupted_write_can_be_asked_for_again(program: Program, fake: FakeClient) -> None:
    """Its id is told, the one given or one that was drawn: by it the program learns what became of it."""
    fake.answers["stats"] = KeyboardInterrupt()
    fake.user("bob").forget = _interrupted  # type: ignore[method-assign]
    named = program("forget", "bob", "--session", "s1", "--op-id", "mine", "--json")
    assert (named.code, named.data["error"]["op_id"]) == (130, "mine")
    drawn = program("forget", "bob", "--session", "s1", "--json")
    assert f"run it again with --op-id {drawn.data['error']['op_id']}: it goes on" in drawn.err
    assert "op_id" not in program("stats", "bob", "--json").data["error"]


def _interrupted(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


def test_an_unknown_outcome_is_asked_for_again_under_its_id(program: Program, fake: FakeClient) -> None:
    """Where a verb takes an id it is named; where it takes none the same command is enough."""
    late = (
        "forget had no answer within 5 s; it may or may not have been done; make the same call again with "
        "op_id='x': it is done only once"
    )
    fake.answers["stats"] = errors.OutcomeUnknown(late, op_id="x")

    def forget(**_: object) -> NoReturn:
        raise errors.OutcomeUnknown(late, op_id="x")

    fake.user("bob").forget = forget  # type: ignore[method-assign]
    run = program("forget", "bob", "--session", "s1", "--op-id", "x")
    assert (run.code, "run the same command again with --op-id x: it is done only once" in run.err) == (4, True)
    assert "; run the same command again: it is done only once" in program("stats", "bob").err


def test_any_text_can_be_printed(program: Program, fake: FakeClient) -> None:
    """Ids of any script, and what no encoding knows, for people and for scripts."""
    fake.answers["users"] = ["王强", "अनिल", "🦊", "bad\ud800", "a\x07b"]
    assert program("users").out.splitlines() == ["王强", "अनिल", "🦊", "bad?", "a b"]
    assert fake.answers["users"] == program("users", "--json").data["users"]


def test_a_store_that_ends_with_the_command_is_refused(program: Program, fake: FakeClient) -> None:
    """What a command writes must be there for the next one."""
    run = program("users", "--store", "memory://a", "--runtime", "local")
    assert (run.code, fake.asked) == (2, [])
    assert "memory://a lasts as long as one process" in run.err


def test_up_and_down_ask_the_runtime(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime's own module starts and stops a cluster; the library knows no Ray."""
    monkeypatch.setattr(cluster, "_ray_runtime", lambda: Ray)
    assert program("up", "--json").data == {"address": "127.0.0.1:1", "pid": 7, "started": True}
    assert "Ray at 127.0.0.1:1 (process 7) is up and warm" in program("up").out
    assert program("down", "--json").data == {"stopped": True, "address": "127.0.0.1:1", "pid": 7}
    assert "is stopped; memories stay in the store" in program("down").out


class Ray:
    """The two functions that the runtime's module offers."""

    @staticmethod
    def up(_settings: object) -> dict[str, object]:
        return {"address": "127.0.0.1:1", "pid": 7, "started": True}

    @staticmethod
    def down() -> dict[str, object]:
        return {"stopped": True, "address": "127.0.0.1:1", "pid": 7}


@pytest.mark.parametrize("verb", [function.__name__.rstrip("_").replace("_", "-") for function in app.VERBS])
def test_the_help_of_every_verb_fits_on_a_terminal(
    program: Program, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """80 columns; each option and argument is explained."""
    monkeypatch.setenv("COLUMNS", "80")
    run = program(verb, "--help")
    assert (run.code, run.err) == (0, "")
    assert max(map(len, run.out.splitlines())) <= 80
    commands: Any = typer.main.get_command(app.app)
    assert [item.name for item in commands.commands[verb].params if not item.help] == []


@pytest.mark.parametrize("verb", ["ingest", "load", "estimate"])
def test_the_formats_are_named(program: Program, verb: str) -> None:
    """All that can be read."""
    assert {word.strip(",;") for word in program(verb, "--help").out.split()} >= {*FORMATS}
