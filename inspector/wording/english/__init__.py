"""Sentences in English: a file a page, functions from a record of inspector/readings to a sentence; and the glossary.

```python
from inspector.wording.english import terms

terms.MEANINGS["head"]  # two plain sentences
```
"""
