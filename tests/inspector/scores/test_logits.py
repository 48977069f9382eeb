"""q . k before the scale and after: on draws of known variance, on projections as initialised, and on texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import inspector
from inspector import scores
from inspector.scores import distribution, layer_scores
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.scores.made import record
from tests.models.own_models import own

WIDTHS = (4, 16, 64, 256, 1024)
Made = torch.Generator


def normal(*shape: int, made: Made) -> Tensor:
    return torch.randn(*shape, generator=made)


def uniform(*shape: int, made: Made) -> Tensor:
    return (2 * torch.rand(*shape, generator=made) - 1) * 3**0.5


@pytest.mark.parametrize("draw", [normal, uniform])
@pytest.mark.parametrize("width", WIDTHS)
def test_independent_entries_have_the_papers_variance(draw: object, width: int) -> None:
    """Claims 16 and 17. Setting: q, k of N(0, 1) or U(-sqrt 3, sqrt 3), 8 heads of 256 tokens, seed 0; 5 %."""
    made = torch.Generator().manual_seed(0)
    query, key = (draw(8, 256, width, made=made) for _ in range(2))  # type: ignore[operator]
    found = layer_scores(record(query, key))
    assert found.products is not None
    assert found.scores is not None
    assert found.products.variance.mean() / width == pytest.approx(1, abs=0.05)
    assert found.scores.variance.mean() == pytest.approx(1, abs=0.05)
    assert abs(found.products.mean).max() < 0.1 * width**0.5


def linear(weight: Tensor) -> None:
    nn.init.kaiming_uniform_(weight, a=5**0.5)  # nn.Linear's own


def bert(weight: Tensor) -> None:
    nn.init.normal_(weight, std=0.02)


@pytest.mark.parametrize(
    ("draw", "want"), [(linear, 1 / 9), (nn.init.xavier_uniform_, (512 * 2 / 576) ** 2), (bert, (512 * 0.0004) ** 2)]
)
def test_real_projections_have_another_variance(draw: object, want: float) -> None:
    """Claim 16. Setting: LayerNorm of 128 tokens of N(0, 1), d = 512, 96 heads with a W_Q and a W_K [64, 512] each.

    Without biases, seed 0; Var / d_k is 0.111 with nn.Linear's initialisation, 3.16 with Xavier's, 0.042 with
    N(0, 0.02); 5 %.
    """
    torch.manual_seed(0)
    x = nn.functional.layer_norm(torch.randn(128, 512), (512,))

    def projected() -> Tensor:
        weight = torch.empty(64, 512)
        draw(weight)  # type: ignore[operator]
        return x @ weight.T

    query, key = (torch.stack([projected() for _ in range(96)]) for _ in range(2))
    found = layer_scores(record(query, key)).products
    assert found is not None
    assert found.variance.mean() / 64 == pytest.approx(want, rel=0.05)


@pytest.mark.parametrize("width", [4, 16, 64, 1024])
def test_few_terms_have_heavy_tails(width: int) -> None:
    """Claim 23. The excess kurtosis of a sum of d_k products of two N(0, 1) is 6 / d_k.

    Setting: mean over 64 heads of 256 tokens, seed 0.
    """
    made = torch.Generator().manual_seed(0)
    query, key = (normal(64, 256, width, made=made) for _ in range(2))
    found = layer_scores(record(query, key)).products
    assert found is not None
    assert abs(found.kurtosis.mean() - 6 / width) < 0.06
    if width == 1024:
        one = distribution(record(query[:1], key[:1]))
        assert abs(one.measured - one.normal)[10:-10].max() < 0.05  # on the line of the QQ plot


def test_a_texts_numbers_are_numpys_and_do_not_depend_on_blocks(minilm: LoadedModel) -> None:
    """A text of more than one block of rows: moments, range and rows against float64, computed whole."""
    trace = inspector.record(minilm, "The cat sat on the mat because it was tired. " * 12)
    record_ = trace.record_of(2, None)
    q, k = record_.query.double().numpy(), record_.key.double().numpy()
    dots = q @ k.transpose(0, 2, 1)
    table = scores.measure(trace).query("layer == 2")
    values = dots.reshape(len(dots), -1)
    assert_close(table["variance"], values.var(axis=1), relative=1e-5)
    centred = values - values.mean(axis=1, keepdims=True)
    assert_close(table["kurtosis"], (centred**4).mean(axis=1) / values.var(axis=1) ** 2 - 3, relative=1e-4)
    scaled = dots / np.sqrt(q.shape[-1])
    assert_close(table["low"], scaled.min(axis=(1, 2)), relative=1e-4)
    assert_close(table["within"], scaled.var(axis=2).mean(axis=1), relative=1e-5)
    p = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    jacobians = np.sqrt((p**2).sum(-1) - 2 * (p**3).sum(-1) + (p**2).sum(-1) ** 2)
    assert_close(table["jacobian"], jacobians.mean(axis=1), relative=1e-5)
    assert_close(table["saturated"], (p.max(-1) > 0.9).mean(axis=1), relative=1e-9)
    assert_close(table["relative_entropy"] * np.log(len(trace.tokens)), table["entropy"], relative=1e-6)


def test_a_loop_over_heads_is_one_reshaped_product(minilm: LoadedModel) -> None:
    """Claim 50: below 1e-6."""
    trace = inspector.record(minilm, "The cat sat on the mat.")
    for head in range(0, 12, 5):
        assert scores.alone(trace, trace.record_of_head(3, head, None), head=head) < 1e-6


def test_one_row_with_a_choice_has_a_variance_within_rows() -> None:
    """A decoder's text of two tokens: the first query sees one key, the second sees two."""
    trace = inspector.record(own("decoder"), "a")
    assert len(trace.tokens) == 2
    found = layer_scores(trace.record_of(0, None))
    assert found.scores is not None
    rows = trace.scores(layer=0).astype(np.float64)[:, 1]
    assert_close(found.scores.within, rows.var(axis=1), relative=1e-6, scale=np.square(rows))
