"""Another model through the page: looked at, loaded, used on every page; every refusal is a sentence."""

from __future__ import annotations

import gc
import html
import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from transformers import BertForMaskedLM, LlamaConfig, LlamaForCausalLM

from inspector.views.shell import model_picker, model_shelf, progress
from models.formatting import format_bytes
from tests.inspector.views.page import EXAMPLE, explained, forget, pressed, said, turned, until
from tests.inspector.views.page import opened as start
from tests.local_hub import make_bert


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget every model, and set the limits to their defaults."""
    for name in (
        "ROOT",
        "HUB",
        "MEMORY_BYTES",
        "PARAMETERS",
        "LAYERS",
        "DOWNLOAD_BYTES",
        "CAPTURE_BYTES",
        "TOKENS",
        "CHARACTERS",
    ):
        monkeypatch.delenv(f"HEADLIGHT_{name}", raising=False)
    forget()
    yield
    forget()


@pytest.fixture
def root(bert: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder under which the tiny BERT lies."""
    monkeypatch.setenv("HEADLIGHT_ROOT", str(bert.parent))
    return bert.parent


def opened(**link: str) -> AppTest:
    """Start the app with the field for another model open."""
    return start(state={"picker.open": True}, **{"model": "own-encoder", **link})


def look(app: AppTest, name: object) -> AppTest:
    app.text_input(key="picker.other").set_value(str(name))
    return pressed(app, "look")


def test_a_folder_is_looked_at_loaded_and_used_on_other_pages(root: Path, bert: Path) -> None:
    app = look(opened(), bert)
    assert not app.exception
    parameters = sum(parameter.numel() for parameter in BertForMaskedLM.from_pretrained(bert).parameters())
    for part in (
        "bert, BertForMaskedLM",
        f"Parameters: {parameters:,} (limit 2,000,000,000)",
        "Layers of attention: 2 (limit 128)",
        "Download: 0 bytes (limit 3 GB)",
        "tokenizer.json",
    ):
        assert part in said(app)
    assert app.selectbox(key="model").value == "own-encoder"
    pressed(app, "load")
    assert not app.exception
    assert app.selectbox(key="model").value == str(bert)
    assert "bert (folder)" in app.selectbox(key="model").options
    assert "13 tokens of at most 32" in said(app)
    assert "Exact on this text" in said(app)
    assert said(app).count("Looks untrained") == 2  # in the sidebar, and at the map: its weights are as they were drawn
    assert "looks untrained, so what it looks at is chance" in app.header[0].value
    assert "The library transformers runs the model, and hands over the queries" in explained(app)
    assert app.query_params["model"] == f"./{bert.name}"  # where it lies is the server's
    for page in ("Compare", "Norms", "Positions", "Costs", "What if"):
        turned(app, page)
        assert not app.exception, page
        assert "Cannot be shown" not in said(app), page
    app.selectbox(key="model").select("minilm").run()
    assert not app.exception
    assert app.selectbox(key="model").value == "minilm"
    assert str(bert) in app.session_state["added"]


@pytest.mark.parametrize("below_root", [True, False])
def test_a_link_with_an_unlisted_model_is_asked_about_and_not_loaded(root: Path, bert: Path, below_root: bool) -> None:
    asked = f"./{bert.name}" if below_root else str(bert)
    app = start(model=asked)
    assert not app.exception
    assert "which is not in the list. It was not loaded: you see minilm instead." in said(app)
    assert app.text_input(key="picker.other").value == asked
    assert app.selectbox(key="model").value == "minilm"
    assert "BertForMaskedLM" not in said(app)
    pressed(pressed(app, "look"), "load")
    assert app.selectbox(key="model").value == str(bert)
    assert "It was not loaded" not in said(app)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Nothing is written there"),
        ("own-encoder", "own-encoder is in the list of models already"),
        ("../../etc", "There is no folder"),
        ("/", "There is no folder '/' under"),
        ("/no/such/folder", "There is no folder '/no/such/folder' under"),
        ("https://huggingface.co/a/b", "is no name of a model on the hub"),
        ("org/**name**", "is no name of a model on the hub"),
        ("org/name@../x", "is no revision"),
    ],
)
def test_a_bad_name_is_a_sentence_and_stays(root: Path, name: str, sentence: str) -> None:
    app = look(opened(text="My text."), name)
    assert not app.exception
    assert sentence in said(app)
    assert app.text_input(key="picker.other").value == name
    assert app.text_area(key="text").value == "My text."
    assert app.selectbox(key="model").value == "own-encoder"
    assert not [button for button in app.button if button.key == "load"]


