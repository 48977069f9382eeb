"""The figures of the page Scores that are drawn by hand: one head, score functions, gradients, tokens left out.

```python
from inspector.plots.scores import heads

heads.quantiles(inspector.scores.distribution(trace.record_of_head(3, 7, "encoder")))  # plotly Figure
```
"""
