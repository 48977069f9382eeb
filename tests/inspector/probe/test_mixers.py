"""Layers that mix tokens without softmax attention: each map times its values is what the layer's own core left."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import exactness, record, record_batch
from inspector.trace import MixerRecord
from models.loaded import LoadedModel
from models.mixers import DecayingState
from tests.closeness import assert_close
from tests.inspector.probe.families import save
from tests.inspector.probe.hybrids import FAMILIES, larger_hybrid, loaded_family, recorded

BY_HEAD = {
    **dict.fromkeys(
        ("qwen3_next", "qwen3_5_text", "qwen3_5", "qwen3_5_moe_text", "qwen3_5_moe", "olmo_hybrid"), "gated delta rule"
    ),
    **dict.fromkeys(("kimi_linear", "bailing_hybrid"), "Kimi delta attention"),
    "minimax": "lightning attention",
    "yoso": "expected hash collisions",
    **dict.fromkeys(("mamba2", "bamba", "granitemoehybrid", "nemotron_h", "zamba2", "falcon_h1"), "state space"),
}
BY_CHANNEL = {
    **dict.fromkeys(("lfm2", "lfm2_moe", "lfm3"), "short convolution"),
    **dict.fromkeys(("jamba", "mamba", "falcon_mamba"), "selective scan"),
    "rwkv": "WKV",
    "recurrent_gemma": "RG-LRU",
}
KINDS = BY_HEAD | BY_CHANNEL
READS_PADDING = {("recurrent_gemma", "left"), ("rwkv", "left"), ("yoso", "left"), ("yoso", "right")}
LENGTHS = (1, 7, 65, 300)
TEXTS = ("the cat sat", "the dog sat on the log because it was tired", "it was the mat")


def maps_of(mixer: MixerRecord) -> np.ndarray:
    """The maps that are shown, [H, T, T]; of a mixer by channel those of every channel, one after the other."""
    tokens = slice(0, len(mixer.site.queries))
    if not mixer.site.by_channel:
        return mixer.window(queries=tokens, keys=tokens)
    heads = range(mixer.site.heads)
    return np.concatenate([mixer.of_head(head).window(queries=tokens, keys=tokens) for head in heads])


def off(mixer: MixerRecord) -> float:
    """The largest difference of M v from what the core left, as a share of what its head left."""
    mixed = np.einsum("hqt,thv->qhv", maps_of(mixer), mixer.value.double().numpy())
    mixed = mixed if mixer.gate is None else mixed * mixer.gate.double().numpy()
    left = mixer.output.double().numpy()
    return float((np.abs(mixed - left).max(axis=(0, 2)) / np.abs(left).max(axis=(0, 2))).max())


@pytest.mark.families
@pytest.mark.parametrize("name", KINDS)
def test_every_layer_has_a_map_that_is_what_its_core_does(name: str, tmp_path: Path) -> None:
    loaded = loaded_family(name, tmp_path)
    for tokens in LENGTHS:
        trace = recorded(loaded, tokens)
        assert {mixer.site.kind for mixer in trace.mixers} == {KINDS[name]}
        layers = {site.layer for site in (*trace.sites, *trace.mixer_sites)}
        assert layers == {state.layer for state in trace.states} - {-1}
        for mixer in trace.mixers:
            assert off(mixer) <= 1e-5
            assert mixer.exact
        assert len({len(mixer.site.queries) for mixer in trace.mixers}) == 1


@pytest.mark.families
@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("name", KINDS)
def test_a_map_is_that_of_the_text_alone_in_any_batch(name: str, padding: Any, tmp_path: Path) -> None:
    loaded = loaded_family(name, tmp_path)
    if (name, padding) in READS_PADDING:
        where = "before" if padding == "left" else "behind"
        with pytest.raises(ValueError, match=f"reads the padding {where} a text as text"):
            record_batch(loaded, TEXTS, padding=padding)
        return
    for trace, text in zip(record_batch(loaded, TEXTS, padding=padding), TEXTS, strict=True):
        for mixer, alone in zip(trace.mixers, record(loaded, text).mixers, strict=True):
            assert off(mixer) <= 1e-5
            assert_close(maps_of(mixer), maps_of(alone), relative=1e-5)


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return loaded_family("qwen3_next", tmp_path_factory.mktemp("hybrid"))


def test_the_softmax_sites_are_those_of_the_other_layers(hybrid: LoadedModel) -> None:
    trace = record(hybrid, TEXTS[1])
    assert [(site.layer, site.kind) for site in trace.sites] == [(1, "softmax")]
    assert [(site.layer, site.kind) for site in trace.mixer_sites] == [(0, "gated delta rule")]
    with pytest.raises(ValueError, match=r"layer 0 has no attention.*kind='gated delta rule'"):
        trace.attention(layer=0)
    with pytest.raises(ValueError, match="layer 1 has no gated delta rule"):
        trace.attention(layer=1, kind="gated delta rule")
    with pytest.raises(ValueError, match="head 4 is out of range"):
        trace.attention(layer=0, head=4, kind="gated delta rule")


def test_both_maps_of_a_layer_that_has_two(tmp_path: Path) -> None:
    trace = record(loaded_family("falcon_h1", tmp_path), TEXTS[1])
    softmax, other = trace.attention(layer=0), trace.attention(layer=0, kind="state space")
    assert_close(softmax.sum(axis=-1), 1, relative=1e-5)
    assert np.abs(other.sum(axis=-1) - 1).max() > 0.1


def test_windows_pictures_and_heads_are_parts_of_the_map(hybrid: LoadedModel) -> None:
    trace = recorded(hybrid, 150)
    mixer, whole = trace.mixer(layer=0), trace.attention(layer=0, kind="gated delta rule")
    assert whole.shape == (4, 150, 150)
    assert (whole < 0).any()
    assert not whole[:, np.triu(np.ones((150, 150), bool), k=1)].any()
    window = mixer.of_head(2).window(queries=slice(60, 70), keys=slice(50, 140))
    np.testing.assert_array_equal(window[0], whole[2, 60:70, 50:140])
    np.testing.assert_array_equal(trace.attention(layer=0, head=3, kind="gated delta rule"), whole[3])
    tiles = whole.reshape(4, 15, 10, 15, 10).transpose(0, 1, 3, 2, 4).reshape(4, 15, 15, 100)
    farthest = np.take_along_axis(tiles, np.abs(tiles).argmax(axis=-1)[..., None], axis=-1)[..., 0]
    np.testing.assert_array_equal(mixer.pooled(side=15), farthest)


def test_a_mixer_by_channel_shows_one_channel_and_an_average(tmp_path: Path) -> None:
    trace = recorded(loaded_family("jamba", tmp_path), 70)
    mixer, whole = trace.mixer(layer=0), slice(0, 70)
    assert (mixer.site.by_channel, mixer.site.heads) == (True, 64)
    with pytest.raises(ValueError, match="a map for each of its 64 channels: choose one"):
        trace.attention(layer=0, kind="selective scan")
    with pytest.raises(ValueError, match="channel 64 is out of range"):
        trace.attention(layer=0, head=64, kind="selective scan")
    assert len(mixer.sampled) == 32
    assert {0, 63} < set(mixer.sampled)
    sampled = [mixer.of_head(head).window(queries=whole, keys=whole)[0] for head in mixer.sampled]
    mean = np.abs(sampled).mean(axis=0)
    assert_close(mixer.averaged(side=70), mean, relative=1e-6)
    assert_close(mixer.averaged(side=35), mean.reshape(35, 2, 35, 2).max(axis=(1, 3)), relative=1e-6)
    np.testing.assert_array_equal(trace.attention(layer=0, head=mixer.sampled[1], kind="selective scan"), sampled[1])


@pytest.mark.parametrize(("name", "tokens"), [("qwen3_next", 150), ("qwen3_next", 600), ("jamba", 70)])
def test_what_is_drawn_is_held_on_the_way(name: str, tokens: int, tmp_path: Path) -> None:
    mixer = recorded(loaded_family(name, tmp_path), tokens).mixer(layer=0)
    drawn = replace(mixer)
    picture = drawn.averaged(side=20) if mixer.site.by_channel else drawn.pooled(side=20)
    assert picture.any()
    assert ("difference" in vars(drawn)) == (tokens <= 512)  # else a check of a part takes less
    assert drawn.difference == mixer.difference > 0
    for row in (0, tokens - 1):
        assert replace(mixer, output=mixer.output.index_fill(0, torch.tensor([row]), 1e3)).difference > 0.1


def test_exactness_counts_the_layers_with_maps(hybrid: LoadedModel) -> None:
    trace = record(hybrid, TEXTS[1])
    checked = exactness.check(trace, expected_layers=hybrid.layers)
    assert checked.holds
    assert checked.mixers is not None
    assert (checked.mixers.shown, checked.mixers.ran, checked.mixers.again) == (1, 1, 0)
    assert "1 of 1 layers that mix tokens without softmax attention have maps" in str(checked)
    assert exactness.check(record(models.load("own-decoder"), "The cat."), expected_layers=None).mixers is None


@pytest.mark.families
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    "name", ["qwen3_next", "kimi_linear", "minimax", "bamba", "jamba", "recurrent_gemma", "lfm2", "rwkv"]
)
def test_in_half_precision_the_core_runs_again_in_float32(name: str, dtype: str, tmp_path: Path) -> None:
    save(FAMILIES[name], tmp_path)
    loaded = models.load(tmp_path, dtype=dtype)
    checked = exactness.check(record(loaded, TEXTS[1]))
    assert checked.mixers is not None
    assert checked.mixers.shown == checked.mixers.ran == checked.mixers.again
    assert "ran again in float32" in str(checked)


@pytest.mark.families
@pytest.mark.parametrize("tokens", [7, 300])  # less than a block of the layer's own, and more
def test_lightning_attention_runs_again_from_its_own_projections(tokens: int, tmp_path: Path) -> None:
    save(FAMILIES["minimax"], tmp_path)
    half = models.load(tmp_path, dtype="bfloat16")
    for mixer in recorded(half, tokens).mixers:
        assert mixer.again
        assert off(mixer) <= 1e-5
    batch = record_batch(half, TEXTS, padding="left")
    assert all(mixer.exact for trace in batch for mixer in trace.mixers)


# --- planted faults ------------------------------------------------------------------------------------------------


def _without_removal(core: DecayingState) -> DecayingState:
    return replace(core, removes=False)


def _one_off(core: DecayingState) -> DecayingState:
    return replace(core, decay=core.decay.roll(1, dims=0))


def _without_norm(core: DecayingState) -> DecayingState:
    return replace(core, normalised=False)


def _tiled(core: DecayingState) -> DecayingState:
    """Heads 0 1 0 1 for 0 0 1 1."""
    return replace(core, query=core.query.repeat(1, 2, 1), key=core.key.repeat(1, 2, 1))


@pytest.mark.parametrize("fault", [_without_removal, _one_off, _without_norm, _tiled])
def test_a_map_with_a_fault_is_refused_with_its_number(
    hybrid: LoadedModel, fault: Callable[[DecayingState], DecayingState]
) -> None:
    trace = recorded(hybrid, 40)
    mixer = trace.mixer(layer=0)
    assert isinstance(mixer.core, DecayingState)
    wrong = replace(trace, mixers=(replace(mixer, core=fault(mixer.core)),), key="wrong")
    with pytest.raises(ValueError, match=r"off by \d\.\de[+-]\d\d of what the layer's own core left"):
        wrong.attention(layer=0, kind="gated delta rule")
    with pytest.raises(ValueError, match="no map of layer 0"):
        wrong.mixer(layer=0).pooled(side=8)
    checked = exactness.check(wrong)
    assert checked.mixers is not None
    assert (checked.mixers.shown, checked.mixers.ran) == (0, 1)


# --- memory and threads --------------------------------------------------------------------------------------------


@pytest.mark.heavy
def test_a_recording_takes_memory_that_is_linear_in_the_text(tmp_path: Path) -> None:
    loaded = larger_hybrid(tmp_path)
    short, long = (recorded(loaded, tokens).nbytes for tokens in (512, 4096))
    assert long / short == pytest.approx(8, rel=0.1)


@pytest.mark.heavy
def test_ten_threads_of_hybrids_beside_softmax_models_meet_nowhere(tmp_path: Path) -> None:
    """Each thread records bit for bit what is recorded alone."""
    loaded = {}
    for name in ("qwen3_next", "kimi_linear", "minimax", "bamba", "falcon_h1", "gpt2"):
        loaded[name] = loaded_family(name, tmp_path / name)
    cases = [(name, text) for name in loaded for text in TEXTS]

    def digest(case: tuple[str, str]) -> tuple[Any, ...]:
        trace = record(loaded[case[0]], case[1])
        kept = [tensor for mixer in trace.mixers for tensor in (mixer.value, mixer.output)]
        kept += [record.query for record in trace.attentions]
        maps = [trace.attention(layer=site.layer, kind=site.kind) for site in trace.mixer_sites]
        return trace.mixer_sites, *(tensor.numpy().tobytes() for tensor in kept), *(one.tobytes() for one in maps)

    alone = {case: digest(case) for case in cases}
    with ThreadPoolExecutor(10) as pool:
        for case, made in zip(cases * 6, pool.map(digest, cases * 6), strict=True):
            assert made == alone[case], case


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.families
@pytest.mark.parametrize(
    "name", ["qwen3_next", "kimi_linear", "bamba", "jamba", "rwkv", "lfm2", "yoso", "recurrent_gemma"]
)
def test_a_saved_trace_has_its_mixers(name: str, tmp_path: Path) -> None:
    trace = record(loaded_family(name, tmp_path), TEXTS[1])
    inspector.save(trace, tmp_path / "trace.npz")
    again = inspector.open(tmp_path / "trace.npz")
    assert again.mixer_sites == trace.mixer_sites
    for saved, mixer in zip(again.mixers, trace.mixers, strict=True):
        assert saved.again == mixer.again
        np.testing.assert_array_equal(maps_of(saved), maps_of(mixer))


def _changed(saved: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None]) -> Path:
    """The file with a header and arrays that somebody else wrote."""
    with np.load(saved) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(str(arrays.pop("header")))
    change(header, arrays)
    np.savez(saved.with_name("changed.npz"), header=np.array(json.dumps(header)), **arrays)
    return saved.with_name("changed.npz")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda header, arrays: header["mixers"][0].update(kind="softmax"), "mixers.0.kind is not what it can be"),
        (lambda header, arrays: header["mixers"][0].update(core="Trace"), "mixers.0.core is not what it can be"),
        (lambda header, arrays: header["mixers"][0]["numbers"].update(scale=None), "numbers.scale is not"),
        (lambda header, arrays: header["mixers"][0]["numbers"].update(by_token=1), "fields that no DecayingState has"),
        (lambda header, arrays: header.update(mixers=header["mixers"] * 2), "2 mixers in 1 places"),
        (lambda header, arrays: arrays.update({"mixer.0.value": arrays["mixer.0.value"][1:]}), "do not fit"),
        (lambda header, arrays: arrays.update({"mixer.0.core.key": arrays["mixer.0.core.key"][:, :1]}), "is not of"),
        (
            lambda header, arrays: arrays.update({"mixer.0.core.decay": arrays["mixer.0.core.decay"] * np.nan}),
            "is not of",
        ),
    ],
)
def test_a_file_with_mixers_that_cannot_be_is_refused(
    hybrid: LoadedModel, change: Callable[[dict[str, Any], dict[str, np.ndarray]], None], reason: str, tmp_path: Path
) -> None:
    inspector.save(record(hybrid, TEXTS[1]), tmp_path / "trace.npz")
    with pytest.raises(ValueError, match=reason):
        inspector.open(_changed(tmp_path / "trace.npz", change))


ODD: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "flat": np.ravel,
    "empty": lambda array: array[:0],
    "in a row": lambda array: array[None],
    "of one dimension": lambda array: array[..., :1],
    "float64": lambda array: array.astype(np.float64),
    "huge": lambda array: np.full_like(array, 1e30),
    "zero": np.zeros_like,
}
"""Tensors of a mixer as a stranger may write them."""


@pytest.mark.families
@pytest.mark.parametrize("name", ["qwen3_next", "kimi_linear", "mamba2", "jamba", "rwkv", "lfm2", "yoso"])
def test_whatever_a_files_mixer_holds_is_a_map_that_is_held_or_a_sentence(name: str, tmp_path: Path) -> None:
    inspector.save(record(loaded_family(name, tmp_path), TEXTS[1]), tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as file:
        tensors = [key for key in file.files if key.startswith("mixer.0.")]
    given, refused = 0, 0
    for tensor in tensors:
        for odd in ODD.values():

            def change(header: dict[str, Any], arrays: dict[str, np.ndarray], tensor=tensor, odd=odd) -> None:
                arrays[tensor] = odd(arrays[tensor])

            try:
                mixer = inspector.open(_changed(tmp_path / "trace.npz", change)).mixers[0]
                mixer.of_head(0).window(queries=slice(0, 3), keys=slice(0, 3))
                given += 1
            except ValueError:
                refused += 1
    assert given
    assert refused > given


def test_a_file_from_before_there_were_mixers_opens(hybrid: LoadedModel, tmp_path: Path) -> None:
    trace = record(hybrid, TEXTS[1])
    inspector.save(trace, tmp_path / "trace.npz")
    old = inspector.open(_changed(tmp_path / "trace.npz", lambda header, arrays: header.pop("mixers")))
    assert old.mixers == ()
    np.testing.assert_array_equal(old.attention(layer=1), trace.attention(layer=1))


def test_numbers_that_were_changed_in_a_file_give_no_map(hybrid: LoadedModel, tmp_path: Path) -> None:
    inspector.save(record(hybrid, TEXTS[1]), tmp_path / "trace.npz")

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        arrays["mixer.0.core.strength"] = arrays["mixer.0.core.strength"] * 2

    with pytest.raises(ValueError, match="no map of layer 0"):
        inspector.open(_changed(tmp_path / "trace.npz", change)).attention(layer=0, kind="gated delta rule")


def test_readers_of_attention_say_that_there_is_none(tmp_path: Path) -> None:
    loaded = loaded_family("mamba", tmp_path)
    trace = record(loaded, TEXTS[0])
    assert trace.streams == ("decoder",)
    with pytest.raises(ValueError, match="has no softmax attention to measure"):
        inspector.heads.measure(trace)
    with pytest.raises(ValueError, match=r"layer 1 has no attention.*kind='selective scan'"):
        trace.attention(layer=1)
    answer = inspector.questions.ask(16, loaded, TEXTS[0])
    assert answer.problem is not None
    assert answer.problem.en == "This model mixes tokens without softmax attention, of which the question is."
