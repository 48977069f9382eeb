"""Readings: what a picture shows, found as numbers and put into words elsewhere (inspector/wording).

A file a page. Its functions take a Trace or its measures and return frozen records: what was found, and its numbers.

```python
import inspector, models
from inspector.readings import attention
from inspector.wording import english

trace = inspector.record(models.load("minilm"), "The cat sat on the mat because it was tired.")
found = attention.grid(inspector.heads.measure(trace), stream="encoder")
found.counts  # {"[SEP]": 21, ...}: how many heads do what
english.attention.grid(found)  # a sentence
```
"""
