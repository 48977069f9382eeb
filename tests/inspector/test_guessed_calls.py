"""Calls as a researcher guesses them: positional, from the end, and with what a sentence says where they are wrong."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import inspector
import models
from inspector import exactness, flow, hold, interventions, lens
from inspector.trace import Trace
from models import LoadedModel, output_projection
from tests.closeness import assert_close

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def trace(minilm: LoadedModel) -> Trace:
    return inspector.record(minilm, TEXT)


def test_layer_and_head_go_by_place_and_from_the_end(trace: Trace) -> None:
    for read in (trace.attention, trace.scores):
        np.testing.assert_array_equal(read(1, 7), read(layer=1, head=7))
        np.testing.assert_array_equal(read(-1, -12), read(layer=5, head=0))
        np.testing.assert_array_equal(read(-6), read(layer=0))
        for layer, head, told in ((-7, 0, "layer -7 is out of range"), (0, -13, "head -13 is out of range")):
            with pytest.raises(ValueError, match=told):
                read(layer, head)
        for wrong in ("1", 1.0, True, None):
            with pytest.raises(ValueError, match=f"layer is '{wrong}', a {type(wrong).__name__}: give a whole number"):
                read(wrong, 0)


def test_the_last_layer_of_a_stream_is_its_own(shipped) -> None:
    trace = inspector.record(shipped("translator"), "I love cats.")
    last = trace.sites_of("cross")[-1].layer
    np.testing.assert_array_equal(trace.attention(-1, stream="cross"), trace.attention(last, stream="cross"))


def test_a_trace_and_a_model_are_a_line(trace: Trace, minilm: LoadedModel) -> None:
    assert repr(trace) == f"<Trace of 'minilm': 9 tokens of {TEXT!r}, 72 heads of encoder>"
    assert repr(inspector.record(minilm, f"{TEXT}\n" * 40)).count("\n") == 0
    strange = replace(minilm, card=replace(minilm.card, id="a\x1b[31m", title="b\nc"))  # of a stranger's folder
    assert repr(strange).isprintable()
    assert repr(replace(trace, model="a\x1b[31m\n")).isprintable()
    assert repr(minilm).startswith(
        "<LoadedModel 'minilm': 'MiniLM, the bundled BERT', encoder of 6 attentions, reads 512 "
    )


def test_names_are_listed(trace: Trace) -> None:
    assert {"record", "heads", "flow", "Trace"} <= set(dir(inspector))
    assert not {"Any", "importlib", "pkgutil"} & set(dir(inspector))
    assert {"load", "names", "folders"} <= set(dir(models))
    assert models.names() == tuple(card.id for card in models.catalogue())
    with pytest.raises(ValueError, match=r"There is no model 'MiniLN'\. Did you mean minilm\? Choose one of"):
        models.load("MiniLN")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (["a", "b"], "text is a list, not a string: record_batch reads several texts"),
        ([101, 102], "text is a list, not a string: give a string"),
        (None, "text is a NoneType, not a string: give a string"),
    ],
)
def test_what_is_no_text_is_a_sentence(minilm: LoadedModel, text: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        inspector.record(minilm, text)


def test_what_is_no_model_is_a_sentence(minilm: LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"is no loaded model but a str: give what models\.load returns"):
        inspector.record("minilm", TEXT)
    with pytest.raises(ValueError, match="texts is one string: give a list of them"):
        inspector.record_batch(minilm, TEXT)
    with pytest.raises(ValueError, match=r"not a BertModel: .* give the model to models.of"):
        models.load(minilm.network)


def test_torchs_own_dtypes_are_taken() -> None:
    assert "bfloat16" in models.load("mini-gpt", dtype=torch.bfloat16).placed
    with pytest.raises(ValueError, match="dtype is 'int8'"):
        models.load("mini-gpt", dtype=torch.int8)


def test_a_model_stands_for_its_projections_and_rollout_takes_all_tokens(trace: Trace, minilm: LoadedModel) -> None:
    found = flow.norm_weighted(trace, output_projection.find(minilm), layer=2, head=3)
    np.testing.assert_array_equal(flow.norm_weighted(trace, minilm, layer=2, head=3), found)
    every = flow.rollout(trace)
    assert every.shape == (7, 9, 9)
    mixed = np.eye(9)
    for layer in reversed(range(6)):  # the paper's product of whole matrices, row l: A'_5 .. A'_l
        mixed = mixed @ (np.eye(9) / 2 + trace.attention(layer).astype(np.float64).mean(axis=0) / 2)
        assert_close(every[layer], mixed, relative=1e-12)
    assert_close(every[:, 3], flow.rollout(trace, token=3), relative=1e-12)


def test_a_model_stands_for_its_head_and_its_tokenizer(minilm: LoadedModel, trace: Trace, shipped) -> None:
    writer = shipped("mini-gpt")
    read = inspector.record(writer, TEXT)
    named = lens.logit_lens(read, writer.predict, writer.tokenizer, top=2)
    pd.testing.assert_frame_equal(lens.logit_lens(read, writer, top=2), named, check_exact=True)
    with pytest.raises(ValueError, match="give its tokenizer too, or the loaded model"):
        lens.logit_lens(read, writer.predict)
    with pytest.raises(ValueError, match="minilm has no head that predicts tokens"):
        lens.logit_lens(trace, minilm)


def test_a_head_needs_no_stream_where_there_is_one(trace: Trace, minilm: LoadedModel, shipped) -> None:
    named, short = (interventions.drop(minilm, trace, heads=[head]) for head in (("encoder", 0, 1), (0, 1)))
    assert named.heads == short.heads
    translator = shipped("translator")
    with pytest.raises(ValueError, match=r"\(0, 1\) names no stream, and this model has encoder, decoder, cross"):
        interventions.drop(translator, "I love cats.", heads=[(0, 1)])


def test_a_recording_is_checked_in_one_call(trace: Trace, minilm: LoadedModel, shipped) -> None:
    checked = exactness.check(trace, minilm)
    assert checked.holds
    assert checked.second == hold(minilm, trace)
    assert "recorded, not held: the model was not at hand" in str(exactness.check(trace))
    assert exactness.check(trace).second is None
    moved = replace(trace.attentions[2], key=trace.attentions[2].key.roll(1, dims=1))
    assert not exactness.check(
        replace(trace, attentions=(*trace.attentions[:2], moved, *trace.attentions[3:])), minilm
    ).holds
    with pytest.raises(ValueError, match="the trace is of 'minilm', not of 'mini-bert'"):
        exactness.check(trace, shipped("mini-bert"))


def test_a_name_of_another_tool_points_to_what_gives_the_same(trace: Trace, minilm: LoadedModel) -> None:
    for owner, name, told in (
        (trace, "rollout", r"a Trace has no attribute 'rollout'; did you mean inspector.flow.rollout\(trace\)\?"),
        (trace, "atention", "did you mean attention"),
        (models, "available", r"did you mean models.names\(\)"),
        (inspector, "recrod", "did you mean record"),
    ):
        with pytest.raises(AttributeError, match=told):
            getattr(owner, name)
    with pytest.raises(AttributeError, match=r"'zzzz'$"):
        getattr(trace, "zzzz")  # noqa: B009  (a type checker would refuse the attribute)
    assert inspector.flow.rollout(trace).shape[1:] == (len(trace.tokens),) * 2
    assert not hasattr(trace, "__array__")


def test_a_row_of_the_measures_opens(trace: Trace, tmp_path: Path) -> None:
    row = inspector.heads.measure(trace).sort_values("previous").iloc[-1]
    view = inspector.show(trace, layer=row["layer"], head=row["head"], live=False)
    assert view.page == inspector.show(trace, layer=int(row["layer"]), head=int(row["head"]), live=False).page
    for place in ({"layer": row["layer"], "head": row["head"]}, {"layer": -1, "head": -1}):
        inspector.export.write(trace, tmp_path / "head.html", **place)
    assert (
        inspector.show(trace, layer=-1, head=-1, live=False).page
        == inspector.show(trace, layer=5, head=11, live=False).page
    )
    with pytest.raises(ValueError, match="there is no stream 'bogus': this model has encoder"):
        inspector.show(trace, stream="bogus")
    with pytest.raises(ValueError, match="show takes a Trace, not a LoadedModel"):
        inspector.show(models.load("mini-bert"))


def test_a_function_at_a_place_may_record_another_text(minilm: LoadedModel, trace: Trace) -> None:
    place = {"at": "residual", "layer": 2}
    other = inspector.record(minilm, "The dog ran to the cat.")
    assert len(other.tokens) == len(trace.tokens)
    beforehand = interventions.read_at(minilm, other, **place)
    inside = interventions.edit(
        minilm, trace, function=lambda x: interventions.read_at(minilm, other, **place), **place
    )
    outside = interventions.edit(minilm, trace, function=lambda x: beforehand, **place)
    np.testing.assert_array_equal(inside.after.output, outside.after.output)


def test_a_check_is_true_where_it_holds(trace: Trace, minilm: LoadedModel) -> None:
    moved = replace(trace.attentions[2], key=trace.attentions[2].key.roll(1, dims=1))
    wrong = replace(trace, attentions=(*trace.attentions[:2], moved, *trace.attentions[3:]))
    assert exactness.check(trace, minilm)
    assert not exactness.check(wrong, minilm)


def test_a_model_in_memory_is_known_by_its_numbers_and_not_by_a_count(minilm: LoadedModel) -> None:
    first, second = (copy.deepcopy(minilm.network) for _ in range(2))
    recorded = inspector.record(first, TEXT, tokenizer=minilm.tokenizer)
    again = models.of(second, tokenizer=minilm.tokenizer)
    assert again.card.id != recorded.model
    assert exactness.check(recorded, again)
    with torch.no_grad():
        second.encoder.layer[0].output.dense.bias.add_(1.0)
    assert not exactness.check(recorded, second)


def test_a_tokenizer_that_did_not_fit_is_forgotten(minilm: LoadedModel) -> None:
    sizes = GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    small = GPT2LMHeadModel(sizes)
    with pytest.raises(ValueError, match=r"."):
        inspector.record(small, "hi", tokenizer=minilm.tokenizer)
    assert inspector.record(small, tokens=[5, 17]).tokens == ("<5>", "<17>")


def test_sections_and_report_take_a_model_in_memory(minilm: LoadedModel, tmp_path: Path) -> None:
    network = copy.deepcopy(minilm.network)
    recorded = inspector.record(network, tokens=[101, 1996, 4937, 102])
    assert inspector.sections.show("block/way", recorded, loaded=network).blocks
    with pytest.raises(ValueError, match=r"end it in \.html"):
        inspector.report(recorded, tmp_path / "x.txt", loaded=network)
