"""Gradients of one token's last state by every token's state at the input of every layer.

```python
copied = copy_of(loaded, trace)
table = measure(copied, position=9)  # a row for each scalar, stream, layer and token
```

out_T is the last hidden state of token T. The differentiated scalar s is one of

    "sum"          s = sum over d of out_T[d]
    "direction"    s = u . out_T with u ~ N(0, 1), so that the squared norm of ds / dx is ||dout_T / dx||_F^2 on average
    "prediction"   s = ln p of the token that the model finds likeliest at T

and it is differentiated by x_t, the residual stream of token t where it enters a layer. A LayerNorm whose gammas are
all alike gives every token the same sum: there the sum does not move, and `still` says so.

Autograd runs a copy of the network in float64: the loaded model, which others share, is never touched.

Shapes: Q tokens of the stream that ends in out, T its token, D width, L layers.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

import pandas as pd
import torch
from torch import Generator, Tensor, nn

from inspector.interventions.change import inputs_of, read
from inspector.probe import ModelInputs
from inspector.probe.norm_hooks import entering, stacks_of_attention
from inspector.probe.norm_places import stream_of
from inspector.trace import Trace
from models import LoadedModel
from models.huggingface.runner import PretrainedRunner
from models.loaded import Runner, Shape
from models.placement import describe_placement, is_spread
from models.transformer.runner import OwnRunner

Scalar = Literal["sum", "direction", "prediction"]
SCALARS: tuple[Scalar, ...] = get_args(Scalar)

MOST_TOKENS = 512
MOST_CELLS = 20_000_000  # of all maps: going back, autograd keeps each of them, 8 bytes a cell and more than once
MOST_PARAMETERS = 150_000_000  # the copy takes 8 bytes of each
STILL = 1e-9  # of what a direction gives: a scalar that moves less is constant but for rounding


@dataclass(frozen=True, eq=False)
class ModelCopy:
    """A model's copy in float64 and a text. shape: the model's. tokens: of each stream. model: the model's id."""

    runner: Runner
    network: nn.Module
    inputs: ModelInputs
    shape: Shape
    tokens: dict[str, tuple[str, ...]]
    model: str

    @property
    def stream(self) -> str:
        """The stream that ends in out."""
        return "decoder" if self.inputs.target is not None else self.shape


def copy_of(loaded: LoadedModel, trace: Trace) -> ModelCopy:
    """Copy a model's network in float64, and take a recording's text.

    Raises ValueError for a text of more than MOST_TOKENS, or whose maps have more than MOST_CELLS, a network of more
    than MOST_PARAMETERS or spread over devices, and a residual stream that cannot be followed.
    """
    check_size(loaded, trace)
    for refused in trace.refused:
        if refused.what == "residual stream":
            raise ValueError(f"the states of {loaded.card.id} cannot be followed from layer to layer: {refused.reason}")
    inputs = inputs_of(trace)
    if isinstance(loaded.runner, OwnRunner):
        network = _in_float64(loaded.runner.whole)
        runner: Runner = OwnRunner.of(cast(Any, network), loaded.tokenizer)
    elif isinstance(loaded.runner, PretrainedRunner):
        network = _in_float64(loaded.network)
        runner = replace(loaded.runner, network=network)
    else:
        raise ValueError(f"{loaded.card.id} is run by {type(loaded.runner).__name__}, of which no copy can be made")
    read = "encoder" if inputs.target is not None else loaded.shape
    tokens: dict[str, tuple[str, ...]] = {read: inputs.encoding.tokens}
    if inputs.target is not None:
        tokens["decoder"] = inputs.target.tokens
    return ModelCopy(runner, network, inputs, loaded.shape, tokens, loaded.card.id)


def check_size(loaded: LoadedModel, trace: Trace) -> None:
    """Raise ValueError for what is too large to be differentiated: see `copy_of`."""
    longest = max(len(trace.encoding), len(trace.target or ()))
    if longest > MOST_TOKENS:
        raise ValueError(f"the text has {longest:,} tokens; gradients are taken of up to {MOST_TOKENS}: shorten it")
    cells = sum(record.query.shape[0] * len(record.site.queries) * len(record.site.keys) for record in trace.attentions)
    if cells > MOST_CELLS:
        raise ValueError(
            f"the maps of this text have {cells:,} cells, and gradients are taken of up to {MOST_CELLS:,}: shorten it"
        )
    parameters = sum(tensor.numel() for tensor in loaded.network.parameters())
    if parameters > MOST_PARAMETERS:
        raise ValueError(
            f"{loaded.card.id} has {parameters:,} parameters, and gradients are taken in a copy of up to "
            f"{MOST_PARAMETERS:,}; choose a smaller model"
        )
    if is_spread(loaded.network):
        raise ValueError(
            f"{loaded.card.id} is {describe_placement(loaded.network)}, and gradients are taken on one device; "
            "choose a smaller model"
        )


