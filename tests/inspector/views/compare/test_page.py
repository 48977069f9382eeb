"""The page Compare without a browser: its panels, what a link restores, and what it says of bad ones."""

from __future__ import annotations

import csv
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inspector import maps, record
from inspector.head_distances import between, matches, measure
from inspector.views.compare import panels as compare_panels
from models import LoadedModel, load
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, save
from tests.inspector.views.page import (
    EXAMPLE,
    messages,
    numbers,
    opened,
    said,
    sentence,
    sentences,
    turned,
    with_menus,
)


def test_it_begins_with_the_open_head_and_the_next_layer(minilm: LoadedModel) -> None:
    app = turned(opened(layer="5", head="2"), "Compare")
    assert [app.selectbox(key=f"{name}_layer").value for name in "ab"] == [5, 0]
    a, b, apart = messages(app, "head")
    trace = record(minilm, EXAMPLE)
    weights = [trace.attention(layer=layer, head=2) for layer in (5, 0)]
    assert_close(a[1].reshape(13, 13), weights[0], relative=1e-6)
    assert_close(apart[1].reshape(13, 13), weights[0] - weights[1], relative=1e-6)
    assert a[0]["vmax"] == b[0]["vmax"] == pytest.approx(max(float(one.max()) for one in weights))
    assert a[0]["linked"] == b[0]["linked"] == apart[0]["linked"]
    assert a[0]["linked"] == {"name": "compare", "queries": list(range(13)), "keys": list(range(13))}


def test_a_link_restores_four_panels(minilm: LoadedModel) -> None:
    link = {"panels": "4", "a_layer": "0", "b_layer": "1", "c_layer": "2", "d_layer": "3"}
    app = opened("Compare", d_head="9", own_scale="true", **link)
    app.toggle(key="c_mean").set_value(True).run()
    titles = [header["title"] for header, _ in messages(app, "head")]
    assert titles[2:] == ["C: layer 2, mean over heads", "D: layer 3, head 9", "A minus B"]
    assert len({header["vmax"] for header, _ in messages(app, "head")[:4]}) == 4
    assert "each from 0 to its own largest weight" in said(app)
    _, (_, b), _, (_, d), (_, apart) = messages(opened("Compare", difference="D minus B", **link), "head")
    assert_close(apart, d - b, relative=1e-6)


def test_a_bad_link_is_a_sentence() -> None:
    app = opened("Compare", panels="9", a_layer="6", b_model="evil/<b>", difference="A minus Z", heads_of="D")
    for name, range in (
        ("panels", "they go from 2 to 4"),
        ("a_layer", "they go from 0 to 5"),
        ("b_model", ""),
        ("difference", "it can be A minus B, B minus A"),
        ("heads_of", "it can be A, B"),
    ):
        (sentence,) = (warning.value for warning in app.warning if f"The link asks for {name} " in warning.value)
        assert range in sentence
    assert len(messages(app, "head")) == 3


def test_a_panel_is_added_and_removed(minilm: LoadedModel) -> None:
    app = opened("Compare", a_layer="0", b_layer="3")
    app.selectbox(key="fill").select("another").run()
    assert app.query_params["panels"] == "3"
    app.selectbox(key="c_layer").select(5).run()
    app.button(key="remove-B").click().run()
    assert not app.exception
    assert [app.selectbox(key=f"{name}_layer").value for name in "ab"] == [0, 5]
    assert len(messages(app, "head")) == 3
    assert not [button for button in app.button if button.label.startswith("Remove")]


@pytest.mark.parametrize("preset", ["layers", "heads", "models", "texts"])
def test_one_click_fills_the_panels(minilm: LoadedModel, preset: str) -> None:
    app = turned(opened(layer="3", head="11", b_mean="true", b_text="Something else."), "Compare")
    app.selectbox(key="fill").select(preset).run()
    assert not app.exception
    a, b, _ = (header["title"] for header, _ in messages(app, "head"))
    assert (a, b) == {
        "layers": ("A: layer 3, head 11", "B: layer 4, head 11"),
        "heads": ("A: layer 3, head 11", "B: layer 3, head 0"),
        "models": ("A: layer 3, mean over heads", "B: layer 3, mean over heads"),
        "texts": ("A: layer 3, head 11", "B: layer 3, head 11"),
    }[preset]
    assert app.selectbox(key="b_model").value == ("mini-bert" if preset == "models" else "minilm")
    assert bool(app.text_area(key="b_text").value) == (preset == "texts")


def test_the_field_of_a_head_reads_mean_under_the_mean_over_heads_and_its_head_comes_back() -> None:
    app = opened("Compare", a_layer="3", a_head="11")
    app.toggle(key="a_mean").set_value(True).run()
    assert [field.value for field in app.text_input if field.label == "Head"] == ["mean"]
    assert [field.key for field in app.selectbox if field.label == "Head"] == ["b_head"]
    app.selectbox(key="a_layer").select(4).run()
    app.toggle(key="a_mean").set_value(False).run()
    assert app.selectbox(key="a_head").value == 11


