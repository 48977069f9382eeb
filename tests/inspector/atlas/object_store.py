"""An object store on this machine that is slow and fails: moto's S3 behind a latency and a share of calls refused."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BUCKET = "bucket"
_REFUSED = b"<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"


class Unsteady:
    """A WSGI application that answers late, and refuses a share of its calls (503 Slow Down).

    calls, refused: how many. sent: bytes of bodies by object.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]], *, latency: float, seed: int) -> None:
        self.share = 0.0
        self.calls = self.refused = 0
        self.sent: Counter[str] = Counter()
        self._application, self._latency, self._chance = application, latency, random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self, environment: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        time.sleep(self._latency)
        with self._lock:
            self.calls += 1
            refused = self._chance.random() < self.share
            self.refused += refused
        if refused:
            start("503 Slow Down", [("Content-Type", "application/xml"), ("Content-Length", str(len(_REFUSED)))])
            return [_REFUSED]
        body = [bytes(part) for part in self._application(environment, start)]
        if environment["REQUEST_METHOD"] == "GET":
            with self._lock:
                self.sent[environment["PATH_INFO"]] += sum(map(len, body))
        return body


@contextmanager
def served(*, latency: float, seed: int) -> Iterator[Unsteady]:
    """Serve a store with an empty bucket, and lead every S3 client of this process there; skips without moto."""
    reason = "moto is not installed: pip install 'moto[server]'"
    server = pytest.importorskip("moto.server", reason=reason)
    serving = pytest.importorskip("werkzeug.serving", reason=reason)
    application = Unsteady(server.DomainDispatcherApplication(server.create_backend_app), latency=latency, seed=seed)

    class Silent(serving.WSGIRequestHandler):  # type: ignore[name-defined,misc]
        def log(self, *said: object) -> None: ...

    listening = serving.make_server("127.0.0.1", 0, application, threaded=True, request_handler=Silent)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    environment = {
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{listening.port}",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        from pyarrow import fs

        fs.S3FileSystem(endpoint_override=environment["AWS_ENDPOINT_URL"], allow_bucket_creation=True).create_dir(
            BUCKET
        )
        try:
            yield application
        finally:
            listening.shutdown()
