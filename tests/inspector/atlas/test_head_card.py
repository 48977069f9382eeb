"""The parts of a head's card against the numbers of all texts: distribution, relations, examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import models
from inspector import atlas
from inspector.atlas import block
from inspector.atlas.measures import NAMES
from inspector.atlas.reading import head_examples
from inspector.atlas.reading.distribution import distribution
from inspector.atlas.reading.head_relations import better_than_offsets
from inspector.atlas.relations import OFFSETS
from tests.closeness import assert_close

SENTENCES = Path(__file__).parent / "sentences.conllu"


@pytest.fixture(scope="session")
def treebank(minilm: models.LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> atlas.Atlas:
    made = atlas.build(minilm, SENTENCES, out=tmp_path_factory.mktemp("atlas") / "treebank")
    assert made is not None
    return made


def values(made: atlas.Atlas, name: str, place: int) -> np.ndarray:
    """A head's measure on every text."""
    folders = sorted((made.folder.parent / block.BLOCKS).iterdir())
    columns = [np.stack(pq.read_table(folder / block.NUMBERS)[name].to_pylist()) for folder in folders]
    return np.concatenate(columns)[:, place]


def test_a_distribution_holds_what_the_texts_hold(small: atlas.Atlas) -> None:
    for name in ("previous", "sep", "entropy", "distance", "induction"):
        every = values(small, name, 7)
        known = every[~np.isnan(every)].astype(np.float64)
        found = distribution(small, name, 7)
        assert found.texts == found.counts.sum() == len(known)
        assert (found.smallest, found.largest) == (known.min(), known.max())
        assert_close(found.mean, known.mean(), relative=1e-12)


def test_a_quantile_is_exact_to_its_bin(small: atlas.Atlas) -> None:
    for name in ("previous", "sep", "entropy"):
        known = np.sort(values(small, name, 7))
        found = distribution(small, name, 7)
        edges = found.measure.edges
        for share in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0):
            exact = known[min(int(share * len(known)), len(known) - 1)]
            bin = int(np.searchsorted(edges, exact, side="right")) - 1
            # Between two bins every value between their texts is a quantile.
            assert edges[max(bin - 1, 0)] - 1e-9 <= found.quantile(share) <= edges[bin + 1] + 1e-9
        assert (found.quantile(0.0), found.quantile(1.0)) == (found.smallest, found.largest)


def test_a_measure_without_a_text_has_no_numbers(small: atlas.Atlas) -> None:
    found = distribution(small, "to_unknown", 0)
    assert found.texts == 0
    assert np.isnan([found.mean, found.smallest, found.largest, *found.middle_half, found.correlation]).all()


def test_a_measure_that_is_none_is_refused(small: atlas.Atlas) -> None:
    with pytest.raises(ValueError, match="there is no measure 'love'"):
        distribution(small, "love", 0)


def test_relations_are_chosen_on_one_half_and_scored_on_the_other(treebank: atlas.Atlas) -> None:
    counts = treebank.relations
    assert counts is not None
    seen = 0
    for place in range(72):
        rows = better_than_offsets(treebank, place, minimum=8)
        for row in rows.itertuples():
            own = counts.relations.index(row.relation), ("governor", "dependent").index(row.direction)
            at = OFFSETS.index(row.baseline_offset)
            assert counts.hits[(*own, 0, place)] > counts.offset_hits[(*own, 0, at)]
            assert row.correct == counts.hits[(*own, 1, place)]
            assert row.gain == pytest.approx((row.correct - counts.offset_hits[(*own, 1, at)]) / row.total)
            assert row.clear == (row.low > row.baseline_high)
        assert rows["gain"].is_monotonic_decreasing
        seen += len(rows)
    assert seen


def test_a_corpus_without_trees_has_no_relations(small: atlas.Atlas) -> None:
    assert better_than_offsets(small, 0).empty


def test_examples_are_the_strongest_texts_and_one_of_each_tenth(small: atlas.Atlas) -> None:
    every = np.sort(values(small, "previous", 26))
    strongest = head_examples.strongest(small, "previous", 26)
    assert [one.value for one in strongest] == [float(value) for value in every[::-1][: len(strongest)]]
    usual = [one.value for one in head_examples.by_decile(small, "previous", 26)]
    assert usual == [float(every[(2 * tenth + 1) * len(every) // 20]) for tenth in range(10)]


def test_a_small_sample_is_given_whole(treebank: atlas.Atlas) -> None:
    place = 26
    texts = int(treebank.statistics.count[NAMES.index("duplicate"), place])
    assert 0 < texts < 10
    assert len(head_examples.by_decile(treebank, "duplicate", place)) == texts


def test_a_measure_whose_texts_are_not_kept_has_no_examples(small: atlas.Atlas) -> None:
    assert head_examples.strongest(small, "offset_+5", 26) == head_examples.by_decile(small, "offset_+5", 26) == ()


def test_the_characters_of_a_pair_are_those_of_its_tokens(small: atlas.Atlas, minilm: models.LoadedModel) -> None:
    for pair in head_examples.pairs(small, 26, head_examples.spans_in(minilm)):
        encoding = minilm.encode(pair.text.text)
        assert (pair.query_in, pair.key_in) == ("text", "text")
        for place, span in ((pair.query, pair.query_span), (pair.key, pair.key_span)):
            assert span is not None
            token = encoding.tokens[place].removeprefix("##")
            assert pair.text.text[slice(*span)].lower() == token
    assert all(pair.query_span is None for pair in head_examples.pairs(small, 26))
