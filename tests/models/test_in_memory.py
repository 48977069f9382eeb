"""`models.of`: a model in memory by its name, its tokenizer, and what is refused with the way out."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize, prune
from transformers import (
    AutoModelForCausalLM,
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

import models
from inspector import record
from models import LoadedModel
from models.twin import twin
from tests.closeness import assert_close
from tests.inspector.probe.families import tokenizer

IDS = [5, 6, 7, 8, 9, 10]
SIZES = {"vocab_size": 300, "bos_token_id": 2, "eos_token_id": 3}


def gpt(**sizes: Any) -> GPT2LMHeadModel:
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(**SIZES | {"n_layer": 2, "n_embd": 16, "n_head": 2, "n_positions": 64} | sizes))


def llama() -> LlamaForCausalLM:
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(**SIZES, **SMALL, num_key_value_heads=1))


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


def hidden(model: nn.Module) -> torch.Tensor:
    return record(model, tokens=IDS).hidden


# --- names and tokenizers ----------------------------------------------------------------------------------------


def test_a_model_is_named_by_its_class_and_another_of_its_class_gets_a_number() -> None:
    class Named(GPT2LMHeadModel):
        pass

    Named.__name__ = "Mine\x1b[31m"
    first, second = (Named(gpt().config) for _ in range(2))
    assert models.of(first).card.id == r"your Mine\x1b[31m"
    assert models.of(second).card.id == r"your Mine\x1b[31m 2"
    assert models.of(first, tokenizer=tokenizer()).card.id == r"your Mine\x1b[31m"
    assert models.of(first).config.architectures == ["GPT2LMHeadModel"]
    assert models.of(first).predict is not None
    assert repr(models.of(first)).isprintable()


def test_a_tokenizer_is_remembered_copied_and_followed() -> None:
    model, mine = gpt(), tokenizer()
    with pytest.raises(ValueError, match="given without a tokenizer"):
        record(model, "the cat sat")
    padding = mine.backend_tokenizer.padding
    loaded = models.of(model, tokenizer=mine)
    assert loaded.tokenizer is not mine
    assert models.of(model) is loaded
    assert models.of(model, tokenizer=mine) is loaded
    assert record(model, "the cat sat").tokens[0] == "[CLS]"
    assert record(model, "the cat sat " * 60).cut.total > 64
    assert (mine.backend_tokenizer.padding, mine.backend_tokenizer.truncation) == (padding, None)
    mine.add_tokens(["flabbergasted"])
    assert len(models.of(model).tokenizer) == len(mine)
    assert models.of(model, tokenizer=tokenizer()).tokenizer is not loaded.tokenizer


@pytest.mark.parametrize("wrong", ["bert-base-uncased", 5, tokenizer().backend_tokenizer, print], ids=repr)
def test_what_is_no_fast_tokenizer_is_a_sentence(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"tokenizer is a '.*' and no fast tokenizer\. Give a fast tokenizer"):
        models.of(gpt(), tokenizer=wrong)


def test_a_loaded_model_is_returned_and_has_a_tokenizer(minilm: LoadedModel) -> None:
    assert models.of(minilm) is minilm
    with pytest.raises(ValueError, match="tokenizer goes with a model in memory, and 'minilm' has a tokenizer already"):
        models.of(minilm, tokenizer=minilm.tokenizer)
    with pytest.raises(ValueError, match=r"not a GPT2LMHeadModel: .* or give the model to models\.of"):
        models.load(gpt())


def test_a_network_of_this_project_needs_its_tokenizer_where_it_writes_a_target(shipped) -> None:
    translator, writer = shipped("translator"), shipped("mini-gpt")
    with pytest.raises(ValueError, match="begins its target with a token of its tokenizer: give it as tokenizer="):
        record(translator.runner.whole, tokens=IDS)
    with pytest.raises(ValueError, match=r"the tokenizer has 30,522 tokens and your Decoder.* room for 4,096"):
        models.of(writer.runner.whole, tokenizer=shipped("minilm").tokenizer)
    again = models.of(translator.runner.whole, tokenizer=translator.tokenizer)
    assert torch.equal(record(again, "I love cats.").hidden, record(translator, "I love cats.").hidden)
    unnamed = deepcopy(writer.runner.whole)  # another test may have given the shipped network its tokenizer
    assert record(unnamed, tokens=IDS).tokens[0] == "<5>"


# --- what a twin computes ----------------------------------------------------------------------------------------


def test_tied_weights_stay_tied_and_take_no_gradient_of_their_own() -> None:
    model = gpt()
    copied: Any = twin(model)
    assert copied.lm_head.weight is copied.transformer.wte.weight
    assert copied.lm_head.weight.data_ptr() == model.lm_head.weight.data_ptr()
    assert not any(parameter.requires_grad for parameter in copied.parameters())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert (copied.training, model.train().training) == (False, True)


class LowRank(nn.Module):
    """A matrix with a product of two thin matrices added to it, as adapters have."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.down, self.up = nn.Linear(base.in_features, 2), nn.Linear(2, base.out_features)
        self.scaling = {"default": 1.0}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scaling["default"] * self.up(self.down(x))


