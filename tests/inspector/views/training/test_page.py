"""The page Training through Streamlit's own AppTest: as it is shipped, as another model, and with damaged files."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

from inspector.sections import registry
from models import checkpoints, train
from models.training import corpus, history
from models.training.recipes import MINI_BERT, MINI_GPT, RECIPES
from tests.closeness import assert_close
from tests.inspector.views.page import messages, opened, said, section_opened, sentence, with_menus

SHIPPED = checkpoints.FOLDER / "translator"
STEPS = [str(step) for step in history.read_replay(SHIPPED).steps]
DATA = history.section(history.read_card(SHIPPED), "Data").splitlines()[-1].removeprefix("- ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints with a copy of the translator's files, and without its weights' 8 MB."""
    made = tmp_path / "translator"
    made.mkdir()
    for name in ("CARD.md", "config.json", "metrics.csv", "replay.safetensors"):
        shutil.copy(SHIPPED / name, made)
    save_file({"w": np.zeros((20, 50), np.float16)}, made / "model.safetensors")
    monkeypatch.setattr(checkpoints, "FOLDER", tmp_path)
    return made


def figures(app: AppTest) -> dict[str, dict]:
    """The figures that plotly was sent, by the heading over each."""
    found, heading = {}, ""
    for element in app.main:
        if element.type == "subheader":
            heading = element.value
        elif element.type == "plotly_chart":
            found[heading] = json.loads(element.proto.spec)
    return found


def seen_step(app: AppTest) -> str:
    """The step of the training that the slider shows."""
    return STEPS[app.select_slider[0].value]


def lines_run(app: AppTest) -> dict[str, Any]:
    """The names that the page's Python lines leave, and its tables by a part of the lines that make them."""
    given: dict[str, Any] = {}
    for lines in (code.value for code in with_menus(app).code):
        exec(lines, given)
        given |= {part: given["table"] for part in ("curves(history", "schedules(") if part in lines}
    return given


def test_the_page_opens_where_the_training_begins_with_a_head_that_gets_a_name() -> None:
    app = opened("Training")
    assert not app.exception
    assert app.title[0].value == "Training"
    assert "Cannot be shown" not in said(app)
    assert sentence(app).startswith("At step 0, no head follows one plain pattern; at the end ")
    assert seen_step(app) == "0"
    layer = messages(app, "head")[0][0]["layer"]
    assert list(figures(app)) == [f"The heads of layer {layer} as they learned"]
    assert re.search(r"\*\*Layer \d, head \d\*\*: .+ now, (?!several patterns|broad)", said(app))
    ((grid, _),) = messages(app, "grid")
    names = {name for row in grid["roles"]["names"] for name in row}  # framed by what each head does now
    assert names <= {"broad", "other"}
    given = lines_run(app)
    for name, (_, weights) in zip(("now", "end"), messages(app, "head"), strict=True):
        np.testing.assert_array_equal(given[name].astype(np.float32).ravel(), weights)


def test_the_loss_has_its_curves_and_the_learning_rate() -> None:
    app = opened("Training", section="Loss")
    assert "its valid loss fell from" in sentence(app)
    assert list(figures(app)) == ["Loss, accuracy and gradient by step", "Learning rate by step"]
    given = lines_run(app)
    curves, rates = given["curves(history"], given["schedules("]
    assert len(curves) == len(history.read_metrics(checkpoints.FOLDER / app.session_state["run"]))
    assert rates["step"].iloc[-1] == curves["step"].iloc[-1]


def test_the_matrices_and_what_was_trained() -> None:
    app = opened("Training", section="Size of the matrices")
    (grown,) = messages(app, "matrix")
    panel = grown[0]["panels"][0]
    assert panel["rows"][0] == "layer 0 attention q"
    doublings = lines_run(app)["doublings"].to_numpy()
    assert_close(doublings.ravel(), grown[1], relative=1e-5)
    assert panel["named"] == [int(doublings[:, -1].argmax()), doublings.shape[1] - 1]  # the sentence's, framed
    assert panel["rows"][panel["named"][0]] in sentence(app)
    section_opened(app, "What was trained")
    assert "One training, one seed (0)" in said(app)
    assert sentence(app).startswith("One training made this model: ")
    assert {metric.label: metric.value for metric in app.metric}["Seeds"] == "1"


