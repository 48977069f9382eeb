"""Models that attend in windows and blocks: held to transformers' own default forward, at every length.

The maps are put together here from the softmaxes that transformers makes in its own arrangement of blocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor
from torch.overrides import TorchFunctionMode
from transformers import AutoConfig

import inspector
import models
from inspector import Trace, explain, lens, record
from inspector.exactness import check_norms
from inspector.probe import hold
from models.transformer.subwords import as_transformers, train_subwords
from tests.closeness import assert_close
from tests.inspector.probe.families import Family, save
from tests.inspector.probe.sparse_maps import whole_map

pytestmark = pytest.mark.heavy

WORDS = ["the", "cat", "sat", "on", "it", "the", "sat", "cat", "on", "the", "it", "on", "sat", "cat"]  # a token each
BLOCKS = {"block_size": 4, "num_random_blocks": 2, "attention_type": "block_sparse"}  # up to 36 tokens in full
SHORT, EDGE, LONG = 20, 36, 157


WINDOWED = {
    "longformer": {"attention_window": 8},
    "led": {"attention_window": 8},
    "longt5": {"local_radius": 5, "decoder_start_token_id": 0},
    "longt5 with side keys": {
        **{"local_radius": 5, "global_block_size": 4, "encoder_attention_type": "transient-global"},
        "decoder_start_token_id": 0,
    },
    "pegasus_x": {"block_size": 6, "num_global_tokens": 3},
}


@pytest.fixture(params=list(WINDOWED))
def windowed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    return request.param, saved(request.param.split()[0], WINDOWED[request.param], tmp_path)


@pytest.fixture(params=["big_bird", "bigbird_pegasus"])
def big_bird(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(request.param, BLOCKS, tmp_path)


def saved(name: str, sizes: dict[str, Any], folder: Path) -> Path:
    positions = dict.fromkeys(("max_position_embeddings", "max_encoder_position_embeddings"), 256)
    known = {key: value for key, value in positions.items() if hasattr(AutoConfig.for_model(name), key)}
    save(Family(name, "learned", known | sizes), folder)
    as_transformers(train_subwords([" ".join(WORDS)], vocabulary=300), max_tokens=256).save_pretrained(folder)
    return folder


def text_of(tokens: int) -> str:
    """A text that the tokenizer of `saved` cuts into so many tokens, its two special ones included."""
    return " ".join(WORDS[index % len(WORDS)] for index in range(tokens - 2))


class Softmaxes(TorchFunctionMode):
    """Keeps what every softmax of the block gave."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func is torch.nn.functional.softmax:
            self.given.append(out)
        return out


@torch.no_grad()
def default_forward(folder: Path, trace: Trace) -> tuple[Tensor, Any, list[Tensor]]:
    """A fresh model as transformers runs it by itself: the logits, the whole output, what its softmaxes gave."""
    named = AutoConfig.from_pretrained(folder).architectures[0]
    network = getattr(transformers, named).from_pretrained(folder).eval()
    inputs = {"input_ids": torch.tensor([trace.encoding.ids])}
    if trace.target is not None:
        inputs["decoder_input_ids"] = torch.tensor([trace.target.ids])
    with Softmaxes() as softmaxes:
        out = network(**inputs, output_hidden_states=True)
    return out.logits, out, softmaxes.given


def recorded(loaded: models.LoadedModel, tokens: int) -> Trace:
    more = {"target": "the log sat on it"} if loaded.shape == "encoder-decoder" else {}
    trace = record(loaded, text_of(tokens), **more)
    assert len(trace.tokens) == tokens
    return trace


def test_norms_of_side_keys_are_named_as_not_shown(tmp_path: Path) -> None:
    folder = saved("longt5", WINDOWED["longt5 with side keys"], tmp_path)
    trace = recorded(models.load(folder), SHORT)
    named = [refused for refused in trace.refused if refused.name.endswith("global_input_layer_norm")]
    assert len(named) == 2  # one a layer of the encoder
    assert all(refused.reason.startswith("an RMSNorm of vectors, 32 dimensions") for refused in named)
    norms = check_norms(trace)
    assert norms.ran == norms.shown + len(trace.refused)


