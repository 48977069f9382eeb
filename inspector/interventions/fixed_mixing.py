"""Attention beside a fully connected layer over the tokens: its weights come with the text, the layer's do not.

y_i = sum_j A_ij(x) v_j of attention, y_i = sum_j W_ij v_j of a layer with learned weights W [n, n], which are the same
for every text and exist for one length alone.

Shapes: H heads, T tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from inspector.heads import with_call
from inspector.interventions.change import inputs_of
from inspector.probe import record_inputs
from inspector.trace import Trace
from models import LoadedModel
from models.tokenizers import Encoding


@dataclass(frozen=True, eq=False)
class FixedMixing:
    """The change of every head's weights by another text of the same length, a row per head.

    table: stream, layer, head, largest (the largest |A' - A|) and mean (the mean of |A' - A|). tokens: n, the text's
    length; a fully connected layer over them needs n x n weights, and none of them changes with the text.
    """

    table: pd.DataFrame
    tokens: int

    @property
    def parameters(self) -> int:
        """The weights of a fully connected layer over the text's tokens."""
        return self.tokens**2


def against_fixed(loaded: LoadedModel, trace: Trace, *, stream: str) -> FixedMixing:
    """Read the text's own tokens backwards, and compare every head's map with the one before, cell by cell.

    Special tokens stay where they are. Maps are read block by block.

    Raises ValueError for a text that is the same backwards, and for cross-attention, whose rows are another text's.
    """
    if stream == "cross":
        raise ValueError("cross-attention mixes the tokens of another text")
    read = trace.read_by(stream)
    turned = _backwards(read)
    if turned.ids == read.ids:
        raise ValueError("the text is the same backwards, so there is no other text of its length to read")
    inputs = inputs_of(trace)
    inputs = replace(inputs, target=turned) if read is trace.target else replace(inputs, encoding=turned)
    after = record_inputs(loaded, inputs, text=trace.text, text_pair=trace.text_pair, target=trace.target_text)
    tables = []
    for site in trace.sites_of(stream):
        both = (recording.blocks(layer=site.layer, stream=stream, call=site.call) for recording in (trace, after))
        largest, total = np.zeros(site.heads), np.zeros(site.heads)
        for (_, before), (_, now) in zip(*both, strict=True):
            change = np.abs(now - before)
            largest = np.maximum(largest, change.max(axis=(1, 2)))
            total += change.sum(axis=(1, 2), dtype=np.float64)
        mean = total / (len(site.queries) * len(site.keys))
        numbers = {"largest": largest, "mean": mean}
        table = pd.DataFrame({"stream": stream, "layer": site.layer, "head": range(site.heads), **numbers})
        tables.append(with_call(table, site, trace.sites))
    return FixedMixing(pd.concat(tables, ignore_index=True), len(read))


def _backwards(text: Encoding) -> Encoding:
    """Put the text's own tokens in the reverse order; special tokens stay."""
    movable = [place for place, special in enumerate(text.special) if not special]
    order = list(range(len(text)))
    for place, source in zip(movable, reversed(movable), strict=True):
        order[place] = source
    ids, tokens = tuple(text.ids[at] for at in order), tuple(text.tokens[at] for at in order)
    return replace(text, ids=ids, tokens=tokens, words=tuple(text.words[at] for at in order), spans=None)
