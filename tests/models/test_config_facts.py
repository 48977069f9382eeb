"""Counts of a configuration that do not fit each other are a sentence, wherever the configuration comes from."""

from __future__ import annotations

import json

import pytest
from transformers import MixtralConfig

from inspector import costs
from models.untrusted.safe_config import pasted

WRONG = (
    ({"num_local_experts": 4, "num_experts_per_tok": 5}, "lets a token choose 5 of 4 experts; it can choose 4 at most"),
    (
        {"num_local_experts": 4096, "hidden_size": 8, "num_attention_heads": 4},
        r"4 heads cannot share 8 kv heads \(num_attention_heads, num_key_value_heads\): the first must be a multiple",
    ),
)


@pytest.mark.parametrize(("sizes", "sentence"), WRONG)
def test_counts_that_do_not_fit_are_refused_with_their_numbers(sizes: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        pasted(json.dumps({"model_type": "mixtral", **sizes}))
    with pytest.raises(ValueError, match=sentence):
        costs.count(MixtralConfig(**sizes))


def test_as_many_experts_as_there_are_may_be_chosen() -> None:
    tiny = {"hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 8}
    config = MixtralConfig(**tiny, vocab_size=8, num_hidden_layers=1, num_local_experts=3, num_experts_per_tok=3)
    assert costs.count(config).parameters > 0
