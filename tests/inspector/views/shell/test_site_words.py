"""The words about a head's place: shared kv heads, windows, rows of the grid."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from inspector.trace import AttentionSite
from inspector.views.shell import site_words
from models.attention.masks import WindowMask


def site(stream: str, *, kv_heads: int, window: int | None) -> AttentionSite:
    tokens = tuple("abcd")
    return AttentionSite(stream, 3, 8, tokens, tokens, kv_heads=kv_heads, window=window)


def test_kv_heads_and_windows_in_words() -> None:
    plain, grouped = site("encoder", kv_heads=8, window=None), site("decoder", kv_heads=2, window=None)
    assert site_words.cards(plain, 5) == []
    assert site_words.in_title(plain, 5) == ""
    assert site_words.notes([plain], [["other"] * 8]) == [["other"] * 8]
    assert site_words.sharing(grouped, 5) == "kv head 1 (of 0 and 1), shared by heads 4 to 7"
    of_four = site_words.sharing(site("decoder", kv_heads=4, window=None), 5)
    assert of_four == "kv head 2 (of 0 to 3), shared by heads 4 and 5"
    assert [card[:2] for card in site_words.cards(grouped, 5)] == [("KV head", "1 (of 0 and 1)")]
    alone = site("decoder", kv_heads=1, window=None)
    assert site_words.sharing(alone, 5) == "kv head 0 (the only one), shared by heads 0 to 7"


@pytest.mark.parametrize(("stream", "words"), [("encoder", "2 tokens to each side"), ("decoder", "the last 3 tokens")])
def test_a_window_is_said_as_the_mask_has_it(stream: str, words: str) -> None:
    """WindowMask(width=3): a query sees keys less than 3 tokens away."""
    seen = WindowMask(9, 3).rows(4, 5)[0, 0, 0]
    assert int(seen[5:].sum()) == 2
    assert int(seen[:5].sum()) == 3
    assert torch.equal(seen, torch.from_numpy(np.abs(np.arange(9) - 4) < 3))
    local = site(stream, kv_heads=8, window=3)
    assert site_words.reach(local).startswith(words)
    assert site_words.layer_names([local]) == ["layer 3 local"]
    assert site_words.in_title(local, 0) == ", local"
