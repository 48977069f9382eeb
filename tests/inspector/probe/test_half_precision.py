"""bfloat16 and float16: what is recorded is what transformers' own eager attention gives in that dtype.

The recorded function is the model's own on the same bits, so that maps are equal to the last one, but where a model
rounds its maps once more after the softmax that was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import Trace, record
from inspector.exactness import check
from inspector.export import write
from inspector.probe import hold
from models.loaded import LoadedModel
from models.output_projection import find
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, reference, save

TEXT, TARGET = "the cat sat on the log because it was tired", "the log sat on it"
HALF = ("bfloat16", "float16")
NAMES = ("bert", "llama", "t5", "gptj")
CASES = [*((name, "bfloat16") for name in NAMES), *((name, "float16") for name in NAMES[1:])]
FAMILIES = {family.name: family for family in CAPTURED if family.name in NAMES}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made = {name: tmp_path_factory.mktemp(name) for name in NAMES}
    for name, folder in made.items():
        save(FAMILIES[name], folder)
    return made


@pytest.fixture(scope="module")
def read(folders: dict[str, Path]) -> Callable[[str, str], tuple[LoadedModel, Trace]]:
    """Load a family in a dtype and record the text, each of them once for all tests."""

    @cache
    def load(name: str, dtype: str) -> tuple[LoadedModel, Trace]:
        loaded = models.load(folders[name], dtype=dtype)
        return loaded, recorded(loaded)

    return load


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request: pytest.FixtureRequest, read: Any, folders: dict[str, Path]) -> tuple[str, LoadedModel, Trace, Any]:
    """The family, the model, its trace, and what transformers' own model gives in that dtype."""
    name, dtype = request.param
    loaded, trace = read(name, dtype)
    return name, loaded, trace, eager(reference(folders[name], dtype=getattr(torch, dtype)), trace)


def recorded(loaded: LoadedModel) -> Trace:
    return record(loaded, TEXT, target=TARGET) if loaded.shape == "encoder-decoder" else record(loaded, TEXT)


@torch.no_grad()
def eager(network: Any, trace: Trace) -> Any:
    inputs = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        inputs |= {"decoder_input_ids": torch.tensor([trace.target.ids])}
    return network(**inputs, output_attentions=True, output_hidden_states=True, use_cache=False)


def maps(out: Any, shape: str) -> dict[str, Any]:
    if shape == "encoder-decoder":
        return {stream: out[f"{stream}_attentions"] for stream in ("encoder", "decoder", "cross")}
    return {shape: out.attentions}


def test_maps_are_eager_attention_to_the_last_bit(case: tuple[str, LoadedModel, Trace, Any]) -> None:
    name, loaded, trace, out = case
    assert {record.query.dtype for record in trace.attentions} <= {trace.hidden.dtype, torch.float32}
    # GPT-J rounds its float32 maps after the softmax: by half a last digit of a weight.
    digits = torch.finfo(trace.hidden.dtype)
    relative = digits.eps / 2 if name == "gptj" else 0
    for stream, expected in maps(out, loaded.shape).items():
        for layer, weights in enumerate(expected):
            seen = trace.attention(layer=layer, stream=stream)
            assert seen.dtype == np.float32
            assert_close(seen, weights[0].float().numpy(), relative=relative)


def test_rows_scores_and_the_badge(case: tuple[str, LoadedModel, Trace, Any]) -> None:
    name, loaded, trace, _ = case
    eps = torch.finfo(trace.hidden.dtype).eps
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream}
        weights, scores = trace.attention(**where).astype(np.float64), trace.scores(**where).astype(np.float64)
        assert np.abs(weights.sum(axis=-1) - 1).max() <= eps / 2 + 1e-6  # each weight is rounded by half a digit
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        assert_close(weights, powers / powers.sum(axis=-1, keepdims=True), relative=eps / 2 + 1e-6)
    badge = check(trace, loaded)
    assert (badge.second is None) == (name == "gptj")
    assert badge.holds
    dtype = str(trace.hidden.dtype).removeprefix("torch.")
    assert f"({dtype} explains {badge.row_sum_tolerance:.1e})" in str(badge)


def test_another_text_is_beyond_what_rounding_explains(read: Any) -> None:
    loaded, _ = read("llama", "bfloat16")
    one, other = record(loaded, "the dog sat on the log"), record(loaded, "the log sat on the dog")
    wrong = replace(one, hidden=other.hidden)
    assert hold(loaded, one).holds
    held = hold(loaded, wrong)
    assert [difference.what for difference in held.differences if not difference.holds] == ["last hidden state"]
    assert held.worst.relative > 4 * held.worst.tolerance


