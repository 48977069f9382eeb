"""Every number of an atlas against plain loops over transformers' own eager maps, text by text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from numpy.typing import NDArray
from transformers import BertModel

import inspector
import models
from inspector import heads
from inspector.atlas import Atlas, Text
from inspector.probe.inputs import ModelInputs, tokenize_inputs
from models import LoadedModel, fetch
from tests.inspector.atlas import eager
from tests.inspector.atlas.plain_measures import MEASURES, Maps, measured
from tests.inspector.atlas.sentences import sentences

pytestmark = pytest.mark.heavy

TOLERANCE = 1e-5
LARGE = ("minilm", "T5")  # 72 heads; three maps where the others have one
OF_HEADS = tuple(MEASURES)[:15]
AHEAD = {"next", "norm_next", *(f"offset_{offset:+d}" for offset in range(2, 17))}
WITHOUT: Mapping[str, set[str]] = {
    "GPT-2": AHEAD | {"cls", "sep", "norm_cls", "norm_sep", "to_special", "to_unknown"},
    "Llama": AHEAD | {"sep", "norm_sep"},
    "T5": {"cls", "norm_cls"},
}
Numbers = Mapping[str, NDArray[np.float64]]
"""Numbers by the name of their measure: one a text and head, [B, N], or one a head, [N]."""


@dataclass(frozen=True)
class Held:
    """An atlas, and what plain loops make of the same texts.

    found, expected: for each measure [B, N]. maps: of the first text, those of every attention. without: the measures
    that the model's mask or its tokenizer leaves nothing of.
    """

    loaded: LoadedModel
    texts: list[Text]
    atlas: Atlas
    found: Numbers
    expected: Numbers
    maps: list[Maps]
    attentions: list[eager.Attention]
    without: set[str]


@pytest.fixture(scope="module", params=[*eager.MODELS, "minilm"])
def held(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Held:
    name, folder = request.param, tmp_path_factory.mktemp("model")
    if name == "minilm":
        loaded: LoadedModel = request.getfixturevalue("minilm")
        network: Any = BertModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager").eval()
        attentions = eager.bert(network)
    else:
        network = eager.save(eager.MODELS[name], folder)
        loaded, attentions = models.load(folder), eager.MODELS[name].attentions(network)
    texts = corpus(loaded, count=60 if name in LARGE else 100)
    atlas = inspector.atlas.build(loaded, _file(texts, folder), out=folder / "atlas", block_texts=48)
    assert atlas is not None
    assert [atlas.texts.get(number, text) for number, text in enumerate(texts)] == texts
    first = eager.maps_of(network, attentions, _inputs(loaded, texts[0]))
    plain = [_plain(eager.maps_of(network, attentions, _inputs(loaded, text))) for text in texts]
    expected = {name: np.array([of_text[name] for of_text in plain]) for name in MEASURES}
    found = per_text(folder / "atlas")
    return Held(loaded, texts, atlas, found, expected, first, attentions, WITHOUT.get(name, set()))


def corpus(loaded: LoadedModel, *, count: int) -> list[Text]:
    """Sentences; for an encoder-decoder each with another one to write."""
    texts = sentences(count)
    if loaded.shape != "encoder-decoder":
        return [Text(text) for text in texts]
    return [Text(text, target) for text, target in zip(texts, [*texts[7:], *texts[:7]], strict=True)]


def _file(texts: list[Text], folder: Path) -> Path:
    """Write the corpus as lines; a text and what is written of it stand on one line with a tab between."""
    paired = texts[0].target is not None
    path = folder / ("corpus.tsv" if paired else "corpus.txt")
    lines = [f"{text.text}\t{text.target}" if paired else text.text for text in texts]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def _inputs(loaded: LoadedModel, text: Text) -> ModelInputs:
    return tokenize_inputs(loaded, text.text, target=text.target)


def _plain(maps: list[Maps]) -> Numbers:
    """Measure all heads of a text, [N] for each measure."""
    of_calls = [measured(one) for one in maps]
    return {name: np.concatenate([numbers[name] for numbers in of_calls]) for name in MEASURES}


def per_text(folder: Path) -> Numbers:
    """Read the numbers of all blocks as they lie on disk, in the order of the texts."""
    tables = [pq.read_table(path) for path in sorted(folder.glob("blocks/*/texts.parquet"))]
    assert len(tables) > 1
    ids = np.concatenate([table["text"].to_numpy() for table in tables])
    assert ids.tolist() == list(range(len(ids)))
    return {
        name: np.concatenate([np.array(table[name].to_pylist(), np.float64) for table in tables]) for name in MEASURES
    }


def apart(found: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance of two numbers: absolute, and relative above 1; infinite where one of them is NaN."""
    difference = np.abs(found - expected) / np.maximum(np.abs(expected), 1.0)
    difference = np.where(np.isnan(found) & np.isnan(expected), 0.0, difference)
    return np.where(np.isnan(difference), np.inf, difference)


def test_every_measure_of_every_head_on_every_text(held: Held) -> None:
    assert set(held.found) == {measure.name for measure in inspector.atlas.MEASURES}
    worst = {name: float(apart(held.found[name], held.expected[name]).max()) for name in MEASURES}
    assert {name: distance for name, distance in worst.items() if distance > TOLERANCE} == {}


def test_the_texts_put_every_measure_to_the_test(held: Held) -> None:
    """Numbers that are NaN or alike everywhere are held to nothing: only those that a model cannot have are."""
    assert {name for name, numbers in held.expected.items() if not _differs(numbers)} == held.without


def _differs(numbers: NDArray[np.float64]) -> bool:
    known = numbers[~np.isnan(numbers)]
    return known.size > 0 and float(known.max() - known.min()) > 0.05


def test_heads_stand_in_the_order_of_the_calls(held: Held) -> None:
    layers: dict[str, int] = {}
    rows = []
    for attention, maps in zip(held.attentions, held.maps, strict=True):
        layer = layers[attention.stream] = layers.get(attention.stream, -1) + 1
        rows += [(attention.stream, layer, 0, head) for head in range(len(maps.weights))]
    assert list(held.atlas.heads.itertuples(index=False, name=None)) == rows


def test_the_measures_of_heads_are_the_same_numbers(held: Held) -> None:
    for number in range(0, len(held.texts), 3 if held.loaded.card.id == "minilm" else 20):
        text = held.texts[number]
        table = heads.measure(inspector.record(held.loaded, text.text, target=text.target))
        rows = held.atlas.heads.merge(table, how="left", on=["stream", "layer", "head"])
        for name in OF_HEADS:
            assert apart(held.found[name][number], rows[name].to_numpy()).max() <= TOLERANCE, (name, text.text)


def test_a_head_that_adds_nothing_has_no_norm_weighted_share(tmp_path: Path) -> None:
    network: Any = eager.save(eager.MODELS["BERT"], tmp_path)
    projection = network.encoder.layer[0].attention.output.dense
    with torch.no_grad():
        projection.weight[:, :8] = 0.0  # W_O of the first head
    network.save_pretrained(tmp_path)
    atlas = inspector.atlas.build(models.load(tmp_path), sentences(15), out=tmp_path / "atlas", block_texts=8)
    assert atlas is not None
    table = atlas.table()
    for name in MEASURES:
        assert np.isnan(table[name][0]) == name.startswith("norm_"), name
        assert not table[name][1:].isna().any(), name
