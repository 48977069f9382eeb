"""FLOPs of each step against torch's own counter over the real decoding, bytes against the real cache."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector.costs import count, decoding, kv_cache
from models.transformer import build
from models.transformer.config import TransformerConfig
from models.transformer.generation import NextToken

SIZES: dict[str, Any] = {"vocabulary": 50, "layers": 2, "width": 24, "heads": 4, "ffn_width": 40, "max_positions": 40}
CHANGES: list[dict[str, Any]] = [
    {},
    {"kv_heads": 1, "head_size": 5, "bias": False},
    {"merge": "sum"},
    {"projections": False},
    {"shared_key_value": True, "kv_heads": 2},
    {"shared_layers": True, "layers": 3},
    {"embedding_width": 10},
    {"activation": "swiglu", "norm": "rms"},
    {"positions": "rope", "window": 3},
    {"positions": "alibi"},
    {"positions": "t5", "relative_buckets": 8, "relative_distance": 20},
    {"positions": "shaw", "relative_distance": 3},
    {"positions": "xl"},
    {"score": "general"},
    {"score": "cosine", "scale": "none"},
    {"score": "additive", "kv_heads": 2},
    {"score": "additive_naive"},
    {"weighting": "sigmoid", "kv_heads": 2},
    {"weighting": "linear"},
]
STEPS = 3  # one without a cache and two with it; begun by 4 tokens, they go past a window of 3
SOURCE = torch.tensor([[3, 4, 5, 6, 7, 8, 9]])


@pytest.mark.parametrize("begun", [1, 4])
@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("change", CHANGES, ids=str)
@torch.no_grad()
def test_every_step_is_what_torch_counts(change: dict[str, Any], shape: Any, begun: int) -> None:
    config = TransformerConfig(**{**SIZES, **change}, shape=shape)
    source = SOURCE if shape == "encoder-decoder" else None
    table = decoding.by_step(config, steps=STEPS, begun=begun, source=None if source is None else 7)
    model = build(config).eval().requires_grad_(False)
    for column, cached in (("flops_cached", True), ("flops_uncached", False)):
        ask, counted, kept = NextToken(model, source=source, cached=cached), [], []
        for tokens in range(begun, begun + STEPS):
            with FlopCounterMode(display=False) as counter:
                ask(torch.ones(1, tokens, dtype=torch.long))
            counted.append(counter.get_total_flops())
            kept.append(0 if ask.cache is None else ask.cache.nbytes)
        assert table[column].tolist() == counted
        if cached:
            assert table["cache_bytes"].tolist() == kept


def test_a_decoder_by_hand() -> None:
    """One layer, D = F = 2, one head, V = 3. A token's projections cost 4 * 2*2*2 = 32, its FFN 16, its output 12;
    scores and mix 2 * 2*n*m*2 = 8 n m."""
    config = TransformerConfig(vocabulary=3, layers=1, width=2, heads=1, ffn_width=2, max_positions=9, shape="decoder")
    table = decoding.by_step(config, steps=3, element_bytes=2)
    assert table["flops_cached"].tolist() == [48 + 8 * 1 + 12, 48 + 8 * 2 + 12, 48 + 8 * 3 + 12]
    assert table["flops_uncached"].tolist() == [48 + 8 + 12, 2 * 48 + 8 * 4 + 12, 3 * 48 + 8 * 9 + 12]
    assert table["total_cached"].tolist() == [68, 68 + 76, 68 + 76 + 84]
    assert table["cache_bytes"].tolist() == [8, 16, 24]  # 2 L K E n b = 2 * 1 * 1 * 2 * n * 2
    assert table["tokens"].tolist() == [1, 2, 3]


def test_what_cannot_be_counted_is_said() -> None:
    decoder, encoder = (TransformerConfig(**SIZES, shape=shape) for shape in ("decoder", "encoder"))
    with pytest.raises(ValueError, match="this encoder does not write"):
        decoding.by_step(encoder, steps=1)
    with pytest.raises(ValueError, match="decoder reads no source, and source is 3"):
        decoding.by_step(decoder, steps=1, source=3)
    with pytest.raises(ValueError, match="steps 0, begun 1"):
        decoding.by_step(decoder, steps=0)


@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
def test_the_count_of_any_model_gives_the_formulas_steps(shape: Any) -> None:
    """The project's Transformer has both; models of transformers are compared with what they measured, on Generate."""
    config = TransformerConfig(vocabulary=30, layers=2, width=16, heads=4, ffn_width=24, max_positions=64, shape=shape)
    given = {"steps": 4, "begun": 3 if shape == "decoder" else 1, "source": None if shape == "decoder" else 7}
    found = decoding.counted_by_step(count(config), kv_cache(config), **given)
    pd.testing.assert_frame_equal(found, decoding.by_step(config, **given), check_exact=True)
    with pytest.raises(ValueError, match="each must be at least 1"):
        decoding.counted_by_step(count(config), kv_cache(config), **{**given, "steps": 0})
