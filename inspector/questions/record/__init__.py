"""The record of a question: what is asked and said, in two languages, what is measured, and what follows from it.

```python
from inspector.questions.record.both import Both
from inspector.questions.record.checks import near
from inspector.questions.record.question import Part

Part(Both("The variance of q · k is d_k.", "q·k 的方差等于 d_k。"), (near("variance_by_width", 1, within=0.05),))
```

both.py: a text in two languages. checks.py: what must hold of numbers. picture.py: the figure's data. subject.py: the
reader's model and text. kinds.py: which models a question can be asked of. papers.py: what is cited. question.py: all
of it together.
"""
