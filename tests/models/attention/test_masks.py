from __future__ import annotations

import pytest
import torch

from models.attention.masks import (
    AllOf,
    CausalMask,
    DenseMask,
    PackedTextsMask,
    PaddingMask,
    WindowMask,
    all_of,
    window_of,
)

KEEP = torch.tensor([[True, True, True, False], [False, True, True, True]])


def test_every_block_of_rows_sees_the_real_tokens():
    mask = PaddingMask(KEEP)
    for start, stop in [(0, 4), (1, 3), (3, 4)]:
        rows = mask.rows(start, stop).expand(2, 5, stop - start, 4)
        for text in range(2):
            for head in range(5):
                assert all(row == KEEP[text].tolist() for row in rows[text, head].tolist())


def test_no_square_is_made():
    assert PaddingMask(torch.ones(3, 5000, dtype=torch.bool)).rows(0, 5000).numel() == 3 * 5000


@pytest.mark.parametrize("keep", [KEEP.long(), KEEP.float(), KEEP[0], KEEP[None]])
def test_other_types_and_shapes_are_named(keep):
    with pytest.raises(ValueError, match=r"boolean \[B, T\] tensor, got torch\.\w+ of shape \(.*\)"):
        PaddingMask(keep)


def test_texts_of_nothing_but_padding_are_named():
    with pytest.raises(ValueError, match=r"sequences \[0, 2\] of the batch have no real token"):
        PaddingMask(torch.tensor([[False, False], [True, False], [False, False]]))


def test_causal_rows_are_the_lower_triangle():
    whole = torch.ones(7, 7).tril().bool()
    for start, stop in [(0, 7), (2, 5), (6, 7)]:
        assert torch.equal(CausalMask(7).rows(start, stop)[0, 0], whole[start:stop])
    assert torch.equal(CausalMask(7, offset=4).rows(0, 3)[0, 0], whole[4:])  # three new queries after four cached keys


def test_a_window_is_a_band():
    near = (torch.arange(6)[:, None] - torch.arange(6)).abs() < 2
    assert torch.equal(WindowMask(6, 2).rows(1, 4)[0, 0], near[1:4])
    both = all_of(CausalMask(6), WindowMask(6, 3))
    assert both.rows(5, 6)[0, 0].tolist() == [[False, False, False, True, True, True]]


def test_packed_texts_are_blocks_on_the_diagonal():
    rows = PackedTextsMask(torch.tensor([[0, 0, 1, 1, 1]])).rows(1, 4)[0, 0]
    assert rows.int().tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]]


def test_all_masks_hold_at_once_and_no_row_is_left_blind():
    mask = all_of(PaddingMask(KEEP), CausalMask(4))
    for text in range(2):
        for query in range(4):
            seen = [bool(KEEP[text, key]) and key <= query for key in range(4)]
            expected = seen if any(seen) else [True] * 4
            assert mask.rows(query, query + 1)[text, 0, 0].tolist() == expected


def test_one_mask_is_itself_and_none_is_none():
    causal = CausalMask(3)
    assert all_of(None, causal) is causal
    assert all_of(None, None) is None
    assert isinstance(all_of(causal, causal), AllOf)


@pytest.mark.parametrize("tokens", [1, 3, 4, 5, 300])
@pytest.mark.parametrize("width", [1, 4, 200])
@pytest.mark.parametrize("causal", [True, False])
def test_a_window_is_read_off_the_mask(tokens: int, width: int, causal: bool) -> None:
    mask = all_of(WindowMask(tokens, width), CausalMask(tokens) if causal else None)
    assert window_of(mask, tokens=tokens) == (width if width < tokens else None)
    dense = torch.where(mask.rows(0, tokens), 0.0, torch.finfo(torch.float32).min).expand(1, 1, tokens, tokens)
    assert window_of(DenseMask(dense), tokens=tokens) == (width if width < tokens else None)


def test_what_is_no_band_is_no_window() -> None:
    keep = torch.tensor([[False, True, True, True]])
    chunks = torch.tensor([[0, 0, 1, 1]])
    for mask in (
        PaddingMask(keep),
        PackedTextsMask(chunks),
        all_of(PackedTextsMask(chunks), CausalMask(4)),
        CausalMask(4),
    ):
        assert window_of(mask, tokens=4) is None


def test_a_mask_of_one_row_is_that_of_every_row() -> None:
    """A mask as transformers makes it of padding: [B, 1, 1, T]."""
    mask = DenseMask(torch.tensor([0.0, torch.finfo(torch.float32).min])[None, None, None])
    assert mask.rows(5, 9).tolist() == [[[[True, False]]]]
    assert mask.of_sequence(0, slice(0, 1)).rows(5, 9).tolist() == [[[[True]]]]
