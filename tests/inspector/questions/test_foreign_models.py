"""Questions asked of models by strangers, tiny and random: a verdict or a sentence why not, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoTokenizer,
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

import models
from inspector import questions
from inspector.questions.record.subject import Subject
from models import fetch

pytestmark = pytest.mark.heavy

VOCABULARY = 30522  # of MiniLM's tokenizer
SPECIAL = {"pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102}
SIZE = {"vocab_size": VOCABULARY, "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2, **SPECIAL}
GATED = {**SIZE, "intermediate_size": 24, "num_key_value_heads": 2, "max_position_embeddings": 64}
BUILD: dict[str, Callable[[], PreTrainedModel]] = {
    "GPT-2": lambda: GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCABULARY, n_embd=16, n_layer=2, n_head=4, n_positions=64, **SPECIAL)
    ),
    "Llama": lambda: LlamaForCausalLM(LlamaConfig(**GATED)),
    "T5": lambda: T5ForConditionalGeneration(
        T5Config(
            vocab_size=VOCABULARY,
            d_model=16,
            d_kv=4,
            d_ff=24,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
            pad_token_id=0,
            eos_token_id=102,
        )
    ),
    "BLOOM": lambda: BloomForCausalLM(
        BloomConfig(vocab_size=VOCABULARY, hidden_size=16, n_layer=2, n_head=4, **SPECIAL)
    ),
    "Mixtral": lambda: MixtralForCausalLM(MixtralConfig(**GATED, num_local_experts=3, num_experts_per_tok=2)),
}
TEN = (16, 28, 41, 49, 61, 67, 74, 86, 93, 123)  # scores, values, heads, norms, masks, order, blocks, costs, findings
TEXT = "The cat sat on the mat because it was tired."


@pytest.fixture(scope="module", params=BUILD)
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    torch.manual_seed(0)
    folder: Path = tmp_path_factory.mktemp("foreign")
    BUILD[request.param]().save_pretrained(folder)
    AutoTokenizer.from_pretrained(fetch.folder("minilm")).save_pretrained(folder)
    return Subject(models.load(folder), TEXT)


@pytest.mark.parametrize("number", TEN)
def test_a_question_is_answered_or_says_why_not(subject: Subject, number: int) -> None:
    (answer,) = questions.ask_all(subject, only=[number])
    if answer.verdict is None:
        assert answer.problem.en.endswith(".")
        assert "does not know" not in answer.problem.en  # the sentence around what nobody foresaw
    else:
        assert answer.problem is None
        assert len(answer.held) == len(answer.question.parts)
