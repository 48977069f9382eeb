"""An atlas as it is read: heads, distributions, examples, relations, from the small files of a merged atlas.

Every file is a stranger's: known columns, sizes and hashes are held before anything is believed.

```python
atlas = inspector.atlas.open("my-atlas")
atlas.table()  # DataFrame: a row per head, the mean of every measure over all texts
```
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from inspector.atlas import block, measures, merging, planning, relation_scores, storage
from inspector.atlas import manifest as manifests
from inspector.atlas.manifest import Manifest
from inspector.atlas.measures import FARTHEST, NAMES
from inspector.atlas.merging import ABOUT, MERGED, SAMPLE, TextCounts
from inspector.atlas.relations import RelationCounts
from inspector.atlas.statistics import EXAMPLE, PAIR, STATISTICS, WITH_EXAMPLES, Statistics
from inspector.atlas.storage import Place
from inspector.atlas.tables import read_table
from inspector.atlas.texts import Text

CREDITS = "ATTRIBUTION.txt"
_MOST_ABOUT = 16 * 2**20  # bytes of an atlas.json


@dataclass(frozen=True, eq=False)
class Atlas:
    """Every head of a model over a corpus. heads: N, in the order of `heads`; measures: as in `MEASURES`.

    counted: the texts. mixed: other processors and versions that measured some blocks, so that numbers are equal to
    1e-5 only. folder: of the merged files. aside: texts that could not be measured, by their ids, with the reason.
    """

    folder: Place
    manifest: Manifest
    counted: TextCounts
    mixed: tuple[str, ...]
    hashes: dict[str, str]
    aside: dict[int, str] = field(default_factory=dict)

    @cached_property
    def heads(self) -> pd.DataFrame:
        """A row per head: stream, layer, call, head."""
        return self.manifest.heads

    @cached_property
    def statistics(self) -> Statistics:
        """Sums over all texts, [M, N]."""
        return Statistics.from_table(self._table(block.STATISTICS, STATISTICS), heads=len(self.heads))

    @cached_property
    def relations(self) -> RelationCounts | None:
        """Relations of a treebank; None without one."""
        if not self.manifest.trees:
            return None
        return RelationCounts.from_table(self._table(block.RELATIONS, RelationCounts.SCHEMA), heads=len(self.heads))

    @cached_property
    def scores(self) -> pd.DataFrame | None:
        """The scores of every head on every relation, see `relation_scores.scores`; None without a treebank."""
        return None if self.relations is None else relation_scores.scores(self.relations, self.heads)

    def table(self) -> pd.DataFrame:
        """A row per head: its place, and the mean of every measure over all texts that have it."""
        means = pd.DataFrame(self.statistics.mean.T, columns=list(NAMES))
        return pd.concat([self.heads, means], axis=1)

    def place(self, *, layer: int, head: int, stream: str, call: int = 0) -> int:
        """Find a head's row; ValueError where the atlas has none."""
        row = self._rows.get((stream, layer, call, head))
        if row is None:
            raise ValueError(f"the atlas of {self.manifest.model} has no head {head} in {stream[:60]!a} layer {layer}")
        return row

    @cached_property
    def _rows(self) -> dict[tuple[str, int, int, int], int]:
        """The row of each head, by its place."""
        places = self.heads[["stream", "layer", "call", "head"]].itertuples(index=False, name=None)
        return {place: row for row, place in enumerate(places)}

    def offsets(self, place: int) -> NDArray[np.float64]:
        """The mean weight on the key at each offset from -16 to 16, [33], of a head."""
        names = [measures.offset_name(offset) for offset in range(-FARTHEST, FARTHEST + 1)]
        offsets: NDArray[np.float64] = self.statistics.mean[[NAMES.index(name) for name in names], place]
        return offsets

    def examples(self, measure: str, place: int) -> pd.DataFrame:
        """The texts in which a head's measure is largest: text (id), value; strongest first."""
        table = self._examples
        chosen = table[(table["measure"] == measure) & (table["head"] == place)]
        return chosen[["text", "value"]].reset_index(drop=True)

    def pairs(self, place: int) -> pd.DataFrame:
        """The strongest weights of a head, one a text: text (id), query, key (tokens' places), weight."""
        return self._pairs[self._pairs["head"] == place].drop(columns="head").reset_index(drop=True)

    def sample(self, measure: str, place: int) -> pd.DataFrame:
        """Texts drawn from all, with a head's measure in each: text (id), tokens, value; smallest value first."""
        rows = {"text": self._sample["text"].to_numpy(), "tokens": self.sample_tokens}
        frame = pd.DataFrame({**rows, "value": self.sample_values(measure, place)})
        return frame.dropna().sort_values(["value", "text"], ignore_index=True)

    @property
    def sample_tokens(self) -> NDArray[np.int64]:
        """The number of tokens of each text of the sample, [texts]."""
        tokens: NDArray[np.int64] = self._sample["tokens"].to_numpy()
        return tokens

    def sample_values(self, measure: str, place: int) -> NDArray[np.float64]:
        """A head's measure in each text of the sample, [texts]; NaN where a text has none."""
        values = self._sample[measure].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        by_text: NDArray[np.float32] = values.reshape(self._sample.num_rows, len(self.heads))
        return by_text[:, place].astype(np.float64)

    @cached_property
    def texts(self) -> dict[int, Text]:
        """The texts of all examples, by their ids."""
        schema = pa.schema([planning.SCHEMA.field(name) for name in ("id", "text", "target")])
        rows = self._table(f"{planning.TEXTS}.parquet", schema).to_pylist()
        return {row["id"]: Text(row["text"], row["target"]) for row in rows}

    @cached_property
    def credits(self) -> dict[Text, str]:
        """The authors of the texts of all examples, from a file beside the atlas: an id, a tab and the credit a line.

        Empty where there is no such file: then the manifest's attribution is of all texts.
        """
        path = self.folder / CREDITS
        if not path.is_file() or storage.state(path)[0] > _MOST_ABOUT:
            return {}
        content = storage.read(path, most=_MOST_ABOUT).decode("utf-8", errors="replace")
        lines = (line.partition("\t") for line in content.splitlines())
        credits = {int(id): credit for id, _, credit in lines if id.isdecimal()}
        return {text: credits[id] for id, text in self.texts.items() if id in credits}

    @cached_property
    def _examples(self) -> pd.DataFrame:
        return self._table(block.EXAMPLES, EXAMPLE).to_pandas()

    @cached_property
    def _pairs(self) -> pd.DataFrame:
        return self._table(block.PAIRS, PAIR).to_pandas()

    @cached_property
    def _sample(self) -> pa.Table:
        return self._table(SAMPLE, merging.sample_schema(len(self.heads)))

    def _table(self, name: str, schema: pa.Schema) -> pa.Table:
        if name not in self.hashes:
            raise ValueError(f"{self.folder / name} is missing from {ABOUT}")
        return read_table(self.folder / name, schema, sha256=self.hashes[name])


