"""A text gives the same maps alone, padded on the right and padded on the left, in encoders and decoders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import Trace, exactness, record, record_batch
from models.attention import AttentionCall, watch
from models.registry import LoadedModel, own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, Family, save
from tests.models.own_models import own

NAMES = ("bert", "roberta", "modernbert", "gpt2", "llama", "opt", "bloom", "gpt_neo", "mistral", "falcon", "xlnet")
TEXTS = ["the cat sat on the log because it was tired", "the dog", "it was the mat"]


@pytest.fixture(scope="module", params=[family for family in CAPTURED if family.name in NAMES], ids=lambda f: f.name)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    family: Family = request.param
    folder = tmp_path_factory.mktemp(family.name)
    save(family, folder)
    return models.load(folder)


@pytest.fixture(scope="module")
def each_alone(loaded: LoadedModel) -> list[Trace]:
    """Record each text alone, once for both sides of padding."""
    return [record(loaded, text) for text in TEXTS]


@pytest.mark.parametrize("padding", ["right", "left"])
def test_padding_changes_nothing(loaded: LoadedModel, each_alone: list[Trace], padding: str, tmp_path: Path) -> None:
    traces = record_batch(loaded, TEXTS, padding=padding)
    assert len({len(trace.tokens) for trace in traces}) == len(TEXTS)
    for alone, trace in zip(each_alone, traces, strict=True):
        assert trace.sites == alone.sites
        assert_close(trace.output, alone.output, relative=1e-5)
        for site in alone.sites:
            expected = alone.attention(layer=site.layer)
            assert_close(trace.attention(layer=site.layer), expected, relative=1e-5)
        assert len(trace.norms) == len(alone.norms)
        for norm, expected in zip(trace.norms, alone.norms, strict=True):
            assert_close(norm.input, expected.input, relative=1e-5)
        inspector.save(trace, tmp_path / "t.npz")
        assert inspector.open(tmp_path / "t.npz").sites == trace.sites


FILLS = {"-inf": float("-inf"), "-10": -10.0, "zero": "zero"}


@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize("fill", FILLS)
def test_a_mask_that_leaks_onto_padding_is_seen(fill: str, padding: str, minilm: LoadedModel, tmp_path: Path) -> None:
    """softmax(fill(QK^T / sqrt(E))) in float64 over all columns: what padding gets is missing in the rows."""
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary=30522, layers=2, width=24, heads=2, ffn_width=32, max_positions=40, mask_fill=FILLS[fill]
    )
    leaking = own_model(minilm.card, Encoder(config).eval().requires_grad_(False), minilm.tokenizer, max_tokens=40)
    texts = ["the cat sat on the mat because it was tired", "a dog"]
    traces = record_batch(leaking, texts, padding=padding)
    whole, short = traces
    ids = torch.zeros(2, len(whole.tokens), dtype=torch.long)
    for row, trace in enumerate(traces):
        length = len(trace.tokens)
        ids[row, slice(0, length) if padding == "right" else slice(-length, None)] = torch.tensor(trace.encoding.ids)
    calls: list[AttentionCall] = []
    with torch.inference_mode(), watch(calls.append):
        leaking.run(ids, ids != 0, torch.zeros_like(ids))
    assert len(calls) == 2
    columns = slice(0, 4) if padding == "right" else slice(len(whole.tokens) - 4, None)
    padded = [place for place in range(len(whole.tokens)) if place not in range(*columns.indices(len(whole.tokens)))]
    for layer, call in enumerate(calls):
        query, key = (tensor[1].double().numpy() for tensor in (call.query, call.key))
        scores = query @ key.swapaxes(1, 2) / np.sqrt(12)
        scores[..., padded] = scores[..., padded] * 0 if fill == "zero" else FILLS[fill]
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        expected = weights[:, columns, columns]
        assert_close(short.attention(layer=layer), expected, relative=3e-6)
        assert_close(short.attention(layer=layer, head=1), expected[1], relative=3e-6)
    checked = [exactness.check(trace, expected_layers=2) for trace in traces]
    assert checked[0].holds
    assert checked[1].holds == (fill == "-inf")
    lost = 1 - np.concatenate([short.attention(layer=layer).sum(axis=-1).ravel() for layer in range(2)])
    assert {"-inf": all(lost < 1e-6), "-10": 1e-5 < lost.max() < 0.01, "zero": lost.min() > 0.3}[fill]
    assert checked[0].to_padding == 0
    assert_close(checked[1].to_padding, lost.max() if fill != "-inf" else 0, relative=1e-6, scale=1)
    assert ("the mask leaks" in str(checked[1])) == (fill != "-inf")
    assert_close(checked[1].row_sum_error, np.abs(lost).max(), relative=1e-6, scale=1)
    inspector.save(short, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    np.testing.assert_array_equal(again.attention(layer=1), short.attention(layer=1))


@pytest.mark.parametrize("before", [False, True])
def test_a_leak_is_told_above_rounding_alone(before: bool) -> None:
    """-20 leaves e^-20 of a weight where it is filled in after the scale, and e^(-20 / sqrt(16)) before it."""
    leaking = own("encoder", mask_fill=-20.0, mask_before_scale=before)
    _, short = record_batch(leaking, ["the cat sat on the mat because it was tired", "a dog"])
    checked = exactness.check(short, expected_layers=2)
    assert short.to_padding > 0
    assert (short.to_padding > 1e-5) == checked.leaks == ("the mask leaks: up to" in str(checked)) == before
    assert checked.holds != before


@pytest.mark.parametrize("padding", ["right", "left"])
def test_a_batch_that_keeps_its_padding_has_the_real_tokens_of_each_text(padding: str, minilm: LoadedModel) -> None:
    batch = record_batch(minilm, TEXTS, padding=padding, keep_padding=True, columns=16)
    lengths = [len(record(minilm, text).tokens) for text in TEXTS]
    assert batch.keep.shape == (3, 16)
    assert [list(row).count(True) for row in batch.keep] == lengths
    edge = 0 if padding == "left" else -1
    assert not batch.keep[:, edge].any()
    assert {row[edge] for row in batch.tokens} == {"[PAD]"}
    for row, text in enumerate(TEXTS):
        alone = record(minilm, text)
        assert tuple(token for token, real in zip(batch.tokens[row], batch.keep[row], strict=True) if real) == (
            alone.tokens
        )
        for number, norm in enumerate(alone.norms):
            found = batch.before(number)[row][batch.keep[row]]
            assert_close(found, norm.input, relative=1e-5)
    assert all(norm.input.base is None or not norm.input.flags.writeable for norm in batch.norms)
    held = sum(norm.input.nbytes for norm in batch.norms)
    assert held == len(batch.norms) * 3 * 16 * 384 * 4


def test_what_a_batch_cannot_be_is_said(minilm: LoadedModel) -> None:
    for columns in (3, 513):
        with pytest.raises(ValueError, match=f"{columns} columns: the longest text has 12 tokens, and minilm reads"):
            record_batch(minilm, TEXTS, columns=columns)
    batch = record_batch(minilm, TEXTS, keep_padding=True)
    with pytest.raises(ValueError, match="there is no norm 13: minilm has 13, counted from 0"):
        batch.before(13)
    with pytest.raises(ValueError, match="a batch needs a text"):
        record_batch(minilm, [], keep_padding=True)
