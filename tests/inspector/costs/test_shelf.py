"""Known shapes against the numbers published for them, and against transformers' own modules without weights."""

from __future__ import annotations

import json

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from inspector.costs import SHELF
from inspector.costs.published import published, vit_flops
from models.limits import Limits
from models.untrusted.safe_config import pasted

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}


@pytest.mark.parametrize("name", SHELF)
def test_a_shape_has_the_parameters_published_for_it(name: str) -> None:
    shape = SHELF[name]
    config = shape.config()
    with torch.device("meta"):
        network = getattr(transformers, shape.architecture)._from_config(config, attn_implementation="eager")
    assert sum(tensor.numel() for tensor in network.parameters()) == shape.parameters
    assert shape.source


def test_published_numbers_follow_from_their_conventions() -> None:
    found = {one.what: one for one in published()}
    values = {what: one.value for what, one in found.items()}
    assert values["BERT base, 128 tokens: products"] == 22_347_251_712
    assert values["BERT base in the TinyBERT and MobileBERT papers"] == pytest.approx(22.42e9, abs=5e6)
    assert f"{values['BERT base in the ELECTRA paper']:.1e}" == "2.9e+10"
    assert f"{values['ViT-B/16, 224 x 224 pixels'] / 1e9:.1f}" == "17.6"
    with torch.device("meta"):
        vit = transformers.ViTForImageClassification(transformers.ViTConfig(num_labels=1000))
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            vit(torch.empty(1, 3, 224, 224))
    assert vit_flops() == 35_127_656_448 == counter.get_total_flops()
    caches = {what: value for what, value in values.items() if what.startswith("KV cache")}
    assert list(caches.values()) == [524_288, 131_072, 327_680, 70_272]
    assert all(one.convention for one in found.values())
    parameters = [one for what, one in found.items() if what.startswith("Parameters")]
    assert len(parameters) == 12
    assert [f"{one.value:,}" for one in parameters] == [one.printed for one in parameters]


def test_a_pasted_config_is_read_as_its_file_would_be() -> None:
    quantised = {**LLAMA, "quantization_config": {"quant_method": "fp8"}, "auto_map": {"AutoConfig": "evil.Config"}}
    seen = pasted(json.dumps(quantised), limits=Limits())
    assert type(seen.config).__name__ == "LlamaConfig"
    assert seen.config.hidden_size == 64
    assert seen.ignored == ("custom code", "quantised weights")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "There is no text"),
        ("nonsense", "damaged"),
        ("x" * 2**21, "2,097,152 bytes, over"),
        ("[" * 10**5, "damaged"),
        ('{"a":' * 40 + "1" + "}" * 40, "nests more than 32 deep"),
        ("[1]", "a list, not named fields"),
        ('{"a": 1}', "names no model_type"),
        (json.dumps({**LLAMA, "model_type": "zzz"}), "'zzz' .* is not one of transformers"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**9}), "'num_hidden_layers' = 1,000,000,000, over 128"),
        (json.dumps({**LLAMA, "hidden_size": "wide"}), "expected int, got str"),
        (json.dumps({**LLAMA, "hidden_size": {"a": 1}}), "expected int, got dict"),
        (json.dumps({**LLAMA, "hidden_size": -4}), "a hidden_size of -4"),
        (json.dumps({**LLAMA, "vocab_size": 10**15}), "a number of 16 digits, over 16,777,216"),
        (json.dumps({**LLAMA, "num_attention_heads": 0}), "no configuration of llama"),
    ],
)
def test_a_hostile_config_gets_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        pasted(text, limits=Limits())
    assert "\n" not in str(error.value)
