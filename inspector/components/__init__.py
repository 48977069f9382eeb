"""The drawing in the browser, for any host: the Streamlit page, an HTML file, a notebook cell.

```python
from inspector.components import head, standalone
weights = trace.attention(layer=3, head=7)
message = head.HeadMessage(weights, queries=trace.tokens, keys=trace.tokens).to_bytes()
page = standalone.page("Layer 3, head 7", message)  # an HTML file that needs no network
```

A folder holds a component (`grid`, `head`, `matrix`, `pairs`, `snapshot`, `steps`, `written`): its index.js exports
`draw(root, bytes, emit)`, and the message.py beside index.js makes the bytes. `source` gives a component's JavaScript
and CSS to a host; `standalone` is the host of an HTML file, `widget` of a notebook.
"""
