"""The record of a question: the question and the claim in two languages, the measure, and the parts to be judged.

```python
from inspector.questions.record.both import Both
from inspector.questions.record.checks import near
from inspector.questions.record.question import ClaimPart

variance = near("variance_by_width", 1, within=0.05)
ClaimPart(Both("The variance of q · k is d_k.", "q·k 的方差等于 d_k。"), (variance,))
```

both.py: a text in two languages. checks.py: relations that numbers must fulfil. picture.py: the figure's data.
subject.py: the reader's model and text. kinds.py: the kinds of models that a question can be asked of. papers.py: the
papers that are cited. measured.py: what is measured beside models. question.py: the record itself, which holds all of
these.
"""
