"""Writing token by token: the candidates of each step, what attention looked at, and beams as a tree.

```python
written = write(models.load("translator"), "I love cats.")
```
"""

from inspector.generating.writing import Decoding, Step, Written, prompt, write

__all__ = ["Decoding", "Step", "Written", "prompt", "write"]
