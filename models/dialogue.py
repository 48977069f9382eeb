"""A dialogue as a model reads it: a question in the chat template of its tokenizer, and who speaks at which tokens.

```python
asked = templated(loaded.tokenizer, "What is the capital of France?")  # "<|im_start|>system\\nYou are ..."
turns(loaded.tokenizer, loaded.encode(asked).ids)  # (Turn("system", 0, 23), Turn("user", 24, 34), ...)
```

The template has no marks of what the model writes itself, so turns are found by the ids of the two tokens around each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from models.tokenizers import token_id

OPENS, CLOSES = "<|im_start|>", "<|im_end|>"
_ROLE = 24  # letters of a role: whoever writes the marks into a text may write anything behind them


@dataclass(frozen=True)
class Turn:
    """A turn of a dialogue: whose it is, and its tokens from `start` to before `stop`, its marks among them.

    closed: False for the last turn where the model goes on with it.
    """

    role: str
    start: int
    stop: int
    closed: bool = True


def has_template(tokenizer: Any) -> bool:
    """Return True if a tokenizer brings a chat template, and has its two marks as tokens."""
    marks = (token_id(tokenizer, mark) for mark in (OPENS, CLOSES))
    return bool(getattr(tokenizer, "chat_template", None)) and None not in marks


def templated(tokenizer: Any, question: str) -> str:
    """Write a question as a dialogue, up to the place where the model answers."""
    asked = [{"role": "user", "content": question}]
    text: str = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    return text


def turns(tokenizer: Any, ids: Sequence[int]) -> tuple[Turn, ...]:
    """Find the turns of a dialogue by the ids of its marks; none where the tokenizer has no such marks."""
    opens, closes = (token_id(tokenizer, mark) for mark in (OPENS, CLOSES))
    if opens is None or closes is None:
        return ()
    starts = [place for place, id in enumerate(ids) if id == opens]
    spoken = []
    for start, following in pairwise([*starts, len(ids)]):
        end = next((place for place in range(start, following) if ids[place] == closes), None)
        role, _, _ = tokenizer.decode(list(ids[start + 1 : end or following])).partition("\n")
        spoken.append(Turn(role[:_ROLE], start, following if end is None else end + 1, closed=end is not None))
    return tuple(spoken)
