"""Sentences in Chinese: of the page Questions, which is in two languages; the same names as in English.

```python
from inspector.wording.chinese.questions import page

page.heading(16, "q·k 的方差等于 d_k 吗？")
```
"""
