"""The lab's page through AppTest: start, stop, links, bad combinations, and what is kept."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from inspector.sections.time.recurrent import IN_THE_LAB
from inspector.views.lab.presets import PRESETS, RECURRENCE
from models.training import lab
from models.training.tiny import words
from models.training.tiny.experiments import Experiment
from tests.inspector.views.page import message, opened, pressed, said, turned, with_menus

OPEN = {"lab_settings": True, "lab_a_more": True, "lab_b_more": True}  # the panel of settings, and its further switches
TINY = {"lab_length": "2", "lab_steps": "20", "lab_a_layers": "1", "lab_b_layers": "1"}


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


def labels(app: AppTest) -> list[str]:
    return [one.label for one in app.button]


def test_the_page_opens_with_a_question_and_nothing_trained() -> None:
    app = opened("Lab")
    assert not app.exception
    assert "Nothing is trained yet" in said(app)
    assert PRESETS[0].question in [one.value for one in app.header]
    assert "A is as in the paper. B differs from A: positions none instead of sinusoidal." in said(app)
    assert [one.label for one in app.expander if one.label == "Settings" and not one.proto.expanded] == ["Settings"]
    assert "Stop" not in labels(app)
    (empty,) = app.get("plotly_chart")
    lines = json.loads(empty.proto.spec)["data"]
    assert np.isnan([np.frombuffer(b64decode(line["y"]["bdata"])) for line in lines]).all()


def test_another_group_opens_its_first_experiment() -> None:
    app = opened("Lab")
    topics = list(dict.fromkeys(preset.topic for preset in PRESETS))
    for topic in (*topics[1:], topics[0]):
        app.selectbox(key="lab_topic").select(topic).run()
        first = next(preset for preset in PRESETS if preset.topic == topic)
        assert first.question in [one.value for one in app.header]
        assert app.selectbox(key="lab_experiment").value == first.name
        assert "What three seeds answered here" in [one.label for one in app.expander]


def test_a_closed_panel_draws_only_what_was_set() -> None:
    """A field that the link or the reader set stays drawn, else its value would leave the address."""

    def drawn(app: AppTest) -> set[str]:
        widgets = (*app.selectbox, *app.number_input, *app.toggle)
        return {widget.key for widget in widgets} - {"lab_topic", "lab_experiment", "lab_settings"}

    switches = {f"lab_{side}_{name}" for side in "ab" for name in vars(Experiment().a)}
    assert drawn(opened("Lab")) == set()
    every = opened("Lab", state=OPEN)
    assert drawn(every) == switches | {f"lab_{name}" for name in ("task", "length", "steps", "rate", "seeds")}
    assert len(every.selectbox) > 60
    linked = opened("Lab", lab_b_width="96", lab_a_clip="1.0")
    assert drawn(linked) == {"lab_b_width", "lab_a_clip"}
    assert "**A**, gradient clip 1.0\n**B**, width 96" in said(linked)
    every.selectbox(key="lab_b_width").set_value("96").run()
    every.session_state["lab_settings"] = False
    every.run()
    assert every.selectbox(key="lab_b_width").value == "96"
    assert "**B**, width 96" in said(every)


def test_start_trains_and_shows_all() -> None:
    app = opened("Lab", **TINY)
    pressed(app, "Start")
    assert not app.exception
    assert "Stop" not in labels(app)
    assert "One seed: a difference here may be chance." in said(app)
    table = app.dataframe[0].value
    assert table["side"].tolist() == ["A"] * 3 + ["B"] * 3
    assert table["digits"].tolist()[:3] == ["2", "4 (2x)", "8 (4x)"]
    results = app.session_state["lab"].results
    assert table["digits right"][0] == f"{results[0].trials[0].token_accuracy:.0%}"
    assert len(app.get("plotly_chart")) == 4  # the curves, the answer by place, the layers by depth and by step
    assert [panel["title"] for panel in message(app, "matrix")[0]["panels"]] == [
        "A: layer 0, head 0",
        "B: layer 0, head 0",
    ]
    shares = [f"{100 * one.trials[0].exact_accuracy:.0f} %" for one in results]
    assert [one.value for one in app.header] == [
        f"A (positions sinusoidal) has {shares[0]} of new texts right, B (positions none) {shares[1]}."
    ]
    assert "tests on 256 new texts after 20 steps" in said(app)
    curves = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    assert len([line for line in curves if line["mode"] == "markers"]) == 2
    assert "Wrong here: A " in said(app)
    for lines in (code.value for code in with_menus(app).code if "maps = " in code.value):
        given: dict[str, Any] = {}
        exec(lines, given)
        for result in results:  # of the one layer, all heads or the open one
            maps, seen = given["maps"][result.side], result.trials[0].attention["encoder"][0]
            np.testing.assert_array_equal(*(maps["encoder"][0], seen) if isinstance(maps, dict) else (maps, seen[0]))


def test_a_longer_text_of_the_link_is_shown_and_an_unknown_one_is_said() -> None:
    app = opened("Lab", **TINY, lab_times="4 times as long")
    pressed(app, "Start")
    (digits,) = (code.value for code in app.code if "import" not in code.value)
    assert f"read{' ' * 5}" in digits
    assert len(digits.splitlines()[0].split()[1]) == 8
    app = opened("Lab", **TINY, lab_times="9 times")
    pressed(app, "Start")
    assert not app.exception
    assert 'The link asks for lab_times "9 times"' in said(app)


def test_repeats_show_the_best_head_of_each_side_and_its_score() -> None:
    """A decoder on either side, from a link; the maps are those of the heads with the largest scores."""
    link = {**TINY, "lab_task": "repeats", "lab_b_positions": "rope", "lab_a_width": "24", "lab_a_dropout": "0.1"}
    app = opened("Lab", state=OPEN, **link)
    assert "width 24, dropout 0.1" in said(app)
    pressed(app, "Start")
    assert not app.exception
    trials = {one.side: one.trials[0] for one in app.session_state["lab"].results}
    best = {side: divmod(int(trial.induction.argmax()), trial.induction.shape[1]) for side, trial in trials.items()}
    assert [panel["title"] for panel in message(app, "matrix")[0]["panels"]] == [
        f"{side}: layer {layer}, head {head}" for side, (layer, head) in best.items()
    ]
    assert f"The best head of A gives {100 * trials['A'].induction.max():.0f} % of its attention" in said(app)
    assert "induction score" in app.get("plotly_chart")[0].proto.spec
    app.selectbox(key="lab_a_shape").set_value("encoder").run()
    assert "the task repeats asks for the next symbol of one text" in said(app)


def test_kinds_are_tested_on_words_that_no_training_saw() -> None:
    app = opened("Lab", **TINY, lab_task="kinds", lab_b_embeddings="frozen", lab_b_positions="sinusoidal")
    pressed(app, "Start")
    assert not app.exception
    assert "B (embeddings frozen)" in said(app)
    table = next(one.value for one in app.dataframe if "word" in one.value)
    held_out = {words.WORDS[place] for place in words.HELD_OUT}
    assert set(table["word"]) <= held_out
    trial = app.session_state["lab"].results[1].trials[0]
    assert table["B"].tolist() == [list(words.KINDS)[kind] for kind in trial.answer]
    app.selectbox(key="lab_task").set_value("copy").run()
    assert "its symbols have no trained embeddings" in said(app)


def test_a_decoder_beside_an_encoder_decoder() -> None:
    app = opened("Lab", **TINY, lab_a_shape="decoder", lab_b_shape="encoder-decoder", lab_stream="cross")
    pressed(app, "Start")
    assert not app.exception
    panels = message(app, "matrix")[0]["panels"]
    assert [panel["title"] for panel in panels] == ["A: layer 0, head 0", "B: cross, layer 0, head 0"]


def test_an_rnn_with_attention_has_one_map_and_without_none() -> None:
    """The switches of a Transformer are grey, and wait: B keeps "positions none" of the opened page unheard.

    Page Time links to the experiment by its name.
    """
    app = opened("Lab", **IN_THE_LAB)
    assert next(preset for preset in RECURRENCE if preset.name == "RNN with attention or without").question in said(app)
    app = opened("Lab", state=OPEN, **TINY, lab_a_network="RNN with attention", lab_b_network="RNN")
    assert "B differs from A: network RNN instead of RNN with attention." in said(app)
    assert "In an RNN act: cell, width, learning rate," in said(app)
    assert app.selectbox(key="lab_b_positions").disabled
    assert not app.selectbox(key="lab_b_cell").disabled
    pressed(app, "Start")
    assert not app.exception
    trials = {one.side: one.trials[0] for one in app.session_state["lab"].results}
    assert [panel["title"] for panel in message(app, "matrix")[0]["panels"]] == ["A: alignment"]
    assert "B has no attention, so there is no map: one vector of 48 numbers" in said(app)
    assert "Its query is the decoder's previous state" in said(app)
    looks = (trials["A"].attention["cross"][0][0].argmax(-1) == [2, 1]).sum()
    assert f"In {looks} of 2 steps A looks most at the digit that it has to write" in said(app)
    assert len(app.get("plotly_chart")) == 2  # the curves, and the answer by place; an RNN has no layers to measure
    assert "Layer by layer" not in said(app)
    (lines,) = (code.value for code in with_menus(app).code if "maps = " in code.value)
    given: dict[str, Any] = {}
    exec(lines, given)
    np.testing.assert_array_equal(given["maps"]["A"], trials["A"].attention["cross"][0][0])
    app.selectbox(key="lab_task").set_value("repeats").run()
    assert "A cannot be built: the task repeats is for a Transformer" in said(app)


def test_an_rnn_beside_a_transformer() -> None:
    link = {**TINY, "lab_b_layers": "2"}
    app = opened("Lab", **link, lab_a_network="RNN with attention", lab_b_shape="encoder-decoder")
    assert "B differs from A: network Transformer instead of RNN with attention, shape encoder-decoder" in said(app)
    pressed(app, "Start")
    assert not app.exception
    assert [panel["title"] for panel in message(app, "matrix")[0]["panels"]] == [
        "A: alignment",
        "B: cross, layer 1, head 0",
    ]
    assert "nothing is measured of A" in said(app)


def test_more_seeds_are_counted() -> None:
    app = opened("Lab", **TINY, lab_seeds="2")
    pressed(app, "Start")
    assert "2 seeds: thin lines are single seeds" in said(app)
    assert len(app.session_state["lab"].results) == 4


def test_results_survive_other_pages_and_changed_settings_are_said() -> None:
    app = opened("Lab", **TINY)
    pressed(app, "Start")
    turned(app, "Costs")
    turned(app, "Lab")
    assert app.number_input(key="lab_steps").value == 20
    assert app.dataframe
    assert "The settings have changed" not in said(app)
    app.session_state["lab_settings"] = True
    app.run()
    app.selectbox(key="lab_task").set_value("sort").run()
    assert "The settings have changed" in said(app)
    assert "A is as in the paper, but for layers 1." in said(app)
    assert [one.value for one in app.header] == ["What does the difference between A and B change?"]
    assert app.dataframe


def test_a_stopped_training_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop is a click, and a click ends the run of the script at its next call: as here, after two reports."""
    whole = lab.train_both

    def cut(experiment: Experiment):
        yield from list(whole(experiment))[:3]

    monkeypatch.setattr(lab, "train_both", cut)
    app = opened("Lab", **TINY)
    pressed(app, "Start")
    assert not app.exception
    assert "Stopped before the end of 20 steps: B, seed 0, after step 10." in said(app)
    assert app.dataframe


