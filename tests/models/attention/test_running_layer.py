"""The layer that an attention call is told to be of, held to the configuration and to hooks of the test's own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from threading import Barrier

import pytest
import torch
from torch import Tensor, nn

import models
from models.attention import AttentionCall, attend, watch
from models.attention.functions import DotProductAttention
from models.attention.running_layer import CallPlaces, following, install, running_layer
from models.registry import own_model
from tests.inspector.probe.families import CAPTURED, LEARNED, ROPE, Family, save

FAMILIES = {family.name: family for family in CAPTURED}
IN_THE_SECOND = [("decoder", 1)]
IN_BOTH = {stream: [(stream, 0), (stream, 1)] for stream in ("encoder", "decoder")}
CROSSED = [*IN_BOTH["encoder"], ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1)]
LONGCAT = {
    **{"q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8},
    **{"num_key_value_heads": 4, "zero_expert_num": 2, "moe_topk": 2, "expert_ffn_hidden_size": 16, "head_dim": 4},
    "num_hidden_layers": 4,  # two attentions in each of two layers
}


@pytest.mark.parametrize(
    ("family", "made"),
    [
        (FAMILIES["bert"], IN_BOTH["encoder"]),
        (FAMILIES["xlm"], IN_BOTH["encoder"]),  # a list of attentions, one of norms, one of FFNs
        (FAMILIES["bloom"], IN_BOTH["decoder"]),  # seen through its softmax
        (FAMILIES["t5"], CROSSED),  # a list in a list: block.1.layer.0
        (FAMILIES["fsmt"], CROSSED),
        (FAMILIES["jamba"], IN_THE_SECOND),  # the first is a state space
        (FAMILIES["lfm2"], IN_THE_SECOND),  # the first is a convolution
        (FAMILIES["falcon_h1"], IN_BOTH["decoder"]),
        (FAMILIES["albert"], IN_BOTH["encoder"]),
        (Family("albert", LEARNED, {"inner_group_num": 2}), [("encoder", layer) for layer in (0, 0, 1, 1)]),
        (
            Family("albert", LEARNED, {"num_hidden_groups": 2, "num_hidden_layers": 4}),
            [("encoder", layer) for layer in range(4)],
        ),
        (Family("longcat_flash", ROPE, LONGCAT), [("decoder", layer) for layer in (0, 0, 1, 1)]),
    ],
    ids=lambda value: value.name if isinstance(value, Family) else "",
)
def test_each_call_is_told_its_layer(family: Family, made: list[tuple[str, int]], tmp_path: Path) -> None:
    save(family, tmp_path)
    loaded = models.load(tmp_path)
    assert [(call.stream, call.layer) for call in calls_of(loaded)] == made
    assert loaded.layers == len(made)


def test_a_shared_block_is_of_the_layer_that_runs_it(tmp_path: Path) -> None:
    """Zamba: layers 2 and 5 run one set of weights; the paths of its modules name the first alone."""
    sizes = {
        **{"num_hidden_layers": 6, "attn_layer_period": 3, "attn_layer_offset": 2, "attention_head_dim": 16},
        **{"num_key_value_heads": 4, "mamba_d_state": 4, "mamba_dt_rank": 4},
    }
    save(Family("zamba", ROPE, sizes), tmp_path)
    assert [call.layer for call in calls_of(models.load(tmp_path))] == [2, 5]


def calls_of(loaded: models.LoadedModel) -> list[AttentionCall]:
    calls: list[AttentionCall] = []
    ids = torch.arange(10, 15)[None]
    keep = torch.ones_like(ids, dtype=torch.bool)
    with torch.inference_mode(), watch(calls.append):
        if loaded.run_pair is None:
            loaded.run(ids, keep, torch.zeros_like(ids))
        else:
            loaded.run_pair(ids, keep, ids)
    return calls


class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return attend(DotProductAttention(1.0), x, x, x)


class Stack(nn.Module):
    """Two blocks of two layers, of which every second attends; one more attention behind them."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [nn.ModuleList([nn.Identity(), Layer()]) for _ in range(2)]
        self.blocks, self.after = nn.ModuleList(blocks), Layer()

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            for layer in block:
                x = layer(x)
        y: Tensor = self.after(x)
        return y


def test_lists_of_lists_are_counted_through_and_each_forward_anew() -> None:
    network, x = Stack(), torch.randn(1, 1, 2, 3)
    install(network)
    calls: list[AttentionCall] = []
    with watch(calls.append):
        network(x)
        network(x)
        assert running_layer() is None
    assert [call.layer for call in calls] == [1, 3, None] * 2
    network(x)
    assert running_layer() is None


def test_each_thread_follows_its_own_run() -> None:
    network, together = nn.ModuleList([nn.Identity(), Layer(), nn.Identity(), Layer()]), Barrier(4)

    class Slow(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = network

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                together.wait(timeout=10)
                x = layer(x)
            return x

    shared = Slow()
    install(shared)

    def run(_: int) -> list[int | None]:
        calls: list[AttentionCall] = []
        with watch(calls.append):
            shared(torch.randn(1, 1, 2, 3))
        return [call.layer for call in calls]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [[1, 3]] * 4


def test_a_model_that_was_not_hooked_has_no_layer() -> None:
    with following():
        assert running_layer() is None
    assert running_layer() is None


def test_the_projects_own_networks_know_their_layers_and_a_copy_is_hooked_once() -> None:
    loaded = models.load("own-encoder-decoder")
    copied = own_model(loaded.card, deepcopy(loaded.network), loaded.tokenizer, max_tokens=40)
    for own in (loaded, copied):
        layers = [call.layer for call in calls_of(own) if call.stream == "encoder"]
        assert layers == list(range(own.config.layers))


def test_calls_are_numbered_within_their_layer() -> None:
    places = CallPlaces()
    assert [places.next("encoder", 1), places.next("encoder", 1), places.next("encoder", 3)] == [(1, 0), (1, 1), (3, 0)]
    assert places.next("cross", 1) == (1, 0)
    unknown = CallPlaces()
    assert [unknown.next("decoder", None), unknown.next("cross", None), unknown.next("decoder", None)] == [
        (0, 0),
        (0, 0),
        (1, 0),
    ]
