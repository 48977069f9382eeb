"""A list of texts in one model: the measures of every head of each, and any of them opened again.

```python
many = inspector.record_many(loaded, ["The cat sat.", "The dog ran.", ("A question?", "Its answer.")])
many.table.groupby(["layer", "head"])["previous"].mean()  # a row per text, stream, layer and head
inspector.show(many[1])  # the 2nd text, recorded anew
```

What is kept of a text is its measures alone, so that memory does not grow with maps or traces.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from torch import nn

import models
from inspector import heads
from inspector.memory.cache import ByteBudgetCache
from inspector.memory.held import held_bytes
from inspector.probe import record
from inspector.trace import HALF, Trace
from inspector.trace.counting import counted
from models import LoadedModel, failures

Prompt = str | tuple[str, str]
"""A text; or two, which an encoder reads as a pair, and an encoder-decoder as source and target."""
OnText = Callable[[int, int], None]
"""A function that is told how many texts are done, of how many. An exception in it ends the work."""
KEPT_BYTES = 2**28
"""The most that opened traces may take together; the one opened longest ago leaves first."""
_UNCHANGED = 1e-4  # of a measure's largest number: what the same text may give another time, by rounding
_UNCHANGED_IN_HALF = 1e-2


@dataclass(frozen=True, eq=False, repr=False)
class Prompts:
    """Texts that were recorded in one model. texts: all of them, in the order in which they were given.

    table: a row per text, stream, layer and head: `text`, its number from 0, and the columns of `heads.measure`.
    failed: why a text could not be recorded, by its number; it has no rows. `many[3]` is the trace of text 3.
    """

    loaded: LoadedModel
    texts: tuple[Prompt, ...]
    table: pd.DataFrame
    failed: Mapping[int, str]
    _opened: ByteBudgetCache[Trace] = field(default_factory=lambda: ByteBudgetCache(KEPT_BYTES))

    def __repr__(self) -> str:
        recorded, every = len(self.texts) - len(self.failed), len(self.texts)
        failed = f", {len(self.failed)} failed (.failed says why)" if self.failed else ""
        counted = f"{recorded:,} of {every:,} texts in {self.loaded.card.id!r}"
        return f"<{counted}: {len(self.table):,} rows of heads{failed}>"

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, text: int) -> Trace:
        """Record a text again and return its trace, which is kept while it fits KEPT_BYTES; -1 is the last text.

        Raises IndexError for a text that there is not, and ValueError for one that failed, and where the model gives
        other measures now than in the table.
        """
        number = counted(text, "the text's number", count=len(self.texts))
        if not 0 <= number < len(self.texts):  # by which a loop over all of them ends
            raise IndexError(f"text {text} is out of range: there are texts 0 to {len(self.texts) - 1}")
        if number in self.failed:
            raise ValueError(f"text {number} could not be recorded: {self.failed[number]}")
        return self._opened.get(number, lambda: self._again(number), size=held_bytes)

    def _again(self, number: int) -> Trace:
        trace = _recorded(self.loaded, self.texts[number])
        now = heads.measure(trace)
        then = self.table[self.table["text"] == number][now.columns].reset_index(drop=True)
        most = _UNCHANGED_IN_HALF if trace.hidden.dtype in HALF else _UNCHANGED
        for name in now.select_dtypes("float"):
            a, b = now[name].to_numpy(), then[name].to_numpy()
            off = most * float(np.nanmax(np.abs(b), initial=1.0))
            if len(a) != len(b) or not np.allclose(a, b, rtol=0, atol=off, equal_nan=True):
                raise ValueError(
                    f"text {number} gives another {name} now than in the table: the model was changed since. Call "
                    "record_many again"
                )
        return trace


def record_many(
    loaded: LoadedModel | nn.Module,
    texts: Iterable[Prompt],
    *,
    tokenizer: Any = None,
    on_progress: OnText | None = None,
) -> Prompts:
    """Record every text by itself, measure its heads, and keep the measures; see Prompts.

    loaded, tokenizer: as in `inspector.record`. texts: strings, or pairs of strings (text and second text, or source
    and target). on_progress: see OnText. A text that cannot be recorded ends nothing: it is named in `failed`. Raises
    ValueError for what is no list of texts, and where none of them can be recorded.
    """
    loaded = models.of(loaded, tokenizer=tokenizer)
    if isinstance(texts, str | bytes | Mapping | pd.DataFrame) or not isinstance(texts, Iterable):
        raise ValueError(f"texts is {type(texts).__name__}: give a list of strings, or of pairs of strings")
    prompts = tuple(texts)
    if not prompts:
        raise ValueError("texts is empty: give a string at least")
    tables: list[pd.DataFrame] = []
    failed: dict[int, str] = {}
    for number, prompt in enumerate(prompts):
        try:
            with failures.told(f"Reading text {number}", instead="Shorten it, or leave it out."):
                measured = heads.measure(_recorded(loaded, prompt))
        except ValueError as error:
            logging.getLogger(__name__).info("text %d was not recorded: %s", number, error)
            failed[number] = str(error)
        else:
            measured.insert(0, "text", number)
            tables.append(measured)
        if on_progress is not None:
            on_progress(number + 1, len(prompts))
    if not tables:
        raise ValueError(f"none of {len(prompts)} texts could be recorded; text 0: {failed[0]}")
    return Prompts(loaded, prompts, pd.concat(tables, ignore_index=True), failed)


def _recorded(loaded: LoadedModel, prompt: Prompt) -> Trace:
    if not isinstance(prompt, tuple | list):
        return record(loaded, prompt)
    if len(prompt) != 2:
        raise ValueError(f"it is {len(prompt)} texts: give one string, or a pair of two")
    text, beside = prompt
    if loaded.shape == "encoder-decoder":
        return record(loaded, text, target=beside)
    return record(loaded, text, text_pair=beside)
