"""Numbers that are told of a mixer's map, held to plain loops; a row that has a single key is never told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inspector import mixers
from inspector.text import named
from inspector.wording.english import mixers as words
from tests.closeness import assert_close
from tests.inspector.probe.hybrids import loaded_family, recorded


@pytest.mark.parametrize("name", ["rwkv", "mamba2", "qwen3_next", "yoso"])
def test_a_query_that_reads_itself_alone_is_not_told(name: str, tmp_path: Path) -> None:
    loaded = loaded_family(name, tmp_path)
    for tokens in (2, 9, 70):
        trace = recorded(loaded, tokens)
        record = trace.mixers[0]
        for head in (0, 1):
            read, weights = (
                mixers.read(record, head),
                record.of_head(head).window(queries=slice(0, tokens), keys=slice(0, tokens))[0],
            )
            cells = [
                (abs(weights[query, key]), query, key)
                for query, key in np.ndindex(tokens, tokens)
                if name == "yoso" or (query > 0 and key <= query)
            ]
            largest, query, key = max(cells, key=lambda cell: cell[0])
            assert_close(abs(read.weight), largest, relative=1e-9)
            assert (read.query, read.key) == (query, key)
            assert_close(read.size, np.abs(weights).max(), relative=1e-9)
            told = words.head(read, query=named(record.site.queries, query), key=named(record.site.queries, key))
            assert ("beyond the first token" in told) == (read.size > largest)


def test_a_text_of_one_token_has_no_choice(tmp_path: Path) -> None:
    record = recorded(loaded_family("rwkv", tmp_path), 1).mixers[0]
    read = mixers.read(record, 0)
    told = words.head(read, query=named(record.site.queries, 0), key=named(record.site.queries, 0))
    assert told == "Layer 0 (WKV), channel 0 has no choice: the whole text is `t0`."
