"""Mixers of a trace as JSON and arrays, bit for bit, and read back; a part of the trace's file.

A file names a core by one of CORES and never by an import path of its choice. A stranger's file is checked before
anything is computed from it; whatever its numbers are, a map is given only where it is what the layer is said to have
left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args

import numpy as np
from torch import Tensor

from inspector.trace.file_check import LAYERS, Check, check_fields, every, finite, is_finite, maybe, one_of, text, whole
from inspector.trace.function_file import get_tensor, put_tensor
from inspector.trace.mixers import MixerRecord, MixerSite
from models.mixers import Core, DecayingState, GatedConvolution, HashCollisions, MixerKind, PastSoftmax, SelectiveScan
from models.tokenizers import Encoding

CORES: dict[str, type[Any]] = {
    core.__name__: core for core in (DecayingState, SelectiveScan, PastSoftmax, GatedConvolution, HashCollisions)
}
_FLAG: Check = lambda value: isinstance(value, bool)  # noqa: E731
_NUMBERS: dict[str, dict[str, Check]] = {
    "DecayingState": {"removes": _FLAG, "normalised": _FLAG, "scale": finite},
    "HashCollisions": {"codes": whole(1, 1000)},
}
"""Fields of a core that are no tensors."""
_MIXER: dict[str, Check] = {
    "kind": one_of(*get_args(MixerKind)),
    "stream": one_of("encoder", "decoder"),
    "layer": whole(0, LAYERS),
    "predicts": maybe(every(maybe(text))),
    "core": one_of(*CORES),
    "numbers": lambda value: isinstance(value, dict),
    "tensors": every(text),
    "gate": _FLAG,
    "again": _FLAG,
}


def write(records: Sequence[MixerRecord], arrays: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Write each mixer as JSON; its tensors go to `arrays`."""
    headers = []
    for index, record in enumerate(records):
        prefix, core = f"mixer.{index}.", record.core
        values = {field.name: getattr(core, field.name) for field in fields(core)}  # type: ignore[arg-type]
        tensors = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        kept = {"value": record.value, "output": record.output, "gate": record.gate}
        for name, tensor in {**{f"core.{name}": value for name, value in tensors.items()}, **kept}.items():
            if tensor is not None:
                put_tensor(arrays, prefix + name, tensor)
        site = record.site
        headers.append(
            {
                **{"kind": site.kind, "stream": site.stream, "layer": site.layer, "predicts": site.predicts},
                "core": type(core).__name__,
                "numbers": {
                    name: value for name, value in values.items() if name in _NUMBERS.get(type(core).__name__, {})
                },
                "tensors": list(tensors),
                "gate": record.gate is not None,
                "again": record.again,
            }
        )
    return headers


def check_headers(headers: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError for the first field of a mixer that is missing or cannot be."""
    for index, header in enumerate(headers):
        check_fields(f"mixers.{index}.", header, _MIXER)
        check_fields(f"mixers.{index}.numbers.", header["numbers"], _NUMBERS.get(header["core"], {}))
        known = {field.name for field in fields(CORES[header["core"]])}
        if not {*header["numbers"], *header["tensors"]} <= known:
            raise ValueError(f"its mixer {index} has fields that no {header['core']} has")
    places = [(header["layer"], header["kind"]) for header in headers]
    if len(set(places)) < len(places):
        raise ValueError(f"it holds {len(places)} mixers in {len(set(places))} places")


def read(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], index: int, encoding: Encoding) -> MixerRecord:
    """Read what `write` wrote; ValueError where its tensors do not fit each other, or the text."""
    prefix = f"mixer.{index}."
    tensors = {name: get_tensor(arrays, f"{prefix}core.{name}") for name in header["tensors"]}
    optional = dict.fromkeys(_OPTIONAL.get(header["core"], ()))
    core: Core = CORES[header["core"]](**(optional | tensors), **header["numbers"])
    value, output = (get_tensor(arrays, prefix + name) for name in ("value", "output"))
    gate = get_tensor(arrays, prefix + "gate") if header["gate"] else None
    predicts = None if header["predicts"] is None else tuple(header["predicts"])
    tokens = encoding.tokens
    for tensor in (value, output, *(() if gate is None else (gate,))):
        if tensor.ndim != 3 or tensor.shape != output.shape or len(tensor) != len(tokens) or not is_finite(tensor):
            raise ValueError(f"mixer {index}: values of shape {tuple(tensor.shape)} do not fit {len(tokens)} tokens")
    _check_core(core, index, tokens=len(tokens), heads=output.shape[1])
    if predicts is not None and len(predicts) != len(tokens):
        raise ValueError(f"mixer {index}: {len(predicts)} tokens to predict for {len(tokens)} queries")
    site = MixerSite(header["kind"], header["stream"], header["layer"], output.shape[1], tokens, predicts)
    return MixerRecord(site, core, value, output, header["again"], gate)


_OPTIONAL = {"DecayingState": ("strength", "skip"), "SelectiveScan": ("skip",)}


def _check_core(core: Core, index: int, *, tokens: int, heads: int) -> None:
    """Hold the shapes of a core's tensors to each other: T tokens, H heads, and what it has beside these."""
    t, h = tokens, heads
    match core:
        case DecayingState():
            kv, width = core.key.shape[1:]
            decays = (t, h, width) if core.decay.ndim == 3 else (t, h)
            shapes = {"query": (t, kv, width), "key": (t, kv, width), "decay": decays, "strength": (t, h), "skip": (h,)}
            if not kv or h % kv:
                raise ValueError(f"mixer {index}: {h} heads cannot share {kv} keys")
        case SelectiveScan():
            states = core.rate.shape[1]
            shapes = {"step": (t, h), "rate": (h, states), "write": (t, states), "read": (t, states), "skip": (h,)}
        case PastSoftmax():
            shapes = {"key": (t, h), "decay": (h,), "bonus": (h,)}
        case GatedConvolution():
            shapes = {"gate_in": (t, h), "gate_out": (t, h), "kernel": (h, core.kernel.shape[1])}
        case HashCollisions():
            shapes = {"query": (t, h, core.query.shape[2]), "key": (t, h, core.query.shape[2])}
        case _:
            raise ValueError(f"mixer {index}: nothing is known of {type(core).__name__}")
    for name, shape in shapes.items():
        tensor = getattr(core, name)
        if tensor is not None and (tuple(tensor.shape) != shape or not is_finite(tensor)):
            raise ValueError(f"mixer {index}: its {name} of shape {tuple(tensor.shape)} is not of {shape}")
