from __future__ import annotations

import pytest
import torch

from models.masks import PaddingMask

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
