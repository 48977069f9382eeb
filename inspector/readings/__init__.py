"""Readings: what a picture shows, found as numbers and put into words elsewhere (inspector/wording).

A file a page. Its functions take a Trace or its measures and return frozen records: what was found, and its numbers.

```python
import inspector, models
from inspector.readings import attention as read
from inspector.wording.english import attention as words

trace = inspector.record(models.load("minilm"), "The cat sat on the mat because it was tired.")
chosen = inspector.heads.with_choice(inspector.heads.measure(trace), trace)
found = read.head(chosen, trace, trace.sites[1], 7)
found.link  # Link(query="on", key="mat", weight=0.70, ...)
words.head(found)  # "Layer 1, head 7: `on` gives 70 % of its attention to `mat`, ..."
```
"""
