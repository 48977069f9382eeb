"""The middleware between a browser and Streamlit: gate.py says who comes in, assets.py serves Streamlit's own files.

```python
st.App("page.py", middleware=[Middleware(gate.Gate, rules=gate.Rules.from_environment()), Middleware(assets.Assets)])
```
"""
