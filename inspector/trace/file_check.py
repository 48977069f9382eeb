"""The check of a trace's file, made once when the file is opened; a part of the trace's file.

The header first, before an array is unpacked: every field by its type and its range. Then what was built of it: shapes,
finite numbers, and that each attention can be asked for its last row, its scores and a head alone as for the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from inspector.trace import recompute
from inspector.trace.norm_formula import GATINGS
from inspector.trace.trace import GIVEN
from models.attention import row_blocks
from models.attention.given import GivenWeights
from models.tokenizers import MAX_CHARACTERS

if TYPE_CHECKING:
    from inspector.trace.recompute import AttentionRecord
    from inspector.trace.trace import NormRecord, Trace

Check = Callable[[Any], bool]
LAYERS = 10_000  # no model has more
HEADS = 4096  # of one attention; no model has more
ALL_HEADS = 2**16  # of all attentions
_PARTS_HELD = 2**16  # of a kind, in a file
_LETTERS = 1000  # of a sentence, or of a name
_TOKENS_LETTERS = 4 * MAX_CHARACTERS  # of all tokens: a tokenizer may write a character as several
STREAMS = ("encoder", "decoder", "cross")
PARTS = ("embedding", "attention", "cross", "ffn", "mixer", "other", "final")  # as in NormRecord, like the next two
PLACEMENTS = ("pre", "post", "output", "inside", "embedding", "final")
KINDS = ("layer", "rms", "batch")
_MAPS: tuple[recompute.Kind, ...] = ("weights", "scores")
_WHOLE = 2**63  # what no number of tokens, layers or ids reaches
_ALIKE = {torch.float32: 1e-5, torch.float64: 1e-5}  # what the weights of a head alone may differ: rounding
_ALIKE_IN_HALF = 1e-2


# --- what a value may be -------------------------------------------------------------------------------------------


def text(value: Any) -> bool:
    """Return True for text that can be shown: JSON can hold half of a character."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def whole(first: int, last: int = _WHOLE) -> Check:
    """A check for whole numbers from `first` to `last`; True is none."""
    return lambda value: type(value) is int and first <= value <= last


def finite(value: Any) -> bool:
    """Return True for a finite number."""
    return type(value) in (int, float) and abs(value) < _WHOLE and math.isfinite(value)


def one_of(*known: Any) -> Check:
    """A check for known values."""
    return lambda value: value in known


def maybe(check: Check) -> Check:
    """A check that lets None pass too."""
    return lambda value: value is None or check(value)


def every(check: Check) -> Check:
    """A check of all values of a list."""
    return lambda value: isinstance(value, list) and all(map(check, value))


def _span(value: Any) -> bool:
    return every(whole(0))(value) and len(value) == 2 and value[0] <= value[1]


