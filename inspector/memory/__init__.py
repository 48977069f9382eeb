"""Memory: caches with a budget of bytes, and how many bytes a value holds.

```python
maps = ByteBudgetCache(500_000_000)
value = maps.get("a key", lambda: numpy.zeros(10), size=held_bytes)
```
"""
