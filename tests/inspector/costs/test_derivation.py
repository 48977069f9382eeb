"""Formulas with a model's own sizes against the count of the model's own code."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import BertConfig, DeepseekV3Config, LlamaConfig, MixtralConfig, T5Config

from inspector import costs
from inspector.costs.derivation import DerivedNumber, explain
from inspector.plots import costs as draw
from inspector.wording.english import costs as words

TINY = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 50}
LLAMA = LlamaConfig(**TINY, num_key_value_heads=2, intermediate_size=100, architectures=["LlamaForCausalLM"])
MIXTRAL = MixtralConfig(**TINY, num_key_value_heads=2, intermediate_size=40, num_local_experts=6, num_experts_per_tok=2)
T5 = T5Config(d_model=24, d_kv=8, d_ff=40, num_layers=2, num_heads=4, vocab_size=50)


def derived(config: Any, *, amount: str = "flops", closed: bool = True) -> dict[tuple[str, str], DerivedNumber]:
    """Derive every product of a model at 7 tokens, and 11 of a target."""
    model = costs.count(config)
    lengths = (7, 11) if model.shape == "encoder-decoder" else (7,)
    given = {"tokens": 7, "target_tokens": lengths[-1]}
    table = costs.breakdown(config, **given) if closed else model.table(**given)
    named = table.assign(name=draw.names(table))
    named = named[(named["kind"] == "matmul") & (named[amount] > 0)]
    return {
        place: explain(rows, config, amount=amount, model=model, closed=closed, lengths=lengths)
        for place, rows in named.groupby(["stream", "name"], sort=False)
    }


@pytest.mark.parametrize(
    ("config", "closed", "symbols"),
    [
        (BertConfig(**TINY, intermediate_size=40), True, {("encoder", "attention: scores"): "2 n² d L"}),
        (LLAMA, True, {("decoder", "attention: k"): "2 n d K E L", ("decoder", "FFN: gate"): "2 n d f L"}),
        (MIXTRAL, False, {("decoder", "experts: up"): "2 n d f A L", ("decoder", "router"): "2 n d N L"}),
        (T5, True, {("cross", "attention: scores"): "2 m n H E L", ("cross", "attention: k"): "2 n d H E L"}),
    ],
)
def test_every_product_of_a_layer_is_a_formula_that_gives_its_count(
    config: Any, closed: bool, symbols: dict[tuple[str, str], str]
) -> None:
    found = derived(config, closed=closed)
    for place, one in found.items():
        if place[1] != "pooler":
            assert one.product is not None, place
            assert one.product.value == one.value == one.count, place
    assert symbols.items() <= {place: one.product.symbols for place, one in found.items() if one.product}.items()
    assert all(one.formula == one.count for one in found.values()) == closed


def test_a_formula_is_written_with_the_models_own_numbers() -> None:
    scores = derived(BertConfig(**TINY, intermediate_size=40))["encoder", "attention: scores"]
    assert words.derivation(scores) == "scores: 2 n² d L = 2 · 7² · 24 · 3 = 7,056 FLOPs"
    assert words.derived_from(scores) == (
        "From n = 7 tokens, d = 24 (width), L = 3 (layers). Counted in the model's own code: 144 n² at any length, "
        "found at a few and proven at others."
    )
    q = derived(BertConfig(**TINY, intermediate_size=40), amount="parameters")["encoder", "attention: q"]
    assert words.derivation(q) == "q: d² L = 24² · 3 = 1,728 parameters; with 72 biases 1,800"


def test_what_a_model_does_in_its_own_way_has_a_count_and_no_formula() -> None:
    config = DeepseekV3Config(
        **TINY, num_key_value_heads=4, q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4,
        v_head_dim=6, intermediate_size=40, moe_intermediate_size=10, n_routed_experts=4, num_experts_per_tok=2,
        n_group=1, topk_group=1, first_k_dense_replace=1,
    )  # fmt: skip
    q = derived(config, closed=False)["decoder", "attention: q"]
    assert q.product is None
    assert q.count == q.value
    assert "in its own way in 3 layers" in words.derived_from(q)
