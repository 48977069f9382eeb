"""Numbers that were not in a model's files are never shown as its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BartConfig, BartForConditionalGeneration, GPT2Config, GPT2LMHeadModel

import models
from models import fetch

Weights = dict[str, torch.Tensor]


def rewrite(folder: Path, change: Any) -> None:
    weights = load_file(folder / "model.safetensors")
    changed = change(weights)
    save_file(weights if changed is None else changed, folder / "model.safetensors", metadata={"format": "pt"})


def test_weights_that_are_all_missing_are_refused(bert: Path) -> None:
    rewrite(bert, lambda weights: {"unrelated": torch.zeros(3)})
    with pytest.raises(ValueError, match=r"shown: \d+ of its \d+ weights are not in its files, such as 'bert"):
        models.load(bert)


def test_one_missing_weight_of_the_body_is_refused(bert: Path) -> None:
    rewrite(bert, lambda weights: {k: v for k, v in weights.items() if k != "bert.encoder.layer.1.output.dense.bias"})
    with pytest.raises(ValueError, match=r" 1 of its \d+ weights .* 'bert.encoder.layer.1.output.dense.bias'"):
        models.load(bert)


def test_a_missing_head_is_said_and_the_body_is_shown(bert: Path) -> None:
    whole = models.load(bert)
    rewrite(bert, lambda weights: {k: v for k, v in weights.items() if k.startswith("bert.")})
    loaded = models.load(bert)
    assert "hold no head that predicts tokens, so BertForMaskedLM is shown without" in loaded.card.summary
    assert loaded.predict is None
    assert whole.predict is not None
    ids = torch.tensor([[101, 4937, 102]])
    inputs = ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids)
    assert torch.equal(loaded.run(*inputs), whole.run(*inputs))


def test_a_bare_body_under_the_name_of_its_head_is_shown_without(bert: Path) -> None:
    rewrite(bert, lambda weights: {k.removeprefix("bert."): v for k, v in weights.items() if k.startswith("bert.")})
    assert "BertForMaskedLM is shown without" in models.load(bert).card.summary


def add_tokenizer(folder: Path) -> None:
    """The bundled one, to be read as it stands and not as the model's own kind."""
    (folder / "tokenizer.json").write_bytes((fetch.folder("minilm") / "tokenizer.json").read_bytes())
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}', encoding="utf-8")


@pytest.mark.parametrize("tied", [True, False])
def test_tied_weights_are_not_missing(tmp_path: Path, tied: bool) -> None:
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 30522}
    GPT2LMHeadModel(GPT2Config(**sizes, tie_word_embeddings=tied)).save_pretrained(tmp_path)
    add_tokenizer(tmp_path)
    assert ("lm_head.weight" in load_file(tmp_path / "model.safetensors")) is not tied
    assert models.load(tmp_path).write is not None
    if not tied:
        rewrite(tmp_path, lambda weights: {k: v for k, v in weights.items() if k != "lm_head.weight"})
        loaded = models.load(tmp_path)
        assert loaded.write is None
        assert "GPT2LMHeadModel is shown without" in loaded.card.summary


def test_a_missing_head_of_an_encoder_decoder_is_said(tmp_path: Path) -> None:
    sizes = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 30522, "max_position_embeddings": 32}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    config = BartConfig(**sizes, **heads, tie_word_embeddings=False)
    BartForConditionalGeneration(config).save_pretrained(tmp_path)
    add_tokenizer(tmp_path)
    assert "lm_head.weight" in load_file(tmp_path / "model.safetensors")
    assert models.load(tmp_path).write is not None
    rewrite(tmp_path, lambda weights: {k: v for k, v in weights.items() if k != "lm_head.weight"})
    loaded = models.load(tmp_path)
    assert loaded.write is None
    assert "BartForConditionalGeneration is shown without" in loaded.card.summary


def test_another_shape_is_refused_with_both(bert: Path) -> None:
    rewrite(bert, lambda weights: weights | {"bert.encoder.layer.0.output.dense.weight": torch.zeros(3, 5)})
    with pytest.raises(ValueError, match=r"1 weight of its files have other shapes.*\(3, 5\) in the file, \(8, 16\)"):
        models.load(bert)


def test_layers_that_the_configuration_does_not_name_are_said(bert: Path, edit: Any) -> None:
    edit(bert, num_hidden_layers=1)
    summary = models.load(bert).card.summary
    assert "16 weights of its files have no place in it, such as bert.encoder.layer.1." in summary


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_weight_that_is_not_finite_is_refused(bert: Path, number: float) -> None:
    def damage(weights: Weights) -> None:
        weights["bert.encoder.layer.1.output.dense.weight"][2, 3] = number

    rewrite(bert, damage)
    with pytest.raises(ValueError, match=r"layer.1.output.dense.weight' holds numbers that are not finite"):
        models.load(bert)


def test_what_overflows_when_it_is_tried_out_is_refused(bert: Path) -> None:
    def damage(weights: Weights) -> None:
        for name in weights:
            if "layer.0" in name:
                weights[name] = torch.full_like(weights[name], 1e30)

    rewrite(bert, damage)
    with pytest.raises(ValueError, match="of 5 tokens it makes numbers that are not finite"):
        models.load(bert)


def test_a_token_that_the_weights_do_not_have_is_a_sentence(tmp_path: Path) -> None:
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 8, "n_positions": 16, "vocab_size": 3000}
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(tmp_path)
    add_tokenizer(tmp_path)
    loaded = models.load(tmp_path)
    ids = torch.tensor([loaded.encode("cat").ids])
    with pytest.raises(ValueError, match="no row for a token of the text or its position; the largest id is 4,937"):
        loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
