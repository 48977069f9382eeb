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
from inspector import Trace, record, score_steps
from models.subwords import as_transformers, train_subwords
from tests.inspector.families import Family, save

WORDS = "the cat sat on it the sat cat on the cat it on sat the the it sat on cat it".split()  # a token each
BLOCKS = {"block_size": 4, "num_random_blocks": 2, "attention_type": "block_sparse"}  # up to 36 tokens in full
SHORT, EDGE, LONG = 20, 36, 157


@pytest.fixture(params=["big_bird", "bigbird_pegasus"])
def big_bird(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(request.param, BLOCKS, tmp_path)


def saved(name: str, sizes: dict[str, Any], folder: Path) -> Path:
    positions = {"max_position_embeddings": 256, "max_encoder_position_embeddings": 256}
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


@pytest.mark.parametrize("tokens", [SHORT, EDGE, EDGE + 1, 44, LONG])
def test_big_bird_computes_what_transformers_does_by_itself(big_bird: Path, tokens: int) -> None:
    loaded = models.load(big_bird)
    trace = recorded(loaded, tokens)
    logits, _, _ = default_forward(big_bird, trace)
    assert loaded.predict is not None
    np.testing.assert_allclose(loaded.predict(trace.hidden[None]), logits, rtol=0, atol=5e-5)
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
    assert score_steps.bias_name(trace.attentions[0].function).startswith("BigBird: ln 3")
    for site in encoder:
        expected = of_blocks([given[0].numpy() for given in softmaxes[5 * site.layer :][:5]])[:, :LONG, :LONG]
        weights = trace.attention(layer=site.layer, stream="encoder")
        np.testing.assert_allclose(weights, expected, rtol=0, atol=2e-6)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-5)
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
    trace = recorded(models.load(big_bird), LONG)
    trace.save(tmp_path / "t.npz")
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
        np.testing.assert_allclose(trace.output, hidden[row, : len(trace.tokens)], rtol=0, atol=5e-5)