def test_without_a_root_no_folder_is_read(bert: Path) -> None:
    app = look(opened(), bert)
    assert not app.exception
    assert "Local folders are off here; start Headlight with HEADLIGHT_ROOT to allow one" in said(app)


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("PARAMETERS", "1000", "has parameters: {parameters:,}, and the limit here is 1,000"),
        ("MEMORY_BYTES", "100kB", "needs memory for its weights in float32: {memory}, and the limit here is 100 kB"),
        ("CAPTURE_BYTES", "100", "and the limit here is 100 bytes"),
        ("LAYERS", "1", "'num_hidden_layers' = 2, over 1; HEADLIGHT_LAYERS sets that limit"),
    ],
)
def test_over_a_limit_is_a_sentence_with_both_numbers(
    root: Path, bert: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"HEADLIGHT_{variable}", value)
    app = look(opened(), bert)
    assert not app.exception
    network = BertForMaskedLM.from_pretrained(bert)
    numbers = sum(tensor.numel() for tensor in [*network.parameters(), *network.buffers()])
    parameters = sum(parameter.numel() for parameter in network.parameters())
    assert sentence.format(parameters=parameters, memory=format_bytes(4 * numbers)) in said(app)
    assert f"HEADLIGHT_{variable}" in said(app)
    assert all(button.disabled for button in app.button if button.key == "load")


def test_a_variable_that_cannot_be_read_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TOKENS", "many")
    app = opened()
    assert not app.exception
    assert "HEADLIGHT_TOKENS is 'many'; write a whole number" in said(app)


def test_texts_are_cut_at_the_pages_limits_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_TOKENS", "6")
    app = opened(text="one two three four five six")
    assert "Only the first 6 of 8 tokens are read: HEADLIGHT_TOKENS" in html.unescape(said(app))
    assert "6 tokens of at most 6" in said(app)
    monkeypatch.setenv("HEADLIGHT_CHARACTERS", "7")
    app = opened(text="one two three")
    told = html.unescape(said(app))
    assert "Only the first 7 of 13 characters are read: HEADLIGHT_CHARACTERS allows 7 for each text." in told
    assert "4 tokens of at most 6" in said(app)
    assert app.text_area(key="text").value == "one two three"


def test_a_model_of_the_hub_is_fetched_and_loaded(hub: Any, bert: Path) -> None:
    hub.models["org/bert"] = bert
    app = look(opened(), "org/bert@v1")
    assert not app.exception
    assert "org/bert, commit aaaaaaaaaa" in said(app)
    weights = (bert / "model.safetensors").stat().st_size + (bert / "tokenizer.json").stat().st_size
    assert f"Download: {format_bytes(weights)} (limit 3 GB)" in said(app)
    assert not [path for path in hub.paths() if path.endswith("model.safetensors")]
    pressed(app, "load")
    assert not app.exception
    assert app.selectbox(key="model").value == "org/bert@v1"
    assert "13 tokens of at most 32" in said(app)


@pytest.mark.parametrize(("limit", "value"), [("HEADLIGHT_DOWNLOAD_BYTES", "100kB"), ("HEADLIGHT_HUB", "0")])
def test_the_hub_has_limits_too(hub: Any, bert: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: str) -> None:
    hub.models["org/bert"] = bert
    monkeypatch.setenv(limit, value)
    app = look(opened(), "org/bert")
    assert not app.exception
    assert limit in said(app)
    assert all(button.disabled for button in app.button if button.key == "load")


def test_a_model_that_is_not_on_the_hub_is_a_sentence(hub: Any) -> None:
    app = look(opened(), "org/none")
    assert not app.exception
    assert "The hub has no model org/none, or it is private; check the spelling" in said(app)