@pytest.mark.parametrize("tokens", [SHORT, EDGE, EDGE + 1, 44, LONG])
def test_big_bird_computes_what_transformers_does_by_itself(big_bird: Path, tokens: int) -> None:
    loaded = models.load(big_bird)
    trace = recorded(loaded, tokens)
    logits, _, _ = default_forward(big_bird, trace)
    assert loaded.predict is not None
    assert_close(loaded.predict(trace.hidden[None]), logits, relative=5e-5)
    assert all(site.window is None for site in trace.sites)


def test_a_short_text_does_not_switch_the_next_one_to_full_attention(big_bird: Path) -> None:
    loaded = models.load(big_bird)
    alone = recorded(loaded, LONG)
    recorded(loaded, SHORT)
    again = recorded(loaded, LONG)
    np.testing.assert_array_equal(again.output, alone.output)
    assert loaded.network.config.attention_type == "block_sparse"


def test_the_maps_of_big_bird_are_its_five_softmaxes(big_bird: Path) -> None:
    loaded = models.load(big_bird)
    trace = recorded(loaded, LONG)
    encoder = [site for site in trace.sites if site.stream == "encoder"]
    _, _, softmaxes = default_forward(big_bird, trace)
    assert explain.bias_name(trace.attentions[0].function).startswith("BigBird: ln 3")
    for site in encoder:
        expected = of_blocks([given[0].numpy() for given in softmaxes[5 * site.layer :][:5]])[:, :LONG, :LONG]
        weights = trace.attention(layer=site.layer, stream="encoder")
        assert_close(weights, expected, relative=1e-5)
        assert_close(weights.sum(axis=-1), 1, relative=1e-5)
        assert (weights[:, 40, 60:150] == 0).all()


def of_blocks(softmaxes: list[np.ndarray]) -> np.ndarray:
    """[H, Q, T] of what BigBird's five softmaxes gave: of its first block, second, inner ones, last but one, last.

    The columns of drawn blocks are those of block 0, as transformers draws outside training.
    """
    size, drawn = BLOCKS["block_size"], BLOCKS["num_random_blocks"]
    first, second, inner, last_but_one, last = softmaxes
    heads, blocks = len(first), first.shape[-1] // size
    whole = np.zeros((heads, blocks, size, blocks, size))

    def put(query: int, weights: np.ndarray, keys: list[int]) -> None:
        for column, key in enumerate(keys):
            whole[:, query, :, key] += weights[..., column * size : (column + 1) * size]

    put(0, first, list(range(blocks)))
    put(1, second, [0, 1, 2, blocks - 1] + [0] * drawn)
    for query in range(2, blocks - 2):
        put(query, inner[:, query - 2], [0, query - 1, query, query + 1] + [0] * drawn + [blocks - 1])
    put(blocks - 2, last_but_one, [0, blocks - 3, blocks - 2, blocks - 1] + [0] * drawn)
    put(blocks - 1, last, list(range(blocks)))
    return whole.reshape(heads, blocks * size, blocks * size)


def test_big_birds_maps_come_back_from_a_file(big_bird: Path, tmp_path: Path) -> None:
    come_back(recorded(models.load(big_bird), LONG), tmp_path)


def test_maps_of_windows_and_blocks_come_back_from_a_file(windowed: tuple[str, Path], tmp_path: Path) -> None:
    come_back(recorded(models.load(windowed[1]), 37), tmp_path)


def come_back(trace: Trace, tmp_path: Path) -> None:
    inspector.save(trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream}
        np.testing.assert_array_equal(again.attention(**where), trace.attention(**where))


