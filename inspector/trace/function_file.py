"""Writes tensors and attention functions of a trace as JSON and arrays, bit for bit, and reads them back.

A file names a function by one of the kinds below and never by an import path of its choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from inspector.trace.file_check import Check, every, finite, text, whole
from inspector.trace.given import given_weights
from models.attention import AttentionFunction, DotProductAttention, relative, scores
from models.attention.functions import ComposedAttention, WeightedSum
from models.attention.given import GivenWeights
from models.attention.side_keys import SideBias, SideKeyAttention
from models.huggingface import block_sparse, score_program
from models.huggingface.eager_attention import EagerAttention, eager_function
from models.huggingface.eager_output import GivenScores, RecomputedScores

PARTS: dict[str, type[Any]] = {
    part.__name__: part
    for part in (
        ComposedAttention,
        WeightedSum,
        scores.DotScore,
        scores.CosineScore,
        scores.LinearScore,
        scores.GeneralScore,
        scores.AdditiveScore,
        scores.NaiveAdditiveScore,
        scores.FillWith,
        scores.MultiplyByZero,
        relative.ShawScore,
        relative.ShawMix,
        relative.XlScore,
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
        put_tensor(arrays, prefix + "scores", function.scores)
        return {"kind": "given"}
    if isinstance(function, GivenWeights):
        put_tensor(arrays, prefix + "weights", function.weights)
        return {"kind": "weights"}
    if isinstance(function, RecomputedScores):
        return {"kind": "program", "program": _write_part(function.program, arrays, prefix)}
    if not isinstance(function, EagerAttention):
        raise ValueError(f"{type(function).__name__} cannot be written to a file")
    values = {**{f"module.{k}": v for k, v in function.module.items()}, **function.arguments}
    tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
    for name, tensor in tensors.items():
        put_tensor(arrays, prefix + name, tensor)
    parts = {name: value for name, value in values.items() if type(value).__name__ in PARTS}
    return {
        "kind": "eager",
        "source": function.source,
        "values": {name: value for name, value in values.items() if name not in tensors | parts},
        "tensors": list(tensors),
        "parts": {name: _write_part(part, arrays, prefix + name) for name, part in parts.items()},
    }


def read(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> AttentionFunction:
    """Read what `write` wrote; whatever else a damaged file makes fail is the caller's to catch."""
    if header["kind"] == "dot product":
        return DotProductAttention(scale=_checked("scale", header["scale"], finite))
    if header["kind"] == "given":
        return GivenScores(get_tensor(arrays, prefix + "scores"))
    if header["kind"] == "weights":
        weights = get_tensor(arrays, prefix + "weights")
        if weights.ndim != 4 or len(weights) != 1 or not weights.is_floating_point() or not weights.numel():
            raise ValueError(f"its attention weights are {weights.dtype} of the shape {tuple(weights.shape)}")
        return given_weights(weights[0], "its attention")
    if header["kind"] == "program":
        return RecomputedScores(_checked("program", _read_part(header["program"], arrays), _is_node))
    if header["kind"] == "composed":
        composed = _read_part(header["function"], arrays)
        if not isinstance(composed, ComposedAttention | SideKeyAttention) or getattr(composed, "dropout", False):
            raise ValueError("its attention is composed of other parts, or drops some of its weights")
        return composed
    if header["kind"] != "eager":
        raise ValueError(f"it names an attention of the kind {header['kind']!a}")
    eager_function(_checked("source", header["source"], text))  # refuses what is not transformers' own
    values = {name: _checked(name, value, _plain) for name, value in header["values"].items()}
    values |= {name: get_tensor(arrays, prefix + name) for name in header["tensors"]}
    parts = {name: _read_part(part, arrays) for name, part in header["parts"].items()}
    values |= {name: _checked(name, part, _is_part) for name, part in parts.items()}
    if values.get("module.training") or "dropout" in values:
        raise ValueError("its attention drops some of its weights, as in training")
    module = {name.removeprefix("module."): value for name, value in values.items() if name.startswith("module.")}
    arguments = {name: value for name, value in values.items() if not name.startswith("module.")}
    return EagerAttention(header["source"], module, arguments)


