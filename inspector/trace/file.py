"""A Trace in one .npz file: arrays and one JSON header, nothing pickled.

Masks are written out as packed bits (n * n / 8 bytes); all else is linear in the text. Nothing is compressed: that
would save 7 % of float32, and take longer than recording the text. A compressed file is read all the same.

A file that lacks a field of this version is refused, with the way out: the text is recorded again.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from inspector.trace import file_check, function_file, mixer_file
from inspector.trace.archive import Archive, OverLimitError
from inspector.trace.recompute import AttentionRecord, AttentionSite
from inspector.trace.trace import NormRecord, Refusal, StateRecord, Trace
from models.attention import row_blocks
from models.attention.masks import Mask
from models.formatting import one_line
from models.limits import Limits, variable
from models.tokenizers import Cut, Encoding

FORMAT, VERSION = "headlight-trace", 1
NORM_FIELDS = (
    *("name", "layer", "part", "placement", "epsilon", "stream", "kind"),
    *("learned", "groups", "gating", "difference", "plus_one"),
)
"""The fields of a norm that are no arrays."""


@dataclass(frozen=True)
class BitPackedMask:
    """A mask read from a file: one bit a cell, [1 or H, Q, ceil(T / 8)] bytes."""

    bits: np.ndarray
    keys: int

    def rows(self, start: int, stop: int) -> Tensor:
        """Boolean [1, 1 or H, stop - start, T]; True where the query attends to the key."""
        rows = np.unpackbits(self.bits[:, start:stop], axis=-1, count=self.keys)
        return torch.from_numpy(rows.astype(bool))[None]


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the trace to one file, which `open` reads; ValueError where `path` does not end in .npz."""
    if Path(path).suffix != ".npz":
        raise ValueError(f"a trace is saved as .npz, not as {Path(path).name!a}")
    arrays: dict[str, np.ndarray] = {}
    function_file.put_tensor(arrays, "hidden", trace.hidden)
    masks: dict[int, str] = {}  # models share one mask between layers: so does the file
    sites = []
    for index, record in enumerate(trace.attentions):
        for name in ("query", "key", "value"):
            function_file.put_tensor(arrays, f"attention.{index}.{name}", getattr(record, name))
        if record.to_padding is not None:
            function_file.put_tensor(arrays, f"attention.{index}.to_padding", record.to_padding)
        if record.gate is not None:
            function_file.put_tensor(arrays, f"attention.{index}.gate", record.gate)
        if record.mask is not None and id(record.mask) not in masks:
            masks[id(record.mask)] = f"mask.{len(masks)}"
            arrays[masks[id(record.mask)]] = _pack(record.mask, queries=record.query.shape[1], keys=record.key.shape[1])
        sites.append(
            {
                "stream": record.site.stream,
                "layer": record.site.layer,
                "call": record.site.call,
                "predicts": record.site.predicts,
                "window": record.site.window,
                "function": function_file.write(record.function, arrays, f"attention.{index}.argument."),
                "mask": None if record.mask is None else masks[id(record.mask)],
                "to_padding": record.to_padding is not None,
                "gate": record.gate is not None,
            }
        )
    norms = []
    for index, norm in enumerate(trace.norms):
        for name in ("input", "gamma", "beta"):
            arrays[f"norm.{index}.{name}"] = getattr(norm, name)
        more = {name: array for name in ("gate", "truth", "running") if (array := getattr(norm, name)) is not None}
        arrays |= {f"norm.{index}.{name}": array for name, array in more.items()}
        fields = {name: getattr(norm, name) for name in NORM_FIELDS}
        norms.append({**fields, "arrays": list(more)})
    states = []
    for index, state in enumerate(trace.states):
        arrays[f"state.{index}.truth"] = state.truth
        if state.state is not None:
            arrays[f"state.{index}.state"] = state.state
        place = {name: getattr(state, name) for name in ("stream", "layer", "norm", "side")}
        states.append({**place, "kept": state.state is not None})
    header = {
        "format": FORMAT,
        "version": VERSION,
        "model": trace.model,
        "text": trace.text,
        "text_pair": trace.text_pair,
        "encoding": asdict(trace.encoding),
        "target_text": trace.target_text,
        "target": None if trace.target is None else asdict(trace.target),
        "sites": sites,
        "norms": norms,
        "states": states,
        "refused": [asdict(refused) for refused in trace.refused],
        "fused": trace.fused,
        "mixers": mixer_file.write(trace.mixers, arrays),
    }
    with open_file(path, "wb") as file:
        np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **arrays)


