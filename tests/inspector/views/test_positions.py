"""The page Positions for a model whose positions are no table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

import models
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig

ROOT = Path(__file__).parents[3]


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
    app = AppTest.from_file(str(ROOT / "inspector/views/shell/frame.py"), default_timeout=60)
    app.switch_page("../positions.py").run()
    st.cache_resource.clear()
    assert not app.exception
    assert [metric.value for metric in app.metric][:2] == ["40", "13"]
    said = " ".join(caption.value for caption in app.caption)
    assert "rotary has no table: it turns pairs of dimensions of every query and key" in said
