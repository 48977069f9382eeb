"""Figures of the page Atlas: one head over a corpus.

```python
from inspector.atlas.reading.distribution import distribution
from inspector.plots.atlas import distribution as draw

draw.histogram(distribution(atlas, "previous", place=24))  # plotly Figure
```
"""
