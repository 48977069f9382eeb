"""Figures on a page: one way to show a chart, one way to show a matrix, and what a reader can take away of both.

```python
chart.show(partial(draw.by_layer, table, value=value), alt="FLOPs by layer", key="costs-by-layer")
matrix.show(weights, rows=queries, columns=keys, key="lab-a", alt="Attention of side A", name="lab-a")
```
"""
