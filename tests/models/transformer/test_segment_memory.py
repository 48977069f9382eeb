"""Transformer-XL against transformers' XLNet, which has the same layers, and against loops over its equation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import XLNetConfig, XLNetModel

from models.attention import watch
from models.attention.relative import XlScore
from models.training.replay import weights
from models.transformer import Decoder, Encoder
from models.transformer.config import TransformerConfig
from models.transformer.kv_cache import KVCache
from models.transformer.positions import sinusoidal
from models.transformer.segment_memory import SegmentMemory, reach, read_segments
from tests.closeness import assert_close

CONFIG = TransformerConfig(
    vocabulary=50, layers=3, width=16, heads=2, ffn_width=24, max_positions=96, shape="decoder", positions="xl"
)
IDS = torch.randint(50, (2, 96), generator=torch.Generator().manual_seed(1))
RELATIVE = ("xl", "t5", "alibi", "shaw", "rope", "none")


def decoder(**changes) -> Decoder:
    torch.manual_seed(0)
    made = Decoder(replace(CONFIG, **changes)).double().eval()
    for name, parameter in made.named_parameters():
        if name.endswith(("content", "place")):  # far from 0, where a mistake would not be seen
            torch.nn.init.normal_(parameter)
    return made


def difference(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).abs().max() / other.abs().max())


# --- one pass and segments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", RELATIVE)
@pytest.mark.parametrize("segment", [1, 7, 32])
@torch.no_grad()
def test_a_memory_as_long_as_the_text_gives_what_one_pass_gives(positions, segment):
    network = decoder(positions=positions, kv_heads=1 if positions == "xl" else None)
    assert difference(read_segments(network, IDS, segment=segment, memory=96), network(IDS)) < 1e-12
    network.float()
    assert difference(read_segments(network, IDS, segment=segment, memory=96), network(IDS)) < 1e-5


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
@torch.no_grad()
def test_a_table_that_begins_anew_with_each_segment_does_not(positions):
    network = decoder(positions=positions)
    assert difference(read_segments(network, IDS, segment=32, memory=96), network(IDS)) > 0.1
    assert difference(read_segments(network, IDS[:, :32], segment=32, memory=96), network(IDS[:, :32])) == 0


@pytest.mark.parametrize(("segment", "memory"), [(8, 8), (8, 3), (4, 6), (8, 16), (8, 0), (96, 0)])
def test_context_reaches_as_far_back_as_the_layers_and_the_memory_allow(segment, memory):
    """The tokens that change an output are counted by changing each: exactly those within reach."""
    network = decoder()
    place = 77
    with torch.no_grad():
        texts = IDS[:1].repeat(97, 1)  # the last as it is
        texts[range(96), range(96)] = (texts[range(96), range(96)] + 1) % 50  # one other token in each
        outputs = read_segments(network, texts, segment=segment, memory=memory)[:, place]
        changed = ((outputs - outputs[-1]).abs() > 1e-10).any(dim=1)  # rounding is below 1e-14
    far = reach(layers=3, segment=segment, memory=memory, place=place)
    assert changed[:-1].nonzero().flatten().tolist() == list(range(place - far, place + 1))
    if memory and memory % segment == 0:
        assert far == min(3 * memory + place % segment, place)  # L M before the segment (Dai et al. 2019, section 3.2)


def test_gradients_stay_within_a_segment():
    network = decoder()
    read = []
    network.embedding.register_forward_hook(lambda module, given, made: read.append(made.requires_grad_()))
    hidden = read_segments(network, IDS[:, :24], segment=8, memory=8)
    first, second, third = torch.autograd.grad(hidden[:, -1].square().sum(), read)
    assert (first == 0).all()
    assert (second == 0).all()
    assert (third.abs().sum(dim=-1) > 0).all()


def test_the_last_tokens_alone_are_kept():
    network = decoder()
    memory = SegmentMemory(3, tokens=5)
    lengths = []
    with torch.no_grad():
        for part in IDS[:, :9].split(3, dim=1):
            network(part, memory=memory)
            lengths.append(memory.length)
    assert lengths == [3, 5, 5]
    assert_close(memory.layers[0].read, network.embedding(IDS[:, 4:9]), relative=1e-6)
    assert memory.copy().layers[2].read is memory.layers[2].read


def test_what_cannot_be_is_refused():
    network = decoder()
    with pytest.raises(ValueError, match="a memory of -1 tokens"):
        read_segments(network, IDS, segment=4, memory=-1)
    with pytest.raises(ValueError, match="segments of 0 tokens"):
        read_segments(network, IDS, segment=0, memory=4)
    with pytest.raises(ValueError, match="the memory has 2 layers, the decoder 3"):
        network(IDS, memory=SegmentMemory(2, tokens=4))
    with pytest.raises(ValueError, match="without `cache`, `keep` and `texts`"):
        network(IDS, memory=SegmentMemory(3, tokens=4), cache=KVCache(3))


# --- against others' code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [4, 11])
@torch.no_grad()
def test_segments_equal_those_of_xlnet(memory):
    """XLNet with attn_type "uni" and memories is Transformer-XL; its waves are float32, so 1e-6."""
    network = decoder(activation="relu", layers=2)
    other = XLNetModel(
        XLNetConfig(
            **{"vocab_size": 50, "d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24, "ff_activation": "relu"},
            **{"attn_type": "uni", "mem_len": memory, "dropout": 0.0, "layer_norm_eps": 1e-5},
        )
    )
    other = other.double().eval()
    other.word_embedding.weight.copy_(network.embedding.token.weight)
    order = [*range(0, 16, 2), *range(1, 16, 2)]  # all sines before all cosines
    for mine, theirs in zip(network.layers, other.layer, strict=True):
        attention, own = mine.attention, theirs.rel_attn
        for name, linear in (("q", attention.query), ("k", attention.key), ("v", attention.value)):
            getattr(own, name).copy_(linear.weight.T.reshape(16, 2, 8))
            linear.bias.zero_()
        own.o.copy_(attention.out.weight.reshape(16, 2, 8))
        attention.out.bias.zero_()
        own.r.copy_(attention.function.distance.weight.T[order].reshape(16, 2, 8))
        own.r_w_bias.copy_(attention.function.content)
        own.r_r_bias.copy_(attention.function.place)
        theirs.ff.layer_1.load_state_dict(mine.ffn.up.state_dict())
        theirs.ff.layer_2.load_state_dict(mine.ffn.down.state_dict())
    mine, mems, expected = read_segments(network, IDS[:, :30], segment=8, memory=memory), None, []
    for part in IDS[:, :30].split(8, dim=1):
        read = other(part, mems=mems, use_mems=True)
        mems = read.mems
        expected.append(read.last_hidden_state)
    assert difference(mine, torch.cat(expected, dim=1)) < 1e-6


@torch.no_grad()
def test_scores_of_memory_and_segment_are_the_equation_of_the_paper():
    """Each cell in numpy: q k + q W_R R + u k + v W_R R, the four terms of section 3.3, over the root of the width."""
    network = decoder(layers=1)
    calls = []
    with watch(calls.append):
        read_segments(network, IDS[:1, :12], segment=6, memory=4)
    call = calls[1]
    x = network.embedding(IDS[:1, :12])[0].numpy()
    attention = network.layers[0].attention
    matrix = {name: getattr(attention, name) for name in ("query", "key")}
    q, k = (x @ m.weight.numpy().T + m.bias.numpy() for m in matrix.values())
    w_r = attention.function.distance.weight.numpy()
    u, v = attention.function.content.numpy(), attention.function.place.numpy()
    r = sinusoidal(12, 16).numpy() @ w_r.T
    found = weights(call)[0].numpy()
    assert found.shape == (2, 6, 10)
    for head in range(2):
        own = slice(8 * head, 8 * head + 8)
        for row, i in enumerate(range(6, 12)):
            scores = np.full(10, -np.inf)
            for column, j in enumerate(range(2, 12)):
                if j <= i:
                    far = r[i - j, own]
                    terms = q[i, own] @ k[j, own], q[i, own] @ far, u[head] @ k[j, own], v[head] @ far
                    scores[column] = sum(terms) / 8**0.5
            expected = np.exp(scores - scores.max())
            assert_close(found[head, row], expected / expected.sum(), relative=1e-12)


@torch.no_grad()
def test_an_encoder_sees_distances_ahead_too():
    torch.manual_seed(0)
    network = Encoder(replace(CONFIG, shape="encoder")).double().eval()
    function = network.layers[0].attention.function
    score = function(bias=None, offset=0, keys=9).score
    assert isinstance(score, XlScore)
    query, key = torch.randn(2, 1, 2, 9, 8, dtype=torch.float64)
    found = score(query, key, slice(0, 9))[0]
    for i, j in [(0, 0), (0, 8), (8, 0), (3, 5)]:
        pairs = np.arange(8)
        angle = (i - j) * 10000.0 ** -(2 * pairs / 16)
        wave = np.stack([np.sin(angle), np.cos(angle)], axis=1).reshape(-1)
        far = (function.distance.weight.numpy() @ wave).reshape(2, 8)
        for head in range(2):
            expected = (query[0, head, i] + function.content[head]) @ key[0, head, j]
            expected += (query[0, head, i] + function.place[head]) @ torch.from_numpy(far[head])
            assert_close(float(found[head, i, j]), float(expected), relative=1e-12)
