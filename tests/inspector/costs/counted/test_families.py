"""Families of many kinds: the polynomial is what torch counts, at lengths that it was not made from."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector import costs
from models.huggingface import skeleton
from tests.inspector.probe.families import CAPTURED, Family, named

LENGTHS = ((20, 17), (31, 12), (45, 40))  # of source and target; none is among those that a polynomial is made from
_SPARSE = {"encoder_sparse_step": 1, "decoder_sparse_step": 1}
KINDS = (  # fused projections, shared layers, adapters, positions beside the text, latents, experts, chunks, two stacks
    *("bert", "albert", "deberta-v2", "xmod", "modernbert", "squeezebert", "gpt2", "bloom", "falcon", "gpt_bigcode"),
    *("mistral", "mixtral", "gemma2", "phi3", "gpt_oss", "deepseek_v3", "lfm2", "falcon_h1", "t5", "bart", "llama4"),
)
SPARSE = (  # the tiny sizes of these two have dense layers alone
    Family("switch_transformers", "", {**_SPARSE, "num_sparse_encoder_layers": 2, "num_sparse_decoder_layers": 2}),
    Family("nllb-moe", "", _SPARSE),
)

FAMILIES = [*(family for family in CAPTURED if family.name in KINDS), *SPARSE]


def read(network: Any, lengths: tuple[int, ...]) -> dict[str, Any]:
    ids = [torch.zeros(1, length, dtype=torch.long, device="meta") for length in lengths]
    takes = signature(network.forward).parameters
    cache = {"use_cache": False} if "use_cache" in takes else {}
    return dict(zip(("input_ids", "decoder_input_ids"), ids, strict=False)) | cache


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
@torch.no_grad()
def test_the_polynomial_is_what_torch_counts(family: Family) -> None:
    config = named(family)
    counted = costs.count(config)
    network = skeleton.build(config)
    assert counted.table(tokens=9).parameters.sum() == sum(p.numel() for p in network.parameters())
    for lengths in LENGTHS:
        own = lengths if counted.shape == "encoder-decoder" else lengths[:1]
        with skeleton.Answers(), FlopCounterMode(display=False) as counter:
            network(**read(network, own))
        assert counted.total([own if len(own) == 2 else own[0]]) == [counter.get_total_flops()]
