from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from models.config import TransformerConfig

SIZES = {"vocabulary": 50, "layers": 2, "width": 12, "heads": 3, "ffn_width": 20, "max_positions": 16}


def test_defaults_are_those_of_vaswani_et_al():
    config = TransformerConfig(**SIZES)
    assert (config.norm_placement, config.activation, config.positions) == ("post", "relu", "sinusoidal")
    assert (config.final_norm, config.embedding_norm, config.segments, config.bias) == (False, False, 0, True)
    assert config.head_width == 4


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
    ],
)
def test_numbers_that_do_not_fit_are_named(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(TransformerConfig(**SIZES), **change)
