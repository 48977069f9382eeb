"""Practice: a part of a Transformer that a reader writes, held to the real layer; a mistake is named.

```python
from pathlib import Path
from inspector import practice

task = practice.find(3)  # the causal mask
verdict = practice.check(task, Path("mine.py"))
verdict.right, verdict.said
```

What is said is in the language that `inspector.wording.reader` is told: `with reader.spoken("zh"):` before the call.

A task is a record of tasks/, defined in record/. running.py runs the reader's file in a process of its own (child.py),
judging.py finds the mistake, and `python -m inspector.practice` prints what it found. solutions/ has the project's own
lines.
"""

from inspector.practice.index import TASKS, find
from inspector.practice.judging import Verdict, check

__all__ = ["TASKS", "Verdict", "check", "find"]
