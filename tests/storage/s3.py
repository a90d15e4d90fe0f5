"""An S3 server on the loopback, for tests: moto, with the two things that the real service has and moto lacks."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

__all__ = ["ENVIRONMENT", "Answer", "S3Server"]

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "tester",
    "AWS_SECRET_ACCESS_KEY": "s3cr3t-of-the-tests",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the next request of a method is told, instead of the truth."""

    method: str
    status: str
    landed: bool = False
    """Whether the request is carried out all the same."""


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - their name
        """Nothing: the console belongs to pytest."""


class S3Server:
    """Buckets in this process, over HTTP on a free port.

    A conditional PUT is one step: moto looks and then sets, and two writers could both have looked. `script` makes
    it answer with the codes that it never gives by itself: 409, 503.
    """

    def __init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._writing = threading.Lock()
        self._scripted: list[Answer] = []
        self._buckets = count()
        self.requests: list[str] = []
        """Methods, in order."""
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """What `AWS_ENDPOINT_URL` is set to."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def bucket(self) -> str:
        """Make a new, empty bucket; its name."""
        name = f"bucket{next(self._buckets)}"
        connection = HTTPConnection("127.0.0.1", self._server.server_port)
        connection.request("PUT", f"/{name}")
        status = connection.getresponse().status
        connection.close()
        assert status == 200
        return name

    def script(self, *answers: Answer) -> None:
        """Answer so, each once, in this order for each method."""
        self._scripted = list(answers)
        self.requests.clear()

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        with self._writing:
            self.requests.append(method)
            lie = next((answer for answer in self._scripted if answer.method == method), None)
            if lie is None:
                return list(self._moto(environ, start))
            self._scripted.remove(lie)
            if lie.landed:
                list(self._moto(environ, lambda *_: None))
            start(lie.status, [("Content-Length", "0")])
            return [b""]
