"""Families for which transformers lists no head that predicts tokens: read on text alone, or refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModel,
    BrosConfig,
    CanineConfig,
    CLIPConfig,
    DPRConfig,
    DPRContextEncoder,
    LiltConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedModel,
    T5Config,
    T5EncoderModel,
)

import models
from inspector import costs, record
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import SMALL, UNLISTED_OF_MORE, UNLISTED_TEXT, Family, reference, save, tokenizer
from tests.inspector.probe.models_table import PATH, unlisted

TEXT = "the cat sat on the log because it was"


def assert_maps_are_its_own(loaded: LoadedModel, folder: Path) -> None:
    trace = record(loaded, TEXT)
    with torch.no_grad():
        out = reference(folder)(
            input_ids=torch.tensor([trace.encoding.ids]), output_attentions=True, output_hidden_states=True
        )
    maps = [weights for weights in out["attentions"] if weights is not None]
    assert len(trace.sites) == len(maps) == len(trace.attentions)
    for site, weights in zip(trace.sites, maps, strict=True):
        own = trace.attention(layer=site.layer, call=site.call)
        assert_close(own, weights[0], relative=1e-5)
    last = out.get("last_hidden_state", out["hidden_states"][-1])[0].numpy()
    assert_close(trace.output, last, relative=1e-5)


@pytest.mark.parametrize(
    "family",
    [*UNLISTED_TEXT, *(pytest.param(family, marks=pytest.mark.heavy) for family in UNLISTED_OF_MORE)],
    ids=lambda family: family.name,
)
@pytest.mark.filterwarnings("ignore")
def test_maps_are_those_of_its_own_eager_attention(family: Family, tmp_path: Path) -> None:
    save(family, tmp_path)
    loaded = models.load(tmp_path)
    assert loaded.write is None
    assert_maps_are_its_own(loaded, tmp_path)


def saved(network: PreTrainedModel, folder: Path) -> Path:
    network.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


@pytest.mark.parametrize("says_it_has_a_decoder", [False, True])
def test_an_encoder_of_t5_saved_by_itself(tmp_path: Path, *, says_it_has_a_decoder: bool) -> None:
    """Older files say is_encoder_decoder of it all the same."""
    network = T5EncoderModel(T5Config(vocab_size=300, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4))
    network.config.is_encoder_decoder = says_it_has_a_decoder
    loaded = models.load(saved(network, tmp_path))
    assert (loaded.shape, loaded.write) == ("encoder", None)
    assert_maps_are_its_own(loaded, tmp_path)
    assert costs.count(loaded.config).parameters == sum(own.numel() for own in network.parameters())


def test_the_class_that_the_configuration_names_is_read(tmp_path: Path) -> None:
    sizes = {name: SMALL[name] for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")}
    loaded = models.load(saved(DPRContextEncoder(DPRConfig(**sizes, intermediate_size=48)), tmp_path))
    assert type(loaded.network) is DPRContextEncoder
    assert_maps_are_its_own(loaded, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_a_head_is_used_where_the_named_class_has_one(tmp_path: Path) -> None:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "num_key_value_heads")
    sizes = {name: SMALL[name] for name in (*names, "vocab_size")}
    config = LlavaConfig(
        text_config={"model_type": "llama", **sizes}, vision_config=vision(sizes), image_token_index=299
    )
    loaded = models.load(saved(LlavaForConditionalGeneration(config), tmp_path))
    assert loaded.shape == "decoder"
    assert loaded.predict is not None
    assert_maps_are_its_own(loaded, tmp_path)


def vision(sizes: dict[str, Any]) -> dict[str, Any]:
    sizes = {name: sizes[name] for name in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
    return {"model_type": "clip_vision_model", "image_size": 8, "patch_size": 4, "intermediate_size": 48, **sizes}


def test_the_table_of_models_names_them() -> None:
    assert PATH.read_text(encoding="utf-8").endswith(unlisted())


REFUSED = (
    (BrosConfig, "it reads the box of every word on its page beside the words, and a text has no boxes"),
    (CanineConfig, "it attends to stretches of four characters"),
    (CLIPConfig, "transformers does not run it on text alone"),
    (LiltConfig, "4 softmaxes over all pairs of tokens were seen, where it hands out 2 maps"),
)


@pytest.mark.parametrize(("kind", "reason"), REFUSED, ids=lambda value: getattr(value, "model_type", ""))
@pytest.mark.filterwarnings("ignore")
def test_what_does_not_run_on_text_alone_is_refused_with_its_reason(kind: Any, reason: str, tmp_path: Path) -> None:
    sizes = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    parts = {"text_config": sizes, "vision_config": vision(sizes)} if kind is CLIPConfig else sizes
    saved(AutoModel.from_config(kind(**parts)), tmp_path)
    with pytest.raises(ValueError, match=reason) as refusal:
        models.load(tmp_path)
    assert kind.model_type in str(refusal.value)
