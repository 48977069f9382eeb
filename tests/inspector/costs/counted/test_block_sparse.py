"""BigBird in its default, block-sparse: the count is what torch counts in a model fresh from its configuration."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BigBirdConfig, BigBirdForMaskedLM, BigBirdPegasusConfig, BigBirdPegasusForConditionalGeneration

from inspector import costs

ENCODER = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
ENCODER |= {"intermediate_size": 48, "max_position_embeddings": 4096}
BOTH = {"vocab_size": 40, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 128}
BOTH |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
BOTH |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 48)
SMALL_BLOCKS = {"block_size": 4, "num_random_blocks": 1}  # in full up to 28 tokens
PUBLISHED_BLOCKS = {"block_size": 64, "num_random_blocks": 3}  # in full up to 704 tokens


def counted_by_torch(config: BigBirdConfig | BigBirdPegasusConfig, *lengths: int) -> int:
    kind = BigBirdPegasusForConditionalGeneration if config.is_encoder_decoder else BigBirdForMaskedLM
    ids = [torch.ones(1, length, dtype=torch.long) for length in lengths]
    network = kind(config).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        network(**dict(zip(("input_ids", "decoder_input_ids"), ids, strict=False)))
    return counter.get_total_flops()


@pytest.mark.parametrize(
    ("blocks", "lengths"),
    [
        (SMALL_BLOCKS, (1, 4, 5, 27, 28, 29, 31, 32, 33, 37, 40, 41, 63, 100)),
        pytest.param(PUBLISHED_BLOCKS, (64, 703, 704, 705, 768, 769, 1024, 2048), marks=pytest.mark.heavy),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_an_encoder_of_blocks(blocks: dict[str, int], lengths: tuple[int, ...]) -> None:
    config = BigBirdConfig(**ENCODER, **blocks, architectures=["BigBirdForMaskedLM"])
    counted = costs.count(config)
    assert counted.formula is not None
    assert counted.total(lengths) == [counted_by_torch(config, length) for length in lengths]
    for length in lengths[-3:]:  # blocks, too, have scores and a mix, of as many products
        flops = counted.table(tokens=length).groupby("component")["flops"].sum()
        assert flops["scores"] == flops["mix"] > 0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.heavy
def test_the_encoder_alone_goes_in_blocks() -> None:
    config = BigBirdPegasusConfig(**BOTH, **SMALL_BLOCKS, architectures=["BigBirdPegasusForConditionalGeneration"])
    lengths = ((5, 7), (28, 40), (29, 3), (33, 29), (37, 37), (100, 31))
    assert costs.count(config).total(lengths) == [counted_by_torch(config, *pair) for pair in lengths]
