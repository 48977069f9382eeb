"""A window, a head alone and a small picture hold the bits of the whole map, and cost no more than they must."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    AutoTokenizer,
    BloomConfig,
    BloomModel,
    GptOssConfig,
    GptOssModel,
    MistralConfig,
    MistralModel,
    ModernBertConfig,
    ModernBertModel,
    T5Config,
    T5ForConditionalGeneration,
)

import models
from inspector import Trace, maps, record
from inspector.components.grid import side
from inspector.trace import recompute
from inspector.trace.pooling import pool
from models import LoadedModel, fetch
from models.attention.masks import DenseMask
from tests.closeness import assert_close
from tests.inspector.scores.made import record as made_record
from tests.models.own_models import own

TEXT = "the cat sat on a mat and wanted milk from some big river bank " * 21  # 296 tokens: blocks of 128, 128 and 40
TOKENS = 296
WINDOW = 64  # keys to either side in a local layer of ModernBERT


@pytest.fixture(scope="module")
def save(tmp_path_factory: pytest.TempPathFactory) -> Callable[[torch.nn.Module], LoadedModel]:
    def save(network: torch.nn.Module) -> LoadedModel:
        folder: Path = tmp_path_factory.mktemp(type(network).__name__)
        network.save_pretrained(folder)
        AutoTokenizer.from_pretrained(fetch.folder("minilm")).save_pretrained(folder)
        return models.load(folder)

    return save


def modern_bert() -> torch.nn.Module:
    torch.manual_seed(0)
    special = {f"{name}_token_id": 0 for name in ("pad", "cls", "sep", "bos", "eos")}
    return ModernBertModel(
        ModernBertConfig(
            vocab_size=30522,
            hidden_size=32,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            local_attention=2 * WINDOW,
            **special,
        )
    )


def mistral() -> torch.nn.Module:
    """Four heads share two keys, and see 50 tokens back."""
    size = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "sliding_window": 50}
    return MistralModel(MistralConfig(vocab_size=30522, num_attention_heads=4, num_key_value_heads=2, **size))


def gpt_oss() -> torch.nn.Module:
    """Sinks, one for each head, in a local layer."""
    size = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "head_dim": 8, "sliding_window": 20}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 2, "num_experts_per_tok": 1}
    return GptOssModel(GptOssConfig(vocab_size=30522, layer_types=["sliding_attention"], **size, **heads))


def bloom() -> torch.nn.Module:
    """Attention by itself: its softmax is watched."""
    return BloomModel(BloomConfig(vocab_size=30522, hidden_size=32, n_layer=1, n_head=4))


def t5() -> torch.nn.Module:
    """A position bias of its own for each head."""
    size = {"d_model": 32, "d_ff": 32, "d_kv": 8, "num_layers": 1, "num_heads": 4}
    return T5ForConditionalGeneration(T5Config(vocab_size=30522, decoder_start_token_id=0, pad_token_id=0, **size))


OWN: list[dict[str, Any]] = [
    {"positions": "alibi"},
    {"positions": "t5"},
    {"positions": "shaw"},
    {"positions": "xl"},
    {"score": "general"},
    {"score": "additive", "width": 16},
    {"score": "cosine", "kv_heads": 2},
    {"weighting": "sigmoid", "kv_heads": 2},
    {"weighting": "linear"},
]


def check(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every head of every site, alone and in windows within, across and at the ends of blocks."""
    for site in trace.sites:
        which = {"layer": site.layer, "stream": site.stream}
        whole, scores = trace.attention(**which), trace.scores(**which)
        queries, keys = len(site.queries), len(site.keys)
        windows = [(slice(None), slice(None)), (slice(queries - 1, None), slice(0, 1)), (slice(1, 3), slice(-2, None))]
        windows += [(slice(100, 200), slice(120, 140)), (slice(128, 256), slice(0, keys))] if queries > 256 else []
        with monkeypatch.context() as patch:
            patch.setattr("inspector.trace.trace._LARGEST_LAYER", 0)
            for head in range(site.heads):
                np.testing.assert_array_equal(trace.attention(**which, head=head), whole[head])
                np.testing.assert_array_equal(trace.scores(**which, head=head), scores[head])
                for rows, columns in windows:
                    part = trace.window(**which, head=head, queries=rows, keys=columns)
                    np.testing.assert_array_equal(part, whole[head, rows, columns])
        np.testing.assert_array_equal(trace.pooled(**which, side=7), by_tiles(whole, 7))


