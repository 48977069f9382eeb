"""Models without a map from token to token are refused with the reason, before a weight is read."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, NystromformerConfig, NystromformerModel

import models
from models.huggingface.without_maps import why_no_maps
from tests.inspector.probe.families import Family, save


def test_nystromformer_with_landmarks_says_so(tmp_path: Path) -> None:
    save(Family("nystromformer", "learned", {"segment_means_seq_len": 15, "num_landmarks": 5}), tmp_path)
    with pytest.raises(ValueError, match=r"through 5 landmarks, each the mean of 3 tokens"):
        models.load(tmp_path)


def test_what_is_said_of_landmarks_holds() -> None:
    """The map is as wide as there are landmarks, or as there are tokens where the model attends in full."""
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    for landmarks, width in ((5, 5), (15, 15)):
        config = NystromformerConfig(**sizes, vocab_size=20, segment_means_seq_len=15, num_landmarks=landmarks)
        out = NystromformerModel(config).eval()(torch.arange(15)[None], output_attentions=True)
        assert out.attentions[0].shape[-1] == width
        assert (why_no_maps(config) is None) == (landmarks == 15)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "longformer", "nystromformer"])
def test_nothing_is_said_of_models_with_maps(name: str) -> None:
    assert why_no_maps(AutoConfig.for_model(name)) is None


def test_what_is_said_holds_for_the_configuration_at_hand() -> None:
    assert why_no_maps(AutoConfig.for_model("yoso", use_expectation=False))
    assert why_no_maps(AutoConfig.for_model("yoso", use_expectation=True)) is None
    assert why_no_maps(AutoConfig.for_model("reformer", attn_layers=["local", "lsh"]))
    assert why_no_maps(AutoConfig.for_model("reformer", attn_layers=["local"])) is None
    assert why_no_maps(AutoConfig.for_model("funnel", block_sizes=[2, 2]))
    assert why_no_maps(AutoConfig.for_model("funnel", block_sizes=[2])) is None
