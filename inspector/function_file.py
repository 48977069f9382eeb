"""An attention function as JSON and arrays, and back; a part of the trace's file.

A file names a function by one of the kinds below and never by an import path of its choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from torch import Tensor

from inspector import tensor_file
from models import block_sparse, relative, score_program, scores
from models.attention import AttentionFunction, DotProductAttention
from models.eager_attention import PER_QUERY, EagerAttention, eager_function
from models.eager_output import GivenScores, RecomputedScores
from models.functions import ComposedAttention, WeightedSum
from models.pairs import kept
from models.side_keys import SideBias, SideKeyAttention

PARTS: dict[str, type[Any]] = {
    part.__name__: part
    for part in (
        ComposedAttention,
        WeightedSum,
        scores.DotScore,
        scores.CosineScore,
        scores.GeneralScore,
        scores.AdditiveScore,
        scores.NaiveAdditiveScore,
        scores.FillWith,
        scores.MultiplyByZero,
        relative.ShawScore,
        relative.ShawMix,
        relative.T5Bias,
        relative.AlibiBias,
        *score_program.PARTS,
        block_sparse.RepeatedBlock,
        SideBias,
        SideKeyAttention,
    )
}
"""All that an own attention function, or a program of scores, is put together from, by name."""


def write(function: AttentionFunction, arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Any]:
    """The function as JSON; its tensors (a position bias, sinks, learned ones) go to `arrays` under `prefix`."""
    if isinstance(function, DotProductAttention):
        return {"kind": "dot product", "scale": function.scale}
    if isinstance(function, ComposedAttention | SideKeyAttention):
        return {"kind": "composed", "function": _write_part(function, arrays, prefix)}
    if isinstance(function, GivenScores):
        tensor_file.put(arrays, prefix + "scores", function.scores)
        return {"kind": "given"}
    if isinstance(function, RecomputedScores):
        return {"kind": "program", "program": _write_part(function.program, arrays, prefix)}
    if not isinstance(function, EagerAttention):
        raise ValueError(f"{type(function).__name__} cannot be written to a file")
    values = {**{f"module.{k}": v for k, v in function.module.items()}, **function.arguments}
    tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
    for name, tensor in tensors.items():
        tensor_file.put(arrays, prefix + name, tensor)
    parts = {name: value for name, value in values.items() if type(value).__name__ in PARTS}
    return {
        "kind": "eager",
        "source": function.source,
        "values": {name: value for name, value in values.items() if name not in tensors | parts},
        "tensors": list(tensors),
        "parts": {name: _write_part(part, arrays, prefix + name) for name, part in parts.items()},
    }


def read(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> AttentionFunction:
    """What `write` wrote; whatever a damaged file makes fail is the caller's to catch."""
    if header["kind"] == "dot product":
        return DotProductAttention(scale=float(header["scale"]))
    if header["kind"] == "given":
        return GivenScores(tensor_file.get(arrays, prefix + "scores"))
    if header["kind"] == "program":
        return RecomputedScores(_read_part(header["program"], arrays))
    if header["kind"] == "composed":
        composed: ComposedAttention | SideKeyAttention = _read_part(header["function"], arrays)
        return composed
    eager_function(header["source"])  # refuses what is not transformers' own
    values = {**header["values"], **{name: tensor_file.get(arrays, prefix + name) for name in header["tensors"]}}
    values |= {name: _read_part(part, arrays) for name, part in header.get("parts", {}).items()}
    for name in {*PER_QUERY} & {*header["tensors"]}:  # of files of older versions
        values[name] = kept(values[name])
    module = {name.removeprefix("module."): value for name, value in values.items() if name.startswith("module.")}
    arguments = {name: value for name, value in values.items() if not name.startswith("module.")}
    return EagerAttention(header["source"], module, arguments)


def _write_part(value: Any, arrays: dict[str, np.ndarray], name: str) -> Any:
    if isinstance(value, Tensor):
        tensor_file.put(arrays, name, value)
        return {"tensor": name}
    if type(value).__name__ in PARTS:
        parts = {f.name: _write_part(getattr(value, f.name), arrays, f"{name}.{f.name}") for f in fields(value)}
        return {"part": type(value).__name__, "fields": parts}
    if isinstance(value, tuple):
        return [_write_part(one, arrays, f"{name}.{place}") for place, one in enumerate(value)]
    return value


def _read_part(header: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(header, list):
        return tuple(_read_part(one, arrays) for one in header)
    if not isinstance(header, dict):
        return header
    if "tensor" in header:
        return tensor_file.get(arrays, header["tensor"])
    return PARTS[header["part"]](**{name: _read_part(value, arrays) for name, value in header["fields"].items()})
