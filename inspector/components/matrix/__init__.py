"""A matrix of any kind, or two side by side, as a heatmap: legible labels, numbers on hover, pins, keyboard.

```python
panel = Panel(values, rows=("norm 0", "norm 1"), columns=trace.tokens)
message = MatrixMessage((panel,), row_title="norm", column_title="token", quantity="variance")
message.to_bytes()  # draw(root, bytes, emit) of index.js reads it
```
"""

from inspector.components.matrix.message import MatrixMessage, Numbered, Panel

__all__ = ["MatrixMessage", "Numbered", "Panel"]
