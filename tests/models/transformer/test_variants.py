"""A model under changed switches: what fits keeps its weights, and each switch does what something independent does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from math import inf, sqrt

import pytest
import torch
from torch.nn.functional import rms_norm

import models
from inspector import record
from models import LoadedModel
from models.transformer import TransformerConfig
from models.transformer.switches import FIXED, KINDS, id_of, parse
from tests.closeness import assert_close

TEXT = "The cat sat on the mat."


@pytest.fixture
def mini_bert(shipped: Callable[[str], LoadedModel]) -> LoadedModel:
    return shipped("mini-bert")


OWN = ["mini-bert", "mini-gpt", "translator", "own-encoder-decoder"]


def hidden(loaded: LoadedModel) -> torch.Tensor:
    encoding = loaded.encode(TEXT)
    ids = torch.tensor([encoding.ids])
    with torch.inference_mode():
        if loaded.run_pair is not None:
            return loaded.run_pair(ids, ids > -1, ids)
        return loaded.run(ids, ids > -1, torch.tensor([encoding.segments]))


def state(loaded: LoadedModel) -> dict[str, torch.Tensor]:
    return loaded.network.state_dict()


@pytest.mark.parametrize("id", OWN)
def test_nothing_changed_is_the_model_bit_for_bit(id: str) -> None:
    loaded = models.load(id)
    same = models.variant(loaded, seed=3)
    assert same.card.redrawn == 0
    assert same.card.id == id
    assert torch.equal(hidden(same), hidden(loaded))
    if loaded.predict is not None and same.predict is not None:
        assert torch.equal(same.predict(hidden(same)), loaded.predict(hidden(loaded)))


def test_a_model_of_transformers_is_put_into_the_own_transformer(minilm: LoadedModel, minilm_own: LoadedModel) -> None:
    assert torch.equal(hidden(models.variant(minilm, scale="1/sqrt(d_k)")), hidden(minilm_own))


def test_without_the_scale_scores_are_the_root_of_the_head_width_larger(mini_bert: LoadedModel) -> None:
    """The first layer's: the queries and keys of later ones see another text."""
    plain, unscaled = record(mini_bert, TEXT), record(models.load("mini-bert?scale=none"), TEXT)
    scores = plain.scores(stream="encoder", layer=0, head=2)
    factor = sqrt(mini_bert.config.head_width)
    assert_close(unscaled.scores(stream="encoder", layer=0, head=2), scores * factor, relative=1e-5)


def test_tied_queries_and_keys_keep_the_queries_matrix(minilm_own: LoadedModel) -> None:
    tied = models.variant(minilm_own, shared_query_key=True)
    assert tied.card.redrawn == 0
    for name in ("query", "key"):
        assert torch.equal(
            state(tied)[f"layers.1.attention.{name}.weight"], state(minilm_own)["layers.1.attention.query.weight"]
        )
    scores = record(tied, TEXT).scores(stream="encoder", layer=0, head=0)
    assert_close(scores, scores.T, relative=1e-5)


def test_values_that_are_keys_keep_the_values_matrix(minilm_own: LoadedModel) -> None:
    shared = models.variant(minilm_own, shared_key_value=True)
    for name in ("key", "value"):
        assert torch.equal(
            state(shared)[f"layers.0.attention.{name}.weight"], state(minilm_own)["layers.0.attention.value.weight"]
        )


def test_other_heads_draw_the_four_matrices_alone(minilm_own: LoadedModel) -> None:
    """Each has 384 x 384 weights and 384 biases, in six layers."""
    changed = models.variant(minilm_own, heads=6)
    matrices = 6 * 4 * (384 * 384 + 384)
    assert changed.card.redrawn == pytest.approx(matrices / sum(p.numel() for p in minilm_own.network.parameters()))
    same = {name for name, tensor in state(changed).items() if torch.equal(tensor, state(minilm_own)[name])}
    assert {name for name in state(changed) if "attention." in name} == set(state(changed)) - same


def test_fewer_layers_are_the_first(minilm_own: LoadedModel) -> None:
    """The last state of two layers is the state that layer 2 of the whole model reads."""
    states = []
    handle = minilm_own.network.layers[2].register_forward_pre_hook(lambda module, inputs: states.append(inputs[0]))
    hidden(minilm_own)
    handle.remove()
    assert torch.equal(hidden(models.variant(minilm_own, layers=2)), states[0])


