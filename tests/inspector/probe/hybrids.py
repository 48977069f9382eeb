"""Tiny models whose layers mix tokens without softmax attention, and texts of any length for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from transformers import Qwen3NextConfig, Qwen3NextForCausalLM

import models
from inspector.probe.inputs import ModelInputs
from inspector.probe.recording import record_inputs
from inspector.trace import Trace
from models.loaded import LoadedModel
from models.tokenizers import Encoding
from tests.inspector.probe.families import CAPTURED, WITHOUT_SOFTMAX, save, tokenizer

FAMILIES = {family.name: family for family in (*CAPTURED, *WITHOUT_SOFTMAX)}
FAMILIES["yoso"] = replace(FAMILIES["yoso"], sizes={"max_position_embeddings": 512})  # the others' positions go on


def loaded_family(name: str, folder: Path) -> LoadedModel:
    save(FAMILIES[name], folder)
    return models.load(folder)


def of_length(tokens: int) -> ModelInputs:
    """A text of as many tokens, drawn at random, of which no tokenizer says anything."""
    ids = tuple(torch.randint(4, 60, (tokens,), generator=torch.Generator().manual_seed(0)).tolist())
    names = tuple(f"t{place}" for place in range(tokens))
    return ModelInputs(Encoding(ids, names, (None,) * tokens, (0,) * tokens, (False,) * tokens, unknown=0, cut=None))


def recorded(loaded: LoadedModel, tokens: int) -> Trace:
    return record_inputs(loaded, of_length(tokens), text="")


def larger_hybrid(folder: Path) -> LoadedModel:
    """Load a Qwen3-Next of 12 layers with random weights: three of gated delta rules to one of attention."""
    torch.manual_seed(0)
    config = Qwen3NextConfig(
        **{"vocab_size": 300, "hidden_size": 128, "num_hidden_layers": 12, "head_dim": 32},
        **{"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 256},
        **{"linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 32},
        **{"linear_value_head_dim": 32, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64},
        **{"shared_expert_intermediate_size": 64, "max_position_embeddings": 4096},
    )
    Qwen3NextForCausalLM(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return models.load(folder)