@pytest.mark.parametrize("stopped", [True, False])
def test_a_click_ends_a_download_in_the_middle(
    hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    """The click comes while the hub is sending, and Streamlit itself ends the run, as in the browser.

    Stop ends it for good; any other click interrupts it, and it goes on when the page is drawn.
    """
    hub.models["org/bert"] = make_bert(tmp_path / "bert", width=64)
    whole = (tmp_path / "bert" / "model.safetensors").stat().st_size
    runners, draw, clicks, threads = [], progress.Bar.draw, [], threading.active_count()

    class Runner(LocalScriptRunner):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            runners.append(self)
            super().__init__(*args, **kwargs)

        def request_rerun(self, rerun_data: RerunData) -> bool:
            self.asked = rerun_data
            return super().request_rerun(rerun_data)

    def click(self: progress.Bar, done: float, total: float, words: str, **more: bool) -> None:
        if done > whole / 2 and not clicks:
            clicks.append(done)
            if stopped:
                model_picker._stop()
            again = WidgetStates(
                widgets=[one for one in runners[-1].asked.widget_states.widgets if not one.HasField("trigger_value")]
            )  # as they were, and no button pressed
            runners[-1].request_rerun(replace(runners[-1].asked, widget_states=again))
        draw(self, done, total, words, **more)

    monkeypatch.setattr("streamlit.testing.v1.app_test.LocalScriptRunner", Runner)
    monkeypatch.setattr(progress, "DRAWN_EVERY", 0.0)
    monkeypatch.setattr(progress.Bar, "draw", click)
    app = pressed(look(opened(), "org/bert"), "load")
    assert not app.exception
    assert whole / 2 < clicks[0] < whole
    if stopped:
        assert "press Load to continue" in said(app)
        assert app.selectbox(key="model").value == "own-encoder"
        until(lambda: threading.active_count() <= threads)
        pressed(app, "load")
    assert [0 < int(one.removeprefix("bytes=")[:-1]) < whole for one in hub.ranges] == [True]
    assert app.selectbox(key="model").value == "org/bert"
    assert "13 tokens of at most 32" in said(app)


def test_two_visitors_share_one_copy_and_each_has_a_list_of_their_own(root: Path, bert: Path) -> None:
    first, second = look(opened(), bert), look(opened(), bert)
    pressed(first, "load")
    shelf = model_shelf.shelf()
    key = str(bert), shelf.fetched[str(bert)].version, model_shelf.placement()
    held = shelf.weights.get(key, pytest.fail)
    assert "bert (folder)" not in second.selectbox(key="model").options
    pressed(second, "load")
    assert shelf.weights.get((key[0], shelf.fetched[str(bert)].version, key[2]), pytest.fail) is held
    assert "bert (folder)" in second.selectbox(key="model").options


def test_a_trace_outlives_its_model_which_is_loaded_again_where_it_is_needed(
    root: Path, bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = pressed(look(opened(), bert), "load")
    weights = model_shelf.shelf().weights
    assert [key[0] for key in weights._models] == ["own-encoder", str(bert)]
    key = str(bert), model_shelf.shelf().fetched[str(bert)].version, model_shelf.placement()
    gone = weakref.ref(weights._models[key][0].network)
    weights._make_room(weights.budget)
    assert weights.used == 0
    gc.collect()
    assert gone() is None
    app.run()
    assert not app.exception
    assert "13 tokens of at most 32" in said(app)
    assert "Exact on this text" in said(app)
    assert weights.used == 0, "the page shows the trace without its model"
    turned(app, "Positions")
    assert not app.exception
    assert [key[0] for key in weights._models] == [str(bert)]
    weights._make_room(weights.budget)
    (bert / "model.safetensors").unlink()
    turned(app, "Costs")
    assert not app.exception
    assert "Cannot be shown" in said(app)
    assert app.text_area(key="text").value == EXAMPLE


def test_pages_say_what_a_model_does_not_have(root: Path, bert: Path) -> None:
    folder = root / "llama"
    config = LlamaConfig(
        vocab_size=30522,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes((bert / "tokenizer.json").read_bytes())
    app = opened()
    assert app.selectbox(key="picker.there").options == ["bert", "llama"]  # where they lie is the server's
    app.selectbox(key="picker.there").select(str(folder)).run()  # looked at, as if it were typed
    pressed(app, "load")
    assert not app.exception
    assert "Cannot be" not in said(app)
    turned(app, "Positions")
    assert not app.exception
    assert "turns every query and key by angles" in said(app)  # no table
    turned(app, "Costs")
    assert not app.exception
    assert "Scores and mix alone cost more than the FFN from" in said(app)
    assert "d_{ff}" not in said(app)  # a gated FFN: the textbook's formulas do not hold
    for page in ("Norms", "Compare", "What if"):
        turned(app, page)
        assert not app.exception, page
        assert "Cannot be shown" not in said(app), page