def test_what_is_read_off_a_trace_follows_float32(case: tuple[str, LoadedModel, Trace, Any], read: Any) -> None:
    """Half precision of the same weights: measures, norms, flow and lens stay within its rounding of float32's."""
    name, loaded, trace, _ = case
    wide, exact = read(name, "float32")
    tolerance = 24 * torch.finfo(trace.hidden.dtype).eps
    for half, whole in zip(trace.sites, exact.sites, strict=True):
        where = {"layer": half.layer, "stream": half.stream}
        assert_close(trace.attention(**where), exact.attention(**where), relative=tolerance)
        assert half.window == whole.window
    one, other = (inspector.heads.measure(each).select_dtypes("number") for each in (trace, exact))
    assert_close(one["entropy"], other["entropy"], relative=tolerance)
    assert [norm.name for norm in trace.norms] == [norm.name for norm in exact.norms]
    assert [norm.epsilon for norm in trace.norms] == [norm.epsilon for norm in exact.norms]
    one, other = (inspector.normalization.statistics(each) for each in (trace, exact))
    assert_close(one["std_before"], other["std_before"], relative=tolerance)
    if name != "gptj":
        projected = [
            inspector.flow.norm_weighted(each, find(model), layer=0, stream=each.sites[0].stream)
            for each, model in ((trace, loaded), (exact, wide))
        ]
        assert_close(*projected, relative=tolerance)


@pytest.mark.parametrize("case", [case for case in CASES if case[0] in ("llama", "t5")], ids="-".join, indirect=True)
def test_the_lens_ends_with_the_models_own_prediction(case: tuple[str, LoadedModel, Trace, Any]) -> None:
    _, loaded, trace, out = case
    lens = inspector.lens.logit_lens(trace, loaded.predict, loaded.tokenizer, top=1)
    logits = out.logits[0].float()
    last = lens[lens["layer"] == lens["layer"].max()]
    np.testing.assert_array_equal(
        last["probability"].to_numpy(), logits.softmax(dim=-1).max(dim=-1).values.numpy().astype(np.float32)
    )


def test_a_file_keeps_every_bit(case: tuple[str, LoadedModel, Trace, Any], tmp_path: Path) -> None:
    _, _, trace, _ = case
    inspector.save(trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    assert again.hidden.dtype == trace.hidden.dtype
    assert torch.equal(again.hidden, trace.hidden)
    for one, other in zip(again.attentions, trace.attentions, strict=True):
        for name in ("query", "key", "value"):
            saved, kept = getattr(one, name), getattr(other, name)
            assert saved.dtype == kept.dtype
            assert torch.equal(saved, kept)
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream}
        np.testing.assert_array_equal(again.attention(**where), trace.attention(**where))
        np.testing.assert_array_equal(again.scores(**where), trace.scores(**where))
    for one, other in zip(again.norms, trace.norms, strict=True):
        np.testing.assert_array_equal(one.output, other.output)
    with np.load(tmp_path / "t.npz", allow_pickle=False) as archive:
        bits = [key for key in archive.files if key.endswith(".bfloat16")]
        assert bool(bits) == (trace.hidden.dtype == torch.bfloat16)
        assert all(archive[key].dtype == np.uint16 for key in bits)


@pytest.mark.parametrize("ending", [".html", ".png", ".csv"])
def test_it_is_exported(ending: str, read: Any, tmp_path: Path) -> None:
    _, trace = read("llama", "bfloat16")
    write(trace, tmp_path / f"map{ending}", layer=1, head=2)
    assert (tmp_path / f"map{ending}").stat().st_size > 100
    if ending == ".csv":
        rows = (tmp_path / "map.csv").read_text(encoding="utf-8").splitlines()[1:]
        table = np.array([row.split(",")[1:] for row in rows], np.float32)
        np.testing.assert_array_equal(table, trace.attention(layer=1, head=2))


OWN_TEXT = "I love cats."


@pytest.fixture(scope="module", params=["minilm-own", "translator", "mini-bert", "own-decoder"])
def own(request: pytest.FixtureRequest) -> tuple[LoadedModel, Trace]:
    """A model of the catalogue in float32, and its trace."""
    loaded = models.load(request.param)
    return loaded, record(loaded, OWN_TEXT)


@pytest.mark.parametrize("dtype", HALF)
def test_own_models_in_half_precision(own: tuple[LoadedModel, Trace], dtype: str) -> None:
    wide, exact = own
    loaded = models.load(wide.card.id, dtype=dtype)
    trace = record(loaded, OWN_TEXT)
    assert trace.hidden.dtype == getattr(torch, dtype)
    tolerance = 24 * torch.finfo(trace.hidden.dtype).eps
    assert_close(
        trace.attention(layer=0, stream=trace.sites[0].stream),
        exact.attention(layer=0, stream=exact.sites[0].stream),
        relative=tolerance,
    )
    assert check(trace, loaded).holds
    assert len(trace.norms) == len(exact.norms)
    if wide.card.id == "translator":
        assert loaded.generate(OWN_TEXT) == wide.generate(OWN_TEXT) != ""
