"""Numbers that the sections of the page LayerNorm read in their tables, and the sentences made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn import functional

from inspector import normalization, record, record_batch
from inspector.sections.layernorm import change, depth, other, outliers
from inspector.text import Named, number
from inspector.trace import PaddedBatch, Trace
from inspector.wording.english import layernorm as words
from models import LoadedModel
from tests.closeness import assert_close

TEXTS = ("The cat sat on the mat because it was tired.", "Yes.")


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return record(minilm, TEXTS[0])


def test_steps_and_outliers_are_those_of_the_tables(trace: Trace) -> None:
    table = normalization.change(trace)
    assert f"scaling {100 * table.scaling.mean():.1f} %" in change.steps(table)
    assert words.about_steps(0) == words.ABOUT_STEPS
    assert words.about_steps(2).endswith(". 2 norms with a gate are left out.")
    norms, found = dict(enumerate(trace.norms)), normalization.outliers(trace)
    said = outliers.outlier(found, norms, tokens=trace.tokens)
    assert f"{number(found.times.max())} times the median there" in said
    assert said.endswith("of 13 norms.")
    assert "No activation of this text is massive" in outliers.massive(found)
    found.loc[found.index[0], "massive"] = True
    assert "Massive activations (size over 100" in outliers.massive(found)


def test_tokens_that_stand_out_are_named() -> None:
    table = pd.DataFrame(
        [(norm, at, f"t{at}", 9.0 if at == 2 and norm else 1.0) for norm in (0, 1) for at in range(5)],
        columns=["norm", "position", "token", "std_before"],
    )
    found = outliers.far(table, size="std")
    assert found == [(Named("t2", 1, 1), 1, 9.0)]
    assert "`t2` (before 1 of 2 norms, up to 9.00 times)" in words.far(found, norms=2, size="std")
    assert words.far([], norms=2, size="std").startswith("No token has twice the median standard deviation")
    repeated = outliers.far(table.assign(token=["the", "a", "the", "b", "c"] * 2), size="std")
    assert "the 2nd `the` (before 1 of 2 norms" in words.far(repeated, norms=2, size="std")


def test_padding_moves_the_statistics_that_count_it(minilm: LoadedModel) -> None:
    def cells(columns: int | None) -> PaddedBatch:
        return record_batch(minilm, TEXTS, keep_padding=True, columns=columns)

    plain, wide = cells(None), cells(30)
    x, y = plain.before(4), wide.before(4)
    found = other.padded(
        (x, plain.keep),
        (y, wide.keep),
        column=1,
        epsilon=1e-12,
        running=normalization.running_statistics(x, plain.keep),
    )
    assert (found.padding, found.cells, found.added) == ((~wide.keep).sum(), 60, 30 - x.shape[1])
    exact = y[..., found.dimension].astype(np.float64)
    assert found.batch[1] == (pytest.approx(exact.mean()), pytest.approx(exact.std()))
    assert_close(found.layer[1], (y[0, 1].mean(), y[0, 1].std()), relative=1e-5)
    assert found.moved["batch"] > 0.1
    assert found.moved["layer"] < 1e-4
    assert "every real token stays" in other.padding(found)
    assert "columns of them added" in other.padding(found)


def test_depth_reads_both_ends() -> None:
    table = pd.DataFrame(
        {
            "stack": "pre-norm",
            "layer": [-1, 0, 1],
            "activation": [1, 2, 3],
            "gradient": [4.0, 1, 2],
            "cosine": [0, 0, 0.5],
        }
    )
    (found,) = depth.ends(table).itertuples()
    assert (found.Index, found.gradient, found.activation, found.cosine) == ("pre-norm", 2.0, 3, 0.5)
    gradient, cosine = {"pre-norm": found.gradient, "post-norm": 0.25}, {"pre-norm": 0.5, "post-norm": -1.0}
    assert words.depth(gradient=gradient, cosine=cosine) == (
        "Untrained, the gradient that reaches layer 0's input is 0.250 times that at the last layer's output with "
        "post-norm, and 2.00 times with pre-norm. Two tokens of a text end with a mean cosine of −1.00 and 0.500."
    )


def test_for_and_against_batch_norm_on_a_ragged_batch() -> None:
    random = np.random.default_rng(0)
    x, keep = random.normal(2, 3, (3, 6, 4)), np.arange(6) < np.array([[6], [3], [3]])
    running = (random.normal(size=4), random.uniform(1, 2, 4))
    said = " ".join(other.against(x, keep, epsilon=1e-5, running=running))
    real = torch.tensor(x[keep])
    own = functional.batch_norm(real, None, None, training=True)
    kept = functional.batch_norm(real, *map(torch.tensor, running))
    assert "3 texts of 3 to 6 tokens: 33 % of the cells are padding, and 3 of 6 columns have one text" in said
    assert f"up to {number(float((own - kept).abs().max()))} here" in said


def test_the_residual_in_words_follows_the_numbers() -> None:
    table = normalization.through_depth(initialisation="torch")
    alike = depth.alike(table)
    vanishing, collapse, _ = words.residual(**depth.ends(table).to_dict(), alike=alike)
    assert "the gradient vanishes when there is no residual" in vanishing
    assert "with it, it arrives" in vanishing
    for stack in ("post-norm, no residual", "post-norm", "pre-norm"):
        cosines = table[(table["stack"] == stack) & (table["layer"] >= 0)].sort_values("layer")["cosine"].tolist()
        assert alike[stack] == next((layer for layer, cosine in enumerate(cosines) if cosine > 0.999), None)
    first, later = alike["post-norm, no residual"], alike["post-norm"]
    assert first is not None
    after = "are one after the first layer" if first == 0 else f"become one after layer {first}"
    assert f"the tokens of a text {after}. With the residual they " in collapse
    assert later is None or later > first  # the residual keeps them apart for longer


def test_medians_and_stacks_are_drawn_as_the_tables_hold_them() -> None:
    columns = [f"{name}_{when}" for name in ("mean", "std", "rms") for when in ("before", "after")]
    statistics = pd.DataFrame({"norm": [0, 0, 0, 1, 1, 1], **{column: [1.0, 2, 9, 4, 5, 6] for column in columns}})
    drawn = change.by_depth(statistics, ["embedding", "0 FFN"])(mode="light").data
    bands, lines = ([trace for trace in drawn if (trace.fill == "toself") is filled] for filled in (True, False))
    assert len(bands) == len(lines) == 6
    assert all(list(line.y) == [2, 5] for line in lines)
    assert all(list(band.y) == [9, 6, 4, 1] for band in bands)
    stacks = pd.DataFrame({"stack": ["a", "a"], "layer": [0, 1], "activation": 1.0, "gradient": 2.0, "cosine": 0.5})
    figure = depth.through_depth(stacks)(mode="light")
    assert "untrained" in figure.layout.title.subtitle.text
    assert [list(line.y) for line in figure.data] == [[1, 1], [2, 2], [0.5, 0.5]]
    assert (figure.layout.yaxis.type, figure.layout.yaxis3.type) == ("log", None)
