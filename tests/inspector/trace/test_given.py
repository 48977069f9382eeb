"""Attention that was computed elsewhere: equal to what was given, measured alike, refused in a sentence where wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import inspector
import models
from inspector import Trace, exactness, explain, from_attention, heads, normalization, record
from inspector.trace import file as trace_file
from inspector.trace import file_check
from inspector.trace import given as given_room
from inspector.wording import exactness as badge
from tests.closeness import assert_close
from tests.inspector.probe import families

FAMILIES = {family.name: family for family in families.CAPTURED}
IDS = [2, 9, 14, 5, 9, 14, 7, 3]
WORDS = ["[CLS]", "the", "cat", "sat", "the", "cat", ".", "[SEP]"]


def drawn(*shape: int, seed: int = 0, causal: bool = False) -> NDArray[np.float32]:
    """Random attention [heads, queries, keys], far from uniform."""
    raw = np.exp(3 * np.random.default_rng(seed).normal(size=shape))
    raw = np.tril(raw) if causal else raw
    weights: NDArray[np.float32] = (raw / raw.sum(axis=-1, keepdims=True)).astype(np.float32)
    return weights


def handed_out(name: str, folder: Path) -> Any:
    """Run a tiny model of the family in transformers, nothing of ours, and return what it hands out."""
    families.save(FAMILIES[name], folder)
    network, ids = families.reference(folder), torch.tensor([IDS])
    more = {"decoder_input_ids": ids[:, :5]} if network.config.is_encoder_decoder else {}
    with torch.no_grad():
        return network(ids, output_attentions=True, **more)


# --- equal to what was given --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        *((name, "encoder") for name in ("bert", "distilbert", "electra", "deberta-v2")),
        *((name, "decoder") for name in ("gpt2", "llama", "gemma2", "gpt_oss", "bloom")),
    ],
)
def test_maps_are_those_of_transformers_bit_for_bit(name: str, stream: str, tmp_path: Path) -> None:
    out = handed_out(name, tmp_path)
    trace = from_attention(out.attentions, WORDS)
    assert trace.streams == (stream,)
    assert len(trace.sites) == len(out.attentions)
    for layer, expected in enumerate(out.attentions):
        assert np.array_equal(trace.attention(layer=layer), expected[0].numpy())
        window = trace.window(layer=layer, head=1, queries=slice(2, 5), keys=slice(1, 7))
        assert np.array_equal(window, expected[0, 1, 2:5, 1:7].numpy())
    assert exactness.check(trace).holds


@pytest.mark.parametrize("name", ["bart", "t5", "marian"])
def test_cross_attention_has_two_texts(name: str, tmp_path: Path) -> None:
    out = handed_out(name, tmp_path)
    trace = from_attention(out.cross_attentions, WORDS[:5], key_tokens=WORDS)
    assert trace.streams == ("cross",)
    assert trace.sites[0].queries == tuple(WORDS[:5])
    assert trace.sites[0].keys == tuple(WORDS)
    for layer, expected in enumerate(out.cross_attentions):
        assert np.array_equal(trace.attention(layer=layer), expected[0].numpy())
    assert from_attention(out.decoder_attentions, WORDS[:5]).streams == ("decoder",)


def test_it_gives_the_measures_of_the_recording() -> None:
    loaded = models.load("mini-gpt")
    recorded = record(loaded, "One day the cat sat on the mat.")
    weights = [recorded.attention(layer=site.layer) for site in recorded.sites]
    trace = from_attention(weights, recorded.tokens)
    ours, theirs = heads.measure(trace), heads.measure(recorded)
    for name in ("entropy", "distance", "self", "previous", "next", "first", "confidence", "information"):
        assert_close(ours[name], theirs[name], relative=1e-6)


def test_measures_are_those_of_plain_loops_in_float64() -> None:
    weights = [drawn(3, 8, 8, seed=layer) for layer in range(2)]
    table = heads.measure(from_attention(weights, WORDS))
    for row in table.itertuples():
        exact = weights[row.layer][row.head].astype(np.float64)
        assert_close(row.entropy, -(exact * np.log(exact)).sum() / 8, relative=1e-6)
        assert_close(row.distance, sum(exact[i, j] * abs(i - j) for i in range(8) for j in range(8)) / 8, relative=1e-6)
        assert_close(row.self, np.trace(exact) / 8, relative=1e-6)
        assert_close(row.sep, exact[:, 7].mean(), relative=1e-6)
        # the same words at 1, 4 and 2, 5: what followed the other place
        assert_close(row.induction, (exact[1, 5] + exact[4, 2] + exact[2, 6] + exact[5, 3]) / 4, relative=1e-6)


@pytest.mark.parametrize(
    "give",
    [
        lambda layers: layers,
        lambda layers: np.stack(layers),
        lambda layers: torch.tensor(np.stack(layers)),
        lambda layers: [torch.tensor(layer)[None].requires_grad_() for layer in layers],
        lambda layers: [layer.tolist() for layer in layers],
        lambda layers: [layer.astype(">f4") for layer in layers],
        lambda layers: [np.asfortranarray(layer)[::1] for layer in layers],
        lambda layers: [layer[:, ::-1][:, ::-1].astype(np.float64) for layer in layers],
    ],
)
def test_every_form_of_weights_is_taken(give: Callable[[list[Any]], Any]) -> None:
    layers = [drawn(2, 8, 8, seed=layer) for layer in range(3)]
    trace = from_attention(give(layers), WORDS)
    for layer, expected in enumerate(layers):
        assert np.array_equal(trace.attention(layer=layer), expected)


def test_layers_may_differ_in_heads_and_some_may_not_attend() -> None:
    layers = [drawn(2, 8, 8), None, drawn(5, 8, 8)]
    trace = from_attention(layers, WORDS)
    assert [(site.layer, site.heads) for site in trace.sites] == [(0, 2), (2, 5)]
    with pytest.raises(ValueError, match="layer 1 has no attention"):
        trace.attention(layer=1)
    assert len(heads.measure(trace)) == 7


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_later_changes_of_what_was_given_change_no_trace(kind: Callable[[Any], Any]) -> None:
    weights = kind(drawn(2, 8, 8))
    trace = from_attention([weights], WORDS)
    weights[:] = 0
    assert np.array_equal(trace.attention(layer=0), drawn(2, 8, 8))


@pytest.mark.parametrize("causal", [False, True])
def test_a_long_text_is_read_in_blocks(causal: bool, tmp_path: Path) -> None:
    weights = drawn(2, 300, 300, causal=causal)
    inspector.save(from_attention([weights]), tmp_path / "t.npz")
    trace = inspector.open(tmp_path / "t.npz")
    assert np.array_equal(trace.attention(layer=0), weights)
    window = trace.window(layer=0, head=1, queries=slice(250, 290), keys=slice(100, 260))
    assert np.array_equal(window, weights[1, 250:290, 100:260])
    exact = weights.astype(np.float64)
    entropy = -(exact * np.log(np.where(exact > 0, exact, 1))).sum(axis=-1).mean(axis=-1)
    assert_close(heads.measure(trace)["entropy"], entropy, relative=1e-6)


def test_a_head_that_looks_ahead_once_is_no_decoders() -> None:
    weights = drawn(2, 8, 8, causal=True)
    decoder = from_attention(weights, WORDS)
    assert decoder.streams == ("decoder",)
    mask = decoder.record_of(0, "decoder").mask
    assert mask is not None
    assert np.array_equal(mask.rows(0, 8)[0, 0].numpy(), np.tri(8, dtype=bool))
    weights[1, 3, 3:5] = weights[1, 3, 3] / 2
    assert from_attention(weights, WORDS).streams == ("encoder",)
    assert from_attention(weights, WORDS).record_of(0, "encoder").mask is None
    assert np.array_equal(from_attention(weights, WORDS).attention(layer=0), weights)


def test_one_layer_and_no_words() -> None:
    trace = from_attention(drawn(2, 8, 8))
    assert trace.tokens == tuple("01234567")
    assert len(trace.sites) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_kept(dtype: torch.dtype) -> None:
    weights = torch.tensor(drawn(2, 8, 8)).to(dtype)
    trace = from_attention([weights], WORDS)
    assert np.array_equal(trace.attention(layer=0), weights.float().numpy())
    assert exactness.check(trace).holds


def test_rows_that_sum_to_less_than_one_are_said_to_go_to_sinks() -> None:
    weights = drawn(2, 8, 8)
    weights[1, 3] *= 0.5
    checked = exactness.check(from_attention([weights], WORDS))
    assert checked.holds
    assert "at most 1 (a part goes to sinks)" in str(checked)


# --- what is not known ----------------------------------------------------------------------------------------------


def test_the_badge_says_that_it_was_given() -> None:
    checked = exactness.check(from_attention([drawn(2, 8, 8)], WORDS))
    assert badge.title(checked) == "Given, not held"
    assert str(checked).startswith("1 attention layers given; rows sum to 1 within")
    assert "recorded" not in str(checked).replace("not recorded", "")


@pytest.mark.parametrize(
    "ask",
    [
        lambda trace: trace.scores(layer=0, head=0),
        lambda trace: explain.why(trace, layer=0, head=0, query=1, key=2),
        lambda trace: inspector.hold(models.load("mini-bert"), trace),
        lambda trace: inspector.sections.show("block/way", trace),
        lambda trace: inspector.scores.distribution(trace.record_of_head(0, 0, None)),
        lambda trace: inspector.flow.norm_weighted(trace, {}, layer=0, head=0),
    ],
)
def test_what_is_not_known_is_a_sentence(ask: Callable[[Trace], Any]) -> None:
    with pytest.raises(ValueError, match=r"were given|was given|not seen|has none"):
        ask(from_attention([drawn(2, 8, 8)], WORDS))


def test_tables_of_what_is_not_known_are_empty() -> None:
    assert normalization.statistics(from_attention([drawn(2, 8, 8)], WORDS)).empty


# --- strangers ------------------------------------------------------------------------------------------------------

NOT_FINITE = np.full((2, 8, 8), np.nan, np.float32)
NEGATIVE = drawn(2, 8, 8) - np.float32(0.5)
OVER_ONE = 1.25 * drawn(2, 8, 8)
RAGGED = [[[0.5, 0.5], [1.0]]]


@pytest.mark.parametrize(
    ("weights", "tokens", "said"),
    [
        (NOT_FINITE, WORDS, "layer 0 has weights that are not finite"),
        (NEGATIVE, WORDS, "weights are never negative. These may be scores"),
        (OVER_ONE, WORDS, r"sum to 1.25, more than 1. Call model.eval\(\)"),
        ([RAGGED], WORDS[:2], "its rows differ in length, or hold text"),
        ([drawn(2, 8, 8), drawn(2, 7, 7)], WORDS, "layer 1 has weights of 7 queries to 7 keys, and there are 8 tokens"),
        (drawn(2, 8, 8), WORDS[:3], "8 queries to 8 keys, and there are 3 tokens"),
        (drawn(2, 5, 8), WORDS, "give a token for each query, and key_tokens"),
        (drawn(4, 8, 8)[None, :, None, :, :], WORDS, r"the shape \[1, 4, 1, 8, 8\]"),
        ([drawn(3, 2, 8, 8)], WORDS, "a batch of 3 texts: give one of them"),
        ([drawn(8, 8)], WORDS, r"the shape \[8, 8\]"),
        ([np.zeros((0, 8, 8), np.float32)], WORDS, "none of them 0"),
        ([drawn(2, 8, 8).astype(np.int64)], WORDS, "layer 0 holds int64"),
        ([torch.zeros(2, 8, 8, dtype=torch.complex64)], WORDS, "holds torch.complex64"),
        ([np.full((2, 8, 8), "x", object)], WORDS, "layer 0 holds object"),
        ([torch.ones(2, 8, 8).to_sparse()], WORDS, "give a dense tensor"),
        ([torch.ones(2, 8, 8, device="meta")], WORDS, "give a dense tensor"),
        ([np.ma.masked_array(drawn(2, 8, 8))], WORDS, "layer 0 is MaskedArray"),
        ([[["a"]]], WORDS[:1], "or hold text"),
        ([(torch.ones(1, 2, 1, 1), torch.ones(1, 2, 1, 2))], WORDS[:1], "as model.generate gives them"),
        ([None, None], WORDS, 'attn_implementation="eager"'),
        ((), WORDS, "output_attentions=True"),
        (None, WORDS, "weights is NoneType"),
        ("weights", WORDS, "weights is str"),
        ([{}], WORDS, "layer 0 is dict"),
        ([torch.ones(1, 1, 1)] * 10_001, WORDS[:1], "10,001 layers"),
        (drawn(2, 8, 8), " ".join(WORDS), "tokens is str: give a list of strings"),
        (drawn(2, 8, 8), IDS, "tokens.0. is '2'.*convert_ids_to_tokens"),
        (drawn(2, 8, 8), [*WORDS[:7], None], "tokens.7. is 'None'"),
        (drawn(2, 8, 8), [*WORDS[:7], "\ud800"], r"tokens.7. is '\\ud800'"),
        (drawn(2, 8, 8), {"a": 1}, "tokens is dict"),
        (drawn(2, 8, 8), ["x" * 30_000] * 8, "240,000 characters"),
    ],
)
def test_what_is_no_attention_is_a_sentence(weights: Any, tokens: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_attention(weights, tokens)


def test_a_size_is_checked_before_a_byte_is_copied() -> None:
    huge = torch.ones(1, dtype=torch.float32).expand(40, 20_000, 20_000)  # of four bytes
    with pytest.raises(ValueError, match=r"the weights take 64 GB, more than the 1\.07 GB"):
        from_attention([huge], None)


def test_tokens_are_shown_as_text_whatever_stands_in_them() -> None:
    hostile = ["<img src=x>", "", "\x1b[31m", "a" * 500, "‮", "$x$", "[b](c)", "\0"]
    trace = from_attention(drawn(2, 8, 8), hostile)
    assert trace.tokens == tuple(hostile)
    assert "\x1b" not in repr(trace)


# --- files ------------------------------------------------------------------------------------------------------------


def saved(trace: Trace, folder: Path) -> dict[str, Any]:
    inspector.save(trace, folder / "t.npz")
    with np.load(folder / "t.npz") as arrays:
        return dict(arrays)


def read(arrays: dict[str, Any]) -> Trace:
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    file.seek(0)
    return trace_file.read(file, name="t.npz")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [False, True])
def test_a_file_gives_the_same_trace(dtype: torch.dtype, causal: bool, tmp_path: Path) -> None:
    layers = [torch.tensor(drawn(count, 8, 8, causal=causal)).to(dtype) for count in (2, 3)]
    trace = from_attention(layers, WORDS)
    inspector.save(trace, tmp_path / "t.npz")
    opened = inspector.open(tmp_path / "t.npz")
    assert opened.given
    assert opened.sites == trace.sites
    for layer in range(2):
        assert np.array_equal(opened.attention(layer=layer), trace.attention(layer=layer))
    assert str(exactness.check(opened)) == str(exactness.check(trace))


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights * np.nan,
        lambda weights: weights - 1,
        lambda weights: weights * 1.5,
        lambda weights: weights[:, :1],
        lambda weights: weights[:, :, :, :5],
        lambda weights: np.concatenate([weights, weights]),
        lambda weights: weights[0],
        lambda weights: weights.astype(np.int32),
        lambda weights: weights[:, :0],
    ],
)
def test_a_changed_array_is_refused(change: Callable[[Any], Any], tmp_path: Path) -> None:
    arrays = saved(from_attention([drawn(2, 8, 8)], WORDS), tmp_path)
    assert read(arrays).given
    arrays["attention.0.argument.weights"] = change(arrays["attention.0.argument.weights"])
    with pytest.raises(ValueError, match="is damaged"):
        read(arrays)


def test_given_attention_takes_no_models_name(tmp_path: Path) -> None:
    arrays = saved(from_attention([drawn(2, 8, 8)], WORDS), tmp_path)
    header = json.loads(str(arrays["header"])) | {"model": "minilm"}
    with pytest.raises(ValueError, match="attention that was given has no model"):
        read(arrays | {"header": np.array(json.dumps(header))})


def test_a_limit_on_memory_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_room, "MOST_BYTES", 2 * 8 * 8 * 4)
    from_attention([drawn(2, 8, 8)], WORDS)
    with pytest.raises(ValueError, match="give fewer layers, a shorter text, or float16"):
        from_attention([drawn(2, 8, 8), drawn(1, 8, 8)], WORDS)


def test_more_heads_than_any_model_has_are_refused_before_they_are_looked_at() -> None:
    with pytest.raises(ValueError, match="layer 0 has 5,000 heads, and no attention has more than 4,096"):
        from_attention([np.ones((5000, 1, 1), np.float32)])
    with pytest.raises(ValueError, match="there are 81,920 heads, and a trace holds at most 65,536"):
        from_attention([np.ones((4096, 1, 1), np.float32)] * 20)
    with pytest.raises(ValueError, match="layer 0 is no array of numbers"):
        from_attention([[[[10**400, 0], [0, 1]]]])


def test_a_given_trace_with_more_than_weights_is_refused() -> None:
    given = from_attention([drawn(2, 3, 3)])
    file_check.check_trace(given)
    real = record(models.load("mini-bert"), "A cat.")
    wide = replace(given.attentions[0], value=torch.ones(2, 3, 4))
    for more in ({"norms": real.norms}, {"hidden": torch.ones(3, 4)}, {"attentions": (wide,)}):
        with pytest.raises(ValueError, match="has weights and nothing else, and this file has more"):
            file_check.check_trace(replace(given, **more))


def test_a_header_is_bounded_before_it_is_read_through(tmp_path: Path) -> None:
    inspector.save(from_attention([drawn(2, 3, 3)]), tmp_path / "given.npz")
    header = json.loads(bytes(np.load(tmp_path / "given.npz")["header"]))
    file_check.check_header(header)
    refused = {"what": "norm", "name": "n", "reason": "r"}
    for change, told in (
        ({"refused": [refused] * 70_000}, "it holds 70,000 refused, and a trace holds at most 65,536"),
        ({"refused": [{**refused, "reason": "r" * 2000}]}, "refused.0.reason is not what it can be"),
        ({"encoding": {**header["encoding"], "tokens": ["a" * 900_000, "b", "c"]}}, "its tokens have 900,002 letters"),
        (
            {"encoding": {**header["encoding"], "cut": {"kept": 1, "total": 2, "unit": "tokens", "limit": "\x1b[31m"}}},
            "encoding.cut.limit is not what it can be",
        ),
    ):
        with pytest.raises(ValueError, match=told):
            file_check.check_header({**header, **change})