def test_a_diverged_training_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(experiment: Experiment):
        for course in whole(experiment):
            if course.side == "B":
                yield lab.Course("B", course.run, course.network, (lab.LabReport(7, float("nan"), 0.0, 0.0, 0.1),))
            else:
                yield course

    whole = lab.train_both
    monkeypatch.setattr(lab, "train_both", broken)
    app = opened("Lab", **TINY)
    pressed(app, "Start")
    assert not app.exception
    assert "B, seed 0: the loss became nan at step 7." in said(app)
    assert app.dataframe[0].value["side"].tolist() == ["A"] * 3


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"lab_a_heads": "5"}, "A cannot be built: width 48 does not divide into 5 heads"),
        ({"lab_b_positions": "rope", "lab_b_score": "additive"}, "B cannot be built: positions 'rope' with score"),
        ({"lab_a_memory": "4", "lab_a_shape": "decoder"}, "A cannot be built: memory is 4 without segments"),
    ],
)
def test_a_bad_combination_is_its_sentence(link: dict[str, str], sentence: str) -> None:
    app = opened("Lab", **link)
    assert not app.exception
    assert sentence in said(app)
    assert button(app, "Start").disabled


def test_a_link_restores_all_settings() -> None:
    app = opened(
        "Lab",
        lab_task="sort",
        lab_steps="120",
        lab_rate="0.01",
        lab_seeds="4",
        lab_b_scale="none",
        lab_b_residual="false",
    )
    assert not app.exception
    assert (app.selectbox(key="lab_task").value, app.number_input(key="lab_steps").value) == ("sort", 120)
    assert (app.selectbox(key="lab_rate").value, app.number_input(key="lab_seeds").value) == ("0.01", 4)
    assert (app.selectbox(key="lab_b_scale").value, app.toggle(key="lab_b_residual").value) == ("none", False)


