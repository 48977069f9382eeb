"""Writers: who wrote a score and who wrote a prediction, as exact sums with the scales of this text held.

```python
loaded = models.load("mini-gpt")
trace = inspector.record(loaded, "one two three one two")
score = of_score(trace, loaded, layer=1, head=0, query=4, key=2)
score.pairs()  # (writer of the query's side) x (writer of the key's side), the largest first
of_logit(trace, loaded, position=4, token="three").by_part()  # what each layer's attention and FFN add to a logit
```
"""

from inspector.writers.logit import LogitWriters, of_logit
from inspector.writers.residual import Inside, Writer, Written, look_inside, written
from inspector.writers.score import ScoreWriters, of_score, side

__all__ = [
    "Inside",
    "LogitWriters",
    "ScoreWriters",
    "Writer",
    "Written",
    "look_inside",
    "of_logit",
    "of_score",
    "side",
    "written",
]