def test_equal_maps_are_called_equal(minilm: LoadedModel) -> None:
    app = opened("Compare", a_layer="2", b_layer="2", a_head="3", b_head="3")
    assert "$A_{A} - A_{B} = 0$ everywhere: the two maps are equal." in said(app)
    assert "−0" not in said(app)


def test_two_tokenizers_are_compared_by_words(minilm: LoadedModel) -> None:
    text = "Antidisestablishmentarianism is a long word."
    app = opened("Compare", text=text, b_model="mini-bert", a_layer="1", b_layer="1", a_head="0", b_head="0")
    header, weights = messages(app, "head")[2]
    words = ["[CLS]", "Antidisestablishmentarianism", "is", "a", "long", "word", ".", "[SEP]"]
    assert header["queries"] == header["keys"] == words
    assert numbers(app)["shared words"] == "8"
    assert "its words are compared, 8 of them" in said(app)
    assert "Nothing is left over." in said(app)
    a, b = (record(model, text) for model in (minilm, load("mini-bert")))
    pieces = [a.encoding.words.count(0), b.encoding.words.count(0)]
    assert pieces[0] != pieces[1]
    means = [
        trace.attention(layer=1, head=0)[1 : 1 + count, 1 : 1 + count].sum(axis=1).mean()
        for trace, count in zip((a, b), pieces, strict=True)
    ]
    assert_close(weights.reshape(8, 8)[1, 1], means[0] - means[1], relative=1e-6)
    linked = [header["linked"]["queries"] for header, _ in messages(app, "head")]
    assert [one.count(linked[2][1]) for one in linked] == [*pieces, 1]


def test_texts_that_share_nothing_are_a_sentence(minilm: LoadedModel) -> None:
    app = opened("Compare", text="one two", b_text="cat dog")
    app.toggle(key="hide").set_value(True).run()
    assert "share no token" in said(app)
    assert len(messages(app, "head")) == 2
    assert not app.header  # there is nothing to say of what they share
    assert "Not every two panels can be matched" in said(app)


def test_a_click_on_a_strip_opens_the_head_in_its_panel(minilm: LoadedModel) -> None:
    app = opened("Compare", a_layer="1", a_head="7", heads_of="B", b_layer="4", b_head="3")
    across, within = (header for header, _ in messages(app, "grid"))
    assert (across["names"], across["columns"], across["selected"], across["heads"]) == (["head 3"], "layer", [0, 4], 6)
    assert (within["names"], within["columns"], within["selected"], within["heads"]) == (
        ["layer 4"],
        "head",
        [0, 3],
        12,
    )


def test_the_plane_and_the_strips_have_files_and_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, bytes] = {}

    def keep(file: str, make: Callable[[], bytes], *_: object, **__: object) -> None:
        made[file] = make()

    monkeypatch.setattr("inspector.views.shell.downloads.button", keep)
    app = opened("Compare", a_layer="1", a_head="7", further="Across layers and heads", state={"strips-menu": True})
    assert not app.exception
    given: dict[str, Any] = {}
    exec(next(code.value for code in app.code if "across = [" in code.value), given)
    for name, (_, cells) in zip(("across", "within"), messages(app, "grid"), strict=True):
        assert_close(np.ravel(given[name]), (cells / 255) ** 2, relative=1 / 255)
    assert made["heads-of-a-across-layers.png"].startswith(b"\x89PNG")
    assert made["heads-of-a-across-heads.svg"].startswith(b"<svg ")
    assert len(made["heads-of-a.csv"].splitlines()) == 1 + 72

    app = opened("Compare", a_layer="1", a_head="7", further="All heads on a plane", state={"map-of-heads-menu": True})
    assert not app.exception
    exec(next(code.value for code in app.code if "points, share" in code.value), given)
    rows = list(csv.DictReader(made["heads-on-a-plane.csv"].decode().splitlines()))
    assert_close([[float(row["x"]), float(row["y"])] for row in rows], given["points"], relative=1e-6)
    assert (rows[19]["layer"], rows[19]["head"]) == ("1", "7")


def test_the_heads_of_one_model_are_matched_among_themselves(minilm: LoadedModel) -> None:
    app = opened("Compare", a_layer="1", a_head="7", b_layer="4", b_head="3")
    ((header, values),) = messages(app, "matrix")
    (panel,) = header["panels"]
    assert (panel["rows"][19], panel["columns"][51]) == ("layer 1, head 7", "layer 4, head 3")
    assert panel["marked"] == [19]
    assert values.shape == (72 * 72,)
    assert float(numbers(app)["divergence"].split()[0]) == pytest.approx(values.reshape(72, 72)[19, 51], rel=0.01)