def test_numbers_of_the_page_are_those_of_the_files(folder: Path) -> None:
    link = {"moment": "0", "sentence": "I bought a red book yesterday.", "replay_stream": "cross", "replay_layer": "1"}
    app = opened("Training", **link)
    assert not app.exception
    tensors = load_file(folder / "replay.safetensors")
    last = (folder / "metrics.csv").read_text(encoding="utf-8").splitlines()[-1].split(",")
    (now, first), (end, final) = messages(app, "head")
    assert (now["layer"], now["title"]) == (1, f"Layer 1, head {now['head']} at step 0")
    assert now["keys"][:3] == ["[CLS]", "␣I", "␣bought"]
    for sent, step in ((first, "0"), (final, last[0])):
        np.testing.assert_array_equal(sent, tensors[f"{step}/1.cross.1"][now["head"]].astype(np.float32).ravel())
    assert now["vmax"] == end["vmax"] == max(first.max(), final.max())
    assert "with $d_k$ = 32" in said(app)  # width 192 over 6 heads
    section_opened(app, "What was trained")
    numbers = {metric.label: metric.value for metric in app.metric}
    assert numbers["Parameters"] == "1.00 k"
    assert numbers["Steps"] == f"{int(last[0]):,}"
    assert float(numbers["Perplexity"]) == pytest.approx(math.exp(float(last[2])), rel=5e-3)
    section_opened(app, "Loss")
    vocabulary = json.loads((folder / "config.json").read_text(encoding="utf-8"))["transformer"]["vocabulary"]
    assert rf"$\ln V$ = {math.log(vocabulary):.2f} nats" in said(app)
    exponent, perplexity = re.search(rf"\$e\^{{([\d.]+)}}\$ = ([\d.]+) at step {int(last[0]):,}", said(app)).groups()
    assert f"{math.exp(float(exponent)):.3g}" == f"{float(perplexity):.3g}"


def test_a_link_restores_the_view(folder: Path) -> None:
    link = {"moment": STEPS[3], "sentence": "I bought a red book yesterday.", "replay_stream": "decoder"}
    link |= {"replay_layer": "2", "replay_head": "5", "replay_measure": "confidence"}
    app = opened("Training", **link)
    assert not app.exception
    assert {name: app.query_params[name] for name in link} == link
    assert (messages(app, "head")[0][0]["layer"], messages(app, "head")[0][0]["head"]) == (2, 5)
    assert figures(app)["The heads of layer 2 as they learned"]["layout"]["yaxis"]["title"]["text"] == (
        "largest weight of a row"
    )


def test_an_old_link_opens_the_loss_on_its_logarithmic_axis(folder: Path) -> None:
    app = opened("Training", log_steps="true")
    assert figures(app)["Loss, accuracy and gradient by step"]["layout"]["xaxis"]["type"] == "log"


def test_a_link_out_of_range_is_a_sentence(folder: Path) -> None:
    link = {"run": "evil", "moment": "-7", "sentence": "**x**"}
    app = opened("Training", replay_layer="9", replay_head="-1", replay_measure="x", **link)
    for fact in (
        'run "evil"; it can be translator. You see translator',
        f'moment "-7"; it can be {", ".join(STEPS)}. You see ',
        'sentence "??x??"; it can be ',
        'replay_layer "9"; they go from 0 to 2.',
        'replay_head "-1"; they go from 0 to 5.',
        'replay_measure "x"; it can be entropy, ',
    ):
        assert f"The link asks for {fact}" in said(app)
    assert len(messages(app, "head")) == 2


