"""Internal covariate shift: how far a layer's inputs move while the layers before it learn, with norms and without."""

from __future__ import annotations

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from inspector.normalization.depth import BATCH, TOKENS, VOCABULARY, WIDTH, small_encoder
from models.transformer import Encoder
from models.transformer.blocks import EncoderBlock
from models.transformer.config import Norm

DRIFT_LAYERS, DRIFT_STEPS, RATE = 2, 60, 3e-3
ALONG = (0.05, 0.1, 0.2, 0.4)  # lengths of a step against the gradient
_HELD = 32  # texts on which the inputs are looked at, the same after each step
NORMS: tuple[tuple[str, Norm], ...] = (("LayerNorm", "layer"), ("BatchNorm", "batch"), ("no norm", "none"))


def drift(*, steps: int = DRIFT_STEPS, seed: int = 0) -> pd.DataFrame:
    """Train small stacks, and measure how far the inputs of the last FFN move in a step, a row per norm.

    The own Transformer's encoder with 2 layers of width 32, pre-norm or without, learns with Adam (rate 0.003) to name
    the token at each position of random texts. Before and after each step 32 other texts are read: what goes into the
    last layer's FFN has a mean and a standard deviation in each of its 32 dimensions, over all tokens. Columns: norm;
    mean: the root mean square over the dimensions of the mean's move in a step, divided by the deviation before it,
    mean over the steps; deviation: the same of the deviation's move; first, last: the loss of the first and of the last
    step (cross-entropy, nats); rough: the spread of a step's loss, largest less smallest, over steps of ALONG along its
    gradient, mean over every tenth step: how far from smooth the loss is (Santurkar et al. 2018, figure 4).
    """
    return pd.DataFrame(
        [(name, *_trained(norm, steps=steps, seed=seed)) for name, norm in NORMS],
        columns=["norm", "mean", "deviation", "first", "last", "rough"],
    )


def moves(inputs: Tensor) -> tuple[float, float]:
    """inputs [steps + 1, tokens, D] -> the mean move of a step, of the mean and of the deviation: see `drift`."""
    means, deviations = inputs.mean(dim=1), inputs.std(dim=1)  # [steps + 1, D]
    before = deviations[:-1].clamp(min=1e-30)
    changes = [((after.diff(dim=0)) / before).square().mean(dim=1).sqrt().mean() for after in (means, deviations)]
    return float(changes[0]), float(changes[1])


def _trained(norm: Norm, *, steps: int, seed: int) -> tuple[float, float, float, float, float]:
    config = small_encoder(layers=DRIFT_LAYERS, norm=norm)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, head = Encoder(config), nn.Linear(WIDTH, VOCABULARY)
        held = torch.randint(VOCABULARY, (_HELD, TOKENS))
        texts = torch.randint(VOCABULARY, (steps, BATCH, TOKENS))
    block = network.layers[-1]
    assert isinstance(block, EncoderBlock)
    seen: list[Tensor] = []
    optimizer = torch.optim.Adam([*network.parameters(), *head.parameters()], RATE)
    losses, spreads = [], []

    def look() -> None:
        hook = block.ffn.register_forward_pre_hook(lambda _, given: seen.append(given[0].flatten(0, 1).double()))
        with torch.no_grad():
            network.eval()(held)
        network.train()
        hook.remove()

    look()
    for step, ids in enumerate(texts):
        loss = cross_entropy(head(network(ids)).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if step % 10 == 0:
            spreads.append(_spread(network, head, ids))
        optimizer.step()
        losses.append(float(loss.detach()))
        look()
    return *moves(torch.stack(seen)), losses[0], losses[-1], sum(spreads) / len(spreads)


@torch.no_grad()
def _spread(network: Encoder, head: nn.Linear, ids: Tensor) -> float:
    """The largest less the smallest loss on `ids` over steps of ALONG against the gradient, which stays as it is."""
    parameters = [parameter for parameter in (*network.parameters(), *head.parameters()) if parameter.grad is not None]
    before = [parameter.clone() for parameter in parameters]
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    length = float(torch.stack([gradient.norm() for gradient in gradients]).norm())
    network.eval()  # a BatchNorm's running statistics stay as they are
    losses = []
    for along in (0.0, *ALONG):
        for parameter, value, gradient in zip(parameters, before, gradients, strict=True):
            parameter.copy_(value - along / max(length, 1e-30) * gradient)
        losses.append(float(cross_entropy(head(network(ids)).flatten(0, 1), ids.flatten())))
    for parameter, value in zip(parameters, before, strict=True):
        parameter.copy_(value)
    network.train()
    return max(losses) - min(losses)
