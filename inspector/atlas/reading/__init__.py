"""Reading an opened atlas: one head's distributions, relations and texts, heads like it, and what a reader asks for.

```python
import inspector
from inspector.atlas import library
from inspector.atlas.reading import distribution, head_relations

atlas = inspector.atlas.open(library.SHIPPED / "minilm")
place = atlas.place(layer=2, head=0, stream="encoder")
distribution.distribution(atlas, "previous", place).mean  # over all texts
head_relations.better_than_offsets(atlas, place)  # DataFrame: a row per relation
```
"""