def measure(copied: ModelCopy, *, position: int) -> pd.DataFrame:
    """Measure ||ds / dx_t|| for every scalar, layer and token: a row each.

    Columns: scalar, stream, layer (which x_t enters), position (t), token, distance (T - t; <NA> in the source of an
    encoder-decoder, which has positions of its own), norm.

    Raises ValueError for a position out of range, and where the states cannot be followed.
    """
    tokens = copied.tokens[copied.stream]
    if not 0 <= position < len(tokens):
        raise ValueError(f"position {position} is out of range: out has positions 0 to {len(tokens) - 1}")
    tables = []
    with torch.inference_mode(False), torch.enable_grad():
        with states(copied) as entered:
            out = read(copied.runner, copied.inputs)[0]  # [Q, D]
        _check(copied, entered, out)
        for scalar, value in _scalars(copied, out[position]):
            gradients = torch.autograd.grad(
                value, [x for _, _, x in entered], retain_graph=True, allow_unused=True, materialize_grads=True
            )
            for (stream, layer, _), gradient in zip(entered, gradients, strict=True):
                tables.append(_rows(copied, scalar, (stream, layer), gradient[0], position))
    return pd.concat(tables, ignore_index=True)


def still(table: pd.DataFrame, scalar: Scalar) -> bool:
    """Return True for a scalar that does not move: all its gradients are below STILL of a direction's."""
    largest = table.groupby("scalar")["norm"].max()
    return bool(largest[scalar] < STILL * largest["direction"])


@contextmanager
def states(copied: ModelCopy) -> Iterator[list[tuple[str, int, Tensor]]]:
    """Collect the states that enter the layers while the block runs the copy: (stream, layer, x [1, T, D]).

    The first of each stack becomes a leaf, and each layer works on a copy of its x, for some add to it in place.
    """
    entered: list[tuple[str, int, Tensor]] = []
    begun: Counter[str] = Counter()

    def hook_of(stream: str) -> Any:
        def enters(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> Any:
            x = entering(inputs, named)
            if x is None:
                return None
            leaf = x if x.requires_grad else x.detach().requires_grad_()
            entered.append((stream, begun[stream], leaf))
            begun[stream] += 1
            given = leaf.clone()
            return (
                tuple(given if value is x else value for value in inputs),
                {name: given if value is x else value for name, value in named.items()},
            )

        return enters

    hooks = [
        layer.register_forward_pre_hook(hook_of(stream_of(path, copied.shape)), with_kwargs=True)
        for path, layers in stacks_of_attention(copied.network).items()
        for layer in layers
    ]
    try:
        yield entered
    finally:
        for hook in hooks:
            hook.remove()


def _in_float64(network: nn.Module) -> nn.Module:
    copied = copy.deepcopy(network).to("cpu", torch.float64).eval().requires_grad_(False)
    for module in copied.modules():
        config = getattr(module, "config", None)
        if config is not None and hasattr(config, "_experts_implementation"):
            config._experts_implementation = "eager"  # torch's grouped product of experts has no float64
    return copied


def _check(copied: ModelCopy, entered: list[tuple[str, int, Tensor]], out: Tensor) -> None:
    """Raise ValueError unless every stream's layers took a state of each token, and out is a state of each."""
    for stream, tokens in copied.tokens.items():
        shapes = {tuple(x.shape) for name, _, x in entered if name == stream}
        if len(shapes) != 1 or next(iter(shapes))[:-1] != (1, len(tokens)):
            named = ", ".join(str(list(shape)) for shape in sorted(shapes)) or "nothing"
            raise ValueError(
                f"the states of {copied.model} cannot be followed from layer to layer: its layers take {named} for "
                f"{len(tokens)} tokens; choose another model"
            )
    if not bool(out.isfinite().all()):
        raise ValueError(f"{copied.model} gives numbers that are not finite in float64; choose another model")


def _scalars(copied: ModelCopy, out: Tensor) -> Iterator[tuple[Scalar, Tensor]]:
    """Make the scalars of out_T [D]; a prediction where the model makes predictions."""
    yield "sum", out.sum()
    yield "direction", out @ torch.randn(len(out), generator=Generator().manual_seed(0), dtype=out.dtype)
    if copied.runner.predicts:
        yield "prediction", copied.runner.predict(out[None, None])[0, 0].double().log_softmax(dim=-1).max()


def _rows(copied: ModelCopy, scalar: Scalar, place: tuple[str, int], gradient: Tensor, position: int) -> pd.DataFrame:
    """The rows of one scalar and layer; gradient: [T, D]."""
    stream, layer = place
    tokens = copied.tokens[stream]
    at = range(len(tokens))
    distances = [position - t if stream == copied.stream else None for t in at]
    columns = {"scalar": scalar, "stream": stream, "layer": layer, "position": at, "token": tokens}
    distance = pd.array(distances, dtype="Int64")
    return pd.DataFrame(columns | {"distance": distance, "norm": gradient.norm(dim=-1).numpy()})
