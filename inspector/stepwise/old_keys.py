"""Old keys under a text that grows: read a text without its last tokens, then whole, and compare what was kept.

A key is made from its token's state. Under a causal mask no state sees a later token, so old keys stay as they are and
can be cached. Where every token sees every token, a new token moves all old states from the first attention on, and
with them every key and value of the layers above: layer 0's alone are made before anything was attended to.

Shapes: m old tokens of n, K kv heads, E head width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch import Tensor

from inspector.probe import ModelInputs, record_inputs
from inspector.trace import AttentionRecord, Trace
from models import LoadedModel
from models.tokenizers import Encoding

WHERE = {"encoder": "source", "decoder": "target"}
ROUNDING = 1e-4  # of a vector's length: what float32 moves through a model, with room for half precision's kin


@dataclass(frozen=True)
class KeyMoves:
    """The moves of the old keys of one stream in one model.

    old: how many tokens are old. most: the largest mean change of a key of a layer above layer 0, as a share of its
    length, and `layer` that layer; first: of layer 0. largest: of a key's or value's number in any layer. alone:
    True where there is one layer, whose keys move under no mask.
    """

    name: str
    old: int
    first: float
    most: float
    layer: int
    largest: float
    alone: bool = False

    @property
    def stays(self) -> bool:
        """True where keys move by no more than rounding."""
        return self.most <= ROUNDING


def moving(table: pd.DataFrame, *, name: str) -> KeyMoves:
    """Sum up the rows of one stream of `compare`."""
    keys = table[table["tensor"] == "key"]
    above = keys[keys["layer"] > keys["layer"].min()]
    above = keys if above.empty else above
    return KeyMoves(
        name=name,
        old=int(keys["old"].iloc[0]),
        first=float(keys["relative"].iloc[0]),
        most=float(above["relative"].max()),
        layer=int(above.loc[above["relative"].idxmax(), "layer"]),
        largest=float(table["largest"].max()),
        alone=bool(keys["layer"].nunique() == 1),
    )


def grown(trace: Trace) -> dict[str, int]:
    """Count the tokens of the text that each stream's keys are of, without a special token at the end, by stream."""
    return {
        stream: len(trace.read_by(stream).without_end()) for stream in trace.streams if stream in ("encoder", "decoder")
    }


def compare(loaded: LoadedModel, trace: Trace, *, new: int = 1, most: int = 128) -> pd.DataFrame:
    """Read a recorded text without its `new` last tokens and with them, and hold the old tokens' keys and values.

    new: how many tokens come later; most: the tokens that are read at most, the text's first. The special token at the
    end is left out: a text that goes on has none yet. Of an encoder-decoder the source grows by so many for the
    encoder's keys, and the target for the decoder's.

    Returns a row per stream, layer, call and tensor ("key" | "value"): old (m), relative (|after - before| / |before|
    of a token's vector over all heads, mean over the old tokens), largest (|difference| of a number). Raises ValueError
    for a text too short, and for a model whose keys cannot be seen.
    """
    whole = ModelInputs(
        _first(trace.encoding.without_end(), most),
        None if trace.target is None else _first(trace.target.without_end(), most),
    )
    shortest = min(len(encoding) for encoding in (whole.encoding, whole.target) if encoding is not None)
    if not 1 <= new < shortest:
        raise ValueError(
            f"of {shortest} tokens {new} cannot be new: choose 1 to {shortest - 1}, or a text of more tokens"
        )
    after = _read(loaded, whole)
    shorter = {
        "encoder": replace(whole, encoding=_first(whole.encoding, len(whole.encoding) - new)),
        "decoder": replace(whole, target=whole.target and _first(whole.target, len(whole.target) - new))
        if whole.target is not None
        else replace(whole, encoding=_first(whole.encoding, len(whole.encoding) - new)),
    }
    rows = []
    for stream in grown(trace):
        before = _read(loaded, shorter[stream])
        for old, now in zip(_of(before, stream), _of(after, stream), strict=True):
            site = now.site
            for tensor in ("key", "value"):
                relative, largest = _moved(getattr(old, tensor), getattr(now, tensor))
                rows.append((stream, site.layer, site.call, tensor, len(old.site.keys), relative, largest))
    if not rows:
        raise ValueError(f"the keys of {loaded.card.id} cannot be seen, so they are not compared")
    return pd.DataFrame(rows, columns=["stream", "layer", "call", "tensor", "old", "relative", "largest"])


def _of(trace: Trace, stream: str) -> list[AttentionRecord]:
    return [record for record in trace.attentions if record.site.stream == stream and record.key.shape[-1]]


def _moved(before: Tensor, after: Tensor) -> tuple[float, float]:
    """Compare keys or values [K, m, E] with the first m of [K, n, E]."""
    old = before.double().transpose(0, 1).flatten(1)  # [m, K E]
    now = after[:, : before.shape[1]].double().transpose(0, 1).flatten(1)
    size = old.norm(dim=1)
    shares = torch.where(size > 0, (now - old).norm(dim=1) / size, 0.0)
    return float(shares.mean()), float((now - old).abs().max())


def _read(loaded: LoadedModel, inputs: ModelInputs) -> Trace:
    return record_inputs(loaded, inputs, text="")


def _first(encoding: Encoding, tokens: int) -> Encoding:
    """The first tokens of a text."""
    columns = {name: getattr(encoding, name)[:tokens] for name in ("ids", "tokens", "words", "segments", "special")}
    return replace(encoding, **columns, spans=None if encoding.spans is None else encoding.spans[:tokens])
