"""Long texts: sparse masks, their cells and costs, and what each way to read a long text loses against full attention.

```python
import inspector, models
from inspector.long_texts import Longformer, compare, ways_for

loaded = models.load("mini-bert")
Longformer(side=16, globals=1).cells(512)  # cells that the rule shows, of 512 x 512
compare(loaded, inspector.record(loaded, "A long text. " * 30), budget=32).table  # DataFrame, a row per way
```
"""

from inspector.long_texts.costs import growth, layer_flops, pays_off, saving
from inspector.long_texts.pages import PAGES, BookPage, Page
from inspector.long_texts.patterns import (
    BigBird,
    Causal,
    Chunks,
    Dilated,
    Full,
    Longformer,
    Pattern,
    RandomBlocks,
    Window,
    reasons,
    seen,
)
from inspector.long_texts.reach import layers_between, layers_to_reach
from inspector.long_texts.reading import MOST, PaddingCost, ReadingComparison, compare, padded
from inspector.long_texts.ways import NAMES, Name, Piece, ReadingWay, ways_for

__all__ = [
    "MOST",
    "NAMES",
    "PAGES",
    "BigBird",
    "BookPage",
    "Causal",
    "Chunks",
    "Dilated",
    "Full",
    "Longformer",
    "Name",
    "PaddingCost",
    "Page",
    "Pattern",
    "Piece",
    "RandomBlocks",
    "ReadingComparison",
    "ReadingWay",
    "Window",
    "compare",
    "growth",
    "layer_flops",
    "layers_between",
    "layers_to_reach",
    "padded",
    "pays_off",
    "reasons",
    "saving",
    "seen",
    "ways_for",
]
