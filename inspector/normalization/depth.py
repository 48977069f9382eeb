"""Norm placement by depth: the own Transformer, untrained, 24 layers, in each placement, with and without residual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy

from models.transformer import Encoder
from models.transformer.blocks import EncoderBlock
from models.transformer.config import Initialisation, Norm, NormPlacement, TransformerConfig

LAYERS, WIDTH, HEADS, TOKENS, BATCH, VOCABULARY, SEED = 24, 32, 4, 16, 8, 64, 0
_SEEN = 3  # tokens of which each is followed to each
TASK = "name the token that stands at each position, of 64 random ones"
Kind = Literal["attention", "FFN", "LayerNorm", "RMSNorm", "BatchNorm"]
KINDS: tuple[Kind, ...] = ("attention", "FFN", "LayerNorm", "RMSNorm", "BatchNorm")


@dataclass(frozen=True)
class NormStack:
    """A way to put norms and sums around the sublayers."""

    name: str
    norm: Norm
    placement: NormPlacement
    residual: bool


STACKS = (
    NormStack("pre-norm", "layer", "pre", True),
    NormStack("post-norm", "layer", "post", True),
    NormStack("no norm", "none", "pre", True),
    NormStack("post-norm, no residual", "layer", "post", False),
    NormStack("no norm, no residual", "none", "pre", False),
)


def through_depth(*, initialisation: Initialisation = "xavier", seed: int = SEED) -> pd.DataFrame:
    """Measure activation and gradient by depth in each of STACKS, a row per stack and layer.

    The own Transformer's encoder with 24 layers of width 32, 4 heads and FFN width 128, as initialised, untrained,
    reads 8 texts of 16 random tokens and is asked to name each (cross-entropy of a linear head), in float64. Columns:
    stack, layer (-1: what goes into layer 0), activation: the root mean square of what the layer gives; gradient: the
    Euclidean norm of the loss's gradient with respect to it; cosine: the mean cosine of two tokens of a text.
    initialisation: "xavier" (Glorot, as in nn.Transformer), "torch" (nn.Linear's own) or "normal" (0.02, as in BERT).
    """
    rows = []
    for stack in STACKS:
        network, ids = _network(stack, initialisation, seed=seed)
        states, loss = _states(network, ids, seed=seed)
        gradients = torch.autograd.grad(loss, states)
        for layer, (state, gradient) in enumerate(zip(states, gradients, strict=True), start=-1):
            activation = float(state.detach().square().mean().sqrt())
            rows.append((stack.name, layer, activation, float(gradient.norm()), _cosine(state.detach())))
    return pd.DataFrame(rows, columns=["stack", "layer", "activation", "gradient", "cosine"])


def jacobians(*, seed: int = SEED) -> pd.DataFrame:
    """Measure how much a token's output depends on itself and on the others, a row per kind of sublayer.

    The Jacobian is each sublayer's f(x) [B * T, D] by x in layer 0, for 2 texts of 3 tokens as they come out of the
    embedding. Columns: kind, own: the Euclidean norm of the blocks from a token to itself; others: the same norm of the
    blocks from other tokens of the text; texts: of the blocks from the other text. BatchNorm takes its statistics from
    the batch, as in training.
    """
    norms: dict[Kind, Norm] = {"BatchNorm": "batch", "RMSNorm": "rms"}
    rows = []
    for kind in KINDS:
        network, ids = _network(NormStack(kind, norms.get(kind, "layer"), "pre", True), "xavier", seed=seed)
        x = network.embedding(ids[:2, :_SEEN]).detach()
        block = network.layers[0].train()
        assert isinstance(block, EncoderBlock)
        sublayers: dict[Kind, nn.Module] = {"attention": block.attention, "FFN": block.ffn}
        out: Tensor = sublayers.get(kind, block.attention_norm)(x.requires_grad_())
        slope = torch.stack([torch.autograd.grad(number, x, retain_graph=True)[0] for number in out.flatten()])
        blocks = slope.view(*x.shape, *x.shape).square().sum(dim=(2, 5))  # [B, T, B, T]
        texts, tokens = torch.eye(2)[:, None, :, None], torch.eye(_SEEN)[None, :, None, :]
        split = (texts * tokens, texts * (1 - tokens), (1 - texts).expand(2, _SEEN, 2, _SEEN))
        rows.append((kind, *(float((blocks * part).sum().sqrt()) for part in split)))
    return pd.DataFrame(rows, columns=["kind", "own", "others", "texts"])


def small_encoder(*, layers: int, norm: Norm) -> TransformerConfig:
    """Configure the pre-norm encoder of WIDTH dimensions and HEADS heads that reads this module's task."""
    return TransformerConfig(
        vocabulary=VOCABULARY,
        max_positions=TOKENS,
        layers=layers,
        width=WIDTH,
        heads=HEADS,
        ffn_width=4 * WIDTH,
        norm=norm,
        norm_placement="pre",
    )


def _network(stack: NormStack, initialisation: Initialisation, *, seed: int) -> tuple[Encoder, Tensor]:
    """The untrained encoder and the ids [B, T] that it reads."""
    config = replace(
        small_encoder(layers=LAYERS, norm=stack.norm),
        norm_placement=stack.placement,
        residual=stack.residual,
        initialisation=initialisation,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Encoder(config)
        ids = torch.randint(VOCABULARY, (BATCH, TOKENS))
    return network.double().eval(), ids  # without norms scores reach 1e9, where float32 loses the softmax's gradient


def _states(network: Encoder, ids: Tensor, *, seed: int) -> tuple[list[Tensor], Tensor]:
    """Collect what goes into layer 0 and comes out of each layer, [B, T, D], and the loss."""
    states: list[Tensor] = []

    def entered(_: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        states.append(given[0])
        return given

    def left(_: nn.Module, __: tuple[Tensor, ...], out: Tensor) -> None:
        states.append(out)

    hooks = [network.layers[0].register_forward_pre_hook(entered)]
    hooks += [layer.register_forward_hook(left) for layer in network.layers]
    hidden = network(ids)
    for hook in hooks:
        hook.remove()
    random = torch.Generator().manual_seed(seed)
    head = torch.randn(hidden.shape[-1], VOCABULARY, generator=random) / hidden.shape[-1] ** 0.5
    return states, cross_entropy((hidden @ head.to(hidden)).flatten(0, 1), ids.flatten())


def _cosine(state: Tensor) -> float:
    """The mean cosine of two different tokens of a text."""
    each = cosine_similarity(state[:, :, None], state[:, None], dim=-1)  # [B, T, T]
    count = state.shape[1]
    return float((each.sum(dim=(1, 2)) - count).mean() / (count * (count - 1)))
