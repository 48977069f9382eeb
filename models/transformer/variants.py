"""A network under other switches: what fits keeps its weights, what is new is drawn from a seed.

```python
network, redrawn = under(encoder, replace(encoder.config, norm="rms"), seed=0)
```
"""

from __future__ import annotations

import re
from collections.abc import Callable

import torch
from torch import Generator

from models.transformer.config import TransformerConfig
from models.transformer.initialisation import initialise
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.norms import BatchNorm
from models.transformer.stacks import Decoder, Encoder, EncoderDecoder, build

Network = Encoder | Decoder | EncoderDecoder | MaskedLanguageModel

MEANINGS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"attention\.(query|key|value|out)\."), ("heads", "head_width", "key_heads", "merge")),
    (re.compile(r"\.ffn\."), ("gated",)),
    (re.compile(r"\.function\.(distance\.|content$|place$)"), ("heads", "head_width")),
    (re.compile(r"position_bias\.table$"), ("relative_distance", "is_causal")),
)
"""Names of tensors, and the switches on which their meaning depends beside their shape: a matrix of four heads is none
of eight, a gated FFN's W_1 is no activation's input, a T5 bucket's distance depends on the farthest one."""


def under(network: Network, config: TransformerConfig, *, seed: int) -> tuple[Network, float]:
    """Put a network's weights under another config.

    A tensor keeps its values where the new network has one of the same name, shape and meaning (`MEANINGS`): fewer
    layers are the first ones, W_Q = W_K is W_Q, K = V is W_V. All others are drawn from the seed, as the config's
    initialisation says.

    Returns the new network in eval mode, and the share of its parameters that was drawn, from 0 to 1.
    """
    variant = MaskedLanguageModel(config) if isinstance(network, MaskedLanguageModel) else build(config)
    old, parameters = network.state_dict(), dict(variant.named_parameters())  # of a shared tensor the first name alone
    taken = {}
    for name, tensor in (parameters | dict(variant.named_buffers())).items():
        source = _source(name, config)
        fits = source in old and old[source].shape == tensor.shape
        if fits and _means_the_same(name, network.config, config):
            taken[name] = old[source]
    if not parameters.keys() <= taken.keys():
        initialise(variant, config, generator=Generator().manual_seed(seed))
    variant.load_state_dict(taken, strict=False)
    like = next(network.parameters())
    drawn = sum(tensor.numel() for name, tensor in parameters.items() if name not in taken)
    share = drawn / sum(tensor.numel() for tensor in parameters.values())
    return variant.to(like.device, like.dtype).eval().requires_grad_(False), share


@torch.inference_mode()
def take_statistics(network: Network, run: Callable[[], object]) -> None:
    """Give every BatchNorm the mean and variance of what passes through it while `run` runs the network once.

    Each norm works with the batch's own statistics in this pass, so that the next layer sees what it will see later.

    Raises ValueError for fewer than two tokens.
    """
    norms = [module for module in network.modules() if isinstance(module, BatchNorm)]
    usual = [norm.momentum for norm in norms]
    try:
        for norm in norms:
            norm.train()
            norm.momentum = 1.0  # the running averages become the batch's
        run()
    finally:
        for norm, momentum in zip(norms, usual, strict=True):
            norm.eval()
            norm.momentum = momentum


def _source(name: str, config: TransformerConfig) -> str:
    """Name the tensor of the old network that a tensor of the new one continues."""
    if config.shared_key_value and not config.shared_query_key:
        return name.replace("attention.key.", "attention.value.")
    return name


def _means_the_same(name: str, before: TransformerConfig, after: TransformerConfig) -> bool:
    switches = [switch for pattern, names in MEANINGS if pattern.search(name) for switch in names]
    return all(getattr(before, switch) == getattr(after, switch) for switch in switches)
