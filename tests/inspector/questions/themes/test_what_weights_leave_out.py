"""Questions 117 to 120 on MiniLM and the page's example: lengths of vectors, rollout, and shuffled weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from inspector import examples, flow
from inspector.interventions import leave_one_out
from inspector.probe import record
from inspector.questions import asking
from inspector.questions.record.subject import Subject
from inspector.questions.themes import found_in_heads, several_texts
from inspector.questions.themes.inside import blocks_of
from inspector.scores import ranks
from models import output_projection
from tests.closeness import assert_close
from tests.inspector.questions.conftest import Ask
from tests.inspector.questions.judged import assert_corruption_changes_the_verdict


@pytest.mark.parametrize("number", [117, 118, 119, 120])
def test_a_corrupted_number_changes_the_verdict(number: int, answer: Ask):
    assert_corruption_changes_the_verdict(answer(number))


def test_117_heads_that_rest_on_delimiters_are_missed_less(answer: Ask):
    found = answer(117)
    assert found.verdict == "true"
    assert found.numbers["share"] > 0.5 > 0.1 > found.numbers["middle"]  # [CLS] in MiniLM, [SEP] in Clark et al. 2019
    assert found.numbers["moved"] < found.numbers["others"]
    heads = Subject(models.load("minilm"), examples.FIRST).heads
    assert found.numbers["resting"] == ((heads["cls"] + heads["sep"]) > 0.5).sum()
    assert_close(found.numbers["share"], (heads["cls"] + heads["sep"]).mean(), relative=1e-5)


def test_117_a_model_without_such_heads_has_no_number_for_them():
    found = asking.ask(asking.find(117), Subject(models.load("mini-bert"), examples.FIRST))
    assert found.held == (False, False, False)
    assert found.numbers["resting"] == 0


def test_118_the_favourite_brings_less_than_its_weight(answer: Ask):
    found = answer(118)
    assert found.verdict == "true"
    loaded = models.load("minilm")
    projections, ratios = output_projection.find(loaded), []
    for trace in several_texts.traces(Subject(loaded, examples.FIRST)):
        weights, norms = [], []
        for site in trace.sites:
            for head in range(site.heads):
                column = trace.attention(layer=site.layer, head=head).sum(axis=0)
                handed = flow.norm_weighted(trace, projections, layer=site.layer, head=head).sum(axis=0)
                weights.append(column.max() / column.sum())
                norms.append(handed[column.argmax()] / handed.sum())
        ratios.append(np.mean(norms) / np.mean(weights))
    assert_close(found.numbers["ratio"], np.mean(ratios), relative=1e-5)


def test_119_rollout_of_minilm_follows_the_sink(answer: Ask):
    found = answer(119)
    assert found.held == (False, True)  # against Abnar & Zuidema 2020: most weight of MiniLM is on [CLS]
    loaded = models.load("minilm")
    trace = record(loaded, examples.FIRST)
    mixed = np.eye(13)
    for site in trace.sites:
        mixed = (np.eye(13) + trace.attention(layer=site.layer).mean(axis=0)) / 2 @ mixed
    np.fill_diagonal(mixed, 0)
    left = leave_one_out.leave_out(loaded, trace)
    received = mixed.sum(axis=0)[list(left.positions)]
    rho = ranks.spearman(received[None], np.array(left.changes)[None])[0]
    assert_close(found_in_heads._agreements(left)[1], rho, relative=1e-6)


def test_120_shuffled_weights_are_noticed(answer: Ask):
    found = answer(120)
    assert found.held == (True, False, False)
    assert 0.05 < found.numbers["one"] < found.numbers["every"]


def test_120_the_order_of_values_is_what_changes():
    subject = Subject(models.load("minilm"), examples.FIRST)
    matrix = blocks_of(subject).of("encoder")[2].matrix("v")
    assert matrix is not None
    weight = subject.loaded.network.get_parameter(matrix.name)
    states = torch.randn(1, 5, weight.shape[1], generator=torch.Generator().manual_seed(0))
    order = torch.tensor([4, 2, 0, 1, 3])
    with found_in_heads._ShuffledValues({weight.data_ptr(): matrix}, order):
        mixed = torch.nn.functional.linear(states, weight)
    assert torch.equal(mixed, torch.nn.functional.linear(states, weight)[:, order])
    ids = torch.tensor([subject.trace.encoding.ids])
    same = torch.arange(ids.shape[1])
    with torch.inference_mode(), found_in_heads._ShuffledValues({weight.data_ptr(): matrix}, same) as mode:
        states = subject.loaded.run(ids, torch.ones_like(ids, dtype=torch.bool), torch.zeros_like(ids))[0]
    assert mode.met == 1
    assert_close(states, subject.trace.hidden, relative=1e-5)
