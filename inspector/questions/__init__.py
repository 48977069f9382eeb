"""Questions about the Transformer, settled by measuring: what people say, and what a model does on a text.

```python
import models
from inspector import questions

loaded = models.load("minilm")
answer = questions.ask(16, loaded, "The cat sat on the mat because it was tired.")
answer.verdict  # "conditions"
answer.numbers["variance_by_width"]
```

A theme of questions is a file of themes/; record/ defines a question; asking.py measures and judges; written.py
makes a table of answers, which `python -m inspector.questions` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import models
from inspector.questions import asking
from inspector.questions.asking import Answer, ask_all, find
from inspector.questions.record.subject import Subject
from inspector.questions.written import table

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Answer", "Subject", "ask", "ask_all", "find", "table"]


def ask(number: int, loaded: models.LoadedModel | nn.Module, text: str) -> Answer:
    """Ask one question of a model and a text; ValueError for a number that no question has."""
    return asking.ask(find(number), Subject(models.of(loaded), text))
