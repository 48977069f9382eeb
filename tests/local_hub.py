"""A hub of our own on 127.0.0.1, and tiny models to put on it."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import torch
from huggingface_hub import close_session, constants
from transformers import BertConfig, BertForMaskedLM

from models import fetch

COMMIT = "a" * 40


@dataclass
class Hub:
    """The models that the server serves, and the requests that it got.

    models: name -> folder. refusal: name -> (status, X-Error-Code). after: bytes of one answer after which the
    connection is cut. damaged: True if it sends other bytes than it promised. stores: True if weights are redirected to
    the second server, as the real hub does.
    """

    address: str = ""
    store: str = ""
    stores: bool = False
    signed: set[str] = field(default_factory=set)
    models: dict[str, Path] = field(default_factory=dict)
    refusal: dict[str, tuple[int, str]] = field(default_factory=dict)
    after: int | None = None
    damaged: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [path for _, path in self.asked]


def handler_of(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """/api/models/ORG/NAME[/revision/REV] and /ORG/NAME/resolve/REV/FILE."""

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.asked.append((self.command, path))
            hub.signed |= {path} if self.headers.get("Authorization") else set()
            if path.startswith("/store/"):
                path, stored = path.removeprefix("/store"), True
            else:
                stored = False
            api = path.startswith("/api/models/")
            parts = path.removeprefix("/api/models").strip("/").split("/")
            name = "/".join(parts[:2])
            revision = parts[3] if len(parts) > 3 else "main"
            status, code = hub.refusal.get(name, (0, ""))
            if status:
                return self.refuse(status, code)
            if name not in hub.models:
                return self.refuse(404, "RepoNotFound")
            if revision not in ("main", "v1", COMMIT):
                return self.refuse(404, "RevisionNotFound")
            folder = hub.models[name]
            if api:
                files = [{"rfilename": file.name, "size": file.stat().st_size} for file in sorted(folder.iterdir())]
                return self.send(json.dumps({"id": name, "sha": COMMIT, "siblings": files}).encode(), {}, body=body)
            file = folder / "/".join(parts[4:])
            if not file.is_file():
                return self.refuse(404, "EntryNotFound")
            content = file.read_bytes()
            large = file.suffix == ".safetensors"
            tag = hashlib.sha256(content) if large else hashlib.sha1(b"blob %d\0" % len(content) + content)
            if hub.stores and large and not stored:
                return self.redirect(hub.store + "/store" + path, tag.hexdigest(), len(content))
            if hub.damaged and body:
                content = bytes(reversed(content))
            self.send(content, {"ETag": f'"{tag.hexdigest()}"', "X-Repo-Commit": COMMIT}, body=body)

        def redirect(self, address: str, tag: str, size: int) -> None:
            self.send_response(302)
            for key, value in (
                ("Location", address),
                ("X-Repo-Commit", COMMIT),
                ("X-Linked-Etag", f'"{tag}"'),
                ("X-Linked-Size", str(size)),
                ("Content-Length", "0"),
            ):
                self.send_header(key, value)
            self.end_headers()

        def refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def send(self, content: bytes, headers: dict[str, str], *, body: bool) -> None:
            wanted = self.headers.get("Range")
            begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            hub.ranges += [wanted] if wanted else []
            self.send_response(206 if wanted else 200)
            for key, value in headers.items():
                self.send_header(key, value)
            if wanted:
                self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - begin))
            self.end_headers()
            if not body:
                return
            end = len(content) if hub.after is None else min(begin + hub.after, len(content))
            self.wfile.write(content[begin:end])
            if end < len(content):
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that serves nothing yet, with an empty cache; huggingface_hub knows no other."""
    hub = Hub()
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler_of(hub)) for _ in range(2)]
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in servers]
    for thread in threads:
        thread.start()
    hub.address, hub.store = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    monkeypatch.setattr(constants, "ENDPOINT", hub.address)
    template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    connect, reached = socket.socket.connect, set()

    def watched(self: socket.socket, address: tuple[str, int]) -> None:
        reached.add(address[:2])
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    close_session()
    yield hub
    close_session()
    for server, thread in zip(servers, threads, strict=True):
        server.shutdown()
        thread.join()
        server.server_close()
    assert reached <= {server.server_address for server in servers}, "another address was contacted"


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """The folder of a tiny random BERT with the bundled tokenizer."""
    return make_bert(tmp_path / "bert")


def make_bert(folder: Path, *, width: int = 8) -> Path:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((fetch.folder("minilm") / "tokenizer.json").read_bytes())
    return folder


@pytest.fixture
def edit() -> Callable[..., None]:
    """Change fields of a folder's config.json."""

    def change(folder: Path, **fields: object) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")

    return change