def adapted() -> LlamaForCausalLM:
    model = llama()
    for layer in model.model.layers:
        layer.self_attn.q_proj = LowRank(layer.self_attn.q_proj)
    return model


def test_adapters_act_and_a_changed_setting_is_seen() -> None:
    model = adapted()
    before = record(model, tokens=IDS)
    for scaling in (1.0, 5.0):
        for layer in model.model.layers:
            layer.self_attn.q_proj.scaling["default"] = scaling
        trace = record(model, tokens=IDS)
        model.set_attn_implementation("eager")
        with torch.no_grad():
            out = model.eval()(torch.tensor([IDS]), output_attentions=True)
        for layer, weights in enumerate(out.attentions):
            assert torch.equal(torch.tensor(trace.attention(layer=layer)), weights[0])
    assert not torch.equal(trace.hidden, before.hidden)


def compiled() -> nn.Module:
    model = gpt()
    model.compile()
    return model


def checkpointed() -> nn.Module:
    model = gpt().train()
    model.activation_checkpointing_enable()
    return model


def asked_for_everything() -> nn.Module:
    model = gpt(attn_implementation="eager")
    model.config.output_attentions = model.config.output_hidden_states = True
    return model


def made_in_inference() -> nn.Module:
    with torch.inference_mode():
        return gpt()


def with_a_computed_attribute() -> nn.Module:
    model = gpt()
    model.computed = model.lm_head.weight * 2
    return model


@pytest.mark.filterwarnings("ignore:.*script_method.*:DeprecationWarning")
@pytest.mark.parametrize(
    "made", [compiled, checkpointed, asked_for_everything, made_in_inference, with_a_computed_attribute]
)
def test_what_trainings_leave_on_a_model_changes_nothing(made: Callable[[], nn.Module]) -> None:
    assert torch.equal(hidden(made()), hidden(gpt()))


def test_parametrised_weights_are_computed_from_what_they_are_now() -> None:
    model = gpt()
    parametrize.register_parametrization(model.transformer.h[0].mlp.c_fc, "weight", nn.Softplus())
    expected = model.eval()(torch.tensor([IDS]), output_hidden_states=True).hidden_states[-1][0]
    assert_close(hidden(model), expected.detach(), relative=1e-5)


def test_a_head_that_predicts_no_tokens_is_left_out() -> None:
    torch.manual_seed(0)
    model = BertForSequenceClassification(BertConfig(**SIZES, **SMALL))
    assert torch.equal(hidden(model), hidden(model.bert))
    assert models.of(model).config.architectures == ["BertModel"]
    assert models.of(model).predict is None


@pytest.mark.parametrize("device_map", ["cpu", {"": "cpu"}])
def test_a_device_map_of_one_device_leaves_a_plain_model(tmp_path: Path, device_map: Any) -> None:
    gpt().save_pretrained(tmp_path)
    assert torch.equal(hidden(AutoModelForCausalLM.from_pretrained(tmp_path, device_map=device_map)), hidden(gpt()))


# --- what is refused ---------------------------------------------------------------------------------------------


