"""The initialisation of the weights."""

from __future__ import annotations

from torch import Generator, nn

from models.transformer.config import TransformerConfig
from models.transformer.learned_attention import LearnedScore, ShawAttention, T5Positions, XlAttention
from models.transformer.positions import LearnedPositions

STANDARD_DEVIATION = 0.02  # BERT (Devlin et al. 2019), GPT-2


def initialise(network: nn.Module, config: TransformerConfig, *, generator: Generator | None = None) -> None:
    """Draw the weights of the network's matrices and embeddings anew, as the config names it.

    torch: each module as torch draws it; normal: N(0, 0.02), learned positions too, biases 0; xavier: Glorot & Bengio
    2010, biases 0, which keeps the variance of what goes through. Embeddings that are multiplied by sqrt(D) start at
    1/sqrt(D).

    generator: draws every random number, also for learned positions and scores. Without it torch's global generator
    draws them, which all threads share, and numbers that torch has drawn already stay.
    """
    embeddings = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    if config.initialisation != "torch" or generator is not None:
        for module in network.modules():
            if isinstance(module, nn.Linear):
                _draw(module, config, generator)
    if config.initialisation == "normal":
        for module in network.modules():
            if isinstance(module, LearnedPositions):
                nn.init.normal_(module.table, std=STANDARD_DEVIATION, generator=generator)
    for embedding in embeddings:
        if config.initialisation == "normal":
            nn.init.normal_(embedding.weight, std=STANDARD_DEVIATION, generator=generator)
        elif config.embedding_scale or config.initialisation == "xavier":
            nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5, generator=generator)
        elif generator is not None:
            nn.init.normal_(embedding.weight, generator=generator)
    if generator is not None:
        for module in network.modules():
            if isinstance(module, LearnedScore | T5Positions | ShawAttention | XlAttention):
                module.draw(generator)
            elif isinstance(module, LearnedPositions) and config.initialisation != "normal":
                nn.init.normal_(module.table, generator=generator)


def _draw(linear: nn.Linear, config: TransformerConfig, generator: Generator | None) -> None:
    match config.initialisation:
        case "torch":  # as nn.Linear.reset_parameters
            bound = linear.in_features**-0.5
            for tensor in linear.parameters():
                nn.init.uniform_(tensor, -bound, bound, generator=generator)
            return
        case "normal":
            nn.init.normal_(linear.weight, std=STANDARD_DEVIATION, generator=generator)
        case "xavier":
            nn.init.xavier_uniform_(linear.weight, generator=generator)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
