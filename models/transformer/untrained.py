"""The project's Transformer in its three shapes, with random weights: the architecture before any training."""

from __future__ import annotations

import torch

from models.loaded import Shape
from models.transformer.config import TiedEmbeddings, TransformerConfig
from models.transformer.initialisation import initialise
from models.transformer.stacks import Decoder, Encoder, EncoderDecoder, build

TIED: dict[Shape, TiedEmbeddings] = {"encoder": "none", "decoder": "output", "encoder-decoder": "three-way"}


def config(shape: Shape, *, vocabulary: int) -> TransformerConfig:
    """Configure a small Transformer of Vaswani et al. (2017), with the embeddings that the paper shares."""
    return TransformerConfig(
        vocabulary=vocabulary,
        layers=2,
        width=64,
        heads=4,
        ffn_width=256,
        max_positions=512,
        shape=shape,
        embedding_scale=True,
        tied_embeddings=TIED[shape],
        initialisation="xavier",
    )


def network(config: TransformerConfig, *, seed: int = 0) -> Encoder | Decoder | EncoderDecoder:
    """Build an untrained network in eval mode; a seed gives the same random weights every time."""
    built = build(config)
    # Not torch.manual_seed: two threads that build at once would draw from one generator, each other's numbers.
    initialise(built, config, generator=torch.Generator().manual_seed(seed))
    return built.eval().requires_grad_(False)
