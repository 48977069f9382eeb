"""Mixing of tokens and features, against the own Transformer's modules run twice."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import inspector
from inspector import mixing
from inspector.wording.english import block as words
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."


@pytest.mark.parametrize(("shape", "kv_heads"), [("encoder", None), ("decoder", 1)])
def test_one_number_of_one_token(shape: str, kv_heads: int | None) -> None:
    loaded = own(shape, layers=1, **({} if kv_heads is None else {"kv_heads": kv_heads}))
    trace = inspector.record(loaded, TEXT)
    blocks = inspector.record_blocks(loaded, trace)
    count, width = trace.output.shape
    at = {"stream": shape, "layer": 0, "position": 1}
    ffn = mixing.ffn(blocks, loaded.network, **at)
    assert ffn == mixing.ChangedCells(1, width, alone=True)
    module = loaded.network.layers[0].ffn
    x = torch.tensor(blocks.ffn(shape, 0).input)
    other = x.clone()
    other[1, 0] += 1
    with torch.no_grad():
        change = (module(other[None]) - module(x[None]))[0]
    assert (change != 0).any(dim=1).tolist() == [place == 1 for place in range(count)]
    both = mixing.attention(trace, blocks, loaded.network, **at)
    assert both == mixing.ChangedCells(count if shape == "encoder" else count - 1, width, alone=False)
    said = " ".join(words.mixes(tokens=count, width=width, ffn=ffn, attention=both))
    assert f"for 1 of {count} tokens (that token alone; everywhere else exactly 0 changes)" in said
    assert f"for {both.tokens} of {count} tokens, in {width} of {width} dimensions" in said
    assert "is not counted" in words.mixes(tokens=count, width=width, ffn=ffn, attention=None)[1]
    with pytest.raises(ValueError, match=f"position is {count}"):
        mixing.ffn(blocks, loaded.network, stream=shape, layer=0, position=count)


def test_what_attention_writes_is_the_change_that_the_model_makes() -> None:
    """The product that is counted, written out head by head."""
    loaded = own("encoder", layers=1)
    trace = inspector.record(loaded, TEXT)
    attention = loaded.network.layers[0].attention
    weights = trace.attention(layer=0).astype(np.float64)
    v, o = (attention.get_parameter(path).detach().double().numpy() for path in ("value.weight", "out.weight"))
    heads = len(weights)
    e = v.shape[0] // heads
    change = sum(
        np.outer(weights[h][:, 1], v[h * e : (h + 1) * e, 0] @ o[:, h * e : (h + 1) * e].T) for h in range(heads)
    )
    found = mixing.attention(
        trace, inspector.record_blocks(loaded, trace), loaded.network, stream="encoder", layer=0, position=1
    )
    assert (found.tokens, found.dimensions) == ((change != 0).any(axis=1).sum(), (change != 0).any(axis=0).sum())