def open_atlas(folder: str | os.PathLike[str]) -> Atlas:
    """Open a folder that `build` made, or its merged part alone.

    Raises ValueError where it holds no merged atlas, or one that is damaged.
    """
    given = storage.place(folder)
    atlas_folder = given / MERGED if (given / MERGED).is_dir() else given
    path = atlas_folder / ABOUT
    if not path.is_file():
        begun = (given / manifests.NAME).is_file()
        way_out = "is not merged yet: build it to its end" if begun else f"holds no atlas: it has no {ABOUT}"
        raise ValueError(f"{folder} {way_out}")
    content = storage.read(path, most=_MOST_ABOUT)
    try:
        return _parsed(atlas_folder, json.loads(content))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is damaged ({error})") from error


def _parsed(folder: Place, fields: Any) -> Atlas:
    if not isinstance(fields, dict) or not merging.is_aside(aside := fields.pop(block.ASIDE, {})):
        raise ValueError("fields are missing or unknown")
    if fields.keys() != {"manifest", "counted", "mixed", "files"}:
        raise ValueError("fields are missing or unknown")
    manifest = manifests.parse(fields["manifest"])
    if manifest.measures != NAMES:
        raise ValueError("it was made by a Headlight with other measures")
    counted = TextCounts(**{name: int(fields["counted"][name]) for name in ("read", "unread", "cut", "tokens")})
    hashes = {str(name): str(value) for name, value in fields["files"].items() if "/" not in name and "\\" not in name}
    of_ids = {int(id): reason for id, reason in aside.items()}
    return Atlas(folder, manifest, counted, tuple(map(str, fields["mixed"])), hashes, of_ids)


__all__ = ["WITH_EXAMPLES", "Atlas", "open_atlas"]
