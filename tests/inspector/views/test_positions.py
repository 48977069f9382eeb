"""The page Positions for a model whose positions are no table."""

from __future__ import annotations

from dataclasses import replace

import pytest
import streamlit as st
import torch

import models
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.inspector.views.page import opened, said


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
    assert [metric.value for metric in app.metric][:2] == ["40", "13"]
    assert "rotary has no table: it turns pairs of dimensions of every query and key" in said(app)
