"""A model of ModernBERT's shape with random weights, for benchmarks on long texts.

Global attention in every third layer, a window of 128 tokens in the others, rotary positions (Warner et al. 2024).
"""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer, ModernBertConfig, ModernBertModel

from models import fetch

TOKENS = 8192  # the longest text


def save(folder: Path, *, layers: int = 12, heads: int = 12, head_width: int = 32) -> None:
    """Write the model and MiniLM's tokenizer to a folder that `models.load` reads."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    tokenizer.model_max_length = TOKENS
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=heads * head_width,
        intermediate_size=heads * head_width * 3 // 2,  # as in ModernBERT-base
        num_hidden_layers=layers,
        num_attention_heads=heads,
        global_attn_every_n_layers=3,
        local_attention=128,
        max_position_embeddings=TOKENS,
        pad_token_id=tokenizer.pad_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
    )
    ModernBertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def text(tokens: int) -> str:
    """A text that its tokenizer makes so many tokens of, [CLS] and [SEP] included."""
    return "word " * (tokens - 2)