def test_a_padded_batch_of_big_bird_is_what_transformers_gives(tmp_path: Path) -> None:
    folder = saved("big_bird", BLOCKS, tmp_path)
    loaded = models.load(folder)
    texts = [text_of(LONG), text_of(90)]
    traces = inspector.record_batch(loaded, texts)
    network = transformers.BigBirdModel.from_pretrained(folder, add_pooling_layer=False).eval()
    ids, keep = torch.zeros(2, LONG, dtype=torch.long), torch.zeros(2, LONG, dtype=torch.long)
    for row, trace in enumerate(traces):
        ids[row, : len(trace.tokens)], keep[row, : len(trace.tokens)] = torch.tensor(trace.encoding.ids), 1
    with torch.no_grad():
        hidden = network(input_ids=ids, attention_mask=keep).last_hidden_state
    for row, trace in enumerate(traces):
        assert_close(trace.output, hidden[row, : len(trace.tokens)], relative=5e-5)


@pytest.mark.parametrize("tokens", [3, 37, LONG])
def test_windows_and_blocks_compute_what_transformers_does_by_itself(windowed: tuple[str, Path], tokens: int) -> None:
    _, folder = windowed
    loaded = models.load(folder)
    assert loaded.backend == "probe"
    trace = recorded(loaded, tokens)
    logits, _, _ = default_forward(folder, trace)
    assert loaded.predict is not None
    assert_close(loaded.predict(trace.hidden[None]), logits, relative=5e-5)
    assert {len(site.queries) for site in trace.sites if site.stream == "encoder"} == {tokens}


@pytest.mark.parametrize("tokens", [3, 37, LONG])
def test_maps_of_windows_and_blocks_are_the_models_softmaxes(windowed: tuple[str, Path], tokens: int) -> None:
    name, folder = windowed
    trace = recorded(models.load(folder), tokens)
    _, _, softmaxes = default_forward(folder, trace)
    for site in (site for site in trace.sites if site.stream == "encoder"):
        expected, allowed = arranged(name, softmaxes, layer=site.layer, tokens=tokens)
        weights = trace.attention(layer=site.layer, stream="encoder")
        assert_close(weights, expected, relative=1e-5)
        np.testing.assert_array_equal(weights > 0, np.broadcast_to(allowed, weights.shape))
        scores = trace.scores(layer=site.layer, stream="encoder")
        np.testing.assert_array_equal(np.isfinite(scores), weights > 0)
        whole = weights.sum(axis=-1)
        if name in ("longformer", "led", "longt5"):
            assert_close(whole, 1, relative=1e-5)
        elif tokens >= 4:
            assert whole.max() <= 1 + 1e-6
            assert whole.mean() < 0.95


def test_a_weight_is_rebuilt_step_by_step(windowed: tuple[str, Path]) -> None:
    _, folder = windowed
    trace = recorded(models.load(folder), 37)
    for key in (0, 18, 20, 21, 30):
        cell = explain.why(trace, layer=1, head=2, query=20, key=key, stream=trace.sites[0].stream)
        assert cell.holds
        assert (cell.hidden is None) == (cell.recorded > 0)


def test_torchs_fused_kernel_agrees(windowed: tuple[str, Path]) -> None:
    loaded = models.load(windowed[1])
    held = hold(loaded, recorded(loaded, 37))
    assert held.holds
    assert held.largest <= 1e-5


def test_side_keys_of_an_offloaded_model_are_those_of_the_plain_one(tmp_path: Path) -> None:
    """Layers read a table that another layer has, and which is not there between its uses."""
    folder = saved("longt5", WINDOWED["longt5 with side keys"], tmp_path)
    spread, plain = (
        recorded(loaded, 37)
        for loaded in (models.load(folder, device="auto", max_memory={"cpu": 1000}), models.load(folder))
    )
    np.testing.assert_array_equal(spread.output, plain.output)
    for layer in (0, 1):
        one, other = (trace.attention(layer=layer, stream="encoder") for trace in (spread, plain))
        np.testing.assert_array_equal(one, other)