def test_the_heads_of_two_models_are_matched_and_a_match_opens_its_pair(minilm: LoadedModel) -> None:
    app = opened("Compare", b_model="mini-bert")
    ((header, values),) = messages(app, "matrix")
    assert header["titles"] == {"row": "MiniLM", "column": "mini-BERT"}
    found = between(*(record(model, EXAMPLE) for model in (minilm, load("mini-bert"))))
    assert_close(values.reshape(72, 24), found.values, relative=1e-6)
    best = matches(found).query("mutual").iloc[0]
    button = app.button(key="match-0")
    assert button.label.startswith(f"layer {best.a_layer}, head {best.a_head} and layer {best.b_layer}, head")
    button.click().run()
    assert not app.exception
    titles = [header["title"] for header, _ in messages(app, "head")]
    assert titles[:2] == [
        f"A: layer {best.a_layer}, head {best.a_head}",
        f"B: layer {best.b_layer}, head {best.b_head}",
    ]
    assert app.query_params["b_model"] == "mini-bert"


def test_a_match_within_one_model_opens_both_heads(minilm: LoadedModel) -> None:
    app = opened("Compare", b_model="mini-bert", heads_pair="A alone")
    ((_, values),) = messages(app, "matrix")
    assert values.shape == (72 * 72,)
    best = matches(measure(record(minilm, EXAMPLE), stream="encoder")).query("mutual").iloc[0]
    app.button(key="match-0").click().run()
    assert not app.exception
    assert app.selectbox(key="b_model").value == "minilm"
    titles = [header["title"] for header, _ in messages(app, "head")]
    assert titles[:2] == [
        f"A: layer {best.a_layer}, head {best.a_head}",
        f"B: layer {best.b_layer}, head {best.b_head}",
    ]


def test_the_sentence_names_what_is_compared(minilm: LoadedModel) -> None:
    app = opened("Compare", a_layer="1", a_head="7", b_layer="2", b_head="7")
    a, b = (record(minilm, EXAMPLE).attention(layer=layer, head=7).astype(np.float64) for layer in (1, 2))
    (opening,) = sentences(app)
    assert opening.startswith("A (layer 1, head 7) and B (layer 2, head 7) look at ")
    assert f"on average {round(100 * np.abs(a - b).sum(axis=1).mean() / 2)} %" in opening
    row, column = np.unravel_index(np.abs(a - b).argmax(), a.shape)
    assert f"{round(100 * a[row, column])} % in A and {round(100 * b[row, column])} % in B" in opening
    app.selectbox(key="b_model").set_value("mini-bert").run()
    assert "B (mini&#45;BERT, layer 2" in sentence(app)
    assert app.query_params["b_model"] == "mini-bert"


def test_maps_beside_each_other_have_one_origin_and_one_cell(minilm: LoadedModel) -> None:
    app = opened("Compare", text="Antidisestablishmentarianism is long.", b_model="mini-bert")
    a, b, apart = (header for header, _ in messages(app, "head"))
    assert a["beside"] == b["beside"]
    assert (a["beside"]["rows"], a["beside"]["columns"]) == (max(len(one["queries"]) for one in (a, b)),) * 2
    assert apart["beside"] == {**a["beside"], "rows": 0, "columns": 0}  # one word for many pieces
    for header in (a, b, apart):
        assert {*header["queries"]} <= {*a["beside"]["queries"]}
        assert {*header["keys"]} <= {*a["beside"]["keys"]}
    assert a["alone"]
    assert "alone" not in messages(opened("Compare", with_lines="true"), "head")[0][0]


def test_the_files_and_the_lines_give_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, bytes] = {}

    def keep(file: str, make: Callable[[], bytes], *_: object, **__: object) -> None:
        made[file] = make()

    monkeypatch.setattr("inspector.views.shell.downloads.button", keep)
    app = with_menus(
        opened("Compare", text="A long antidisestablishment.", b_model="mini-bert", hide="true", b_head="2")
    )
    assert not app.exception
    names = ("compared", "compared-a", "compared-b", "compared-a-minus-b")
    assert {f"{name}.{ending}" for name in names for ending in ("png", "svg")} <= set(made)
    assert made["compared.png"].startswith(b"\x89PNG")
    assert made["compared.svg"].count(b">query</text>") == 3
    header, apart = messages(app, "head")[2]
    table = list(csv.reader(made["compared-a-minus-b.csv"].decode().splitlines()))
    assert_close(np.array([row[1:] for row in table[1:]], float).ravel(), apart, relative=1e-6)
    given: dict[str, Any] = {}
    exec(next(code.value for code in app.code if "compare.subtract" in code.value), given)
    np.testing.assert_array_equal(given["found"].values.ravel(), apart)
    assert given["found"].keys == tuple(header["keys"])
    exec(next(code.value for code in app.code if "head_distances.between" in code.value), given)
    assert_close(given["found"].values.ravel(), messages(app, "matrix")[0][1], relative=1e-6)


