"""Shares of one token in every head, held to the maps of transformers and to whole maps; and their sentence."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import BertModel

import models
from inspector import Trace, maps, one_token, record
from inspector.wording import attention as words
from models import LoadedModel, fetch
from tests.closeness import assert_close

SOURCE = "The cat sat on the mat because it was tired."
IT = 8


def every_map(trace: Trace, stream: str) -> np.ndarray:
    return np.stack([trace.attention(layer=at.layer, stream=stream, call=at.call) for at in trace.sites_of(stream)])


def test_rows_and_columns_are_those_of_transformers(minilm: LoadedModel) -> None:
    trace = record(minilm, SOURCE)
    eager = BertModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager").eval()
    with torch.no_grad():
        out = eager(torch.tensor([trace.encoding.ids]), output_attentions=True)
    theirs = torch.cat(out.attentions).numpy()
    assert trace.tokens[IT] == "it"
    assert_close(one_token.gives(trace, IT), theirs[:, :, IT], relative=1e-5)
    assert_close(one_token.gets(trace, IT), theirs[..., IT], relative=1e-5)


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_each_stream_has_the_bits_of_its_maps(stream: str) -> None:
    trace = record(models.load("own-encoder-decoder"), "A cat.", target="My dog sat.")
    whole = every_map(trace, stream)
    np.testing.assert_array_equal(one_token.gives(trace, 2, stream=stream), whole[:, :, 2])
    np.testing.assert_array_equal(one_token.gets(trace, 3, stream=stream), whole[..., 3])


def test_a_text_of_several_blocks_has_the_bits_of_its_maps(minilm: LoadedModel) -> None:
    trace = record(minilm, "the lazy dog and the quick fox " * 70)
    whole = every_map(trace, "encoder")
    assert whole.shape[-1] > 450
    np.testing.assert_array_equal(one_token.gives(trace, 407), whole[:, :, 407])
    np.testing.assert_array_equal(one_token.gets(trace, 407), whole[..., 407])


@pytest.mark.parametrize("renormalise", [False, True])
def test_hidden_and_merged_tokens_are_those_of_the_arranged_map(minilm: LoadedModel, *, renormalise: bool) -> None:
    trace = record(minilm, "Unbelievably long walks.")
    shown = maps.arrange(trace, hide_special=True, merge_words=True, renormalise=renormalise)
    whole = np.stack([shown.apply(layer) for layer in every_map(trace, "encoder")])
    assert len(shown.queries.members[0]) > 1, "a word of several pieces"
    last_piece = shown.queries.members[0][-1]
    assert_close(one_token.gives(trace, last_piece, shown=shown), whole[:, :, 0], relative=1e-6)
    assert_close(one_token.gets(trace, last_piece, shown=shown), whole[..., 0], relative=1e-6)
    with pytest.raises(ValueError, match="query 0 is not among the 4 that are shown"):
        one_token.gives(trace, 0, shown=shown)


def test_the_table_has_a_row_for_each_head_and_token(minilm: LoadedModel) -> None:
    trace = record(minilm, SOURCE)
    for side, values in (("gives", one_token.gives(trace, IT)), ("gets", one_token.gets(trace, IT))):
        table = one_token.table(trace, IT, side=side)
        assert list(table) == ["stream", "layer", "call", "head", "position", "token", "share"]
        assert len(table) == 6 * 12 * 13
        for layer, head, position in ((0, 0, 0), (3, 7, 2), (5, 11, 12)):
            row = table[(table["layer"] == layer) & (table["head"] == head) & (table["position"] == position)]
            assert row["token"].item() == trace.tokens[position]
            assert row["share"].item() == values[layer, head, position]


@pytest.mark.parametrize("side", ["gives", "gets"])
def test_the_reading_is_the_largest_share_of_another_word_beyond_the_neighbours(
    minilm: LoadedModel, side: one_token.Side
) -> None:
    trace = record(minilm, SOURCE)
    whole = every_map(trace, "encoder").astype(np.float64)
    of_token = whole[:, :, IT] if side == "gives" else whole[..., IT]
    others = [at for at, token in enumerate(trace.tokens) if token.isalpha() and abs(at - IT) > 1]
    best = max(
        ((layer, head, at) for layer in range(6) for head in range(12) for at in others),
        key=lambda place: of_token[place],
    )
    reading = one_token.read(trace, IT, one_token.shares(trace, IT, side=side), side=side, stream="encoder")
    assert reading.beyond
    assert (reading.layer, reading.head) == best[:2]
    assert reading.other is not None
    assert reading.other.token == trace.tokens[best[2]]
    assert reading.share == pytest.approx(of_token[best])
    resting = [int((of_token[..., at] > 0.5).sum()) for at in (0, 12)]
    if side == "gives":
        assert reading.rest is not None
        assert (reading.resting, reading.rest.token) == (max(resting), ("[CLS]", "[SEP]")[int(np.argmax(resting))])
    else:
        assert reading.rest is None


def test_an_even_share_of_few_keys_is_not_told() -> None:
    """A query that sees three keys gives each a third as it is."""
    trace = record(models.load("own-decoder"), "A cat sat.")
    even = np.zeros((2, 4, len(trace.tokens)), np.float32)
    even[..., :3] = 1 / 3
    reading = one_token.read(trace, 2, even, side="gives", stream="decoder")
    assert reading.other is None
    assert "no other word an unusual share" in words.one_token(reading)


def test_the_sentences(minilm: LoadedModel) -> None:
    trace = record(minilm, SOURCE)
    values = np.zeros((6, 12, 13), np.float32)
    values[..., 0] = 0.4
    values[:2, :, 0] = 0.8
    values[3, 4, 2] = 0.62
    values[3, 5, IT] = 0.9  # itself is no other word
    values[3, 6, 11] = 0.9  # nor is a mark
    given, got = (one_token.read(trace, IT, values, side=side, stream="encoder") for side in ("gives", "gets"))
    start = "Beyond its neighbours `it` looks most at `cat`: 62 % of its attention in layer 3, head 4"
    assert words.one_token(given) == f"{start}; in 24 of 72 heads over half goes to `[CLS]`."
    told = "Beyond its neighbours `it` gets most from `cat`: 62 % of what `cat` gives in layer 3, head 4."
    assert words.one_token(got) == told
    values[3, 4] = 0
    values[3, 4, 7] = 0.7  # a neighbour, where there is no other
    near = one_token.read(trace, IT, values, side="gives", stream="encoder")
    assert words.one_token(near).startswith("Of all other words `it` looks most at `because`: 70 % of its attention in")


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("side", ["gives", "gets"])
def test_the_strongest_of_a_head_is_the_largest_of_its_row_or_column(side: one_token.Side, stream: str) -> None:
    trace = record(models.load("own-encoder-decoder"), "A cat sat.", target="My dog sat.")
    whole = every_map(trace, stream)
    values = one_token.shares(trace, 2, side=side, stream=stream)
    for row, head in np.ndindex(whole.shape[:2]):
        line = whole[row, head, 2] if side == "gives" else whole[row, head, :, 2].copy()
        if side == "gets" and stream != "cross":
            line[2] = 0
        best = int(line.argmax())
        link = one_token.strongest(trace, 2, values, side=side, stream=stream, row=row, head=head)
        assert link is not None
        assert link.at == ((2, best) if side == "gives" else (best, 2))
        assert (link.weight, link.query.ordinal >= 1) == (line[best], True)
        cell = whole[(..., *link.at)]
        assert link.most == (cell[row, head] > np.delete(cell.ravel(), row * whole.shape[1] + head).max() + 1e-5)


def test_a_token_that_sees_itself_alone_has_no_strongest() -> None:
    trace = record(models.load("own-decoder"), "A cat sat.")
    values = one_token.shares(trace, 0, side="gives")
    assert one_token.strongest(trace, 0, values, side="gives", stream="decoder", row=0, head=0) is None
