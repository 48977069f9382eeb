"""The page Positions: how the model knows the order, told of tables, rotations and biases, on the reader's own text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import positional, record
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, save
from tests.inspector.views.page import EXAMPLE, forget, messages, opened, said, section_opened, uploaded


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
    forget()
    app = opened("Positions")
    forget()
    assert not app.exception
    assert "This model turns every query and key by angles that grow with the position (RoPE)." in said(app)
    assert "Its pairs of dimensions turn once in 6.28 to " in said(app)
    header, cosines = messages(app, "matrix")[0]
    assert len(header["panels"]) == 1
    angles = np.outer(np.arange(40), 10000.0 ** -(np.arange(0, 12, 2) / 12))
    assert_close(cosines[: angles.size].reshape(-1, 6)[:40], np.cos(angles), relative=1e-5)


@pytest.mark.parametrize(
    ("name", "sizes", "sentence"),
    [
        ("llama", {}, "This model turns every query and key by angles"),
        ("t5", {"decoder_start_token_id": 0}, "adds to each score a learned number for the distance of query and key"),
        ("bloom", {}, "takes off each score a multiple of the distance of query and key (ALiBi)"),
        ("falcon", {"alibi": True, "head_dim": None}, "takes off each score a multiple of the distance"),
        ("xlnet", {"max_position_embeddings": None}, "compares each query with sines and cosines of the distance"),
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
    forget()
    app = opened("Positions")
    forget()
    assert not app.exception
    assert sentence in said(app)
    assert "for comparison" not in said(app)


def test_the_texts_places_are_compared_in_the_models_table(minilm: models.LoadedModel) -> None:
    app = opened("Positions")
    assert not app.exception
    (stripes, waves), *_, (header, numbers) = messages(app, "matrix")
    assert [panel["title"] for panel in stripes["panels"]] == [
        f"The paper's, sinusoidal: {kind}" for kind in ("sines", "cosines")
    ]
    assert stripes["panels"][0]["rows"][:3] == ["0 [CLS]", "1 the", "2 cat"]
    assert_close(waves[: 32 * 192].reshape(32, 192), positional.sinusoidal(32, 384)[:, ::2], relative=1e-6)
    assert [panel["title"] for panel in header["panels"]] == ["This model's, learned", "The paper's, sinusoidal"]
    assert header["panels"][0]["rows"][:3] == ["[CLS]", "the", "cat"]
    table = positional.table(minilm)[:13].astype(np.float64)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    assert_close(numbers[: 13 * 13].reshape(13, 13), table @ table.T, relative=1e-6)
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


def test_the_order_test_and_the_split_have_the_numbers_of_the_models_own_runs(minilm: models.LoadedModel) -> None:
    app = opened("Positions", section="Does it matter", split_head="3")
    ids = torch.tensor([record(minilm, EXAMPLE).encoding.ids])
    order = [0, *range(11, 0, -1), 12]
    with torch.no_grad():
        before, after = (
            minilm.network(input_ids=one).last_hidden_state[0].double() for one in (ids, ids[:, torch.tensor(order)])
        )
    change = [(after[at] - before[token]).norm() / before[token].norm() for at, token in enumerate(order)]
    assert f"state changes by {100 * np.mean(change):.1f} % of its length on average" in said(app)
    assert "which is rounding: without them it cannot tell the order." in said(app)
    assert "In layer 0 alone 169 of 169 pairs of query and key have a weight above 0" in said(app)
    own = minilm.network.embeddings
    token = own.word_embeddings.weight[ids[0]] + own.token_type_embeddings.weight[0]
    cosine = torch.cosine_similarity(token, token + own.position_embeddings.weight[:13], dim=1).mean()
    assert f"leaves a mean cosine of {cosine:.3f} between a token's vector before and after" in said(app)
    assert "the scores of layer 0, head 3 differ between keys" in said(app)
    app.segmented_control(key="order").set_value("shift").run()
    assert "With every token 16 places later" in said(app)
    assert not app.exception


def test_by_distance_and_beyond_the_longest_text(minilm: models.LoadedModel) -> None:
    app = opened("Positions", section="By distance")
    text = said(app)
    weights = record(minilm, EXAMPLE).attention(layer=0, head=2)
    back = np.diagonal(weights, -1).mean()
    assert 0.995 < back < 1
    assert "Of distances up to 5 tokens, the mean of all heads is largest" in text
    assert (
        "Layer 0, head 2 gives most to one of them: nearly all of its attention, on average, goes 1 token back" in text
    )
    assert "Special tokens are left out" in text
    assert "**there are no pairs of sine and cosine to turn**" in text
    paper = positional.similarity_by_distance(positional.sinusoidal(512, 384))["mean"].to_numpy()
    assert f"The paper's falls until distance {np.flatnonzero(np.diff(paper) > 0)[0]}, then rises" in text
    section_opened(app, "Longer than trained")
    assert "for position 512 there is no vector" in said(app)
    with pytest.raises((IndexError, RuntimeError)):  # it cannot: so says the model itself
        minilm.network(input_ids=torch.full((1, 513), 2000))
    section_opened(app, "The kinds")
    assert "With Shaw, Transformer-XL, T5, RoPE and ALiBi a query and a key have the same score" in said(app)
    (table,) = app.dataframe
    assert table.value.set_index("kind")["here"].to_dict()["Learned (Gehring 2017)"] == "yes"
    assert not app.exception


def test_a_saved_trace_without_its_model_has_no_positions_to_show(tmp_path: Path) -> None:
    trace = replace(record(models.load("own-encoder"), "The cat sat."), model="somebody/else")
    inspector.save(trace, tmp_path / "t.npz")
    app = uploaded(opened("Positions"), (tmp_path / "t.npz").read_bytes())
    assert not app.exception
    problem = (
        "The model somebody/else of this saved trace is not at hand, and this section runs it or reads its weights."
    )
    assert said(app).count(problem) == 1


def test_one_token_has_no_other_order() -> None:
    app = opened("Positions", section="Does it matter", text="cat")
    assert "there is no other order" in said(app)
    assert not app.exception
