"""A given target is teacher-forced as transformers itself does it: the decoder reads the labels, shifted right."""

from __future__ import annotations

import json
import sys
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import torch

import models
from inspector import record
from tests.inspector.probe.families import ENCODER_DECODERS, reference, save

TEXT, TARGET = "the cat sat on the log", "the dog was tired"
FAMILIES = {family.name: family for family in ENCODER_DECODERS}
ROTATING = ("mbart", "plbart")  # the last label, the target's language, comes first


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    save(FAMILIES[request.param], tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", ["t5", "bart", "marian", "m2m_100", "pegasus", "blenderbot", "mvp"], indirect=True)
def test_the_decoder_reads_what_transformers_makes_of_the_labels(folder: Path) -> None:
    trace = record(models.load(folder), TEXT, target=TARGET)
    labels = labels_of(folder)
    shifted = shift_right(reference(folder), labels)
    assert list(trace.target.ids) == shifted[0].tolist()
    tokens = models.load(folder).tokenizer.convert_ids_to_tokens(labels[0])
    assert list(trace.sites[-1].predicts) == tokens
    assert trace.target.special == (True, True, *[False] * (len(trace.target) - 2))


def shift_right(network: Any, labels: torch.Tensor) -> torch.Tensor:
    """Shift by transformers' function: T5's method, elsewhere one beside the model, with a start token or without."""
    if hasattr(network, "_shift_right"):
        return network._shift_right(labels)
    shift = sys.modules[type(network).__module__].shift_tokens_right
    config = network.config
    given = {"pad_token_id": config.pad_token_id, "decoder_start_token_id": config.decoder_start_token_id}
    return shift(labels, **{name: given[name] for name in signature(shift).parameters if name in given})


def labels_of(folder: Path) -> torch.Tensor:
    tokenizer = models.load(folder).tokenizer
    return tokenizer(TARGET, return_tensors="pt")["input_ids"]


@pytest.mark.parametrize("folder", ROTATING, indirect=True)
def test_a_language_code_begins_the_target_where_the_configuration_names_it(folder: Path) -> None:
    """transformers moves the labels' last token, their language, to the front; the configuration names the same."""
    path = folder / "config.json"
    language = 17
    config = json.loads(path.read_text(encoding="utf-8")) | {"decoder_start_token_id": language}
    path.write_text(json.dumps(config), encoding="utf-8")
    trace = record(models.load(folder), TEXT, target=TARGET)
    labels = torch.cat([labels_of(folder), torch.tensor([[language]])], dim=1)
    shifted = shift_right(reference(folder), labels)
    assert [*trace.target.ids, 3] == shifted[0].tolist()  # 3 ends the text
