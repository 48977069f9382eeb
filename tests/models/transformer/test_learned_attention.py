from __future__ import annotations

from models.transformer.learned_attention import learned_score


def test_what_is_learned_is_a_parameter_of_the_module_and_a_tensor_of_the_function():
    names = {score: [name for name, _ in learned_score(score, heads=2, head_width=3).named_parameters()]
             for score in ("dot", "cosine", "general", "additive", "additive_naive")}  # fmt: skip
    additive = ["query_weight", "key_weight", "bias", "v"]
    assert names == {"dot": [], "cosine": [], "general": ["weight"], "additive": additive, "additive_naive": additive}
    module = learned_score("general", heads=2, head_width=3)
    assert module().weight is module.weight