_ENCODING: dict[str, Check] = {
    "ids": every(whole(0)),
    "tokens": every(text),
    "words": every(maybe(whole(0))),
    "segments": every(whole(0, 1)),
    "special": every(lambda value: isinstance(value, bool)),
    "spans": maybe(every(_span)),
    "unknown": whole(0),
    "unknown_id": maybe(whole(0)),
}
_CUT: dict[str, Check] = {
    "kept": whole(0),
    "total": whole(0),
    "unit": one_of("tokens", "characters"),
    "limit": lambda value: text(value) and len(value) <= _LETTERS and value.isprintable(),
}
_SITE: dict[str, Check] = {
    "stream": one_of(*STREAMS),
    "layer": whole(0, LAYERS),
    "call": whole(0, LAYERS),
    "predicts": maybe(every(maybe(text))),
    "window": maybe(whole(1)),
    "function": lambda value: isinstance(value, dict),
    "mask": maybe(text),
    "to_padding": lambda value: isinstance(value, bool),
    "gate": lambda value: isinstance(value, bool),
}
_NORM: dict[str, Check] = {
    "name": text,
    "layer": maybe(whole(0, LAYERS)),
    "part": one_of(*PARTS),
    "placement": one_of(*PLACEMENTS),
    "epsilon": lambda value: finite(value) and value >= 0,
    "stream": one_of("encoder", "decoder"),
    "kind": one_of(*KINDS),
    "learned": every(one_of("gamma", "beta")),
    "groups": whole(1),
    "gating": one_of("", *GATINGS),
    "difference": maybe(finite),
    "plus_one": lambda value: isinstance(value, bool),
    "arrays": lambda value: every(one_of("gate", "truth", "running"))(value) and "truth" in value,
}
_STATE: dict[str, Check] = {
    "stream": one_of("encoder", "decoder"),
    "layer": whole(-1, LAYERS),
    "norm": maybe(whole(0)),
    "side": one_of("input", "output"),
    "kept": lambda value: isinstance(value, bool),
}
_REFUSED: dict[str, Check] = {
    "what": one_of("norm", "residual stream"),
    "name": lambda value: text(value) and len(value) <= _LETTERS,
    "reason": lambda value: text(value) and len(value) <= _LETTERS,
}
_TRACE: dict[str, Check] = {
    "model": text,
    "text": text,
    "text_pair": maybe(text),
    "target_text": maybe(text),
    "encoding": lambda value: isinstance(value, dict),
    "target": maybe(lambda value: isinstance(value, dict)),
    "sites": every(lambda value: isinstance(value, dict)),
    "norms": every(lambda value: isinstance(value, dict)),
    "states": every(lambda value: isinstance(value, dict)),
    "refused": every(lambda value: isinstance(value, dict)),
    "fused": lambda value: isinstance(value, bool),
    "mixers": every(lambda value: isinstance(value, dict)),
}


def check_header(header: Mapping[str, Any]) -> None:
    """Raise ValueError for the first field of the header that is missing or cannot be."""
    check_fields("", header, _TRACE)
    for part in ("sites", "norms", "states", "refused", "mixers"):
        if len(header[part]) > _PARTS_HELD:
            raise ValueError(f"it holds {len(header[part]):,} {part}, and a trace holds at most {_PARTS_HELD:,}")
    for name in ("encoding", "target"):
        if header[name] is not None:
            _check_encoding(header[name], name)
    if not header["sites"] and not header["mixers"]:
        raise ValueError("it holds no attention")
    for index, site in enumerate(header["sites"]):
        check_fields(f"sites.{index}.", site, _SITE)
    places = {(site["stream"], site["layer"], site["call"]) for site in header["sites"]}
    if len(places) < len(header["sites"]):
        raise ValueError(f"it holds {len(header['sites'])} attentions in {len(places)} places")
    for stream, layer, call in places:
        if call and (stream, layer, call - 1) not in places:
            raise ValueError(f"layer {layer} of {stream} has a call {call}, and none before it")
    for part, checks in (("norms", _NORM), ("states", _STATE), ("refused", _REFUSED)):
        for index, fields in enumerate(header[part]):
            check_fields(f"{part}.{index}.", fields, checks)
    states = [(state["stream"], state["layer"]) for state in header["states"]]
    if len(set(states)) < len(states):
        raise ValueError(f"it holds {len(states)} residual streams in {len(set(states))} places")


def _check_encoding(encoding: Mapping[str, Any], name: str) -> None:
    check_fields(f"{name}.", encoding, _ENCODING)
    count = len(encoding["ids"])
    columns = {column: encoding[column] for column in ("tokens", "words", "segments", "special")}
    if (letters := sum(map(len, encoding["tokens"]))) > _TOKENS_LETTERS:
        raise ValueError(f"{name}: its tokens have {letters:,} letters, and no text has more than {_TOKENS_LETTERS:,}")
    if count == 0 or any(len(column) != count for column in columns.values()):
        raise ValueError(
            f"{name}: its {count} ids have {len(columns['tokens'])} tokens; there must be as many, and one"
        )
    if encoding["unknown"] > count:
        raise ValueError(f"{name}: {encoding['unknown']} of its {count} tokens are unknown")
    if encoding["cut"] is not None:
        check_fields(f"{name}.cut.", encoding["cut"], _CUT)


