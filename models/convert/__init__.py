"""Weights of six families of transformers in the own Transformer.

```python
own = from_transformers(transformers.AutoModel.from_pretrained(folder))
```
"""

from models.convert.families import config_from_transformers, from_transformers

__all__ = ["config_from_transformers", "from_transformers"]
