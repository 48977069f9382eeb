"""The ranks of paraphrases by a plain sort of the cosines, in an even and in an odd number of sentences."""

from __future__ import annotations

import numpy as np
import pytest

from inspector import sentence_vectors
from inspector.sections.tokens import vector as section
from models import LoadedModel

TEXTS = (
    "The doctor told him to rest.",
    "His physician advised him to lie down.",
    "It rained.",
    "The rain fell.",
    "No.",
)


@pytest.mark.parametrize("count", [4, 5, 1])
def test_a_paraphrase_has_the_rank_that_a_sort_gives_it(minilm: LoadedModel, count: int) -> None:
    found = sentence_vectors.read(minilm, TEXTS[:count])
    table, pooled = section.table(found), section.pooled(found)
    assert table["sentence"].tolist() == list(TEXTS[:count])
    assert pooled.sentences == count // 2 * 2
    for pooling in ("cls", "mean"):
        cosines = found.cosines(pooling)
        ranks = []
        for at in range(pooled.sentences):
            partner = at + 1 if at % 2 == 0 else at - 1
            order = sorted((other for other in range(count) if other != at), key=lambda one, row=cosines[at]: -row[one])
            ranks.append(float(order.index(partner) + 1))
        expected = [*ranks, *[np.nan] * (count - len(ranks))]
        np.testing.assert_array_equal(table[f"{pooling}_rank"], expected)
        told = getattr(pooled, pooling)
        assert (told is None) == (not ranks)
        assert not ranks or told.mean == pytest.approx(np.mean(ranks))