open_file = open  # the builtin, under a name that `open` below does not hide
_LARGEST = 2**30  # bytes once unpacked, for callers who set no limits of their own


def open(path: str | os.PathLike[str], *, limits: Limits | None = None) -> Trace:
    """Read a trace that `save` wrote; its maps equal the maps of the trace that was saved.

    limits: on its tokens, its layers and the bytes that it takes once unpacked. Raises ValueError for a file that is
    over one of them, missing, damaged or something else.
    """
    if not Path(path).is_file():
        raise ValueError(f"there is no file {str(path)!a}")
    with open_file(path, "rb") as file:
        return read(file, name=Path(path).name, limits=limits)


def read(file: BinaryIO, *, name: str, limits: Limits | None = None) -> Trace:
    """Read a trace from an open file, as `open` does; name: what the sentence about a damaged file calls it."""
    try:
        with zipfile.ZipFile(file) as zipped:
            archive = Archive(zipped, most=_LARGEST if limits is None else limits.capture_bytes)
            header = {"fused": False, "mixers": []} | archive.header()  # files saved before there were any lack it
            if header["format"] != FORMAT or header["version"] != VERSION:
                raise ValueError(f"it says {header['format']!a} version {header['version']!a}")
            header["sites"] = [{"gate": False} | site for site in header["sites"]]  # nor these
            file_check.check_header(header)
            mixer_file.check_headers(header["mixers"])
            if limits is not None:
                _check(header, limits)
            trace = _trace(header, archive)
            file_check.check_trace(trace)
            return trace
    except OverLimitError as error:
        raise ValueError(f"{name!a} is too large: {error}{_way_out(limits)}") from error
    except Exception as error:  # whatever a damaged file makes numpy, json or torch raise
        raise ValueError(
            f"{name!a} is damaged or was not saved by this version of Headlight ({one_line(error)}); "
            "record the text again and save it"
        ) from error


def _check(header: Mapping[str, Any], limits: Limits) -> None:
    """Hold what the header says to the limits, before any array is unpacked."""
    read = [header["encoding"], *([header["target"]] if header["target"] else [])]
    tokens = max(len(encoding["tokens"]) for encoding in read)
    layers = sum(site["stream"] != "cross" for site in header["sites"]) + len(header["mixers"])
    for field, what, number in (("tokens", "tokens", tokens), ("layers", "attention layers", layers)):
        if number > getattr(limits, field):
            raise OverLimitError(
                f"it has {number:,} {what}, more than the {getattr(limits, field):,} of {variable(field)}"
            )


def _way_out(limits: Limits | None) -> str:
    shorter = "; record a shorter text"
    return (
        shorter if limits is None else f"{shorter}, or start Headlight with larger limits ({variable('capture_bytes')})"
    )