def check_fields(where: str, values: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    """Raise ValueError for the first field that is missing or not what it can be."""
    for name, check in checks.items():
        if name not in values or not check(values[name]):
            raise ValueError(f"its field {where}{name} is {'missing' if name not in values else 'not what it can be'}")


# --- what was built ------------------------------------------------------------------------------------------------


def check_trace(trace: Trace) -> None:
    """Raise ValueError where the trace holds arrays of other shapes than it says, or numbers that are not finite."""
    read = len(trace.read_by((trace.sites or trace.mixer_sites)[-1].stream))
    if trace.hidden.ndim != 2 or len(trace.hidden) != read or not is_finite(trace.hidden):
        raise ValueError(f"its last hidden state {tuple(trace.hidden.shape)} is not of {read} tokens")
    if {isinstance(record.function, GivenWeights) for record in trace.attentions} - {trace.model == GIVEN}:
        raise ValueError("attention that was given has no model, and attention of a model was not given")
    if trace.model == GIVEN and not _is_bare(trace):
        raise ValueError("attention that was given has weights and nothing else, and this file has more")
    check_all_heads(len(record.query) for record in trace.attentions)
    for record in trace.attentions:
        check_attention(record)
    for state in trace.states:
        held = [array for array in (state.state, state.truth) if array is not None]
        if not all(array.dtype.isnative and np.isfinite(array).all() for array in held):
            raise ValueError(f"its residual stream after layer {state.layer} has numbers that are not finite")
    for norm in trace.norms:
        _check_norm(norm, tokens=len(trace.read_by(norm.stream)))


def check_all_heads(heads: Iterable[int]) -> None:
    """Raise ValueError for more heads, over all attentions, than a trace holds."""
    if (count := sum(heads)) > ALL_HEADS:
        raise ValueError(f"there are {count:,} heads, and a trace holds at most {ALL_HEADS:,}")


def _is_bare(trace: Trace) -> bool:
    """Tell whether nothing is known of a trace but its weights."""
    known = [tensor for record in trace.attentions for tensor in (record.query, record.key, record.value)]
    more = [record for record in trace.attentions if record.gate is not None or record.to_padding is not None]
    beside = (trace.norms, trace.states, trace.mixers, more)
    return not any(beside) and not any(tensor.numel() for tensor in (*known, trace.hidden))


def check_attention(record: AttentionRecord) -> None:
    """Raise ValueError where the call cannot be computed again, whole, by row, by head and before the softmax."""
    site = record.site
    where = f"layer {site.layer}, {site.stream}"
    queries, keys = len(site.queries), len(site.keys)
    shapes = [tuple(tensor.shape[:2]) for tensor in (record.query, record.key, record.value)]
    if shapes != [(site.heads, queries), (site.kv_heads, keys), (site.kv_heads, keys)] or not site.heads:
        raise ValueError(f"{where}: query, key and value have shapes {shapes}, for {queries} queries and {keys} keys")
    if record.query.ndim != 3 or record.key.shape != (*shapes[1], record.query.shape[2]) or record.value.ndim != 3:
        raise ValueError(f"{where}: query and key are not of one width")
    if not all(map(is_finite, (record.query, record.key, record.value))):
        raise ValueError(f"{where}: query, key and value are not all finite numbers")
    if site.predicts is not None and len(site.predicts) != queries:
        raise ValueError(f"{where}: {len(site.predicts)} tokens to predict for {queries} queries")
    groups = getattr(record.function, "module", {}).get("num_key_value_groups", 1)  # how often a key is repeated
    if groups != 1 and groups != site.heads // site.kv_heads:
        raise ValueError(f"{where}: {site.kv_heads} kv heads repeated {groups} times for {site.heads} heads")
    if record.to_padding is not None and tuple(record.to_padding.shape) != (site.heads, queries):
        raise ValueError(f"{where}: padding took shares {tuple(record.to_padding.shape)}")
    if record.gate is not None and (tuple(record.gate.shape) != (site.heads, queries) or not is_finite(record.gate)):
        raise ValueError(f"{where}: its gate of shape {tuple(record.gate.shape)} is not of {(site.heads, queries)}")
    if isinstance(record.function, GivenWeights) and record.function.weights.shape != (1, site.heads, queries, keys):
        raise ValueError(f"{where}: weights of {tuple(record.function.weights.shape)}, for {queries} by {keys} tokens")
    _check_maps(record, where)


def _check_maps(record: AttentionRecord, where: str) -> None:
    """The first block and, of what may differ from it, one row each: the last, one that sees no key, one head alone."""
    queries, keys, last = len(record.site.queries), len(record.site.keys), record.site.heads - 1
    rows, block = next(recompute.blocks(record, "weights"))
    expected = (record.site.heads, rows.stop - rows.start, keys)
    if block.shape != expected or not np.isfinite(block).all():
        raise ValueError(f"{where} gives no attention over its {keys} tokens")
    alone = recompute.window(record.of_head(last), "weights", queries=slice(0, 1), keys=slice(0, keys))
    alike = _ALIKE.get(record.query.dtype, _ALIKE_IN_HALF)
    if alone.shape != (1, 1, keys) or np.abs(alone[0] - block[last, :1]).max() > alike:
        raise ValueError(f"{where} gives another attention for its last head alone")
    for row in {0, queries - 1, *_blind_rows(record)}:
        for kind in _MAPS[:1] if isinstance(record.function, GivenWeights) else _MAPS:
            at = recompute.window(record, kind, queries=slice(row, row + 1), keys=slice(0, keys))
            if at.shape != (last + 1, 1, keys) or np.isnan(at).any() or np.isposinf(at).any():
                raise ValueError(f"{where} gives no {kind} for its query {row}")


def _blind_rows(record: AttentionRecord) -> list[int]:
    """The first query that a mask hides every key from, where there is one."""
    if record.mask is None:
        return []
    queries, keys = len(record.site.queries), len(record.site.keys)
    for rows in row_blocks(queries, keys):
        seen = record.mask.rows(rows.start, rows.stop)
        shapes = [(1, heads, rows.stop - rows.start, keys) for heads in (1, record.site.heads)]
        if tuple(seen.shape) not in shapes:
            raise ValueError(f"layer {record.site.layer}: its mask is for {tuple(seen.shape)}, not for {shapes[-1]}")
        blind = (~seen.any(dim=-1)).any(dim=(0, 1)).nonzero()
        if len(blind):
            return [rows.start + int(blind[0])]
    return []


def _check_norm(norm: NormRecord, *, tokens: int) -> None:
    arrays = [norm.input, norm.gamma, norm.beta, *(a for a in (norm.gate, norm.truth, norm.running) if a is not None)]
    if any(array.dtype.kind != "f" or not array.dtype.isnative or not np.isfinite(array).all() for array in arrays):
        raise ValueError(f"the norm {norm.name!a} has numbers that are not finite")
    if norm.input.ndim != 2 or len(norm.input) != tokens:
        raise ValueError(f"the norm {norm.name!a} took {norm.input.shape}, for {tokens} tokens")
    width = norm.input.shape[1]
    if norm.gamma.shape != (width,) or norm.beta.shape != (width,) or not width:
        raise ValueError(f"the norm {norm.name!a} of width {width} has learned {norm.gamma.shape}, {norm.beta.shape}")
    if not np.isfinite(norm.output).all():  # which raises, too, where its numbers are of several dtypes
        raise ValueError(f"the norm {norm.name!a} gives numbers that are not finite")


def is_finite(tensor: Tensor) -> bool:
    """Return True for a tensor of finite numbers with a point."""
    return tensor.is_floating_point() and bool(torch.isfinite(tensor).all())
