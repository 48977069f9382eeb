"""The inside of every layer, watched only when asked: a second run of a recorded text; a part of the probe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

import models
from inspector.probe.inputs import ModelInputs
from inspector.probe.norm_hooks import WatchedForward, install, watch_norms
from inspector.probe.norm_places import LayerCall, stream_of
from inspector.probe.products import LastProduct, LayerProduct, Products, WatchedFFN, key
from inspector.probe.recording import forward
from inspector.trace import Trace, read_only
from inspector.trace.blocks import Addition, Blocks, FFNRecord, HeadRecord, LayerRecord, Matrix
from models import LoadedModel
from models.attention import AttentionCall, watch

_EXPERTS = re.compile(r"(Experts|MoE|Moe|MOE)$")  # of a class; a dense FFN of such a model is called MoeMLP
_TOLERANCE = 1e-3  # of the largest entry of the last hidden state
_NAMED = ("hidden_act", "activation_function", "hidden_activation", "feed_forward_proj", "dense_act_fn", "activation")
_SAME = {
    **dict.fromkeys(("gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_accurate", "gelu_python_tanh"), "gelu_tanh"),
    **{"swish": "silu", "swiglu": "silu", "geglu_tanh": "gelu_tanh", "gated-gelu": "gelu_tanh", "gelu_python": "gelu"},
}
"""Activation functions by the names that configurations have for them."""
MANY = "it is a mixture of experts: each token goes through FFNs of its own choice"
OTHER = "no two matrices with a known activation function between them were seen in it"


def record_blocks(loaded: LoadedModel | nn.Module, trace: Trace) -> Blocks:
    """Run the model once more on the text of a trace, and record the inside of every layer.

    Kept are the residual stream before and after each layer, what each sublayer added to it, and each FFN's input:
    linear in the text. Parts that are not seen (experts, unknown activations) are left out and named in `refused`.
    Nothing is put on the network, so `record` costs what it costs without.

    Raises ValueError where the layers cannot be told, and where the model gives another last hidden state than the
    trace has.
    """
    loaded = models.of(loaded)
    install(loaded.network)
    attentions: list[AttentionCall] = []
    names = {key(parameter): name for name, parameter in loaded.network.named_parameters()}
    with torch.inference_mode(), watch_norms(loaded.network, attentions, sums=False) as seen:
        products = Products(seen, names, likely=_likely(loaded.config))

        def see(call: AttentionCall) -> None:
            attentions.append(call)
            products.attends(call)

        with products, watch(see, output=lambda _: products.attended()):
            hidden = forward(loaded, [ModelInputs(trace.encoding, trace.target)], padding="right")
    products.end()
    hold_to(loaded, trace, hidden[0])
    return _blocks(loaded, trace, seen, products)


def hold_to(loaded: LoadedModel, trace: Trace, hidden: torch.Tensor) -> None:
    """Raise ValueError where a run gave another last hidden state [Q, D] than a trace has."""
    want = trace.hidden.float()
    if hidden.shape != want.shape or float((hidden.float() - want).abs().max()) > _TOLERANCE * float(want.abs().max()):
        raise ValueError(f"{loaded.card.id} gives other numbers than this trace has; record the text again")


def _likely(config: Any) -> str | None:
    """The activation function that a configuration names, as in ACTIVATIONS; None where it names none."""
    configs = [config, *(getattr(config, name, None) for name in ("text_config", "decoder", "encoder"))]
    names = (getattr(part, name, None) for part in configs for name in _NAMED)
    name = next((value for value in names if isinstance(value, str)), None)
    return None if name is None else _SAME.get(name, name)


def _blocks(loaded: LoadedModel, trace: Trace, seen: WatchedForward, products: Products) -> Blocks:
    if not seen.layers:
        raise ValueError(f"none of {loaded.card.id}'s modules was seen to be a layer, so no block of it can be shown")
    last = {record.stream: trace.state(record) for record in trace.states}  # of each stream the last
    layers, ffns, refused = [], [], []
    runs = [(stream_of(call.path, loaded.shape), call) for call in seen.layers]
    for number, (stream, call) in enumerate(runs):
        following = next((other for at, other in runs[number + 1 :] if at == stream), None)
        enters = read_only(call.entered.reshape(-1, call.entered.shape[-1]))
        left = last.get(stream) if following is None else read_only(following.entered.reshape(-1, enters.shape[-1]))
        of_call = [product for product in products.products if product.call is call]
        ffns_of_call = [ffn for ffn in products.ffns if ffn.call is call]
        experts = _holds_experts(loaded.network, call)
        if not ffns_of_call or experts:
            refused.append((stream, call.number, MANY if experts else OTHER))
        else:
            ffns += [_ffn(stream, place, ffn) for place, ffn in enumerate(ffns_of_call)]
        if left is not None and left.shape == enters.shape:
            layers.append(_layer(stream, call, of_call, enters, left, experts=experts))
    return Blocks(tuple(layers), tuple(ffns), tuple(refused), products.embedding)


def _ffn(stream: str, place: int, ffn: WatchedFFN) -> FFNRecord:
    return FFNRecord(
        stream,
        ffn.call.number,
        place,
        read_only(ffn.input),
        ffn.activation,
        ffn.up,
        ffn.gate,
        ffn.down.matrix,
    )


def _layer(
    stream: str, call: LayerCall, products: list[LayerProduct], enters: Any, leaves: Any, *, experts: bool
) -> LayerRecord:
    """experts: True where the FFN is a mixture; what one that all tokens share gives is then added to the others."""
    additions = [
        Addition(product.adds, None if product.added is None else read_only(product.added), product.beside)
        for product in products
        if product.adds is not None and not (experts and product.adds == "ffn")
    ]
    return LayerRecord(stream, call.number, enters, leaves, tuple(additions), tuple(_matrices(products)))


def _matrices(products: list[LayerProduct]) -> Iterator[tuple[str, Matrix]]:
    seen = Counter[str]()
    for product in products:
        role = "+".join(dict.fromkeys(product.roles))
        again = seen[product.matrix.name]
        seen[product.matrix.name] += 1
        if not again or role:
            yield role, product.matrix


def _holds_experts(network: nn.Module, call: LayerCall) -> bool:
    """Return True if the layer that ran has a module that is named after experts."""
    stack = network.get_submodule(call.path)
    layers = list(stack.children())
    layer = layers[call.number % len(layers)] if layers else stack
    return any(_EXPERTS.search(type(module).__name__) for module in layer.modules() if module is not layer)


def record_head(loaded: LoadedModel, trace: Trace, *, most: int = 64) -> HeadRecord:
    """Run the model's head on the last states of a text, the first `most`, and record the product that made the logits.

    Raises ValueError for a model without a head, and where its last product is not with a parameter of the model.
    """
    if loaded.predict is None:
        raise ValueError(f"{loaded.card.id} has no head that predicts tokens")
    names = {key(parameter): name for name, parameter in loaded.network.named_parameters()}
    with torch.inference_mode(), LastProduct(names) as last:
        logits = loaded.predict(trace.hidden[None, :most])
    if last.factors is None or last.factors[0].shape[-1] == 0 or last.width != logits.shape[-1]:
        raise ValueError(f"the product that makes {loaded.card.id}'s logits was not seen")
    x, matrix = last.factors
    return HeadRecord(matrix, read_only(x.reshape(-1, x.shape[-1])))
