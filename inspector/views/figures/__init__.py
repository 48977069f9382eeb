"""Figures on a page: one way to show a chart, one way to show a matrix, and what a reader can take away of both.

```python
chart.show(partial(draw.by_layer, table, value=value), alt="FLOPs by layer", key="costs-by-layer")
matrix.show(matrix.Panel(map_, rows=tokens, columns=tokens), row_title="query", column_title="key", name="a", key="m")
```
"""
