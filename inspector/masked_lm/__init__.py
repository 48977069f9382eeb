"""BERT's masking: the 80/10/10 rule on a text, its shares over many draws, and what a model guesses at each rate.

```python
import models
from inspector import masked_lm, record

loaded = models.load("mini-bert")
trace = record(loaded, "He shook his head and said that he did not know.")
masked_lm.draw(loaded, trace, rate=0.15, seed=0).chosen  # the tokens to be predicted, each with its fate and its guess
masked_lm.shares(loaded, trace.encoding, rate=0.15, seed=0)  # of 100,000 tokens: 12.0, 1.5 and 1.5 %, as counted
masked_lm.by_rate(loaded, trace.encoding)  # DataFrame: accuracy and loss from 5 to 50 %
```

The masking is `models.training.objectives.hide`, which trained mini-bert. `trained_rate` tells at which rate a model
was trained, where that is known, and `write` has an encoder write with mask tokens.
"""

from inspector.masked_lm.drawing import (
    DRAWS,
    FATES,
    ChosenToken,
    Fate,
    MaskingDraw,
    choosable,
    draw,
    shares,
    trained_rate,
)
from inspector.masked_lm.rates import RATES, ROWS, by_rate, work
from inspector.masked_lm.writing import FilledText, write

__all__ = [
    "DRAWS",
    "FATES",
    "RATES",
    "ROWS",
    "ChosenToken",
    "Fate",
    "FilledText",
    "MaskingDraw",
    "by_rate",
    "choosable",
    "draw",
    "shares",
    "trained_rate",
    "work",
    "write",
]
