"""Atlas: every head over a corpus of texts, exactly, in memory that does not grow with the corpus.

```python
import inspector

atlas = inspector.atlas.build("minilm", "sentences.txt", out="my-atlas", workers=2)
atlas.table()  # DataFrame: a row per head, the mean of every measure over all texts
atlas = inspector.atlas.open("my-atlas")  # later
```

A corpus is cut into blocks of texts (`planning`); each block is measured on its own (`block`, `measuring`), on
processes or on any executor (`running`, `ray_cluster`), and all blocks are added up in their order (`merging`). The
room `reading` only reads an opened atlas, one head's numbers and texts.
"""

from inspector.atlas.building import build
from inspector.atlas.measures import MEASURES
from inspector.atlas.merging import gather
from inspector.atlas.opened import Atlas
from inspector.atlas.opened import open_atlas as open
from inspector.atlas.texts import Text, Tree

__all__ = ["MEASURES", "Atlas", "Text", "Tree", "build", "gather", "open"]