def test_rms_norm_keeps_gamma_and_equals_torchs(minilm_own: LoadedModel) -> None:
    variant = models.variant(minilm_own, norm="rms")
    norm, old = variant.network.layers[0].ffn_norm, minilm_own.network.layers[0].ffn_norm
    x = torch.randn(3, 384, generator=torch.Generator().manual_seed(0))
    assert_close(norm(x), rms_norm(x, (384,), old.gamma, minilm_own.config.norm_epsilon), relative=1e-6)
    assert variant.card.redrawn == 0


def test_an_untied_output_starts_as_the_embedding_and_changes_nothing() -> None:
    loaded = models.load("mini-gpt")
    assert loaded.config.tied_embeddings == "output"
    untied = models.variant(loaded, tied_embeddings="none")
    assert untied.card.redrawn == 0
    assert loaded.predict is not None
    assert untied.predict is not None
    assert torch.equal(untied.predict(hidden(untied)), loaded.predict(hidden(loaded)))


def test_a_narrow_embedding_of_a_masked_language_model_is_its_output_too(mini_bert: LoadedModel) -> None:
    narrow = models.variant(mini_bert, embedding_width=32)
    assert narrow.predict is not None
    logits = narrow.predict(hidden(narrow))
    assert logits.shape[-1] == mini_bert.config.vocabulary
    assert torch.isfinite(logits).all()


def test_batch_norm_takes_its_statistics_from_the_batch_in_one_pass(mini_bert: LoadedModel) -> None:
    """The first norm's are those of its input over all tokens; a text alone then gets another token's numbers."""
    texts = [TEXT, "It was raining."]
    variant = models.variant(mini_bert, norm="masked_batch", batch=texts)
    first = variant.network.layers[0].attention_norm
    seen = []
    handle = first.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0][0]))
    for text in texts:
        record(variant, text)
    handle.remove()
    tokens = torch.cat(seen).double()
    assert_close(first.running_mean.double(), tokens.mean(0), relative=1e-5)
    assert_close(first.running_variance.double(), tokens.var(0), relative=1e-5)
    with pytest.raises(ValueError, match="takes its statistics from texts"):
        models.variant(mini_bert, norm="batch")


def test_batch_norm_in_both_stacks_of_a_translator_counts_no_padding_of_what_it_wrote() -> None:
    """The first norm of the decoder sees the tokens of both targets as when each is read alone."""
    loaded, texts = models.load("own-encoder-decoder"), [TEXT, "It rains."]
    variant = models.variant(loaded, norm="masked_batch", batch=texts)
    first, seen = variant.network.decoder.layers[0].attention_norm, []
    handle = first.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0][0]))
    targets = []
    for text in texts:
        encoding = loaded.encode(text)
        targets.append(loaded.generate_ids(encoding, new_tokens=2 * len(encoding)))
        source = torch.tensor([encoding.ids])
        with torch.inference_mode():
            variant.run_pair(source, source > -1, torch.tensor(targets[-1:]))
    handle.remove()
    assert len(targets[0]) != len(targets[1])
    assert_close(first.running_mean, torch.cat(seen).mean(0), relative=1e-5)
    assert torch.isfinite(hidden(variant)).all()


def test_the_card_says_what_was_changed_and_drawn(minilm: LoadedModel) -> None:
    card = models.variant(minilm, heads=6, scale="none").card
    assert card.title == "MiniLM, the bundled BERT, a variant"
    assert "heads 6, scale none: 15.7 % of the weights are drawn anew" in card.summary
    assert "run by transformers" not in card.summary


def test_the_seed_draws_what_is_new_whoever_else_draws(mini_bert: LoadedModel) -> None:
    scores = [{"score": name, "positions": "none"} for name in ("general", "additive")]
    for switches in [*scores, *({"positions": name} for name in ("t5", "learned", "shaw"))]:
        torch.manual_seed(1)
        first = models.variant(mini_bert, seed=7, **switches)
        torch.manual_seed(2)
        second, other = models.variant(mini_bert, seed=7, **switches), models.variant(mini_bert, seed=8, **switches)
        assert first.card.redrawn > 0
        assert torch.equal(hidden(first), hidden(second))
        assert not torch.equal(hidden(first), hidden(other))