def by_tiles(whole: np.ndarray, side: int) -> np.ndarray:
    tall, wide = (-(-length // side) for length in whole.shape[1:])
    rows = [whole[:, at : at + tall].max(axis=1) for at in range(0, whole.shape[1], tall)]
    down = np.stack(rows, axis=1)
    return np.stack([down[..., at : at + wide].max(axis=-1) for at in range(0, down.shape[2], wide)], axis=-1)


@pytest.mark.parametrize("network", [modern_bert, mistral, gpt_oss, bloom, t5], ids=lambda network: network.__name__)
def test_parts_hold_the_bits_of_the_whole(
    network: Callable[[], torch.nn.Module],
    save: Callable[[torch.nn.Module], LoadedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = save(network())
    check(record(loaded, TEXT, target="the cat" if loaded.shape == "encoder-decoder" else None), monkeypatch)


@pytest.mark.parametrize("changes", OWN, ids=str)
def test_parts_hold_the_bits_of_the_whole_in_own_models(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    check(record(own("decoder", layers=1, **changes), TEXT), monkeypatch)


def test_windows_and_pictures_that_hold_nothing_are_refused(minilm: LoadedModel) -> None:
    trace = record(minilm, "The cat sat.")
    with pytest.raises(ValueError, match=r"queries 6 to 6 in steps of 1 are no window of 6"):
        trace.window(layer=0, head=0, queries=slice(9, 12), keys=slice(None))
    with pytest.raises(ValueError, match=r"keys 0 to 6 in steps of 2 are no window of 6"):
        trace.window(layer=0, head=0, queries=slice(None), keys=slice(None, None, 2))
    with pytest.raises(ValueError, match=r"head 12 is out of range"):
        trace.window(layer=0, head=12, queries=slice(None), keys=slice(None))
    with pytest.raises(ValueError, match=r"0 cells a side"):
        trace.pooled(layer=0, side=0)


@pytest.mark.parametrize("choice", [{}, {"hide_special": True, "renormalise": True}, {"merge_words": True}], ids=str)
def test_the_grid_is_the_one_of_whole_maps(minilm: LoadedModel, choice: dict[str, bool]) -> None:
    """Words of several pieces lie across the borders of the blocks."""
    trace = record(minilm, "antidisestablishmentarianism " * 40)
    assert trace.words[127] == trace.words[128]
    shown = maps.arrange(trace, **choice)
    whole = [shown.apply(trace.attention(layer=site.layer)) for site in trace.sites]
    pooled = [maps.pooled(trace, shown, layer=layer, stream="encoder", side=side(6, 12)) for layer in range(6)]
    np.testing.assert_array_equal(
        np.stack(pooled),
        np.stack([pool(layer, side=side(6, 12)) for layer in whole]),
    )


def products(call: Callable[[], object]) -> int:
    """Floating-point operations of all batched matrix products, which are those of attention."""
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_flop_counts()["Global"].get(torch.ops.aten.bmm, 0)


def test_a_local_layer_multiplies_its_band_alone(save: Callable[[torch.nn.Module], LoadedModel]) -> None:
    loaded = save(modern_bert())
    heads, width = 4, 8

    def expected(tokens: int) -> int:
        blocks = [(start, min(start + 128, tokens)) for start in range(0, tokens, 128)]
        local = sum((stop - start) * (min(tokens, stop + WINDOW) - max(0, start - WINDOW)) for start, stop in blocks)
        return 2 * 2 * heads * width * (tokens**2 + 2 * local)  # QK and AV: one global layer, two local ones

    for tokens in (200, 500):
        assert products(lambda tokens=tokens: record(loaded, "word " * (tokens - 2))) == expected(tokens)


def test_one_head_is_computed_without_the_others(
    save: Callable[[torch.nn.Module], LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = record(save(modern_bert()), TEXT)
    monkeypatch.setattr("inspector.trace.trace._LARGEST_LAYER", 0)
    layer = products(lambda: trace.attention(layer=0))
    assert products(lambda: trace.attention(layer=0, head=2)) == layer / 4
    rows = products(lambda: trace.window(layer=0, head=2, queries=slice(5, 9), keys=slice(0, 9)))
    assert rows == layer / 4 * 128 / TOKENS


def test_the_blocks_of_a_call_leave_out_what_is_masked(save: Callable[[torch.nn.Module], LoadedModel]) -> None:
    trace = record(save(modern_bert()), TEXT)
    assert len(trace.tokens) == TOKENS
    bands = list(recompute.bands(trace.attentions[1]))
    assert [(band.keys.start, band.keys.stop) for band in bands] == [(0, 192), (64, 296), (192, 296)]


def test_a_head_alone_has_its_own_mask_where_heads_have_masks_of_their_own() -> None:
    made = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 3, 5, 4, generator=made)
    bias = torch.zeros(1, 3, 5, 5)
    for head in range(3):
        bias[0, head, :, head + 1 :: 3] = torch.finfo(torch.float32).min
    call = replace(made_record(query, key), mask=DenseMask(bias))
    for head in range(3):
        scores = (query[head] @ key[head].T).double().numpy() / 2 + bias[0, head].double().numpy()
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        found = recompute.window(call.of_head(head), "weights", queries=slice(0, 5), keys=slice(0, 5))
        assert_close(found, weights[None], relative=1e-6)
