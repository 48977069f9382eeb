"""Writing token by token: the candidates of each step, what attention looked at, and beams as a tree.

```python
written = write(models.load("translator"), "I love cats.")
```
"""

from inspector.generating.writing import Step, Written, prompt, write
from models.decoding import Decoding

__all__ = ["Decoding", "Step", "Written", "prompt", "write"]
