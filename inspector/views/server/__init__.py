"""The process that serves the page, below all that is drawn.

start.py refuses bad settings; gate.py says who comes in, peer.py from where, frames.py with which messages; audience.py
says who reads; assets.py serves Streamlit's own files; queue.py and turns.py let long work go on in turn and behind
clicks, shared.py keeps what all visitors share, process_settings.py sets torch's threads and what becomes of freed
memory.

```python
st.App("page.py", middleware=[Middleware(gate.Gate, rules=gate.Rules.from_environment()), Middleware(assets.Assets)])
```
"""