def test_a_link_out_of_range_is_a_sentence() -> None:
    app = opened("Lab", lab_steps="99999", lab_length="1", lab_seeds="x", lab_task="fly", lab_b_score="**x**")
    for fact in (
        'lab_steps "99999"; they go from 10 to 2000. You see 300',
        'lab_length "1"; they go from 2 to 16. You see 8',
        'lab_seeds "x"; they go from 1 to 5. You see 1',
        'lab_task "fly"; it can be copy, reverse, sort, repeats, kinds. You see reverse',
        'lab_b_score "??x??"; it can be dot, additive',
    ):
        assert f"The link asks for {fact}" in said(app)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_question_is_short(preset) -> None:
    first, told = re.split(r"(?<=[.?:]) ", preset.question)[0], preset.question
    for sentence, words_, numbers in ((first, 30, 2), (told, 50, 4)):
        assert len(sentence.split()) <= words_
        assert len(re.findall(r"\d+", sentence)) <= numbers


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_sets_all_it_names(preset) -> None:
    app = opened("Lab", lab_length="3", lab_a_heads="8", lab_b_residual="false", lab_topic=preset.topic)
    assert app.selectbox(key="lab_experiment").value is None
    app.selectbox(key="lab_experiment").set_value(preset.name).run()
    assert not app.exception
    assert preset.question in [one.value for one in app.header]
    assert preset.measured in said(app)
    assert not button(app, "Start").disabled