class Packed(nn.Parameter):
    """A parameter of a class of its own, as libraries that quantise have."""


def with_weight(weight: Callable[[torch.Tensor], nn.Parameter]) -> nn.Module:
    model = gpt()
    model.transformer.h[0].ln_1.weight = weight(model.transformer.h[0].ln_1.weight.data)
    return model


def pruned() -> nn.Module:
    model = gpt()
    prune.random_unstructured(model.transformer.h[0].mlp.c_fc, "weight", 0.5)
    return model


def on_meta() -> nn.Module:
    with torch.device("meta"):
        return gpt()


def quantised() -> nn.Module:
    model = gpt()
    model.config.quantization_config = {"bits": 4}
    return model


def replaced_forward() -> nn.Module:
    model = gpt()
    model.transformer.h[1].forward = lambda *given, **named: given[0]
    return model


def uncopiable() -> nn.Module:
    model = gpt()
    model.lock = Lock()
    return model


def shorter() -> nn.Module:
    model = llama()
    model.model.layers = model.model.layers[:1]
    return model


REFUSED = {
    "a layer": (lambda: nn.Linear(2, 2), "Linear is neither a model of transformers nor a network of this project"),
    "a wrapper": (
        lambda: nn.DataParallel(gpt()),
        "DataParallel is neither .* it holds a GPT2LMHeadModel, at 'module': give that part",
    ),
    "torch.compile": (lambda: torch.compile(gpt()), "it holds a GPT2LMHeadModel, at '_orig_mod': give that part"),
    "pruned": (
        pruned,
        r"its module 'transformer\.h\.0\.mlp\.c_fc' makes its weights anew .*\.prune\.remove",
    ),
    "meta": (on_meta, r"its 'transformer\.wte\.weight' is on the meta device and holds no numbers"),
    "quantised": (quantised, "GPT2LMHeadModel is quantised, so its weights are packed"),
    "a class of its own": (lambda: with_weight(Packed), r"its 'transformer\.h\.0\.ln_1\.weight' is a 'Packed'"),
    "int8": (
        lambda: with_weight(lambda weight: nn.Parameter(weight.to(torch.int8), requires_grad=False)),
        r"ln_1\.weight' is kept in torch\.int8",
    ),
    "NaN": (
        lambda: with_weight(lambda weight: nn.Parameter(weight * torch.nan)),
        r"ln_1\.weight' holds numbers that are not finite.*Take weights from before its training went wrong",
    ),
    "forward": (replaced_forward, r"its module 'transformer\.h\.1' has another forward than its class"),
    "lock": (uncopiable, r"^Copying the modules of GPT2LMHeadModel failed .*save_pretrained"),
    "fewer layers": (shorter, "1 attentions were seen where the configuration names 2"),
    "a text": (lambda: "gpt2", r"'gpt2' is no loaded model but a str: give what models\.load returns"),
}


@pytest.mark.filterwarnings("ignore:.*script_method.*:DeprecationWarning")
@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_recorded_is_a_sentence_with_the_way_out(what: str) -> None:
    make, told = REFUSED[what]
    with pytest.raises(ValueError, match=told):
        record(make(), tokens=IDS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.quantize_per_tensor:UserWarning")
def test_packed_layers_of_torch_are_a_sentence() -> None:
    model = torch.ao.quantization.quantize_dynamic(BertModel(BertConfig(**SIZES, **SMALL)), {nn.Linear})
    with pytest.raises(ValueError, match=r"its module 'encoder.*' is a Linear, whose weights are packed"):
        record(model, tokens=IDS)


def test_a_model_that_accelerate_spreads_is_a_sentence(tmp_path: Path) -> None:
    gpt(tie_word_embeddings=False).save_pretrained(tmp_path)
    places = {"transformer": "cpu", "lm_head": "disk"}
    model = AutoModelForCausalLM.from_pretrained(tmp_path, device_map=places, offload_folder=tmp_path / "off")
    with pytest.raises(ValueError, match=r'another forward than its class, as accelerate .* device="auto"'):
        record(model, tokens=IDS)
