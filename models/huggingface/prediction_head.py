"""The head of a transformers model, asked alone: hidden state in, logits out.

The steps between a model's body and its logits differ from family to family (one matrix; a transform and a norm;
scales, biases and soft-caps). So the model's own forward is run, on a copy of the outermost module in which the body is
replaced by one that answers with the given hidden state. No weight is copied and the shared network is not touched.
"""

from __future__ import annotations

import copy
from inspect import signature
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn
from transformers import EncoderDecoderModel

from models.loaded import Shape

_INNER = ("decoder", "transformer")


class _Answer(SimpleNamespace):
    """The output of a model's body: the hidden state, first and under any name; everything else is absent."""

    last_hidden_state: Tensor

    def __getitem__(self, place: int | slice) -> Any:
        return (self.last_hidden_state,)[place]

    def __getattr__(self, name: str) -> None:
        return None

    def __len__(self) -> int:
        return 1


class _Body(nn.Module):
    def __init__(self, hidden: Tensor, body: nn.Module) -> None:
        super().__init__()
        self.hidden = hidden
        self.of = (body,)  # in a tuple: not a child

    def forward(self, *_: Any, **__: Any) -> _Answer:
        return _Answer(last_hidden_state=self.hidden)

    def __getattr__(self, name: str) -> Any:
        if name in _INNER:  # some heads ask a part of the body directly (OPT: self.model.decoder)
            return self
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["of"][0], name)


def predict(network: Any, hidden: Tensor, *, shape: Shape) -> Tensor:
    """Last hidden state [B, T, D] -> logits [B, T, V]."""
    if isinstance(network, EncoderDecoderModel):  # two models that were put together: the head is the decoder's
        return predict(network.decoder, hidden, shape="decoder")
    shell = copy.copy(network)
    shell._modules = dict(network._modules)
    shell.__dict__.pop("forward", None)  # of accelerate, bound to the network itself; its modules have their own hooks
    # Body and head are one module (T5, SeamlessM4T's text_decoder), or the body's name is not said (Llama 4).
    together = tuple(name for name in network._modules if name.endswith(("encoder", "decoder")) or name == "model")
    names = (network.base_model_prefix,) if network.base_model is not network else together
    for name in set(names) & set(network._modules):
        shell._modules[name] = _Body(hidden, network._modules[name])
    ids = hidden.new_zeros(hidden.shape[:2]).long()
    logits: Tensor = shell(**_inputs(network, ids, shape=shape)).logits
    return logits


def usual_logits(network: Any, ids: Tensor, *, shape: Shape) -> Tensor | None:
    """The whole model's logits [B, T, V] for ids [B, T] (read by encoder and decoder alike); None without a head."""
    if network.get_output_embeddings() is None:
        return None
    logits: Tensor | None = getattr(network(**_inputs(network, ids, shape=shape)), "logits", None)
    return logits


def _inputs(network: nn.Module, ids: Tensor, *, shape: Shape) -> dict[str, Any]:
    inputs: dict[str, Any] = {"input_ids": ids, "return_dict": True}
    if shape == "encoder-decoder":
        inputs["decoder_input_ids"] = ids
    if "use_cache" in signature(network.forward).parameters:
        inputs["use_cache"] = False
    return inputs
