"""Families of many kinds: the count is what torch counts, at lengths that it was not made from, and with a cache."""

from __future__ import annotations

import pytest

from tests.inspector.costs.counted.torch_counts import FAMILIES, held
from tests.inspector.probe.families import Family
from tests.inspector.probe.models_table import read_rows

_SPARSE = {"encoder_sparse_step": 1, "decoder_sparse_step": 1}
KINDS = (  # fused projections, shared layers, adapters, positions beside the text, latents, experts, chunks, two stacks
    *("bert", "albert", "deberta-v2", "xmod", "modernbert", "squeezebert", "gpt2", "bloom", "falcon", "gpt_bigcode"),
    *("mistral", "mixtral", "gemma2", "phi3", "gpt_oss", "deepseek_v3", "lfm2", "falcon_h1", "t5", "bart", "llama4"),
    *("openai-gpt", "mamba"),
)
SPARSE = (  # the tiny sizes of these two have dense layers alone
    Family("switch_transformers", "", {**_SPARSE, "num_sparse_encoder_layers": 2, "num_sparse_decoder_layers": 2}),
    Family("nllb-moe", "", _SPARSE),
)


@pytest.mark.parametrize("family", [*(FAMILIES[name] for name in KINDS), *SPARSE], ids=lambda family: family.name)
@pytest.mark.filterwarnings("ignore")
def test_forward_and_step_are_what_torch_counts(family: Family) -> None:
    found = held(family)
    assert not found.differs
    parameters = sum(parameter.numel() for parameter in found.network.parameters())
    assert found.counted.table(tokens=9).parameters.sum() == parameters
    assert found.cell == read_rows()[family.name].costs
