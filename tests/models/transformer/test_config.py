from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from models.transformer.config import TransformerConfig

SIZES = {"vocabulary": 50, "layers": 2, "width": 12, "heads": 3, "ffn_width": 20, "max_positions": 16}


def test_defaults_are_those_of_vaswani_et_al():
    config = TransformerConfig(**SIZES)
    assert (config.norm_placement, config.activation, config.positions) == ("post", "relu", "sinusoidal")
    assert (config.final_norm, config.embedding_norm, config.segments, config.bias) == (False, False, 0, True)
    assert (config.head_width, config.key_heads, config.scale_factor) == (4, 3, 0.5)
    assert (config.shape, config.score, config.merge, config.norm) == ("encoder", "dot", "concat", "layer")


def test_what_a_head_is_wide_and_what_a_score_is_multiplied_by():
    config = TransformerConfig(**SIZES, head_size="full", scale="1/d_k")
    assert (config.head_width, config.scale_factor) == (12, 1 / 12)
    config = TransformerConfig(**{**SIZES, "heads": 5}, head_size=7, scale="none")
    assert (config.head_width, config.scale_factor) == (7, 1.0)


def test_the_decoder_takes_after_the_encoder_unless_told():
    config = TransformerConfig(**SIZES, shape="encoder-decoder")
    assert (config.decoder_depth, config.decoder_vocabulary) == (2, 50)
    config = replace(config, decoder_layers=1, target_vocabulary=70)
    assert (config.decoder_depth, config.decoder_vocabulary) == (1, 70)
    assert [replace(config, shape="encoder-decoder").is_causal, TransformerConfig(**SIZES).is_causal] == [True, False]


