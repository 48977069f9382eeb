"""Sentences in English: a file a page, functions that take numbers and give a sentence; and the glossary.

```python
from inspector.wording.english import terms

terms.MEANINGS["head"]  # two plain sentences
```
"""
