"""The page Positions: how the model knows the order, told of tables, rotations and biases, on the reader's own text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
import torch

import models
from inspector import positional
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.inspector.probe.families import Family, save
from tests.inspector.views.page import messages, opened, said


def test_rotary_positions_have_no_table_and_the_page_says_so(
    minilm: models.LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocabulary=30522, layers=1, width=24, heads=2, ffn_width=32, max_positions=40, positions="rope"
    )
    card = replace(minilm.card, id="rotary")
    rotary = own_model(card, Encoder(config).eval().requires_grad_(False), minilm.tokenizer, max_tokens=40)
    monkeypatch.setattr(models, "catalogue", lambda: (card,))
    monkeypatch.setattr(models, "load", lambda id, **_: rotary)
    st.cache_resource.clear()
    app = opened("Positions")
    st.cache_resource.clear()
    assert not app.exception
    assert "This model turns every query and key by angles that grow with the position (RoPE)." in said(app)
    assert "the paper's table, for comparison" in said(app)
    assert "No text can be longer than 40 tokens here; this text has 13." in said(app)
    assert len(messages(app, "matrix")[0][0]["panels"]) == 1


@pytest.mark.parametrize(
    ("name", "sizes", "sentence"),
    [
        ("llama", {}, "This model turns every query and key by angles"),
        ("t5", {"decoder_start_token_id": 0}, "adds to each score a learned number for the distance of query and key"),
        ("bloom", {}, "takes off each score a multiple of the distance of query and key (ALiBi)"),
        ("gpt2", {}, "This model adds to each token a learned vector for its place. On this text its vectors"),
    ],
)
def test_each_way_is_told_for_what_it_is(
    name: str, sizes: dict[str, int], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(Family(name, "", sizes), tmp_path)
    loaded = models.load(tmp_path)
    monkeypatch.setattr(models, "catalogue", lambda: (loaded.card,))
    monkeypatch.setattr(models, "load", lambda id, **_: loaded)
    st.cache_resource.clear()
    app = opened("Positions")
    st.cache_resource.clear()
    assert not app.exception
    assert sentence in said(app)
    assert ("for comparison" in said(app)) == (name != "gpt2")


def test_the_texts_places_are_compared_in_the_models_table(minilm: models.LoadedModel) -> None:
    app = opened("Positions")
    assert not app.exception
    header, numbers = messages(app, "matrix")[0]
    assert [panel["title"] for panel in header["panels"]] == ["This model's, learned", "The paper's, sinusoidal"]
    assert header["panels"][0]["rows"][:3] == ["[CLS]", "the", "cat"]
    table = positional.table(minilm)[:13].astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    np.testing.assert_allclose(numbers[: 13 * 13].reshape(13, 13), table @ table.T, atol=1e-6)
    neighbours = np.mean([table[place] @ table[place + 1] for place in range(12)])
    assert f"a mean cosine of {neighbours:.3f} between neighbours" in said(app)


def test_dimensions_are_chips_and_a_link_may_choose_other_ones() -> None:
    """Links of earlier versions repeat the parameter, later ones write a space between."""
    app = opened("Positions", dimensions=["3", "68"])
    assert app.pills(key="chips dimensions").value == [3, 68]
    app.selectbox(key="add dimensions").select(100).run()
    assert app.pills(key="chips dimensions").value == [3, 68, 100]
    assert app.query_params["dimensions"] == "3 68 100"
    app.pills(key="chips dimensions").set_value([]).run()
    assert app.pills(key="chips dimensions").value == [3, 68, 100]  # one stays
    told = opened("Positions", dimensions=" ".join(map(str, range(9))))
    assert "they go from 0 to 383, at most 8 of them." in said(told)
