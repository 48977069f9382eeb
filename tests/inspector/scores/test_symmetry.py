"""Symmetric scores, asymmetric weights, and the diagonal: what sharing W_Q and W_K does, and what it does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import inspector
import models
from inspector.scores import ranks, symmetry
from inspector.trace import Trace
from models.tokenizers import Encoding
from tests.closeness import assert_close
from tests.inspector.scores.made import record

TOKENS, WIDTH = 32, 64


def trace(query: Tensor, key: Tensor) -> Trace:
    """Make a trace of one attention call."""
    one = record(query, key)
    tokens = one.site.keys
    count = len(tokens)
    text = Encoding(tuple(range(count)), tokens, tuple(range(count)), (0,) * count, (False,) * count, 0)
    return Trace("made", " ".join(tokens), None, text, (one,), (), torch.zeros(count, 1))


def unit(seed: int = 0) -> tuple[Tensor, Tensor]:
    made = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(5, TOKENS, WIDTH, generator=made) for _ in range(2))
    return query, key


def linear(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Queries and keys of 5 heads by nn.Linear(512, 64) at its own initialisation, of LayerNorm'd tokens."""
    torch.manual_seed(seed)
    x = nn.functional.layer_norm(torch.randn(TOKENS, 512), (512,))
    with torch.no_grad():
        query, key = (torch.stack([nn.Linear(512, WIDTH)(x) for _ in range(5)]) for _ in range(2))
    return query, key


@pytest.mark.parametrize("draw", [unit, linear])
def test_shared_projections_make_scores_symmetric_and_not_weights(draw: object) -> None:
    """Claims 26 and 27. Setting: n = 32, d_k = 64, 5 heads, seed 0: q, k of N(0, 1), or nn.Linear(512, 64)."""
    query, key = draw()  # type: ignore[operator]
    tied, independent = (symmetry.measure(trace(query, other), stream="encoder") for other in (query, key))
    assert (tied["scores"] == 0).all()  # exactly: both directions are one product
    assert (independent["scores"] > 1.2).all()
    assert (tied["weights"] > 1e-3).all()
    assert (tied["weights"] < 0.3).all()
    assert (independent["weights"] > tied["weights"] * 3).all()
    dots = (query @ key.mT).double().numpy()
    assert_close(independent["scores"], symmetry.asymmetry(dots), relative=1e-5)


def test_shared_projections_make_the_diagonal_large_by_its_length() -> None:
    """Claims 28 and 29. Setting: n = 32, d_k = 64, 5 heads, seed 0, medians over heads; even attention is 1/32 = .031.

    Tied .976 of unit variance, .33 of nn.Linear; independent .02 to .04. Lengths of .2 to 3: fewer queries are their
    own largest key.
    """
    query, key = unit()
    own = symmetry.measure(trace(query, query), stream="encoder")
    apart = symmetry.measure(trace(query, key), stream="encoder")
    assert own["diagonal"].median() == pytest.approx(0.976, abs=0.02)
    assert (own["peak"] == 1).all()
    assert 0.015 < apart["diagonal"].median() < 0.06
    assert own["even"].iloc[0] == pytest.approx(1 / TOKENS)
    small, _ = linear()
    by_linear = symmetry.measure(trace(small, small), stream="encoder")
    assert by_linear["diagonal"].median() == pytest.approx(0.33, rel=0.5)
    assert (by_linear["peak"] == 1).all()
    lengths = torch.rand(5, TOKENS, 1, generator=torch.Generator().manual_seed(0)) * 2.8 + 0.2
    uneven = nn.functional.normalize(query, dim=-1) * lengths * WIDTH**0.25
    assert symmetry.measure(trace(uneven, uneven), stream="encoder")["peak"].median() < 1
    products = symmetry.product(record(query[:1], query[:1])) / WIDTH**0.5
    beside = products[~np.eye(TOKENS, dtype=bool)]
    assert np.diag(products).min() > 4 * beside.std()  # the diagonal is high by itself
    assert beside.std() == pytest.approx(1, abs=0.15)  # and the rest is not


def test_tokens_without_projections_see_themselves() -> None:
    """Claim 31. Setting: softmax(x x^T / sqrt d), 32 LayerNorm'd tokens, d = 512, seed 0: diagonal weight 1.0000."""
    torch.manual_seed(0)
    x = nn.functional.layer_norm(torch.randn(1, TOKENS, 512), (512,))
    assert symmetry.measure(trace(x, x), stream="encoder")["diagonal"].iloc[0] == pytest.approx(1, abs=5e-5)


def test_equal_key_lengths_rank_alike() -> None:
    """Claim 4. Setting: n = 32, d_k = 64, q, k of N(0, 1), seed 0: keys of one length, and of lengths .2 to 3."""
    query, key = unit()
    even = nn.functional.normalize(key, dim=-1)
    lengths = torch.rand(5, TOKENS, 1, generator=torch.Generator().manual_seed(0)) * 2.8 + 0.2
    equal, spread = (ranks.measure(trace(query, one), stream="encoder") for one in (even, even * lengths * 8))
    assert equal[["cosine", "distance"]].to_numpy() == pytest.approx(1, abs=1e-3)
    assert (equal["longest"] < 1 + 1e-5).all()
    assert (spread["distance"] < 0.6).all()
    assert (spread["cosine"] < 0.99).all()
    assert (spread["longest"] > 5).all()


def test_tied_and_untied_sides_of_one_model() -> None:
    """Switches on a text: side A with W_Q = W_K has symmetric scores, side B has not; neither has symmetric weights."""
    text = "The cat sat on the mat because it was tired."
    loaded = models.load("mini-bert")
    a, b = (models.variant(loaded, shared_query_key=True), loaded)
    tied, untied = (symmetry.measure(inspector.record(one, text), stream="encoder") for one in (a, b))
    assert (tied["scores"] < 1e-5).all()
    assert (untied["scores"] > 0.5).all()
    assert (tied["weights"] > 1e-3).all()
    assert (untied["weights"] > 1e-3).all()


def test_two_texts_are_refused() -> None:
    made = inspector.record(models.load("own-encoder-decoder"), "a b", target="b a")
    with pytest.raises(ValueError, match="two texts"):
        symmetry.measure(made, stream="cross")
