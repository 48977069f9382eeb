"""An encoder made to write: a mask token is put behind the text and guessed, again and again (Wang & Cho 2019).

It is no language model: it was never trained to say what comes next, and every guess reads the whole text anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from models import LoadedModel
from models.tokenizers import token_names


@dataclass(frozen=True)
class FilledText:
    """A text that was written mask by mask.

    text: what was written; tokens, ids: token by token, each of which took a forward of the whole text.
    """

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]


@torch.inference_mode()
def write(loaded: LoadedModel, text: str, *, new_tokens: int = 12) -> FilledText:
    """Write behind a text: the mask token, then the end token; the likeliest token takes the mask's place.

    Raises ValueError for a model that guesses no hidden tokens, and a text that leaves no room.
    """
    if loaded.predict is None or not loaded.fills_masks:
        raise ValueError(f"{loaded.card.id} guesses no hidden tokens; choose a masked language model, as mini-bert")
    encoding = loaded.encode(text)
    begun, end = list(encoding.without_end().ids), list(encoding.ids[len(encoding.without_end()) :])
    room = loaded.max_tokens - len(begun) - len(end)
    if not 1 <= new_tokens <= room:
        raise ValueError(f"new_tokens is {new_tokens}; behind this text the model has room for 1 to {max(room, 0)}")
    written: list[int] = []
    for _ in range(new_tokens):
        ids = torch.tensor([[*begun, *written, loaded.tokenizer.mask_token_id, *end]])
        states = loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))
        logits = loaded.predict(states[:, [len(begun) + len(written)]])[0, 0]
        logits[torch.tensor(loaded.tokenizer.all_special_ids)] = -torch.inf  # a text holds none
        written.append(int(logits.argmax()))
    sentence: str = loaded.tokenizer.decode(written, skip_special_tokens=True)
    return FilledText(sentence, token_names(loaded.tokenizer, written), tuple(written))