def _trace(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Trace:
    encoding = _encoding(header["encoding"])
    target = _encoding(header["target"]) if header["target"] else None
    attentions = []
    for index, site in enumerate(header["sites"]):
        attentions.append(_attention(site, arrays, f"attention.{index}.", encoding, target))
    lengths_of = {"encoder": len(encoding.ids), "decoder": len((target or encoding).ids)}
    norms = [
        _norm(norm, arrays, f"norm.{index}.", tokens=lengths_of[norm["stream"]])
        for index, norm in enumerate(header["norms"])
    ]
    states = [
        _state(state, arrays, f"state.{index}.", tokens=lengths_of[state["stream"]], norms=norms)
        for index, state in enumerate(header["states"])
    ]
    refused = [Refusal(**fields) for fields in header["refused"]]
    hidden = function_file.get_tensor(arrays, "hidden")
    return Trace(
        header["model"],
        header["text"],
        header["text_pair"],
        encoding,
        tuple(attentions),
        tuple(norms),
        hidden,
        header["target_text"],
        target,
        states=tuple(states),
        refused=tuple(refused),
        fused=header["fused"],
        mixers=tuple(mixer_file.read(mixer, arrays, index, encoding) for index, mixer in enumerate(header["mixers"])),
    )


def _attention(
    site: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str, encoding: Encoding, target: Encoding | None
) -> AttentionRecord:
    query, key, value = (function_file.get_tensor(arrays, prefix + name) for name in ("query", "key", "value"))
    mask = None if site["mask"] is None else BitPackedMask(arrays[site["mask"]], keys=key.shape[1])
    stream, predicts = site["stream"], site["predicts"]
    queries = encoding if target is None or stream == "encoder" else target
    keys = encoding if stream == "cross" else queries
    predicts = None if predicts is None else tuple(predicts)
    return AttentionRecord(
        AttentionSite(
            stream,
            site["layer"],
            query.shape[0],
            queries.tokens,
            keys.tokens,
            predicts,
            kv_heads=key.shape[0],
            window=site["window"],
            call=site["call"],
        ),
        function_file.read(site["function"], arrays, prefix + "argument."),
        query,
        key,
        value,
        mask,
        function_file.get_tensor(arrays, prefix + "to_padding") if site["to_padding"] else None,
        function_file.get_tensor(arrays, prefix + "gate") if site["gate"] else None,
    )


def _encoding(fields: Mapping[str, Any]) -> Encoding:
    cut = None if fields["cut"] is None else Cut(**fields["cut"])
    columns = {name: tuple(fields[name]) for name in ("ids", "tokens", "words", "segments", "special")}
    spans = fields["spans"]
    if spans is not None:
        spans = tuple((first, last) for first, last in spans)
        if len(spans) != len(columns["ids"]):
            raise ValueError(f"its {len(columns['ids'])} tokens have {len(spans)} places in the text")
    return Encoding(**columns, unknown=fields["unknown"], cut=cut, spans=spans, unknown_id=fields["unknown_id"])


def _norm(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str, *, tokens: int) -> NormRecord:
    named = ("input", "gamma", "beta", *fields["arrays"])
    held: dict[str, Any] = {name: _floats(arrays[prefix + name]) for name in named}
    norm = NormRecord(**held, **{name: fields[name] for name in NORM_FIELDS} | {"learned": tuple(fields["learned"])})
    width = norm.gamma.shape[-1]
    expected = {"input": (tokens, width), "gamma": (width,), "beta": (width,), "gate": (tokens, width)}
    expected |= {"truth": (tokens, 2), "running": (2, width)}
    if any(held[name].shape != expected[name] for name in held) or width % norm.groups:
        raise ValueError(f"the sizes of its norm {norm.name!a} do not fit {tokens} tokens")
    return norm


def _state(
    fields: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    prefix: str,
    *,
    tokens: int,
    norms: Sequence[NormRecord],
) -> StateRecord:
    stream, layer, norm, side = (fields[name] for name in ("stream", "layer", "norm", "side"))
    state = _floats(arrays[prefix + "state"]) if fields["kept"] else None
    truth = _floats(arrays[prefix + "truth"])
    whole = truth.shape == (tokens, 2) and (state is None or (state.ndim == 2 and len(state) == tokens))
    if not whole or (state is None and not (norm in range(len(norms)) and len(norms[norm].input) == tokens)):
        raise ValueError(f"its residual stream after layer {layer} does not fit {tokens} tokens")
    return StateRecord(stream, layer, norm, side, state, truth)


def _floats(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "f":
        raise ValueError(f"an array of its norms holds {array.dtype}, not numbers with a point")
    return _frozen(array)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _pack(mask: Mask, *, queries: int, keys: int) -> np.ndarray:
    blocks = []
    for block in row_blocks(queries, keys):
        rows = mask.rows(block.start, block.stop).expand(-1, -1, block.stop - block.start, -1)[0]
        blocks.append(np.packbits(rows.cpu().numpy(), axis=-1))
    return np.concatenate(blocks, axis=1)
