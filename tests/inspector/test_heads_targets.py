"""Induction and within-the-word shares against plain loops over the definition: encoders, decoders, long texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import inspector
import models
from inspector import heads, record
from inspector.trace import Trace
from models import LoadedModel
from tests.closeness import assert_close

REPEATED = "The antidisestablishmentarian cat saw the dog and the cat ran."


def by_plain_loops(
    weights: np.ndarray, tokens: Sequence[str], words: Sequence[int | None], *, causal: bool
) -> tuple[float, float]:
    """(induction, word) of one map, one weight at a time; "[UNK]" is the same as nothing."""

    def mean(targets: dict[int, list[int]]) -> float:
        rows = [math.fsum(float(weights[i, j]) for j in keys) for i, keys in targets.items() if keys]
        return math.fsum(rows) / len(rows) if rows else math.nan

    n = len(tokens)
    own = [i for i in range(n) if words[i] is not None]
    seen = {i: [j for j in range(n) if j <= i or not causal] for i in own}
    after = {
        i: [j for j in seen[i] if j - 1 in own and tokens[j - 1] == tokens[i] != "[UNK]" and j != i + 1] for i in own
    }
    within = {i: [j for j in seen[i] if words[j] == words[i] and j != i] for i in own}
    return mean(after), mean(within)


def check(trace: Trace, measures: pd.DataFrame, *, stream: str) -> None:
    read = trace.read_by(stream)
    for row in measures.query("stream == @stream").to_dict("records"):
        weights = trace.attention(layer=row["layer"], head=row["head"], stream=stream)
        expected = by_plain_loops(weights, read.tokens, read.words, causal=stream == "decoder")
        assert_close((row["induction"], row["word"]), expected, relative=1e-6)


def test_an_encoder_against_plain_loops(minilm: LoadedModel) -> None:
    trace = record(minilm, REPEATED)
    assert any(token.startswith("##") for token in trace.tokens)
    measures = heads.measure(trace)
    assert measures[["induction", "word"]].notna().all(axis=None)
    check(trace, measures, stream="encoder")


def test_unknown_tokens_repeat_nothing(minilm: LoadedModel, tmp_path: Path) -> None:
    """Two unknown characters look alike and are not the same; a saved trace knows it too."""
    trace = record(minilm, "the cat 猫 saw the cat 狗 run")
    assert trace.tokens.count("[UNK]") == 2
    check(trace, heads.measure(trace), stream="encoder")
    inspector.save(trace, tmp_path / "t.npz")
    assert inspector.open(tmp_path / "t.npz").encoding.known == trace.encoding.known
    only_unknown = record(minilm, "猫追老鼠")
    assert set(only_unknown.tokens) == {"[CLS]", "[UNK]", "[SEP]"}
    assert heads.measure(only_unknown)["induction"].isna().all()
    assert "induction" not in set(heads.label(heads.measure(only_unknown)))


def test_a_text_of_several_blocks_against_plain_loops(minilm: LoadedModel) -> None:
    trace = record(minilm, REPEATED * 12)
    assert len(trace.tokens) > 150  # more than one block of rows
    check(trace, heads.measure(trace).query("layer == 3"), stream="encoder")


def test_a_decoder_counts_what_was_read_before() -> None:
    trace = record(models.load("own-decoder"), REPEATED)
    check(trace, heads.measure(trace), stream="decoder")


def test_without_repeats_and_pieces_there_is_nothing_to_measure(minilm: LoadedModel) -> None:
    measures = heads.measure(record(minilm, "A cat sat here"))
    assert measures[["induction", "word"]].isna().all(axis=None)


def test_a_perfect_induction_head_and_a_perfect_word_head() -> None:
    tokens, words = ["[CLS]", "a", "b", "c", "a", "##b", "[SEP]"], [None, 0, 1, 2, 3, 3, None]
    induction = np.eye(7)
    induction[[1, 4]] = np.eye(7)[[5, 2]]  # each a looks at what stands after the other
    pieces = np.eye(7)
    pieces[[4, 5]] = np.eye(7)[[5, 4]]
    maps = [(slice(0, 7), np.stack([induction, pieces]).astype(np.float32))]
    table = pd.DataFrame(heads.measure_maps(maps, keys=tokens, words=words))
    assert table["induction"].tolist() == [1, 0]
    assert table["word"].tolist() == [0, 1]
    # In a decoder the first a has nothing to look back at, and does not count.
    induction[1] = np.eye(7)[1]
    causal = heads.measure_maps(
        [(slice(0, 7), induction[None].astype(np.float32))], keys=tokens, words=words, causal=True
    )
    assert causal["induction"].tolist() == [1]
    assert heads.induction_targets(tokens, words).queries(causal=True) == 1
    assert heads.same_word_targets(words).queries(causal=False) == 2


def test_a_target_longer_than_its_source_is_measured() -> None:
    trace = record(models.load("own-encoder-decoder"), "A cat.", target=REPEATED)
    site = trace.sites[-1]
    assert len(site.queries) > len(site.keys)
    measures = heads.measure(trace).set_index("stream")
    assert measures.loc["cross", ["induction", "word"]].isna().all(axis=None)
    check(trace, measures.reset_index(), stream="decoder")
