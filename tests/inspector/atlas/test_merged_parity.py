"""Merged files of an atlas against plain numpy over the numbers of all texts, and over eager maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
import models
from inspector.atlas import Atlas, Text
from inspector.atlas.measures import find
from inspector.atlas.statistics import EXAMPLES, PAIRS, WITH_EXAMPLES
from inspector.probe.inputs import tokenize_inputs
from models import LoadedModel
from models.tokenizers import Encoding
from tests.closeness import assert_close
from tests.inspector.atlas import eager
from tests.inspector.atlas.test_measures_parity import TOLERANCE, Numbers, corpus, per_text


@dataclass(frozen=True)
class Built:
    """An atlas of a tiny model in blocks of 32 texts, the numbers of each text [B, N], and the network in eager."""

    loaded: LoadedModel
    network: Any
    attentions: list[eager.Attention]
    texts: list[Text]
    folder: Path
    atlas: Atlas
    numbers: Numbers


@pytest.fixture(scope="module", params=["BERT", pytest.param("T5", marks=pytest.mark.heavy)])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build of 150 texts, of which the last 30 are those in the middle once more, so that there are ties."""
    folder = tmp_path_factory.mktemp("model")
    tiny = eager.MODELS[request.param]
    network = eager.save(tiny, folder)
    loaded = models.load(folder)
    texts = corpus(loaded, count=120)
    texts += texts[60:90]
    atlas = inspector.atlas.build(loaded, texts, out=folder / "atlas", block_texts=32)
    assert atlas is not None
    return Built(loaded, network, tiny.attentions(network), texts, folder, atlas, per_text(folder / "atlas"))


def of_every_head(built: Built) -> list[tuple[int, str, int, np.ndarray]]:
    """Each measure and head: their places, and the numbers of all texts, [B]."""
    return [
        (place, name, head, built.numbers[name][:, head])
        for place, name in enumerate(measure.name for measure in inspector.atlas.MEASURES)
        for head in range(len(built.atlas.heads))
    ]


def test_counts_means_and_spreads(built: Built) -> None:
    own = built.atlas.statistics
    for place, _, head, numbers in of_every_head(built):
        known = numbers[~np.isnan(numbers)]
        assert own.count[place, head] == len(known)
        if len(known) == 0:
            assert np.isnan([own.mean[place, head], own.deviation[place, head]]).all()
            continue
        found = [array[place, head] for array in (own.mean, own.deviation, own.smallest, own.largest)]
        expected = [known.mean(), known.std(), known.min(), known.max()]
        assert_close(found, expected, relative=1e-7)


def test_histograms(built: Built) -> None:
    for place, name, head, numbers in of_every_head(built):
        known, edges = numbers[~np.isnan(numbers)], find(name).edges
        expected, _ = np.histogram(np.clip(known, edges[0], edges[-1]), bins=edges)
        assert built.atlas.statistics.histogram[place, head].tolist() == expected.tolist(), name


def test_correlation_with_the_length(built: Built) -> None:
    """Numbers that hardly differ have no correlation: NaN."""
    lengths = np.array([len(_read(built, text)[0]) for text in built.texts], np.float64)
    compared = 0
    for place, name, head, numbers in of_every_head(built):
        known = ~np.isnan(numbers)
        found = built.atlas.statistics.correlation[place, head]
        if np.isnan(found):
            assert known.sum() < 3 or numbers[known].std() <= 2e-6 * max(abs(numbers[known].mean()), 1), name
            continue
        compared += 1
        assert_close(found, np.corrcoef(lengths[known], numbers[known])[0, 1], relative=1e-6, scale=1)
    assert compared > 0.8 * np.isfinite(built.atlas.statistics.mean).sum()


def test_the_table_has_the_means(built: Built) -> None:
    table = built.atlas.table()
    for place, name, head, _ in of_every_head(built):
        assert table[name][head] == pytest.approx(built.atlas.statistics.mean[place, head], nan_ok=True)


def test_examples_are_the_strongest_texts_and_of_equals_the_first(built: Built) -> None:
    for name in WITH_EXAMPLES:
        for head in range(len(built.atlas.heads)):
            numbers = built.numbers[name][:, head]
            known = [text for text in range(len(numbers)) if not np.isnan(numbers[text])]
            expected = sorted(known, key=lambda text: (-numbers[text], text))[:EXAMPLES]
            found = built.atlas.examples(name, head)
            assert found["text"].tolist() == expected, (name, head)
            assert found["value"].tolist() == numbers[expected].tolist()


def test_pairs_are_the_strongest_weights_between_two_words_of_a_text(built: Built) -> None:
    strongest = [_strongest(built, text) for text in built.texts]  # of each text, [N]
    for head in range(len(built.atlas.heads)):
        found = built.atlas.pairs(head)
        weights = {text: of_text[head][0] for text, of_text in enumerate(strongest) if of_text[head][1]}
        expected = sorted(weights.values(), reverse=True)[:PAIRS]
        assert_close(found["weight"].tolist(), expected, relative=TOLERANCE)
        assert found["text"].is_unique
        assert found["weight"].is_monotonic_decreasing
        for row in found.itertuples():
            assert_close(row.weight, weights[row.text], relative=TOLERANCE)
            best, places = strongest[row.text][head]
            assert_close(places[row.query, row.key], best, relative=TOLERANCE)
        equal = zip(found.itertuples(), found[1:].itertuples(), strict=False)
        assert all(one.text < other.text for one, other in equal if one.weight == other.weight)


def _strongest(built: Built, text: Text) -> list[tuple[float, dict[tuple[int, int], float]]]:
    """The largest weight of each head between two different tokens, neither of them special, and all such weights."""
    source, target = _read(built, text)
    inputs = tokenize_inputs(built.loaded, text.text, target=text.target)
    found = []
    for attention, maps in zip(built.attentions, eager.maps_of(built.network, built.attentions, inputs), strict=True):
        queries, keys = (source if attention.stream == "encoder" else target), maps.keys
        places = [
            (query, key)
            for query in range(len(queries))
            for key in range(len(keys))
            if not queries.special[query] and not keys.special[key] and (query != key or not maps.one_text)
        ]
        for of_head in maps.weights:
            weights = {place: float(of_head[place]) for place in places}
            found.append((max(weights.values(), default=0.0), weights))
    return found


def _read(built: Built, text: Text) -> tuple[Encoding, Encoding]:
    """The tokens of the text, and of what the decoder reads; the text's again where there is none."""
    inputs = tokenize_inputs(built.loaded, text.text, target=text.target)
    return inputs.encoding, inputs.target or inputs.encoding


def test_the_sample_and_the_texts_are_those_of_the_corpus(built: Built) -> None:
    assert all(built.texts[id] == text for id, text in built.atlas.texts.items())
    for head in (0, len(built.atlas.heads) - 1):
        sample = built.atlas.sample("entropy", head)
        assert sample["value"].tolist() == built.numbers["entropy"][sample["text"], head].tolist()
        assert sample["tokens"].tolist() == [len(_read(built, built.texts[id])[0]) for id in sample["text"]]
    counted = built.atlas.counted
    tokens = [len(_read(built, text)[0]) for text in built.texts]
    assert (counted.read, counted.unread, counted.tokens) == (len(built.texts), 0, sum(tokens))
    cut = [tokenize_inputs(built.loaded, text.text, target=text.target).encoding.cut for text in built.texts]
    assert counted.cut == sum(one is not None for one in cut)
