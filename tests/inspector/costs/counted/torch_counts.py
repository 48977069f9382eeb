"""The counts of torch's own FlopCounterMode of a family, at lengths that no polynomial is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from inspector import costs
from models.huggingface import skeleton
from tests.inspector.probe.families import CAPTURED, REFUSED, WITHOUT_SOFTMAX, Family, named

LENGTHS = ((20, 17), (31, 12), (45, 40))
STEPS = ((1, 1), (20, 17), (45, 40))
"""Tokens of source and target; of other models the first alone. None is among those that a polynomial is made from."""


FAMILIES = {family.name: family for family in (*CAPTURED, *REFUSED, *WITHOUT_SOFTMAX)}


@dataclass(frozen=True)
class Held:
    """A family's count and torch's, by length: of one forward, and of one token more with a cache.

    steps: empty where the model keeps no cache, or does not go on from it; unstepped: why.
    """

    counted: Any
    network: Any
    forwards: Mapping[tuple[int, ...], tuple[int, int]]
    steps: Mapping[tuple[int, ...], tuple[int, int]]
    unstepped: str = ""

    @property
    def differs(self) -> list[str]:
        """The counts that are not torch's."""
        pairs = [*(("forward", *item) for item in self.forwards.items()), *(("step", *i) for i in self.steps.items())]
        return [f"{what} {lengths}: {own:,}, torch {other:,}" for what, lengths, (own, other) in pairs if own != other]

    @property
    def cell(self) -> str:
        """The words of docs/models.md on the family's costs."""
        formula = self.counted.formula
        if formula is None:
            known = ["count"]
        else:
            basis = formula.basis
            local = [f"a window of {window}" for window in basis.windows]
            local += [f"chunks of {basis.chunk}"] if basis.chunk else []
            known = [f"formula with {' and '.join(local)}" if local else "formula"]
        if self.counted.shape != "encoder":
            known.append(self.unstepped or ("step" if self.steps else "no cache"))
        return ", ".join(known)


@torch.no_grad()
def held(family: Family) -> Held:
    """Count a family's tiny model with `inspector.costs.count` and with torch."""
    config = named(family)
    counted = costs.count(config)
    network = skeleton.build(config)
    two = counted.shape == "encoder-decoder"
    forwards, steps, unstepped = {}, {}, ""
    for own in LENGTHS if two else [own[:1] for own in LENGTHS]:
        forwards[own] = counted.total([own if two else own[0]])[0], _counted(network, _read(network, own))
    for own in STEPS if two else [own[:1] for own in STEPS if counted.shape != "encoder"]:
        try:
            table = counted.step(tokens=own[0], target_tokens=own[-1])
        except ValueError as error:
            unstepped = f"not a further token: {error}"
            break
        if table is not None:
            steps[own] = int(table["flops"].sum()), _step(network, own)
    return Held(counted, network, forwards, steps, unstepped)


def known_costs(name: str) -> str:
    """Say what is known of a family's costs; "" of one that no table of costs has.

    Raises AssertionError where the count is not torch's.
    """
    if name not in FAMILIES:
        return ""
    try:
        found = held(FAMILIES[name])
    except ValueError as error:
        return f"not counted: {error}".replace("|", "/")
    assert not found.differs, found.differs
    return found.cell


def _counted(network: Any, reads: dict[str, Any]) -> int:
    with skeleton.Answers(), FlopCounterMode(display=False) as counter:
        network(**reads)
    return counter.get_total_flops()


def _step(network: Any, lengths: tuple[int, ...]) -> int:
    """Count one token after a text that is in the cache; a source is read before, by the encoder alone."""
    name, reads = "input_ids", {}
    with skeleton.Answers():
        if len(lengths) == 2:
            name, reads = "decoder_input_ids", {"encoder_outputs": network.get_encoder()(input_ids=_ids(lengths[0]))}
        read = network(**reads, **{name: _ids(lengths[-1])}, use_cache=True)
    (cache,) = {"past_key_values", "cache_params", "state"} & {key for key, value in read.items() if value is not None}
    return _counted(network, {**reads, name: _ids(1), cache: read[cache], "use_cache": True})


def _read(network: Any, lengths: tuple[int, ...]) -> dict[str, Any]:
    cache = {"use_cache": False} if "use_cache" in signature(network.forward).parameters else {}
    return dict(zip(("input_ids", "decoder_input_ids"), map(_ids, lengths), strict=False)) | cache


def _ids(count: int) -> Tensor:
    return torch.zeros(1, count, dtype=torch.long, device="meta")
