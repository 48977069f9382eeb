"""The figures of the page Scores: heads, score functions, the scale in theory, gradients, tokens left out.

```python
from inspector.plots.scores import heads

heads.quantiles(inspector.scores.distribution(trace, layer=3, head=7))  # plotly Figure
```
"""
