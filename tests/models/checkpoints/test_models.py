"""The models that are shipped load offline, and do what their cards say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import inspector
import models
from models.checkpoints import FOLDER
from models.checkpoints.store import read_checkpoint
from models.files import read_tensors
from models.training import history
from models.training.repeats import induction_scores
from models.transformer import Decoder
from tests.closeness import assert_close

ROOT = Path(__file__).parents[3]
LOAD = """
import sys, torch
before = set(sys.modules)
import models
models.load({name!r})
print(*sorted(set(sys.modules) - before))
"""


@pytest.fixture(scope="module")
def translator() -> models.LoadedModel:
    return models.load("translator")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("I love cats.", "我爱猫。"),
        ("Where is the station?", "车站在哪里？"),
        ("She is a teacher.", "她是老师。"),
    ],
)
def test_the_translator_translates(source: str, target: str, translator: models.LoadedModel) -> None:
    assert translator.generate(source) == target


def test_the_translator_reads_any_text(translator: models.LoadedModel) -> None:
    for text in ("👩‍🚀 𠀀 ß", "x" * 3000, "\x00"):
        assert translator.encode(text).unknown == 0
        assert isinstance(translator.generate(text, new_tokens=5), str)


def test_the_translator_shows_three_streams_with_and_without_a_target(translator: models.LoadedModel) -> None:
    for target in (None, "我喜欢狗。"):
        trace = inspector.record(translator, "I like dogs.", target=target)
        assert {site.stream for site in trace.sites} == {"encoder", "decoder", "cross"}
        assert len(trace.sites) == translator.layers == 9
        assert_close(trace.attention(stream="cross", layer=2).sum(-1), 1, relative=1e-5)


@pytest.mark.parametrize(
    ("text", "hidden", "guess"),
    [
        ("I want to drink a cup of tea.", 3, "▁to"),
        ("She opened the door and looked at the old man.", 6, "▁looked"),
        ("The children are playing in the garden.", 3, "▁are"),
    ],
)
def test_mini_bert_guesses_what_was_hidden(text: str, hidden: int, guess: str) -> None:
    masked = inspector.interventions.mask(models.load("mini-bert"), text, positions=[hidden])
    assert masked.guesses[0].token == masked.guesses[0].top[0][0] == guess
    assert masked.guesses[0].probability > 0.2


def test_mini_bert_has_heads_that_look_at_the_neighbours() -> None:
    trace = inspector.record(models.load("mini-bert"), "She opened the door and looked at the old man.")
    measured = inspector.heads.measure(trace)
    assert measured["next"].max() > 0.6
    assert measured["previous"].max() > 0.6


@pytest.mark.parametrize("text", ["我爱水课", "猫追老鼠", "人工智能改变世界"])
def test_chinese_is_a_token_a_character_and_never_unknown(text: str) -> None:
    encoded = models.load("mini-bert-zh").encode(text)
    assert encoded.tokens == ("[CLS]", *text, "[SEP]")
    assert encoded.unknown == 0


def test_mini_gpt_goes_on_as_a_text_did_before() -> None:
    loaded = models.load("mini-gpt")
    assert loaded.generate("Mr. Darling looked at the door. Mr.", new_tokens=2).startswith("Darling")
    network = loaded.runner.head
    assert isinstance(network, Decoder)
    assert induction_scores(network, vocabulary=4096, start=2).max() > 0.5
    assert history.read_replay(FOLDER / "mini-gpt").induction is not None


@pytest.mark.parametrize("name", ["translator", "mini-bert", "mini-bert-zh", "mini-gpt"])
@pytest.mark.heavy
def test_a_shipped_model_loads_offline_and_brings_little(name: str) -> None:
    """Load without a model class of transformers or a library that takes seconds (benchmarks/load.py has the clock)."""
    nowhere = "http://127.0.0.1:9"
    offline = {**os.environ, "OMP_NUM_THREADS": "1", "http_proxy": nowhere, "https_proxy": nowhere}
    command = [sys.executable, "-c", LOAD.format(name=name)]
    done = subprocess.run(command, cwd=ROOT, env=offline, capture_output=True, text=True, check=True)
    brought = set(done.stdout.split())
    assert "models.checkpoints.store" in brought
    assert not {"scipy", "sympy", "torch._dynamo", "pandas", "plotly", "streamlit"} & brought
    assert not [module for module in brought if module.startswith("transformers.models.")]


@pytest.mark.parametrize("name", ["translator", "mini-bert", "mini-bert-zh", "mini-gpt"])
def test_the_card_says_what_a_card_must(name: str) -> None:
    card = (FOLDER / name / "CARD.md").read_text(encoding="utf-8")
    for section in ("Data", "Attribution", "Recipe", "Hardware and time", "Curves", "Scores", "Limits"):
        assert f"\n## {section}\n" in card
    assert "CC-BY 2.0 FR" in card
    parameters = sum(parameter.numel() for parameter in read_checkpoint(FOLDER / name).network.parameters())
    assert f"{parameters:,} parameters" in card


@pytest.mark.parametrize(
    ("name", "text", "target", "layers", "moments"),
    [
        ("translator", "The cat is sleeping on the bed.", "猫在床上睡觉。", 3, 12),
        ("mini-bert", "The cat sat on the mat because it was tired.", None, 4, 12),
        ("mini-bert-zh", "我昨天买了一本新书。", None, 4, 9),  # planned for 100,000 steps, and ended at 21,000
        ("mini-gpt", "The cat sat on the mat because it was tired.", None, 4, 12),
    ],
)
def test_the_replay_ends_with_the_attention_of_the_shipped_weights(
    name: str, text: str, target: str | None, layers: int, moments: int
) -> None:
    tensors, _ = read_tensors(FOLDER / name / "replay.safetensors")
    last = max(int(key.split("/")[0]) for key in tensors)
    assert len({key.split("/")[0] for key in tensors}) == moments
    loaded = models.load(name)
    trace, only = inspector.record(loaded, text, target=target), loaded.shape
    for stream in (only,) if target is None else ("encoder", "decoder", "cross"):
        for layer in range(layers):
            recorded = tensors[f"{last}/0.{stream}.{layer}"].float()
            shown = torch.tensor(trace.attention(stream=stream, layer=layer))
            assert_close(recorded, shown, relative=5e-3)  # both rounded to half precision


@pytest.mark.parametrize("name", ["translator", "mini-bert", "mini-bert-zh", "mini-gpt"])
def test_its_metrics_and_its_replay_are_of_one_training(name: str) -> None:
    rows, replay = history.read_metrics(FOLDER / name), history.read_replay(FOLDER / name)
    assert rows[-1]["step"] == replay.steps[-1]
    card = history.read_card(FOLDER / name)
    assert f"for {replay.steps[-1]:,} steps." in history.section(card, "Hardware and time")
    assert f"| {rows[-1]['step']:g} | {rows[-1]['loss']:g} | {rows[-1]['valid_loss']:g} |" in card


def test_what_is_shipped_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 48_000_000
