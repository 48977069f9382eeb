"""Cuts as a reader writes them, in a link or a line: "head 0.2 -> key 1.3", "head 4.1 -> zero".

A head is LAYER.HEAD, a key or a value LAYER.KV_HEAD. In a model of several streams the stream stands before the end:
"encoder head 0.2 -> encoder ffn 1", "cross query 1.3".
"""

from __future__ import annotations

import re

from inspector.patching.scissors import Cut, EdgeCut, HeadCut, SpanCut
from inspector.patching.writes import Reader, read_by, written_by
from inspector.writers import Writer
from models.attention.dropping import ModelHead

_STREAM = r"(?:(?P<{0}stream>encoder|decoder|cross) )?"
_WRITER = re.compile(
    _STREAM.format("") + r"(?:(?P<embedding>embedding)|(?P<kind>head|attention|ffn) (?P<layer>\d+)(?:\.(?P<head>\d+))?)"
)
_READER = re.compile(
    _STREAM.format("") + r"(?:(?P<logit>logit)|(?P<part>query|key|value|ffn) (?P<layer>\d+)(?:\.(?P<head>\d+))?)"
)
EXAMPLE = "head 0.2 -> key 1.3"


def write(one: Cut, *, stream: str = "") -> str:
    """Write a cut; stream: that need not be named."""
    match one:
        case EdgeCut(writer, reader, norms):
            held = ", norms held" if norms == "held" else ""
            return f"{written_by(writer, stream=stream)} -> {read_by(reader, stream=stream)}{held}"
        case HeadCut(head, to):
            return f"{written_by(_writer(head), stream=stream)} -> {to}"
        case SpanCut(head, tokens):
            return f"{written_by(_writer(head), stream=stream)} without {' '.join(map(str, tokens))}"


def parse(text: str, *, stream: str) -> Cut:
    """Read a cut; stream: of what names none. Raises ValueError for what is none."""
    line = " ".join(text.split())
    if " without " in line:
        left, _, right = line.partition(" without ")
        if right.replace(" ", "").isdecimal():
            return SpanCut(_head(left, stream, line), tuple(sorted({int(token) for token in right.split()})))
        raise _wrong(line)
    left, arrow, right = line.partition(" -> ")
    if not arrow:
        raise _wrong(line)
    if right in ("zero", "mean"):
        return HeadCut(_head(left, stream, line), "zero" if right == "zero" else "mean")
    held = right.endswith(", norms held")
    reader = parse_reader(right.removesuffix(", norms held"), stream=stream)
    return EdgeCut(parse_writer(left, stream=stream), reader, "held" if held else "live")


def parse_writer(text: str, *, stream: str) -> Writer:
    """Read a writer: "head 0.2". Raises ValueError for what is none."""
    match = _WRITER.fullmatch(text)
    if match is None or (match["kind"] == "head") != (match["head"] is not None):
        raise _wrong(text)
    named = match["stream"] or stream
    if match["embedding"]:
        return Writer("embedding", named)
    if match["kind"] == "head":
        return Writer("head", named, int(match["layer"]), int(match["head"]))
    return Writer("ffn" if match["kind"] == "ffn" else "attention", named, int(match["layer"]))


def parse_reader(text: str, *, stream: str) -> Reader:
    """Read a reader: "key 1.3". Raises ValueError for what is none."""
    match = _READER.fullmatch(text)
    if match is None or (match["part"] in ("query", "key", "value")) != (match["head"] is not None):
        raise _wrong(text)
    named = match["stream"] or stream
    if match["logit"]:
        return Reader("logit", named)
    match match["part"]:
        case "query":
            return Reader("query", named, int(match["layer"]), int(match["head"]))
        case "key":
            return Reader("key", named, int(match["layer"]), int(match["head"]))
        case "value":
            return Reader("value", named, int(match["layer"]), int(match["head"]))
    return Reader("ffn", named, int(match["layer"]))


def _head(text: str, stream: str, line: str) -> ModelHead:
    writer = parse_writer(text, stream=stream)
    if writer.kind != "head" or writer.layer is None or writer.head is None:
        raise _wrong(line)
    return ModelHead(writer.stream, writer.layer, writer.head)


def _writer(head: ModelHead) -> Writer:
    return Writer("head", head.stream, head.layer, head.head, head.call)


def _wrong(text: str) -> ValueError:
    return ValueError(f"{text[:60]!a} is no cut; write one like {EXAMPLE!r}, 'head 4.1 -> zero' or 'ffn 2 -> logit'")
