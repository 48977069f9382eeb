"""A check that a model's weights come from its files: transformers fills in random numbers for missing weights."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import torch

_NOT_SHOWN = ("pooler",)  # the pooler summarises the sentence: no map and no hidden state depends on it
_NUMBERED = re.compile(r"\.\d+\.")  # in the name of a layer's weight


class UnfitWeights(ValueError):  # noqa: N818, the reader sees its sentence unchanged
    """Raised for weights that are not from the model's files, or give numbers that are not finite; no loader helps."""


def missing_weights(info: Mapping[str, Any], network: Any) -> tuple[str, ...]:
    """Name the parameters that no file held, except tied parameters, from the loading info of transformers.

    Raises UnfitWeights where a file held a weight in another shape.
    """
    if other := sorted(info["mismatched_keys"]):
        name, stored, built = other[0]
        raise UnfitWeights(
            f"{_count(other, 'weight')} of its files have other shapes than config.json says, such as {name[:100]!a}: "
            f"{tuple(stored)} in the file, {tuple(built)} in the model. Get config.json and weights from one source."
        )
    parameters = {name for name, _ in network.named_parameters()}
    missing = set(info["missing_keys"]) & parameters
    return tuple(sorted(name for name in missing if not any(part in name for part in _NOT_SHOWN)))


def check_body(missing: Collection[str], network: Any) -> bool:
    """Return True if weights are missing, all of them in the prediction head: the body alone can then be shown.

    Raises UnfitWeights where weights of the body are missing.
    """
    body = [name for name in missing if name not in _head(network)]
    if body:
        total = sum(1 for _ in network.named_parameters())
        raise UnfitWeights(
            f"{len(body):,} of its {total:,} weights are not in its files, such as {body[0][:100]!a}; transformers "
            "would fill in random numbers. Get the files again, or choose another model."
        )
    return bool(missing)


def left_over(info: Mapping[str, Any]) -> str:
    """Say how many layer weights of the files have no place in the model; an empty text where all have."""
    layers = sorted(name for name in info["unexpected_keys"] if _NUMBERED.search(name))
    if not layers:
        return ""
    return f"{_count(layers, 'weight')} of its files have no place in it, such as {layers[0][:100]}"


def check_finite(network: Any, *, instead: str = "Get the files again.") -> None:
    """Raise UnfitWeights where a parameter holds an infinity or NaN; weights offloaded to disk are skipped.

    instead: what the reader can do, a sentence.
    """
    for name, parameter in network.named_parameters():
        if parameter.is_meta or not parameter.is_floating_point() or not parameter.numel():
            continue
        least, most = torch.aminmax(parameter.detach())
        if not bool(torch.isfinite(least) & torch.isfinite(most)):
            raise UnfitWeights(
                f"its weight {name[:100]!a} holds numbers that are not finite, so nothing that it computes would be a "
                f"number. {instead} In float16 a number over 65,504 becomes infinite: use float32 there."
            )


def _head(network: Any) -> set[str]:
    """Return the names of the parameters of the head that predicts tokens."""
    prefix = f"{network.base_model_prefix}."
    if network.base_model is not network:
        return {name for name, _ in network.named_parameters() if not name.startswith(prefix)}
    output = network.get_output_embeddings()
    of_output = set() if output is None else {id(parameter) for parameter in output.parameters()}
    return {name for name, parameter in network.named_parameters() if id(parameter) in of_output}


def _count(names: Iterable[Any], what: str) -> str:
    number = len(list(names))
    return f"{number:,} {what}{'' if number == 1 else 's'}"
