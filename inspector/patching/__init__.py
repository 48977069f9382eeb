"""Patches and cuts: the model run again with a part of another text in its place, or with a path cut.

```python
pair = patching.pair(loaded, "When Mary and John went to the store, John gave a drink to",
                     "When Mary and John went to the store, Mary gave a drink to", answer="Mary", against="John")
patching.patch_heads(pair).sort_values("effect")  # a row per head: how much of the answer comes back with it
```
"""

from inspector.patching.grids import Estimate, estimate, heads, patch_head_tokens, patch_heads, patch_parts
from inspector.patching.notation import parse, write
from inspector.patching.pair import Answer, Pair, pair
from inspector.patching.promises import ScoreChange, cut_heads, measure_cuts, promise, score_change
from inspector.patching.scissors import Cut, CutRun, EdgeCut, HeadCut, SpanCut, Uncut, cut, read
from inspector.patching.writes import Reader, read_by, written_by
from inspector.writers import Writer

__all__ = [
    "Answer",
    "Cut",
    "CutRun",
    "EdgeCut",
    "Estimate",
    "HeadCut",
    "Pair",
    "Reader",
    "ScoreChange",
    "SpanCut",
    "Uncut",
    "Writer",
    "cut",
    "cut_heads",
    "estimate",
    "heads",
    "measure_cuts",
    "pair",
    "parse",
    "patch_head_tokens",
    "patch_heads",
    "patch_parts",
    "promise",
    "read",
    "read_by",
    "score_change",
    "write",
    "written_by",
]