def test_is_frozen_and_survives_a_round_trip_through_a_dict():
    config = TransformerConfig(**SIZES, norm_placement="pre", final_norm=True)
    assert TransformerConfig(**asdict(config)) == config
    with pytest.raises(FrozenInstanceError):
        config.width = 24  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"vocabulary": 0}, "vocabulary is 0; .* at least 1"),
        ({"layers": -1}, "layers is -1; .* at least 1"),
        ({"width": 12.0}, r"width is 12\.0; .* whole number"),
        ({"heads": 0}, "heads is 0; .* at least 1"),
        ({"ffn_width": 0}, "ffn_width is 0; .* at least 1"),
        ({"max_positions": 0}, "max_positions is 0; .* at least 1"),
        ({"segments": -2}, "segments is -2; .* 0 for no segment embeddings"),
        ({"heads": 5}, "width 12 does not divide into 5 heads; .* such as 15"),
        ({"norm_epsilon": 0.0}, r"norm_epsilon is 0\.0; .* above 0"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon is nan; .* above 0"),
        ({"norm_placement": "middle"}, "norm_placement 'middle' is unknown; choose one of pre, post"),
        ({"activation": "swish"}, "activation 'swish' is unknown; choose one of relu, gelu, gelu_tanh"),
        ({"positions": "rotary"}, "positions 'rotary' is unknown; choose one of sinusoidal, learned"),
        ({"final_norm": True}, "final_norm=True with norm_placement='post': each of the 2 layers"),
        ({"kv_heads": 2}, "3 heads cannot share 2 kv heads evenly; choose a divisor of 3"),
        ({"kv_heads": 0}, "kv_heads is 0; .* at least 1"),
        ({"head_size": 0}, "head_size is 0; choose 'split'"),
        ({"head_size": "half"}, "head_size is 'half'; choose 'split'"),
        ({"positions": "rope", "width": 15}, "turns pairs of features, and a head has 5; .* even"),
        ({"positions": "rope", "rope_base": 0.5}, r"rope_base is 0\.5; .* above 1"),
        ({"positions": "rope", "score": "additive"}, "positions 'rope' with score 'additive': .* choose score='dot'"),
        ({"weighting": "max"}, "weighting 'max' is unknown; choose one of softmax, sigmoid, linear"),
        ({"weighting": "sigmoid", "mask_fill": -9.0}, r"'sigmoid' with mask_fill -9\.0: .* choose mask_fill=-inf"),
        ({"weighting": "linear", "mask_fill": "zero"}, "'linear' with mask_fill 'zero': .* choose mask_fill=-inf"),
        ({"weighting": "linear", "score": "cosine"}, "'linear' with score 'cosine': .* leave score out"),
        ({"weighting": "linear", "positions": "alibi"}, "'linear' with positions 'alibi', .* choose 'rope'"),
        ({"positions": "shaw", "score": "cosine"}, "positions 'shaw' with score 'cosine': .* choose score='dot'"),
        ({"positions": "t5", "relative_buckets": 3}, "relative_buckets is 3; .* even and at least 4"),
        ({"positions": "t5", "relative_distance": 8}, "relative_distance 8 with 32 buckets: distances below 16"),
        ({"shape": "decoder", "causal": False}, "shape 'decoder' with causal=False: .* leave causal out"),
        ({"shape": "encoder-decoder", "causal": True}, "causal=True in an encoder-decoder: .* leave causal out"),
        ({"decoder_layers": 2}, "decoder_layers=2 with shape 'encoder', which has one stack"),
        ({"target_vocabulary": 9, "shape": "decoder"}, "target_vocabulary=9 with shape 'decoder', which has one stack"),
        ({"shape": "decoder", "segments": 2}, "segments=2 in a decoder"),
        ({"tied_embeddings": "output"}, "tied_embeddings='output' with shape 'encoder' .* no output matrix"),
        ({"tied_embeddings": "three-way", "shape": "decoder"}, "'three-way' with shape 'decoder', .* choose 'output'"),
        (
            {"tied_embeddings": "three-way", "shape": "encoder-decoder", "target_vocabulary": 70},
            "'three-way' with vocabularies of 50 and 70 tokens; use one joint vocabulary",
        ),
        (
            {"tied_embeddings": "output", "shape": "decoder", "embedding_width": 6},
            "tied_embeddings='output' with embedding_width=6 and width 12",
        ),
        ({"shared_query_key": True, "kv_heads": 1}, "shared_query_key with 3 heads and 1 kv heads: .* leave kv_heads"),
        ({"projections": False, "shared_key_value": True}, "projections=False leaves no W_Q, W_K, W_V to share"),
        ({"projections": False, "kv_heads": 1}, "projections=False with 1 kv heads .* 3 heads .* width 12"),
        ({"projections": False, "merge": "sum"}, "merge='sum' of 3 heads gives 4 features, the width is 12"),
        ({"window": 0}, "window is 0; .* at least 1"),
        ({"mask_fill": float("nan")}, "mask_fill is nan; choose a number below 0, -inf"),
        ({"mask_fill": 5.0}, r"mask_fill is 5\.0; choose a number below 0"),
        ({"mask_fill": -1e300}, r"mask_fill is -1e\+300; .* the lowest number is -3\.4e\+38"),
        ({"mask_fill": None}, "mask_fill is None; choose a number below 0"),
        ({"rope_base": "x" * 10**6}, r"rope_base is 'x{59}\.\.\.; it must be a number$"),
        ({"norm_epsilon": 10**400}, "norm_epsilon is a whole number of more than 18 digits; it must be a number"),
        ({"dropout": None}, "dropout is None; it must be a number"),
        ({"heads": 10**400}, "heads is a whole number of more than 18 digits; .* below a billion"),
        ({"causal": "yes"}, "causal is 'yes'; it is a switch"),
        ({"causal": 1}, "causal is 1; it is a switch"),
        ({"scale": "\ud800"}, r"scale '\\ud800' is unknown"),
        ({"mask_fill": "nothing"}, "mask_fill is 'nothing'; .* or 'zero'"),
        ({"dropout": 1.0}, r"dropout is 1\.0; .* from 0 to below 1"),
        ({"attention_dropout": -0.1}, r"attention_dropout is -0\.1; .* from 0 to below 1"),
        ({"norm": "none", "embedding_norm": True}, "norm 'none' with final_norm=False and embedding_norm=True"),
        ({"bias": "no"}, "bias is 'no'; it is a switch, True or False"),
        ({"shape": "both"}, "shape 'both' is unknown; choose one of encoder, decoder, encoder-decoder"),
        ({"scale": "sqrt"}, r"scale 'sqrt' is unknown; choose one of 1/sqrt\(d_k\), 1/d_k, none"),
        ({"initialisation": "zeros"}, "initialisation 'zeros' is unknown; choose one of torch, normal, xavier"),
    ],
)
def test_numbers_that_do_not_fit_are_named(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(TransformerConfig(**SIZES), **change)
