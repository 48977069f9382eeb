"""Every page of the project's Transformer under other switches: shown, or refused in a sentence, and exact."""

from __future__ import annotations

import pytest

from models.transformer.switches import parse
from tests.inspector.views.page import READING, opened, said, turned

VARIANTS = {  # each switch that changes what a page has to show, several at once
    "additive, a leaking mask": "mini-bert?positions=none&score=additive&causal=true&mask_fill=-10.0",
    "Shaw, BatchNorm": "mini-bert?positions=shaw&norm=masked_batch&kv_heads=3",
    "cosine, T5": "mini-bert?positions=t5&heads=3&merge=sum&score=cosine&window=3",
    "no projections, no norm, no residual": "mini-bert?residual=false&positions=alibi&projections=false&"
    "final_norm=false&norm=none",
    "linear, K = V": "mini-gpt?shared_key_value=true&weighting=linear&norm=batch",
    "sigmoid, a narrow embedding": "mini-bert?embedding_width=32&weighting=sigmoid&layers=1",
    "a leaking mask over time": "mini-gpt?shared_layers=true&positions=learned&mask_fill=-10.0&mask_before_scale=true",
    "general, full head width": "translator?positions=none&head_size=full&score=general&norm_placement=pre&layers=1",
    "tied, untrained": "own-encoder?positions=xl&shared_query_key=true&scale=none&activation=swiglu",
}


@pytest.mark.parametrize("id", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_page_shows_a_variant_or_says_why_not(id: str) -> None:
    app = opened(model=id, text="The cat sat.")
    base, shown, _ = parse("".join(app.query_params["model"]))
    assert id.startswith(f"{base}?")
    assert shown  # without those that the model has anyway
    assert shown.items() <= parse(id)[1].items()
    for page in READING:
        turned(app, page)
        assert not app.exception, page
        words = said(app)
        assert app.title[0].value == page
        assert "Cannot be shown" not in words, page
        assert "Headlight does not know" not in words, page
        assert "Not exact" not in words, page
        another = "you see **" in words  # a model that can, in place of one that cannot
        assert another or "redrawn&#58; " in words or "then changed&#58; " in words or "Untrained&#58; " in words, page
