"""The part "Why this weight" and the four kinds of map on the page: what is sent, said and kept in the link."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import models
from inspector import flow, heads, record
from inspector.explain import why
from models import LoadedModel
from models.output_projection import find
from tests.closeness import assert_close
from tests.inspector.views.page import EXAMPLE, message, opened, said


def steps(app: AppTest) -> dict[str, Any] | None:
    """Return the message to the component of the steps; None where it is not drawn."""
    for element in app.get("bidi_component"):
        if element.proto.component_name == "headlight_steps":
            return json.loads(element.proto.json)
    return None


PLACE = {"layer": "1", "head": "7"}


def test_a_cell_is_explained_on_the_page(minilm: LoadedModel) -> None:
    app = opened(why="true", query="5", key="6", **PLACE)
    assert not app.exception
    cell = why(record(minilm, EXAMPLE), layer=1, head=7, query=5, key=6)
    shown = steps(app)
    assert [step["formula"] for step in shown["steps"]] == [
        "q · k",
        "× 1/√32 = 0.177",
        f"− log Σ exp = {cell.normaliser:.3g}",
        "exp: the weight",
    ]
    assert shown["steps"][0]["value"] == f"{cell.steps[0].value:.3g}"
    assert float(shown["steps"][1]["value"]) == pytest.approx(cell.score, rel=5e-3)
    assert float(shown["steps"][-1]["value"]) == pytest.approx(cell.weight, rel=5e-3)
    assert f"Rank {cell.rank} of 13 in its row" in said(app)
    assert f"{len(cell.carriers())} of 32 dimensions alone reach 80 % of the dot product" in said(app)
    assert "RoPE" not in said(app)


def test_it_opens_on_the_cell_that_shows_what_the_page_says_of_the_head() -> None:
    """A head of repetition opens on a token that looks at what followed its like, not on the first row."""
    text = "To be or not to be, that is the question: to be or not to be."
    trace = record(models.load("mini-gpt"), text)
    chosen = heads.with_choice(heads.measure(trace), trace)
    labels = heads.label(chosen)
    at = chosen[labels == "induction"].iloc[0]
    app = opened(model="mini-gpt", text=text, why="true", layer=str(at["layer"]), head=str(at["head"]))
    shown = steps(app)
    (query, key) = (app.selectbox(key=f"why {side}").value for side in ("query", "key"))
    targets = heads.induction_targets(trace.tokens, trace.encoding.words)
    map_ = trace.attention(layer=int(at["layer"]), head=int(at["head"]))
    pairs = targets.pairs(slice(0, len(trace.tokens)), slice(0, len(trace.tokens)))
    assert (query, key) == np.unravel_index(np.where(pairs, map_, 0).argmax(), map_.shape)
    assert trace.tokens[key - 1] == trace.tokens[query]
    assert shown["chosen"] == shown["positions"].index(key)


def test_the_panel_is_closed_until_asked_for() -> None:
    assert steps(opened(**PLACE)) is None


def test_the_steps_of_all_keys_are_those_of_the_map(minilm: LoadedModel) -> None:
    trace = record(minilm, EXAMPLE)
    shown = steps(opened(why="true", query="5", key="6", **PLACE))
    assert shown["keys"] == list(trace.tokens)
    assert shown["chosen"] == 6
    scores, weights = (numbers(layer=1, head=7)[5] for numbers in (trace.scores, trace.attention))
    assert_close(shown["steps"][1]["numbers"], scores, relative=1e-5)
    assert_close(shown["steps"][3]["numbers"], weights, relative=1e-6)
    assert_close(shown["steps"][2]["numbers"], np.log(weights), relative=1e-4)


def test_a_masked_key_has_no_bar_and_a_true_minus() -> None:
    app = opened(model="own-decoder", why="true", query="2", key="5")
    masked = next(step for step in steps(app)["steps"] if step["formula"] == "mask")
    assert masked["value"] == "−∞"
    assert masked["numbers"][5] is None
    assert masked["told"][5] == "masked"
    assert not any("-" in told for step in steps(app)["steps"] for told in step["told"] if "e-" not in told)


def test_steps_have_files_lines_and_a_slide() -> None:
    app = opened(why="true", query="5", key="6", state={"why-menu": True}, **PLACE)
    names = [button.proto.id for button in app.get("download_button")]
    for ending in ("png", "svg", "csv"):
        assert any(f"cell5-6.{ending}" in name for name in names)
    assert any("inspector.explain.why(trace, layer=1, head=7" in code.value for code in app.code)


def test_the_pinned_query_and_its_strongest_key_are_explained(minilm: LoadedModel) -> None:
    app = opened(why="true", query="4", **PLACE)
    row = record(minilm, EXAMPLE).attention(layer=1, head=7)[4]
    assert app.selectbox(key="why query").value == 4
    assert app.selectbox(key="why key").value == 1 + int(row[1:-1].argmax())
    app.selectbox(key="why key").set_value(9).run()
    assert app.query_params["key"] == "9"
    app.selectbox(key="why query").set_value(2).run()
    assert app.query_params["query"] == "2"
    assert "key" not in app.query_params
    assert message(app, "head")[0]["chosen"] == [2]


@pytest.mark.parametrize(
    ("model", "more", "sentence"),
    [
        ("own-decoder", {"query": "2", "key": "5"}, "still to come"),
        ("translator", {"stream": "cross"}, "Rebuilt from q and k alone"),
        ("translator", {"stream": "decoder", "kind": "rollout"}, "Rollout from"),
        ("translator", {"stream": "cross", "kind": "rollout"}, "cross-attention leads from the target to the source"),
    ],
)
def test_every_stream_has_its_panel(model: str, more: dict[str, str], sentence: str) -> None:
    app = opened(model=model, why="true", **more)
    assert not app.exception
    assert sentence in said(app)


def test_what_a_link_asks_for_in_vain_is_said() -> None:
    app = opened(why="true", key="99", kind="colours")
    assert not app.exception
    assert 'The link asks for key "99"; they go from 0 to 12' in said(app)
    assert 'The link asks for kind "colours"; it can be weights, scores, norm-weighted, rollout' in said(app)


def test_scores_are_sent_with_their_masked_cells() -> None:
    app = opened(model="own-decoder", kind="scores", layer="1", head="2")
    header, numbers = message(app, "head")
    scores = record(models.load("own-decoder"), EXAMPLE).scores(layer=1, head=2)
    assert header["diverging"]
    sent = numbers.reshape(scores.shape)
    np.testing.assert_array_equal(np.isnan(sent), np.isneginf(scores))
    np.testing.assert_array_equal(sent[~np.isnan(sent)], scores[np.isfinite(scores)])
    assert header["vmax"] == pytest.approx(np.abs(scores[np.isfinite(scores)]).max())
    assert "Grey cells are masked" in said(app)


def test_norms_are_those_of_the_model(minilm: LoadedModel) -> None:
    app = opened(kind="norm-weighted", hide="true", words="true", **PLACE)
    expected = flow.norm_weighted(record(minilm, EXAMPLE), find(minilm), layer=1, head=7)[1:-1, 1:-1]
    numbers = message(app, "head")[1]
    np.testing.assert_array_equal(numbers.reshape(expected.shape), expected)
    assert "a norm is no share to add up" in said(app)
    assert "What each key hands over" in said(app)


@pytest.mark.parametrize("link", [{"query": "3"}, {}])
def test_a_rollout_follows_the_pinned_query_or_the_first_word(minilm: LoadedModel, link: dict[str, str]) -> None:
    app = opened(kind="rollout", **link)
    assert not app.exception
    token, name = (3, "`sat`") if link else (1, "the 1st `the`")
    trace = record(minilm, EXAMPLE)
    assert f"Rollout from {token} {trace.tokens[token]}" in said(app)
    mixed = np.eye(13)[token]  # e A'_5 ... A'_0 (Abnar & Zuidema 2020)
    for layer in reversed(range(6)):
        mean = trace.attention(layer=layer).astype(np.float64).mean(axis=0)
        mixed = mixed @ (np.eye(13) + mean) / 2
    assert mixed.argmax() == 0
    sentence = f"After layer 5 {name} goes back to `[CLS]` by {mixed[0]:.0%}, to itself by {mixed[token]:.0%}."
    assert [header.value for header in app.header] == [sentence.replace("%", " %")]
    assert ("No token is pinned" in said(app)) is not bool(link)


def test_norms_of_a_trace_without_its_model_are_a_sentence(minilm: LoadedModel, tmp_path: Path) -> None:
    from dataclasses import replace

    from inspector.views.attention import quantities
    from inspector.views.shell import session

    lone = session.Inspected(replace(record(minilm, EXAMPLE), model="somebody/else"), None)
    with pytest.raises(ValueError, match=r"'somebody/else' of this saved trace is not at hand"):
        quantities.reader(lone, quantities.QUANTITIES["norm-weighted"], site=lone.trace.sites[0], number=0)


def test_the_panel_opens_on_the_cell_that_the_page_tells(minilm: LoadedModel) -> None:
    tokens = record(minilm, EXAMPLE).tokens
    app = opened(why="true", **PLACE)
    assert [app.selectbox(key=f"why {side}").value for side in ("query", "key")] == message(app, "head")[0]["marked"]
    assert [tokens[at] for at in message(app, "head")[0]["marked"]] == ["on", "mat"]
    rests = opened(why="true", layer="2", head="1")  # which tells a link below its sentence
    told = re.search(r"`(\w+)` gives .* to `(\w+)`", said(rests))
    assert told
    named = [tokens.index(token) for token in told.groups()]
    assert [rests.selectbox(key=f"why {side}").value for side in ("query", "key")] == named


def test_the_number_of_a_single_weight_leads_to_its_proof() -> None:
    app = opened(**PLACE)
    assert re.search(r"`on` gives \[70 %\]\(#why .*\) of its", app.header[0].value)
    assert "(#why" not in opened(layer="0", head="2").header[0].value  # a mean over all rows is no single weight
