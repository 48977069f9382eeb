"""Old keys against transformers' own past_key_values, and reads against what a loop multiplies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import stepwise
from tests.closeness import assert_close
from tests.inspector.stepwise.test_forcing import TEXT, saved


def test_a_decoders_old_keys_stay_and_are_transformers_cache(tmp_path: Path) -> None:
    loaded = saved("gpt2", tmp_path)
    trace = inspector.record(loaded, TEXT)
    found = stepwise.old_keys(loaded, trace)
    assert_close(found["largest"], 0, relative=1e-5, scale=[record.key.abs().max() for record in trace.attentions])
    ids = torch.tensor([trace.encoding.without_end().ids])
    with torch.inference_mode():
        before, after = (loaded.network(read, use_cache=True).past_key_values for read in (ids[:, :-1], ids))
    rows = found.set_index(["layer", "tensor"])
    for layer, (old, now) in enumerate(zip(before.layers, after.layers, strict=True)):
        assert old.keys.shape[2] == rows["old"][layer, "key"] == ids.shape[1] - 1
        assert_close(now.keys[:, :, :-1], old.keys, relative=1e-5)
        assert_close(trace.record_of(layer, None).key[:, : old.keys.shape[2]], old.keys[0], relative=1e-5)


def test_an_encoders_old_keys_move_from_layer_1_on_by_hand() -> None:
    loaded = models.load("mini-bert")
    trace = inspector.record(loaded, "The cat sat on the mat because it was tired.")
    found = stepwise.old_keys(loaded, trace, new=2).set_index(["layer", "tensor"])
    ids = torch.tensor([trace.encoding.ids[:-1]])  # without [SEP]
    old = ids.shape[1] - 2
    assert set(found["old"]) == {old}
    encoder = loaded.runner.network
    for layer, block in enumerate(encoder.layers):
        kept: list[torch.Tensor] = []
        for name in ("key", "value"):
            kept = []
            with (
                getattr(block.attention, name).register_forward_hook(
                    lambda _, __, out, kept=kept: kept.append(out[0, :old].double())
                ),
                torch.inference_mode(),
            ):
                encoder(ids[:, :old])
                encoder(ids)
            before, after = kept
            by_hand = ((after - before).norm(dim=1) / before.norm(dim=1)).mean()
            assert_close(found["relative"][layer, name], float(by_hand), relative=1e-6)
            if name == "value":  # RoPE turns keys, which leaves their lengths and changes their numbers
                assert_close(found["largest"][layer, name], float((after - before).abs().max()), relative=1e-5)
    relative = found["relative"]
    assert relative[0, "key"] == 0 == relative[0, "value"]
    assert relative.drop(0).min() > 0.01
    causal = models.variant(loaded, causal=True)
    still = stepwise.old_keys(causal, inspector.record(causal, trace.text), new=2)
    assert_close(still["relative"], 0, relative=1e-5, scale=1)


def test_an_encoder_decoder_has_both() -> None:
    loaded = models.load("own-encoder-decoder")
    trace = inspector.record(loaded, TEXT)
    largest = stepwise.old_keys(loaded, trace).groupby(["stream", "layer"])["largest"].max()
    assert_close(largest["decoder"], 0, relative=1e-6, scale=[record.key.abs().max() for record in trace.attentions])
    assert largest["encoder"][0] == 0
    assert largest["encoder"].drop(0).min() > 1e-3


def test_a_text_too_short_is_told() -> None:
    loaded = models.load("own-decoder")
    trace = inspector.record(loaded, "the cat")
    count = len(trace.encoding.without_end())
    with pytest.raises(ValueError, match=f"of {count} tokens {count} cannot be new: choose 1 to {count - 1}"):
        stepwise.old_keys(loaded, trace, new=count)


@pytest.mark.parametrize("name", ["own-decoder", "own-encoder-decoder", "gpt2"])
def test_each_query_is_read_once_and_each_key_at_every_later_step(name: str, tmp_path: Path) -> None:
    loaded = saved(name, tmp_path) if name == "gpt2" else models.load(name)
    trace = inspector.record(loaded, TEXT)
    count = len(trace.read_by("decoder"))
    layers = stepwise.reads(loaded, trace, tokens=count)
    assert [layer.layer for layer in layers] == list(range(len(layers)))
    for layer in layers:
        assert np.array_equal(layer.query, np.eye(count, dtype=bool))
        assert np.array_equal(layer.made, np.eye(count, dtype=bool))
        assert layer.key.sum(axis=0).tolist() == [count - token for token in range(count)]
        assert layer.counts == (count, count * (count + 1) // 2)
        assert layer.moved == 0  # what is read later is what was computed, to the last bit
