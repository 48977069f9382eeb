"""The lines of the ways to read a long text, by hand from what each way has a state of, and their chart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import inspector
from inspector import long_texts
from inspector.sections.tokens import long as section
from inspector.wording.english.tokens import long as words
from models import LoadedModel

TEXT = "The cat sat on the mat because it was tired, and the dog ran to the old man who had seen it before."


def test_shares_are_told_in_percent_of_the_whole_text(shipped) -> None:
    loaded: LoadedModel = shipped("mini-gpt")
    trace = inspector.record(loaded, TEXT)
    found = long_texts.compare(loaded, trace, budget=12)
    longer = 2 * (len(found.tokens) + found.specials)  # as if half of the text had been cut
    shown = section.lines(found, whole=longer, names={name: str(name) for name in found.table["way"]}).set_index("way")
    for row in found.table.to_dict("records"):
        line, text = shown.loc[row["way"]], longer - found.specials
        kept = 100 if row["way"] in ("windows", "chunks") else 100 * row["tokens"] / text
        assert line["reach"] == pytest.approx(kept)
        for name in ("dropped", "cut", "accuracy", "accuracy_full"):
            assert line[name] == pytest.approx(100 * row[name], rel=1e-12)
        assert line["times"] == pytest.approx(row["flops"] / found.table["flops"][0])
    assert shown.loc["windows", "reach"] == shown.loc["chunks", "reach"] == 100
    assert shown.loc["first", "dropped"] == pytest.approx(
        100 - 100 * found.table["tokens"][shown.index == "first"].item() / len(found.tokens)
    )


def test_smoothed_lines_keep_their_gaps() -> None:
    values = np.random.default_rng(0).normal(size=40)
    values[10:20] = np.nan
    found = section.smoothed(values)
    half = section.SMOOTH // 2
    for at in range(40):
        around = values[max(at - half, 0) : at + half + 1]
        expected = np.nan if np.isnan(values[at]) else np.nanmean(around)
        assert found[at] == pytest.approx(expected, nan_ok=True)
    chart = section.cosines({"first": values, "windows": values}, tokens=["<b>"] * 40, chosen="windows")
    first, windows = chart(mode="light").data
    assert [line.name for line in (first, windows)] == ["the other ways", "Sliding windows"]
    np.testing.assert_array_equal(windows.y, found)
    assert windows.line.width > 2 * first.line.width
    assert list(first.customdata[0]) == ["&lt;b&gt;", "First tokens"]


@pytest.mark.parametrize("way", ["first", "windows", "bigbird"])
def test_a_way_is_told_by_what_it_keeps_or_drops(way: long_texts.Name) -> None:
    table = pd.DataFrame({"way": [way], "cosine": [0.769], "dropped": [0.75 if way == "first" else 0.0]})
    lengths = words.Lengths(read=128, whole=253, most=128, piece=32)
    said = section.losing(table, way, lengths, model="M", text="your text")
    assert said.endswith("Your text has 253 tokens; M reads 128 at once.")
    assert ("drop 75 % of what the model could read" in said) == (way == "first")
    assert ("at a cosine of 0.769 with full attention's, and drop none" in said) == (way in ("windows", "bigbird"))
