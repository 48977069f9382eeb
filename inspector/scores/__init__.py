"""Scores: what goes into the softmax of every head, what comes out of it, and how queries and keys are compared.

```python
trace = inspector.record(models.load("minilm"), "The cat sat on the mat.")
table = measure(trace)  # a row per head: Var(q . k) against d_k, entropy, saturation, ||J|| of the softmax
table.nlargest(3, "ratio")
```
"""

from inspector.scores.logits import LayerScores, Moments, layer_scores, measure
from inspector.scores.saturation import SATURATED, Rows, jacobian_norm

__all__ = ["SATURATED", "LayerScores", "Moments", "Rows", "jacobian_norm", "layer_scores", "measure"]
