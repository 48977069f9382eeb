"""The page LayerNorm for norms that are none of BERT's: each with its own formula, and what cannot be shown is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import models
from tests.inspector.probe.families import Family, save
from tests.inspector.views.page import forget, messages, numbers, opened, said, section_opened, typed

GATED = {
    **{"mamba_rms_norm": True, "mamba_d_ssm": 64, "mamba_d_state": 4, "mamba_n_heads": 4, "mamba_d_head": 16},
    **{"mamba_n_groups": 2, "mamba_chunk_size": 8},
}
BOTTLENECK = {"embedding_size": 16, "true_hidden_size": 32, "intra_bottleneck_size": 32}
PRE = "each of the 4 in the layers stands before a sublayer (pre-norm)"
STARTED = {"decoder_start_token_id": 0}
CASES: dict[str, tuple[dict[str, Any], str, list[str], int]] = {  # sizes, placement, what is said, charts
    "llama": (
        {},
        f"All 5 norms are RMSNorms; {PRE}; one ends the stack.",
        [r"5 of 5 norms: RMSNorm", r"$\gamma\,\frac{x}{\sqrt{\overline{x^2} + \epsilon}}$"],
        2,
    ),
    "gpt2": ({}, f"All 5 norms are LayerNorms; {PRE}; one ends the stack.", [r"+ \beta$"], 2),
    "t5": (STARTED, f"All 5 norms are RMSNorms; {PRE}; one ends the stack.", ["root mean square of"], 2),
    "olmo": (
        {},
        f"All 5 norms are LayerNorms; {PRE}; one ends the stack.",
        ["with nothing learned", r"$\frac{x - \mu}{", "neither gamma nor beta"],
        1,
    ),
    "bert": (
        {},
        "All 5 norms are LayerNorms; each of the 4 in the layers stands after a residual sum (post-norm); one follows",
        ["5 of 5 norms: LayerNorm (Ba et al. 2016)", r"+ \beta$"],
        2,
    ),
    "falcon_h1": (
        GATED,
        "of the 6 in the layers 4 stand before a sublayer (pre-norm) and 2 stand inside a sublayer; one ends the stack",
        ["2 of 7 norms", "in 2 groups of features, with a gate z", r"\mathrm{SiLU}(z)"],
        2,
    ),
    "mobilebert": (
        BOTTLENECK,
        "",
        ["17 norms are not shown", "it divides by no statistic", "No norm of this"],
        0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_page_has_the_formula_of_the_norms_that_it_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, placement, sentences, charts = CASES[name]
    save(Family(name, "", sizes), tmp_path)
    loaded = models.load(tmp_path)
    monkeypatch.setattr(models, "catalogue", lambda: (loaded.card,))
    monkeypatch.setattr(models, "load", lambda id, **_: loaded)
    forget()
    app = opened("Norms")
    forget()
    assert not app.exception
    words = said(app).replace("&#46;", ".")
    for sentence in sentences:
        assert sentence in words
    assert placement in words
    assert len(app.get("plotly_chart")) == charts
    assert len(messages(app, "matrix")) == bool(charts)
    if name not in ("bert", "gpt2"):
        assert r"\beta" not in words
        assert "beta is" not in words.lower()


def test_a_shorter_text_takes_the_number_back_without_blaming_the_link() -> None:
    app = opened("Norms")
    (chips,) = (one for one in app.button_group if one.key == "chips token")
    chips.set_value([0, 6]).run()
    assert app.query_params["token"] == "6"
    assert "of `mat` is between" in said(app)
    typed(app, "Hi.")
    assert not app.exception
    assert "of `[CLS]` is between" in said(app)
    assert "The link asks" not in said(app)


def test_a_link_with_numbers_opens_the_token_and_the_norm() -> None:
    app = opened("Norms", token="6", norm="3")
    assert not app.exception
    assert "of `mat` is between" in said(app)
    assert app.selectbox(key="list norm").value == 3


def test_every_section_opens_and_the_slider_moves_batch_norm_alone() -> None:
    app = opened("Norms", section="Another norm")
    before = numbers(app)
    app.slider(key="pad_more").set_value(16).run()
    assert not app.exception
    after = numbers(app)
    assert after["mean in BatchNorm"] != before["mean in BatchNorm"]
    assert after["deviation in BatchNorm"] != before["deviation in BatchNorm"]
    assert after["mean in LayerNorm"] == before["mean in LayerNorm"]
    assert after["deviation in LayerNorm"] == before["deviation in LayerNorm"]
    assert "16 columns of them added" in said(app)
    assert "24 other sentences" in said(app)
    assert "Training and use differ." in said(app)
    assert "Shen et al. (2020) find BatchNorm worse" in said(app)
    app.text_area(key="norm_texts").set_value("猫坐在垫子上。").run()
    assert "unknown to this model" in said(app)
    assert "mini-BERT for Chinese reads Chinese characters" in said(app)
    app.text_area(key="norm_texts").set_value("\n").run()
    assert "Write a sentence." in said(app)
    for section, sentence in (
        ("What each step changes", "of the four steps' lengths"),
        ("Outlier dimensions", "times the median there"),
        ("Pre-norm or post-norm", "Untrained, the gradient"),
    ):
        section_opened(app, section)
        assert sentence in said(app)
    for verdict in ("What the residual is for", "Is it the internal covariate shift?"):
        assert verdict in [one.value for one in app.subheader]
