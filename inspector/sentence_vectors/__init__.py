"""One vector for a sentence: the state of [CLS], or the mean of all states; and what the state of [CLS] is made of.

```python
import models
from inspector import sentence_vectors

loaded = models.load("minilm")
texts = ["The doctor told him to rest.", "His physician advised him to lie down.", "It rained.", "The rain fell."]
found = sentence_vectors.read(loaded, texts)
found.cosines("mean")  # [4, 4]: sentence-transformers' own numbers
sentence_vectors.partner_ranks(found.cosines("cls"))  # how near each sentence's paraphrase is: 1, nearest of all
sentence_vectors.cls_attention(found.traces[0])  # DataFrame: what [CLS] takes, layer by layer
```
"""

from inspector.sentence_vectors.cls_token import NearestAverage, cls_attention, cls_parts, nearest_average
from inspector.sentence_vectors.vectors import POOLINGS, Pooling, SentenceVectors, partner_ranks, read, starts_with_cls

__all__ = [
    "POOLINGS",
    "NearestAverage",
    "Pooling",
    "SentenceVectors",
    "cls_attention",
    "cls_parts",
    "nearest_average",
    "partner_ranks",
    "read",
    "starts_with_cls",
]
