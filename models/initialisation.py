"""How the weights start."""

from __future__ import annotations

from torch import nn

from models.config import TransformerConfig
from models.positions import LearnedPositions

STANDARD_DEVIATION = 0.02  # BERT (Devlin et al. 2019), GPT-2


def initialise(network: nn.Module, config: TransformerConfig) -> None:
    """Draw the weights of the network's matrices and embeddings anew, as the config names it.

    torch: each module as torch draws it; normal: N(0, 0.02), learned positions too, biases 0; xavier: Glorot & Bengio
    2010, biases 0, which keeps the variance of what goes through. Embeddings that are multiplied by sqrt(D) start at
    1/sqrt(D).
    """
    embeddings = [module for module in network.modules() if isinstance(module, nn.Embedding)]
    if config.initialisation != "torch":
        for module in network.modules():
            if isinstance(module, nn.Linear):
                _draw(module, config)
    if config.initialisation == "normal":
        for module in network.modules():
            if isinstance(module, LearnedPositions):
                nn.init.normal_(module.table, std=STANDARD_DEVIATION)
    for embedding in embeddings:
        if config.initialisation == "normal":
            nn.init.normal_(embedding.weight, std=STANDARD_DEVIATION)
        elif config.embedding_scale or config.initialisation == "xavier":
            nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)


def _draw(linear: nn.Linear, config: TransformerConfig) -> None:
    if config.initialisation == "normal":
        nn.init.normal_(linear.weight, std=STANDARD_DEVIATION)
    else:
        nn.init.xavier_uniform_(linear.weight)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
