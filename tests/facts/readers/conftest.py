"""Files to read, written into the test's own folder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memforest_ray.facts.readers import Conversation, read_conversations

Read = Callable[..., list[Conversation]]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], Path]:
    """Writes a file: bytes and text as they are, a list in a .jsonl by line, anything else as JSON."""

    def write_file(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8", errors="surrogatepass")
        elif path.suffix == ".jsonl" and isinstance(content, list):
            path.write_text("".join(json.dumps(line) + "\n" for line in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def read(write: Callable[[str, object], Path]) -> Read:
    """Writes a file and reads its conversations."""

    def read_content(content: object, name: str = "chat.json", **options: str) -> list[Conversation]:
        return list(read_conversations(write(name, content), **options))

    return read_content