def _write_part(value: Any, arrays: dict[str, np.ndarray], name: str) -> Any:
    if isinstance(value, Tensor):
        put_tensor(arrays, name, value)
        return {"tensor": name}
    if type(value).__name__ in PARTS:
        parts = {f.name: _write_part(getattr(value, f.name), arrays, f"{name}.{f.name}") for f in fields(value)}
        return {"part": type(value).__name__, "fields": parts}
    if isinstance(value, tuple):
        return [_write_part(element, arrays, f"{name}.{place}") for place, element in enumerate(value)]
    return value


def _read_part(header: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(header, list):
        return tuple(_read_part(element, arrays) for element in header)
    if not isinstance(header, dict):
        return header
    if "tensor" in header:
        return get_tensor(arrays, header["tensor"])
    part = PARTS[header["part"]]
    values = {name: _read_part(value, arrays) for name, value in header["fields"].items()}
    for field in fields(part):
        if field.name in values:
            _checked(field.name, values[field.name], _OF_TYPE.get(str(field.type), _is_part))
    return part(**values)


def _is_part(value: Any) -> bool:
    return value is None or type(value).__name__ in PARTS


def _is_node(value: Any) -> bool:
    return isinstance(value, score_program.PARTS)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool) or finite(value) or text(value) or every(_plain)(value)


def _number(value: Any) -> bool:
    return finite(value) or (type(value) is float and abs(value) >= _WIDEST)  # what stands for a masked score


def _operand(value: Any) -> bool:
    return _is_node(value) or isinstance(value, bool) or _number(value) or value in _DTYPES


_WIDEST = 2.0**63
_DTYPES = ("float64", "float32", "bfloat16", "float16", "bool", "int64", "int32")
_OF_TYPE: dict[str, Check] = {
    "Tensor": lambda value: isinstance(value, Tensor) and not value.isnan().any(),
    "float": _number,
    "str": text,
    "Any": lambda value: _is_part(value) or _number(value),
    "tuple[Any, ...]": lambda value: isinstance(value, tuple) and all(map(_operand, value)),
    "tuple[int, ...]": lambda value: isinstance(value, tuple) and all(map(whole(0, 2**31), value)),
    "tuple[Node, ...]": lambda value: isinstance(value, tuple) and all(map(_is_node, value)),
    "int": whole(-(2**31), 2**31),
    "bool": lambda value: isinstance(value, bool),
    "tuple[float, ...]": lambda value: isinstance(value, tuple) and all(map(finite, value)),
}
"""Checks of a part's fields by their annotations; all others hold parts."""


def _checked(name: str, value: Any, check: Check) -> Any:
    if not check(value):
        raise ValueError(f"its attention function has a {name} that cannot be: {str(value)[:60]!a}")
    return value


# --- tensors ---------------------------------------------------------------------------------------------------------

_BITS = ".bfloat16"  # numpy has no bfloat16: its bits go under this name


def put_tensor(arrays: dict[str, np.ndarray], name: str, tensor: Tensor) -> None:
    """Add the tensor to the arrays: as `name`, or its 16-bit patterns as `name`.bfloat16."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        arrays[name + _BITS] = tensor.contiguous().view(torch.uint16).numpy()
    else:
        arrays[name] = tensor.numpy()


def get_tensor(arrays: Mapping[str, np.ndarray], name: str) -> Tensor:
    """Return the tensor that `put_tensor` added.

    Raises KeyError where there is none, and TypeError or RuntimeError where the array is no such tensor.
    """
    if name + _BITS in arrays:
        return torch.from_numpy(arrays[name + _BITS]).view(torch.bfloat16)
    return torch.from_numpy(arrays[name])
