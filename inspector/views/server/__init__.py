"""The process that serves the page, below all that is drawn.

gate.py says who comes in, assets.py serves Streamlit's own files; queue.py and turns.py let heavy work begin in turn,
process_settings.py sets torch's threads and what becomes of freed memory.

```python
st.App("page.py", middleware=[Middleware(gate.Gate, rules=gate.Rules.from_environment()), Middleware(assets.Assets)])
```
"""