def test_three_streams_and_other_shapes_stand_beside_each_other() -> None:
    link = {"model": "own-encoder-decoder", "text": "A cat.", "target": "My dog sat."}
    app = opened("Compare", a_stream="cross", b_stream="cross", **link)
    assert messages(app, "head")[0][0]["queries"][:2] == ["[CLS] → my", "my → dog"]
    app.selectbox(key="b_model").select("own-decoder").run()
    assert not app.exception
    assert "Cannot be shown" not in said(app)
    assert "Not every two panels can be matched: heads are matched where both read the same text" in said(app)
    assert app.segmented_control(key="heads_pair").options == ["A alone"]


def test_a_long_text_is_compared_by_its_beginning(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "WHOLE", 8)
    monkeypatch.setattr(maps, "WINDOW", 6)
    app = opened("Compare", a_layer="1", a_head="7")
    weights = record(minilm, EXAMPLE).attention(layer=1, head=7)
    assert_close(messages(app, "head")[0][1].reshape(6, 6), weights[:6, :6], relative=1e-6)
    assert "is compared by its first" in said(app)
    assert numbers(app)["shared tokens"] == "6"


FORMULAS = {  # as the papers have them
    "bert": r"softmax}(QK^\top / \sqrt{d_k})$ with $d_k$ = 8",
    "t5": r"softmax}(QK^\top + B)$",  # no scale, a bias (Raffel et al. 2020)
    "gemma2": r"\tanh(QK^\top / \sqrt{d_k} / 50)",  # soft-cap (Gemma Team 2024)
}


@pytest.fixture(scope="module")
def panels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The part of a panel that its caption reads, of a tiny model of each family."""
    made = {}
    for family in CAPTURED:
        if family.name in FORMULAS:
            folder = tmp_path_factory.mktemp(family.name)
            save(family, folder)
            trace = record(load(folder), "the cat sat")
            attention = trace.attentions[0]
            made[family.name] = SimpleNamespace(record=attention, site=attention.site, name=family.name)
    return made


def test_the_caption_is_the_formula_of_the_panels_own_models(panels: dict[str, Any]) -> None:
    for name, expected in FORMULAS.items():
        assert expected in compare_panels.formula([panels[name]])
    assert "sqrt" not in compare_panels.formula([panels["t5"]])
    both = compare_panels.formula([panels["bert"], panels["t5"]])
    assert both == " ".join(f"{name}: {compare_panels.formula([panels[name]])}" for name in ("bert", "t5"))
    assert compare_panels.formula([panels["bert"]] * 2) == compare_panels.formula([panels["bert"]])


def test_it_subtracts_where_tokens_agree() -> None:
    app = opened("Compare", b_text="The cat sat on a mat.", a_layer="3", a_head="7", b_layer="3", b_head="7")
    assert len(messages(app, "head")) == 3
    assert numbers(app)["shared tokens"] == "8"  # [CLS] the cat sat on mat . [SEP]


def test_it_says_what_it_cannot_compare() -> None:
    assert "no visible character" in said(opened("Compare", a_text=" ", b_text="\u200b"))


def test_sides_a_and_b_stand_beside_each_other_and_follow_their_switches() -> None:
    state = {"switches.open": True, "switches.group": "Attention"}
    ids = ["mini-bert?shared_query_key=true", "mini-bert?scale=none"]
    app = opened("Compare", state=state, model=ids[0], text="A cat.")
    app.selectbox(key="fill").select("A and B").run()
    assert ["".join(app.query_params[f"{name}_model"]) for name in "ab"] == [ids[0], "mini-bert"]
    app.selectbox(key="switches.B.scale").select("none").run()
    assert not app.exception
    assert ["".join(app.query_params[f"{name}_model"]) for name in "ab"] == ids
    assert "The link asks" not in said(app)
    (_, weights), (_, others), *_ = messages(app, "head")
    place = {"layer": app.selectbox(key="a_layer").value, "head": app.selectbox(key="a_head").value}
    for id, drawn in zip(ids, (weights, others), strict=True):
        wanted = record(load(id), "A cat.").attention(**place)
        np.testing.assert_array_equal(drawn[: wanted.size].reshape(wanted.shape), wanted)
    assert "(mini&#45;BERT with W&#95;Q &#61; W&#95;K on, layer" in said(app)
    assert said(app).count("Trained&#44; then changed&#58; ") == 2
