"""The tasks, a file each: what is asked, hints, the computation in stages, and the mistakes that are known.

```python
from inspector.practice.tasks import softmax

softmax.TASK.compute(scores)  # the right weights
```

stages.py has what several tasks share, recordings.py the tensors of the project's own models.
"""
