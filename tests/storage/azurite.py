"""Azurite, Microsoft's own emulator of Azure's blobs, as a process on the loopback.

It is a package of npm, so it may not be there: what needs it is skipped then, saying how to get it.
"""

import base64
import hashlib
import hmac
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from email.utils import formatdate
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import IO

__all__ = ["ABSENT", "ACCOUNT", "KEY", "Azurite", "environment", "find"]

ABSENT = (
    "Azurite is not installed: `npm install --global azurite@3.35.0`, or name its `azurite-blob` in AZURITE_BLOB; "
    "it runs on Node.js"
)
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of the account that every Azurite has; no secret."""
_VERSION = "2023-11-03"
_LISTENS = re.compile(r"listens on (http://\S+)")


def find() -> str | None:
    """The executable: named by the environment, beside this Python, or on the path; None if there is none."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ.get("AZURITE_BLOB") or shutil.which("azurite-blob", path=beside)


class Azurite:
    """Containers of one account, in the memory of a process of its own, over HTTP on a port that it chooses."""

    def __init__(self, executable: str) -> None:
        options = ("--blobPort", "0", "--inMemoryPersistence", "--silent", "--disableTelemetry")
        # What it writes to its error output it could only wait with, since nobody reads that.
        self._process = subprocess.Popen(
            [executable, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.url = _address(self._process.stdout)
        self._containers = count()

    def container(self) -> str:
        """Make a new, empty container; its name."""
        name = f"container{next(self._containers)}"
        server = self.url.removeprefix("http://")
        connection = HTTPConnection(server)
        connection.request("PUT", f"/{ACCOUNT}/{name}?restype=container", headers=dict(_signed(name)))
        status = connection.getresponse().status
        connection.close()
        assert status == 201
        return name

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait()


def _address(output: IO[str]) -> str:
    """Where it says that it listens."""
    for line in output:
        if found := _LISTENS.search(line):
            return found[1]
    raise AssertionError("Azurite has ended without listening anywhere")


def _signed(container: str) -> Iterator[tuple[str, str]]:
    """Headers of the request that makes a container, signed as the Blob service's "Authorize with Shared Key" says."""
    stamps = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": _VERSION}
    lines = [f"{name}:{value}" for name, value in stamps.items()]
    resource = f"/{ACCOUNT}/{ACCOUNT}/{container}\nrestype:container"
    text = "\n".join(["PUT", *[""] * 11, *lines, resource])
    digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    yield from stamps.items()
    yield "Authorization", f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    yield "Content-Length", "0"


def environment(url: str) -> dict[str, str]:
    """What leads obstore to the emulator at `url`."""
    return {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": url}
