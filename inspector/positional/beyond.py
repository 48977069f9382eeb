"""A text twice as long as a model's longest, read at once and in windows that fit: what positions beyond it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from transformers import PreTrainedConfig

if TYPE_CHECKING:
    from models import LoadedModel

PASSAGE = (  # after Lewis Carroll, Alice's Adventures in Wonderland, 1865: in the public domain
    "Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: once or "
    "twice she had peeped into the book her sister was reading, but it had no pictures or conversations in it, and "
    "what is the use of a book, thought Alice, without pictures or conversations? So she was considering in her own "
    "mind, as well as she could, for the hot day made her feel very sleepy and stupid, whether the pleasure of making "
    "a daisy chain would be worth the trouble of getting up and picking the daisies, when suddenly a White Rabbit "
    "with pink eyes ran close by her. There was nothing so very remarkable in that; nor did Alice think it so very "
    "much out of the way to hear the Rabbit say to itself, Oh dear! Oh dear! I shall be late! When she thought it "
    "over afterwards, it occurred to her that she ought to have wondered at this, but at the time it all seemed quite "
    "natural. But when the Rabbit actually took a watch out of its waistcoat pocket, and looked at it, and then "
    "hurried on, Alice started to her feet, for it flashed across her mind that she had never before seen a rabbit "
    "with either a waistcoat pocket or a watch to take out of it, and burning with curiosity, she ran across the "
    "field after it, and fortunately was just in time to see it pop down a large rabbit hole under the hedge. In "
    "another moment down went Alice after it, never once considering how in the world she was to get out again. The "
    "rabbit hole went straight on like a tunnel for some way, and then dipped suddenly down, so suddenly that Alice "
    "had not a moment to think about stopping herself before she found herself falling down a very deep well. Either "
    "the well was very deep, or she fell very slowly, for she had plenty of time as she went down to look about her "
    "and to wonder what was going to happen next. First, she tried to look down and make out what she was coming to, "
    "but it was too dark to see anything; then she looked at the sides of the well, and noticed that they were filled "
    "with cupboards and book shelves; here and there she saw maps and pictures hung upon pegs."
)
"""A text for a model that writes, long enough for twice 256 tokens of mini-gpt."""


def longer(loaded: LoadedModel, text: str = PASSAGE, *, bins: int = 8) -> pd.DataFrame:
    """Measure the surprise of a text's tokens beyond a decoder's longest text L, a row per L / `bins` tokens.

    The first 2 L tokens of the text, or as many as it has, are read twice: at once, at positions 0 to 2 L - 1, and
    in windows of L tokens at positions 0 to L - 1, each half a window on, so that every token behind the first L / 2
    has at least L / 2 before it. Columns: position (the first of the row), tokens; at_once and in_windows: -log2 p of
    the true token in bits, mean over the row's tokens. Raises ValueError for a model that is no decoder with a head,
    that has no positions beyond L, or where the text has no more than L tokens.
    """
    longest = loaded.max_tokens
    if loaded.shape != "decoder" or loaded.predict is None:
        raise ValueError(f"{loaded.card.id} does not predict the next token")
    if isinstance(loaded.config, PreTrainedConfig) or loaded.config.positions in ("learned", "sinusoidal"):
        raise ValueError(f"{loaded.card.id} cannot be run beyond its longest text here")
    ids = torch.tensor([loaded.tokenizer(text, truncation=False, verbose=False)["input_ids"][: 2 * longest]])
    count = ids.shape[1]
    if count <= longest:
        raise ValueError(f"the text has {count:,} tokens, and this model reads {longest:,} at once")
    whole = _surprise(loaded, ids)
    windows = whole.new_full((count,), torch.nan)
    step = longest // 2
    for start in range(0, count - step, step):
        part = _surprise(loaded, ids[:, start : start + longest])
        fresh = 0 if start == 0 else step
        windows[start + fresh : start + len(part)] = part[fresh:]
    size = max(longest // bins, 1)
    rows = []
    for start in range(0, count, size):
        place = slice(max(start, 1), start + size)  # the first token is predicted by none
        rows.append((start, len(whole[place]), float(whole[place].mean()), float(windows[place].mean())))
    return pd.DataFrame(rows, columns=["position", "tokens", "at_once", "in_windows"])


def _surprise(loaded: LoadedModel, ids: Tensor) -> Tensor:
    """ids [1, T] -> -log2 p of each token by those before it, float64 [T]; NaN for the first."""
    assert loaded.predict is not None
    with torch.inference_mode():
        hidden = loaded.runner.read(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
        log = loaded.predict(hidden)[0, :-1].double().log_softmax(dim=-1)
    told = -log.gather(1, ids[0, 1:, None])[:, 0] / np.log(2)
    return torch.cat([told.new_full((1,), torch.nan), told])