def test_play_walks_to_the_end_and_stops(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("inspector.views.shell.player.monotonic", lambda: clock[0])
    app = opened("Training", moment=STEPS[-4])
    app.button(key="play").click().run()
    assert app.button(key="play").label == "Pause"
    seen = [seen_step(app)]
    for _ in range(5):
        clock[0] += 2.0
        app.run()
        seen.append(seen_step(app))
    assert seen == [*STEPS[-4:], STEPS[-1], STEPS[-1]]
    assert app.button(key="play").label == "Play"
    app.button(key="play").click().run()
    assert seen_step(app) == "0"  # from the end it starts again
    app.button(key="play").click().run()
    clock[0] += 9.0
    app.run()
    assert seen_step(app) == "0"  # paused
    assert not app.exception


def test_an_encoder_alone_is_shown_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A masked language model: one stream, no target, another objective and decay."""
    steps, tokens = (0, 2, 12), ["[CLS]", "$a", "<b>", "[SEP]"]
    other = folder.parent / "mini-bert"
    other.mkdir()
    tensors = {}
    for step in steps:
        for layer in range(2):
            tensors[f"{step}/0.encoder.{layer}"] = np.full((2, 4, 4), 0.25, np.float16)
            tensors[f"{step}/norm.encoder.layers.{layer}.attention.query.weight"] = np.array(1.0 + step, np.float32)
        tensors[f"{step}/norm.transform.weight"] = np.array(1.0, np.float32)
    sentence = {"source": "$a <b>", "target": "", "source_tokens": tokens, "target_tokens": []}
    about = {"about": json.dumps({"steps": steps, "sentences": [sentence]})}
    save_file(tensors, other / "replay.safetensors", metadata=about)
    header = (folder / "metrics.csv").read_text(encoding="utf-8").splitlines()[0]
    rows = "3,5,,,0.0005,1,10,1\n6,4,4.5,0.1,0.001,1,10,2\n12,3,3.5,0.3,0,1,10,3\n"
    (other / "metrics.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    monkeypatch.setitem(RECIPES, "mini-bert", replace(MINI_BERT, warmup=6, decay="cosine", learning_rate=0.001))
    app = opened("Training", run="mini-bert")
    assert not app.exception
    assert app.selectbox(key="run").options == ["mini-BERT, trained here", "Translator, English to Chinese"]
    assert messages(app, "head")[0][0]["queries"] == tokens
    assert "Target" not in "".join(text.value for text in app.text)
    section_opened(app, "Loss")
    assert "the true token behind each mask" in said(app)
    assert "The 3 measured points lie on the formula" in said(app)
    assert "There is no file" in said(app)  # it has no weights and no configuration
    section_opened(app, "Heads as they learned")
    app.selectbox(key="run").select("translator").run()
    assert not app.exception
    assert seen_step(app) == STEPS[0]
    assert "The link asks" not in said(app)


def test_another_recipe_than_the_measured_one_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES, "translator", replace(RECIPES["translator"], learning_rate=0.003))
    app = opened("Training", section="Loss")
    assert not app.exception
    assert "The measured rates are not those of this recipe" in said(app)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"nothing")])
@pytest.mark.parametrize("name", ["metrics.csv", "replay.safetensors", "model.safetensors", "config.json"])
def test_a_missing_or_damaged_file_is_a_sentence(name: str, damage: Callable[[Path], object], folder: Path) -> None:
    """The sections that read the file say what is wrong with it, and the others are whole."""
    damage(folder / name)
    told = dict[str, str]()
    for section in registry.sections("training").sections:
        app = opened("Training", section=section.title)
        told[section.id] = said(app)
        if section.id == "heads":
            assert len(messages(app, "head")) == (0 if name == "replay.safetensors" else 2)
        if section.id == "loss":
            assert ("Loss, accuracy and gradient by step" in figures(app)) == (name != "metrics.csv")
    reads = ["heads", "sizes"] if name == "replay.safetensors" else ["loss", "trained"]
    assert [id for id, words in told.items() if f"{folder / name}" in words] == reads
    assert all("python -m models.train --help" in told[id] for id in reads)
    assert DATA in told["trained"]  # the card is there


def test_a_checkpoint_with_its_card_alone_still_shows_it(folder: Path) -> None:
    for name in ("metrics.csv", "replay.safetensors"):
        (folder / name).unlink()
    app = opened("Training", section="What was trained")
    assert not app.exception
    assert DATA in said(app)
    assert said(app).count("There is no file") == 1
    section_opened(app, "Heads as they learned")
    assert said(app).count("There is no file") == 1


def test_a_checkpoint_without_a_recipe_has_no_schedule(folder: Path) -> None:
    folder.rename(folder.with_name("stranger"))
    app = opened("Training", section="Loss")
    assert not app.exception
    assert "has no recipe stranger" in said(app)
    assert list(figures(app)) == ["Loss, accuracy and gradient by step"]


def test_without_any_checkpoint_the_page_says_how_to_get_one(folder: Path) -> None:
    shutil.rmtree(folder)
    app = opened("Training")
    assert not app.exception
    assert "tells of its training" in said(app)


def test_attention_leads_to_the_training_of_a_shipped_model() -> None:
    (link,) = (one for one in opened(model="mini-bert").get("page_link") if one.proto.page == "training")
    assert link.proto.query_string == "run=mini-bert"
    assert not [one for one in opened().get("page_link") if one.proto.page == "training"]


def test_a_model_that_writes_shows_its_induction_heads_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mini-gpt of one layer, trained for a few steps: its late decay, its maps, its scores on random repeats."""
    for split in ("train", "valid"):
        text = "".join(f"Alice saw {n} white rabbits.\n" for n in range(40))
        (tmp_path / corpus.BOOKS[split]).write_text(text, encoding="utf-8")
    (tmp_path / corpus.PAIRS["train"]).write_text("Hi.\t嗨。\tby #1 (ann)\n", encoding="utf-8")
    small = {
        "vocabulary": 330,
        "layers": 1,
        "width": 16,
        "heads": 2,
        "kv_heads": 1,
        "ffn_width": 32,
        "max_positions": 64,
    }
    tiny = replace(MINI_GPT, **small, steps=10, repeat_steps=3, evaluations=2, rows=5)
    monkeypatch.setitem(RECIPES, "mini-gpt", tiny)
    assert train.main(["mini-gpt", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    made = tmp_path / "checkpoints"
    shutil.copytree(tmp_path / "out" / "checkpoint", made / "mini-gpt")
    monkeypatch.setattr(checkpoints, "FOLDER", made)
    app = opened("Training")
    assert not app.exception
    assert "Cannot be shown" not in said(app)
    (scores,) = (message["panels"][0] for message, _ in messages(app, "matrix"))
    replay = history.read_replay(made / "mini-gpt")
    assert scores["rows"] == ["layer 0 head 0", "layer 0 head 1"]
    assert replay.induction.shape == (len(replay.steps), 1, 2)
    assert replay.streams == ("decoder",)
    section_opened(app, "Loss")
    assert "The 6 measured points lie on the formula" in said(app)


def test_another_stream_and_another_sentence_are_seen_at_the_same_step(folder: Path) -> None:
    app = opened("Training", moment=STEPS[3])
    app.segmented_control(key="replay_stream").set_value("cross").run()
    assert (seen_step(app), app.query_params["moment"]) == (STEPS[3], STEPS[3])
    app.selectbox(key="sentence").select_index(1).run()
    assert (seen_step(app), app.query_params["moment"]) == (STEPS[3], STEPS[3])
    app.button(key="play").click().run()
    assert app.button(key="play").label == "Pause"
    app.segmented_control(key="replay_stream").set_value("decoder").run()
    assert app.button(key="play").label == "Play"
    assert seen_step(app) == STEPS[3]