def test_a_recording_is_linear_in_the_text(windowed: tuple[str, Path]) -> None:
    loaded = models.load(windowed[1])
    short, long = (recorded(loaded, tokens).nbytes for tokens in (60, 240))
    assert long <= 4.1 * short


def test_a_key_of_another_block_is_not_said_to_be_still_to_come(tmp_path: Path) -> None:
    trace = recorded(models.load(saved("pegasus_x", WINDOWED["pegasus_x"], tmp_path)), 37)
    cell = explain.why(trace, layer=0, head=0, query=5, key=6, stream="encoder")  # the last of its block of 6
    assert cell.hidden == "hidden by the model's mask"


def test_the_residual_stream_is_that_of_transformers(windowed: tuple[str, Path]) -> None:
    """Norms of side keys and global tokens are no norms of the text's tokens, and nothing is padded."""
    _, folder = windowed
    trace = recorded(models.load(folder), 37)
    _, out, _ = default_forward(folder, trace)
    states = out["encoder_hidden_states" if "encoder_hidden_states" in out else "hidden_states"]
    assert {len(norm.input) for norm in trace.norms if norm.stream == "encoder"} == {37}
    seen = [residual for residual in lens.residual_stream(trace) if residual.stream == "encoder"]
    assert [residual.layer for residual in seen][-2:] == [0, 1]
    for residual in seen[:-1]:  # behind the last layer of a pre-norm model transformers shows what its norm made of it
        expected = states[residual.layer + 1][0, :37]
        assert_close(residual.state, expected, relative=2e-5)


def test_what_is_written_is_what_transformers_writes(windowed: tuple[str, Path]) -> None:
    """The decoder's cache is used as ever."""
    _, folder = windowed
    loaded = models.load(folder)
    if loaded.shape != "encoder-decoder":
        return
    trace = recorded(loaded, 37)
    named = AutoConfig.from_pretrained(folder).architectures[0]
    network = getattr(transformers, named).from_pretrained(folder).eval()
    ids = torch.tensor([trace.encoding.ids])
    expected = network.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=9, num_beams=1)
    assert loaded.write is not None
    assert_close(loaded.write(ids, 9), expected, relative=1e-6)


@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_padded_batch_of_longformer_is_each_text_alone(tmp_path: Path, padding: Any) -> None:
    loaded = models.load(saved("longformer", WINDOWED["longformer"], tmp_path))
    texts = [text_of(37), text_of(14)]
    for alone, together in zip(
        (record(loaded, text) for text in texts),
        inspector.record_batch(loaded, texts, padding=padding),
        strict=True,
    ):
        assert_close(together.output, alone.output, relative=2e-5)
        for layer in (0, 1):
            mine, other = together.attention(layer=layer), alone.attention(layer=layer)
            assert_close(mine, other, relative=1e-5)


def arranged(name: str, softmaxes: list[Tensor], *, layer: int, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """A layer's map [H, Q, T] put together from what its softmax gave, and which keys a query may see."""
    places = np.arange(tokens)
    if name in ("longformer", "led"):
        given = softmaxes[layer].movedim(2, 1)
        return whole_map(name, given, layer=layer, tokens=tokens), near(tokens, given.shape[-1] // 2 + 1)
    if name.startswith("longt5"):
        given = softmaxes[layer]
        return whole_map("longt5", given, layer=layer, tokens=tokens), near(tokens, given.shape[3])
    local = softmaxes[2 * layer + 1]  # the one before is that of the global tokens
    blocks = (places + layer % 2 * local.shape[3] // 2) // local.shape[3]
    return whole_map(name, {"local": local}, layer=layer, tokens=tokens), blocks[:, None] == blocks


def near(tokens: int, width: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(tokens), np.arange(tokens))) < width
