"""Writing token by token: the candidates of each step, what attention looked at, and beams as a tree.

```python
written = write(models.load("translator"), "I love cats.")
```
"""

from inspector.generating.writing import WrittenText, WrittenToken, prompt, write
from models.decoding import Decoding

__all__ = ["Decoding", "WrittenText", "WrittenToken", "prompt", "write"]
