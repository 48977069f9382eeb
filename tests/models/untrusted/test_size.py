"""Sizes against real tiny models, published counts, and what a recording really keeps."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoModel

import models
from inspector import record
from inspector.memory.held import storages
from models.untrusted.size import measure

SMALL = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
T5 = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 2}
BART = {
    "vocab_size": 50,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "pad_token_id": 0,
}
BERT_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
HUGE = {"hidden_size": 2**16, "intermediate_size": 2**18, "num_hidden_layers": 40, "num_attention_heads": 512}
FAMILIES: dict[str, dict[str, Any]] = {
    "BertForMaskedLM": SMALL,
    "RobertaForMaskedLM": SMALL,
    "ElectraForPreTraining": {**SMALL, "embedding_size": 8},
    "AlbertForMaskedLM": {**SMALL, "embedding_size": 8},
    "DistilBertModel": {"vocab_size": 50, "dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 24},
    "DebertaV2Model": SMALL,
    "ModernBertForMaskedLM": {**SMALL, "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2},
    "MPNetForMaskedLM": SMALL,
    "GPT2LMHeadModel": {"vocab_size": 50, "n_embd": 16, "n_layer": 3, "n_head": 2},
    "GPTNeoXForCausalLM": SMALL,
    "OPTForCausalLM": {**SMALL, "ffn_dim": 24, "word_embed_proj_dim": 16},
    "BloomForCausalLM": {"vocab_size": 50, "hidden_size": 16, "n_layer": 3, "n_head": 2},
    "LlamaForCausalLM": {**SMALL, "num_key_value_heads": 1},
    "MistralForCausalLM": {**SMALL, "num_key_value_heads": 1},
    "Qwen3ForCausalLM": {**SMALL, "num_key_value_heads": 1, "head_dim": 8},
    "Gemma2ForCausalLM": {**SMALL, "num_key_value_heads": 1, "head_dim": 8},
    "MixtralForCausalLM": {**SMALL, "num_key_value_heads": 1, "num_local_experts": 4},
    "PhiForCausalLM": SMALL,
    "T5ForConditionalGeneration": T5,
    "BartForConditionalGeneration": BART,
    "MarianMTModel": {**BART, "decoder_start_token_id": 0},
}


def config_of(name: str, fields: dict[str, Any]) -> Any:
    return getattr(transformers, name).config_class(**fields, attn_implementation="eager")


@pytest.mark.parametrize("name", FAMILIES)
def test_sizes_are_those_of_the_real_model(name: str) -> None:
    config = config_of(name, FAMILIES[name])
    size = measure(config, architecture=getattr(transformers, name))
    network = getattr(transformers, name)(config)
    assert size.parameters == sum(parameter.numel() for parameter in network.parameters())
    assert size.buffers == sum(buffer.numel() for buffer in network.buffers())
    assert size.layers == (5 if config.is_encoder_decoder else 3)
    assert size.memory_bytes(torch.float16) * 2 == size.memory_bytes()


@pytest.mark.parametrize(
    ("name", "fields", "count"),
    [
        ("BertModel", {}, 109_482_240),
        ("BertModel", BERT_LARGE, 335_141_888),
        ("GPT2LMHeadModel", {}, 124_439_808),
        ("GPT2LMHeadModel", {"n_embd": 1600, "n_layer": 48, "n_head": 25}, 1_557_611_200),
        ("T5ForConditionalGeneration", {}, 60_506_624),
        ("LlamaForCausalLM", {}, 6_738_415_616),
        ("DistilBertModel", {}, 66_362_880),
    ],
)
def test_published_counts(name: str, fields: dict[str, Any], count: int) -> None:
    assert measure(config_of(name, fields), architecture=getattr(transformers, name)).parameters == count


def test_a_recording_keeps_what_was_foretold(minilm: models.LoadedModel) -> None:
    """Foretell all but queries, keys and values that are not kept: exact for a BERT, but for the last hidden state."""
    trace = record(minilm, "The cat sat on the mat because it was tired.")
    size = measure(minilm.config, architecture=AutoModel.from_config(minilm.config).__class__)
    kept = storages([(record.query, record.key, record.value) for record in trace.attentions])
    kept |= storages([norm.input for norm in trace.norms])
    assert size.capture_bytes(len(trace.tokens)) == sum(kept.values())


@pytest.mark.parametrize(
    "name", ["LlamaForCausalLM", "GPT2LMHeadModel", "BartForConditionalGeneration", "OPTForCausalLM"]
)
def test_what_attention_and_norms_read(name: str) -> None:
    """Counted by hooks while a tiny model runs."""
    config = config_of(name, FAMILIES[name])
    network, kept = getattr(transformers, name)(config).eval(), [0]
    from transformers.modeling_utils import AttentionInterface
    from transformers.models.llama.modeling_llama import eager_attention_forward

    def counting(module: Any, query: Any, key: Any, value: Any, mask: Any, **rest: Any) -> Any:
        kept[0] += query.numel() + key.numel() + value.numel()
        module.num_key_value_groups = query.shape[1] // key.shape[1]
        return eager_attention_forward(module, query, key, value, None, scaling=1.0)

    AttentionInterface.register("counting", counting)
    network.set_attn_implementation("counting")
    for module in network.modules():
        if "Norm" in type(module).__name__:
            module.register_forward_pre_hook(lambda _, inputs: kept.__setitem__(0, kept[0] + inputs[0].numel()))
    ids = torch.ones(1, 5, dtype=torch.long)
    with torch.no_grad():
        network(ids, **({"decoder_input_ids": ids} if config.is_encoder_decoder else {}))
    assert measure(config, architecture=type(network)).capture_bytes(5) == 4 * kept[0]


def test_a_model_that_takes_too_long_is_given_up() -> None:
    config = config_of("BertModel", {**SMALL, "num_hidden_layers": 20_000})
    with pytest.raises(ValueError, match="takes too long to lay out"):
        measure(config, architecture=transformers.BertModel, seconds=0.05)


def test_another_thread_is_not_watched() -> None:
    """A model that another session builds meanwhile has no deadline."""
    built: list[object] = []
    thread = threading.Thread(target=lambda: built.append(transformers.BertModel(config_of("BertModel", SMALL))))
    with pytest.raises(ValueError, match="too long"):
        measure(config_of("BertModel", SMALL), architecture=transformers.BertModel, seconds=-1)
    thread.start()
    thread.join()
    assert built


def test_shapes_that_no_machine_holds_are_sentences() -> None:
    config = config_of("BertModel", {**SMALL, "vocab_size": 2**40, "hidden_size": 2**40})
    with pytest.raises(ValueError, match="fits no machine"):
        measure(config, architecture=transformers.BertModel)
    config = config_of("MarianMTModel", {**BART, "decoder_start_token_id": 0, "max_position_embeddings": 2**24})
    with pytest.raises(ValueError, match=r"a fixed table \(embed_positions\) of 268,435,456 numbers"):
        measure(config, architecture=transformers.MarianMTModel)


def test_a_trillion_parameters_are_counted_without_memory() -> None:
    config = config_of("LlamaForCausalLM", HUGE)
    size = measure(config, architecture=transformers.LlamaForCausalLM)
    width, ffn, vocabulary = 2**16, 2**18, 32_000
    by_hand = 2 * vocabulary * width + width + 40 * (4 * width**2 + 3 * width * ffn + 2 * width)
    assert size.parameters == by_hand > 2.6e12
