"""Models that several threads load at once are whole, and so are those that come after."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedModel

import models
from models import fetch


@pytest.mark.heavy
def test_threads_that_load_at_once_leave_weight_tying_as_it_was(tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"))
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=8, n_layer=2, n_head=2, n_positions=32, bos_token_id=0, eos_token_id=0
    )
    GPT2LMHeadModel(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    tying = PreTrainedModel.tie_weights
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(models.load, [tmp_path] * 16))
    assert PreTrainedModel.tie_weights is tying
    for network in (*(model.network for model in loaded), GPT2LMHeadModel(config)):
        assert network.lm_head.weight is network.transformer.wte.weight
