"""Sigmoid and linear attention against numpy in float64, against the form without pairs, and through whole models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from inspector import exactness, flow, heads, record, record_batch, row_statistics
from inspector.maps import arrange
from inspector.trace import Trace
from models.attention import attend, seam
from models.attention.fused_kernel import attend_fused
from models.attention.masks import CausalMask, Mask, PaddingMask, all_of
from models.attention.scores import linear_attention
from models.transformer.config import TransformerConfig, Weighting
from models.transformer.learned_attention import make_function
from tests.closeness import assert_close
from tests.models import own_models

CONFIG = TransformerConfig(vocabulary=9, layers=1, width=24, heads=4, ffn_width=8, max_positions=9, kv_heads=2)
KEEP = torch.tensor([[True] * 9, [True] * 6 + [False] * 3])
MASKS = {
    "all": None,
    "causal": CausalMask(9),
    "padded": PaddingMask(KEEP),
    "both": all_of(CausalMask(9), PaddingMask(KEEP)),
}
SOURCE, TARGET = "The cat sat on the mat because it was tired.", "Die Katze war müde."


def tensors(*, keys: int = 9) -> tuple[Tensor, Tensor, Tensor]:
    """Queries [2, 4, 9, 6], keys and values [2, 2, keys, 6], float64."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, 4, 9, 6), (2, 2, keys, 6), (2, 2, keys, 6))
    return tuple(torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes)  # type: ignore


def by_hand(weighting: str, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> NDArray[np.float64]:
    """The output [B, H, Q, E] by the papers' formulas, one query at a time."""
    q, k, v = (one.numpy() for one in (query, key, value))
    seen = np.ones((2, 1, 9, k.shape[2]), bool) if mask is None else mask.rows(0, 9).numpy()
    seen = np.broadcast_to(seen, (2, 1, 9, k.shape[2]))
    out = np.zeros(q.shape)
    for b, h, i in np.ndindex(*q.shape[:3]):
        keys, values = k[b, h // 2][seen[b, 0, i]], v[b, h // 2][seen[b, 0, i]]
        if weighting == "sigmoid":
            weights = 1 / (1 + np.exp(-(keys @ q[b, h, i] / np.sqrt(6) - np.log(len(keys)))))
        else:
            phi_q, phi_k = (np.where(x > 0, x + 1, np.exp(x)) for x in (q[b, h, i], keys))
            weights = phi_k @ phi_q / (phi_k @ phi_q).sum()
        out[b, h, i] = weights @ values
    return out


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("weighting", ["sigmoid", "linear"])
def test_equals_numpy_whole_and_in_blocks(
    weighting: Weighting, mask: Mask | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = make_function(replace(CONFIG, weighting=weighting), stream="encoder").eval()(bias=None, offset=0, keys=9)
    given = tensors(keys=13) if mask is None else tensors()  # cross-attention where nothing is masked
    expected = by_hand(weighting, *given, mask)
    whole = attend(function, *given, mask=mask)
    assert_close(whole.detach().numpy(), expected, relative=1e-12)
    monkeypatch.setattr(seam, "BLOCK", 4)
    assert_close(attend(function, *given, mask=mask), whole, relative=1e-14)
    with pytest.raises(ValueError, match="more than a scaled dot product"):
        attend_fused(function, *given, mask)


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_needs_no_pairs(causal: bool) -> None:
    function = make_function(replace(CONFIG, weighting="linear"), stream="encoder")(bias=None, offset=0, keys=9)
    query, key, value = tensors()
    by_pairs = attend(function, query, key, value, mask=CausalMask(9) if causal else None)
    key, value = (one.repeat_interleave(2, dim=1) for one in (key, value))
    assert_close(linear_attention(query, key, value, causal=causal), by_pairs, relative=1e-12)


def test_a_scale_of_linear_attention_cancels_and_masked_weights_are_exactly_nothing() -> None:
    given, mask = tensors(), MASKS["both"]
    assert mask is not None
    for weighting in ("sigmoid", "linear"):
        outputs = []
        for scale in ("none", "1/sqrt(d_k)"):
            config = replace(CONFIG, weighting=weighting, scale=scale)
            function = make_function(config, stream="encoder")(bias=None, offset=0, keys=9)
            output, weights = function(*given, mask.rows(0, 9), rows=slice(0, 9))
            assert (weights[~mask.rows(0, 9).expand_as(weights)] == 0).all()
            outputs.append(output)
        assert torch.equal(*outputs) == (weighting == "linear")


# --- what the instrument says of them ----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["sigmoid", "linear"])
def trace(request: pytest.FixtureRequest) -> Trace:
    return record(own_models.own("encoder-decoder", weighting=request.param), SOURCE, target=TARGET)


def test_scores_are_what_the_weights_are_made_of(trace: Trace) -> None:
    sigmoid = not trace.attentions[0].function.normalised
    for site in trace.sites:
        weights, scores = (
            take(layer=site.layer, stream=site.stream).astype(np.float64) for take in (trace.attention, trace.scores)
        )
        odds = np.exp(scores)
        expected = odds / (1 + odds) if sigmoid else odds / odds.sum(axis=-1, keepdims=True)
        assert_close(weights, expected, relative=1e-6)
    checked = exactness.check(trace, expected_layers=len(trace.sites))
    assert checked.holds
    assert checked.sigmoid == sigmoid == ("a sigmoid's rows sum to anything" in str(checked))


def test_measures_are_those_of_rows_divided_by_their_sums(trace: Trace) -> None:
    measured, n = heads.measure(trace).query("stream == 'encoder' and layer == 1"), len(trace.tokens)
    p = trace.attention(layer=1, stream="encoder").astype(np.float64)
    p /= p.sum(axis=-1, keepdims=True)
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    assert_close(measured["entropy"], -(p * np.log(p)).sum(-1).mean(-1), relative=1e-6)
    assert_close(measured["distance"], (p * apart).sum(-1).mean(-1), relative=1e-6)
    assert_close(measured["self"], p[:, range(n), range(n)].mean(-1), relative=1e-6)
    assert_close(flow.rollout(trace, token=2, stream="encoder").sum(axis=1), 1, relative=1e-6)
    told = row_statistics.of_head(trace, arrange(trace, stream="encoder"), layer=1, head=1, stream="encoder")
    assert told is not None
    assert_close(told.entropy, -(p[1] * np.log(p[1])).sum(-1), relative=1e-6)
    assert (told.offset is None) == (not trace.attentions[0].function.normalised)


@pytest.mark.parametrize("weighting", ["sigmoid", "linear"])
@pytest.mark.parametrize("shape", ["encoder", "decoder"])
def test_padding_changes_no_map(weighting: str, shape: str) -> None:
    own = own_models.own(shape, weighting=weighting, positions="none")  # a column is no position
    for padding in ("left", "right"):
        for alone, padded in zip(
            [record(own, text) for text in (SOURCE, "Hi.")],
            record_batch(own, [SOURCE, "Hi."], padding=padding),  # type: ignore[call-overload]
            strict=True,
        ):
            assert_close(padded.attention(layer=0), alone.attention(layer=0), relative=2e-6)
            assert all(record.to_padding is None for record in padded.attentions)