def test_a_configuration_loads_with_the_untrained_models_tokenizer() -> None:
    usual = models.load("own-decoder")
    config = replace(usual.config, layers=1, positions="shaw", initialisation="torch")
    loaded = models.load(config, seed=5)
    assert loaded.config == config
    assert not loaded.card.trained
    torch.manual_seed(9)
    assert torch.equal(hidden(loaded), hidden(models.load(config, seed=5)))
    assert torch.equal(hidden(models.load(usual.config)), hidden(usual))
    with pytest.raises(ValueError, match="30,522 tokens and the configuration 100"):
        models.load(replace(config, vocabulary=100))
    with pytest.raises(ValueError, match="go with a TransformerConfig"):
        models.load("own-decoder", seed=1)


# --- as an id ------------------------------------------------------------------------------------------------------


def test_every_field_is_a_switch_or_says_why_not() -> None:
    assert KINDS.keys() | FIXED.keys() == {field.name for field in fields(TransformerConfig)}
    assert not KINDS.keys() & FIXED.keys()


VALUES = {
    "scale": "1/sqrt(d_k)",
    "kv_heads": None,
    "causal": True,
    "mask_fill": -inf,
    "head_size": 16,
    "norm_epsilon": 1e-12,
    "merge": "sum",
    "window": 3,
}


def test_an_id_and_its_switches_are_one() -> None:
    id = id_of("org/name@main", VALUES, seed=4)
    assert parse(id) == ("org/name@main", VALUES, 4)
    assert [type(value) for value in parse(id)[1].values()] == [type(VALUES[name]) for name in parse(id)[1]]
    assert parse("mini-bert") == ("mini-bert", {}, 0)
    assert parse("mini-bert?mask_fill=zero&head_size=full")[1] == {"mask_fill": "zero", "head_size": "full"}


def test_a_models_id_loads_it_again(mini_bert: LoadedModel) -> None:
    variant = models.variant(mini_bert, seed=2, heads=3, residual=False, scale="1/sqrt(d_k)")
    assert variant.card.id == "mini-bert?heads=3&residual=false&seed=2"
    again = models.load(variant.card.id)
    assert again.card == variant.card
    assert torch.equal(hidden(again), hidden(variant))


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("mini-bert?scale", "write switch=value"),
        ("mini-bert?scale=none&scale=none", "each switch once"),
        ("mini-bert?colour=red", "is no switch"),
        ("mini-bert?vocabulary=5", "the tokenizer fixes it"),
        ("mini-bert?dropout=0.5", "see the Lab"),
        ("mini-bert?scale=big", "scale 'big' is unknown"),
        ("mini-bert?residual=1", "true or false"),
        ("mini-bert?layers=99999999999", "at most 9 digits"),
        ("mini-bert?layers=999999999", "the limits are 500 and 200,000,000"),
        ("mini-bert?layers=999999&width=2&heads=1&ffn_width=1", "make 999,999 layers"),
        ("mini-bert?embedding_width=999999999", "parameters, the limits"),
        ("mini-bert?positions=shaw&relative_distance=999999999", "parameters, the limits"),
        ("mini-bert?positions=t5&relative_buckets=999999998&relative_distance=999999999", "parameters, the limits"),
        ("mini-bert?positions=none&score=additive&head_size=20000", "parameters, the limits"),
        ("mini-bert?max_positions=999999999", "parameters, the limits"),
        ("mini-bert?heads=999999936&head_size=2", "parameters, the limits"),
        ("mini-bert?layers=-1", "must be a whole number"),
        ("mini-bert?mask_fill=nan", "mask_fill is nan"),
        ("mini-bert?heads=5", "does not divide into 5 heads"),
        ("mini-bert?seed=x", "seed is 'x'"),
        ("nobody?scale=none", "There is no model"),
    ],
)
def test_what_is_no_switch_is_refused_with_a_sentence(id: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        models.load(id)


def test_a_variant_has_no_variant(mini_bert: LoadedModel) -> None:
    with pytest.raises(ValueError, match="is a variant itself"):
        models.variant(models.variant(mini_bert, causal=True), heads=3)
