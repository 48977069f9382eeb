"""Score functions on a head (claims 34, 36, 37) and before training (claim 39)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from inspector import record
from inspector.scores import functions
from models import LoadedModel

TEXT = "The cat sat on the mat because it was tired."


def test_claims_34_36_and_37_on_a_head(minilm: LoadedModel) -> None:
    """minilm, layer 3, head 7, 13 tokens, d_k 32; what is learned from seed 0."""
    found = functions.on_head(record(minilm, TEXT).record_of_head(3, 7, None))
    assert found.tokens == 13
    assert found.doubled["dot"] < 1e-12
    assert found.doubled["general"] < 1e-12
    assert found.doubled["additive"] > 0.1
    assert found.doubled["linear"] > 0.1
    assert found.weights > 0.01
    assert 0 < found.naive < 1e-5
    assert found.shifted < 1e-6  # a number that all keys share; e^5 / e^5


def test_claim_39_additive_scores_keep_their_spread_and_unscaled_dot_products_do_not() -> None:
    """d_k 16 and 256, 256 queries and 64 keys, entries of variance 1, nn.Linear's initialisation, five seeds."""
    found = functions.variances([16, 256]).set_index(["function", "width"])
    variance, largest = found["variance"], found["largest"]
    for width in (16, 256):
        assert variance["dot", width] == pytest.approx(width, rel=0.05)
        assert variance["scaled", width] == pytest.approx(1, rel=0.05)
        assert variance["additive", width] < 0.2
    assert largest["dot", 256] > 0.85 > 0.2 > largest["scaled", 256] > largest["additive", 256] > 1 / 64


def test_an_additive_score_starts_as_torchs_layers_do() -> None:
    own = functions._as_linear_starts(64, torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    layers = torch.nn.Linear(128, 64), torch.nn.Linear(64, 1)
    for tensor, like in ((own.query_weight, layers[0].weight), (own.bias, layers[0].bias), (own.v, layers[1].weight)):
        bound = like.shape[-1] ** -0.5 if like.ndim == 2 else 128**-0.5
        assert tensor.abs().max() <= bound
        assert float(tensor.std()) == pytest.approx(bound / 3**0.5, rel=0.25)


def test_what_was_not_seen_is_said(minilm: LoadedModel) -> None:
    record_of_head = record(minilm, "Hi.").record_of_head(0, 0, None)
    blind = replace(record_of_head, query=record_of_head.query[..., :0], key=record_of_head.key[..., :0])
    with pytest.raises(ValueError, match="not known as vectors"):
        functions.on_head(blind)
