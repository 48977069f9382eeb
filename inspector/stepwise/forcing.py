"""Teacher forcing held to writing: one pass over a given text beside the same text read step by step.

In one pass a causal decoder reads all tokens at once, and each position predicts its next token from the true tokens
before it (teacher forcing, Williams & Zipser 1989). Read one after the other, with a KV cache or without, the same
tokens give the same logits: no token sees a later one.

Shapes: n tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch import Tensor

from inspector.trace import Trace
from models import LoadedModel
from models.decoding import DecodedStep
from models.matrix_products import MatrixProducts
from models.placement import dtype_of
from models.transformer.masked_lm import MaskedLanguageModel
from models.transformer.runner import OwnRunner
from models.transformer.stacks import Encoder

WAYS = ("cached", "uncached")
"""The two ways to read step by step: with the KV cache, and all tokens so far again at every step."""


@dataclass(frozen=True, eq=False)
class ForcedReading:
    """One text in one pass and step by step.

    table: a row per position with token, next (the token that it has to predict), and for each way the largest
    |difference| of a logit from the one pass (cached, uncached), whether the likeliest token is the same (same_cached,
    same_uncached), and FLOPs of the step (flops_cached, flops_uncached); exact: the difference with the cache where the
    same weights compute in float64, NaN for a model of transformers. size: the largest |logit| of the pass. flops: of
    the pass, matrix products as they ran, without an encoder's. cache_bytes: in the cache after the last step; 0 for a
    model without a cache, whose two ways are the same. dtype: of the weights.
    """

    table: pd.DataFrame
    size: float
    flops: int
    cache_bytes: int
    dtype: str

    @property
    def largest(self) -> float:
        """The largest difference of a logit, of both ways."""
        return float(self.table[list(WAYS)].to_numpy().max())

    @property
    def exact(self) -> float | None:
        """The largest difference in float64; None for a model of transformers."""
        largest = float(self.table["exact"].max())
        return None if largest != largest else largest

    @property
    def agreeing(self) -> int:
        """The positions at which all three have the same likeliest token."""
        return int((self.table["same_cached"] & self.table["same_uncached"]).sum())

    @property
    def totals(self) -> dict[str, int]:
        """The FLOPs of the one pass, of all steps with the cache, and of all steps without."""
        sums = {way: int(self.table[f"flops_{way}"].sum()) for way in WAYS}
        return {"pass": self.flops, **sums}


def why_not(loaded: LoadedModel) -> str:
    """Say why a model cannot be read step by step, the end of a sentence that begins with its name; "" where it can."""
    if loaded.shape == "encoder":
        return "is an encoder: it reads the whole text at once and writes nothing step by step"
    return "" if loaded.write is not None else "has no head that predicts tokens, so it writes nothing"


def compare(
    loaded: LoadedModel, trace: Trace, *, tokens: int, watch: Callable[[int], object] = lambda done: None
) -> ForcedReading:
    """Read the first tokens of a recorded text in one pass, with the cache and without it.

    tokens: how many, of the target where the model reads a source. watch: called with the steps that are done, of all
    ways. Raises ValueError for a model that writes nothing, and for a number of tokens that the text does not have.
    """
    if problem := why_not(loaded):
        raise ValueError(f"{loaded.card.id} {problem}; choose a decoder or an encoder-decoder")
    read = trace.read_by("decoder")
    if not 1 <= tokens <= len(read):
        raise ValueError(f"tokens is {tokens}; the text has {len(read)}, so choose 1 to {len(read)}")
    ids = torch.tensor([read.ids[:tokens]])
    source = None if trace.target is None else torch.tensor([trace.encoding.ids])
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        watch(done)

    logits, flops = _one_pass(loaded, ids, source)
    predicted = next((site.predicted for site in trace.sites if site.stream == "decoder"), None) or ()
    columns: dict[str, object] = {
        "position": range(tokens),
        "token": read.tokens[:tokens],
        "next": [*predicted[:tokens], *[""] * (tokens - len(predicted))],
    }
    likeliest = logits.argmax(dim=-1).tolist()
    cache_bytes = 0
    for way in WAYS:
        steps = _steps(loaded, ids, source, expected=logits, cached=way == "cached", tell=tell)
        columns[way] = [step.difference for step in steps]
        columns[f"same_{way}"] = [step.token == token for step, token in zip(steps, likeliest, strict=True)]
        columns[f"flops_{way}"] = [step.flops for step in steps]
        cache_bytes = max(cache_bytes, steps[-1].cache_bytes)
    double = _in_float64(loaded)
    if double is not None:
        expected, _ = _one_pass(double, ids, source)
        steps = _steps(double, ids, source, expected=expected, cached=True, tell=tell)
    columns["exact"] = [float("nan")] * tokens if double is None else [step.difference for step in steps]
    dtype = str(dtype_of(loaded.network)).removeprefix("torch.")
    return ForcedReading(
        pd.DataFrame(columns), size=float(logits.abs().max()), flops=flops, cache_bytes=cache_bytes, dtype=dtype
    )


@dataclass(frozen=True)
class _Step:
    """One step: its logits' largest |difference| from the pass, the likeliest token, FLOPs, and bytes in the cache."""

    difference: float
    token: int
    flops: int
    cache_bytes: int


@torch.inference_mode()
def _one_pass(loaded: LoadedModel, ids: Tensor, source: Tensor | None) -> tuple[Tensor, int]:
    """Read all ids [1, n] at once -> logits [n, V], and the FLOPs of the decoder and its head.

    The encoder's, which every way runs once, are left out.
    """
    assert loaded.predict is not None
    with MatrixProducts() as counted:
        if source is None:
            hidden = loaded.run(ids, _all(ids), torch.zeros_like(ids))
        else:
            assert loaded.run_pair is not None
            hidden = loaded.run_pair(source, _all(source), ids)
    with MatrixProducts() as head:
        logits = loaded.predict(hidden)[0]
    # Where transformers has body and head in one module (T5), the body's run has scored the vocabulary already.
    scored = 0 if getattr(loaded.network, "base_model", None) is loaded.network else head.flops
    if source is None:
        return logits, counted.flops + scored
    with MatrixProducts() as encoder:
        loaded.run(source, _all(source), torch.zeros_like(source))
    return logits, counted.flops + scored - encoder.flops


def _all(ids: Tensor) -> Tensor:
    return torch.ones_like(ids, dtype=torch.bool)


def _steps(
    loaded: LoadedModel,
    ids: Tensor,
    source: Tensor | None,
    *,
    expected: Tensor,
    cached: bool,
    tell: Callable[[], None],
) -> list[_Step]:
    """Read ids one after the other, and hold each step's logits to `expected` [n, V]."""
    steps: list[_Step] = []

    def seen(step: DecodedStep) -> None:
        difference = float((step.logits.double() - expected[len(steps)].double()).abs().max())
        steps.append(_Step(difference, step.token, step.flops, step.cache_bytes))
        tell()

    loaded.runner.follow(ids, source=source, watch=seen, cached=cached)
    return steps


def _in_float64(loaded: LoadedModel) -> LoadedModel | None:
    """Copy the weights into float64; None for a model that is not this project's."""
    runner = loaded.runner
    if not isinstance(runner, OwnRunner):
        return None
    network = deepcopy(runner.network).double()
    assert not isinstance(network, Encoder | MaskedLanguageModel)
    return replace(loaded, network=network, runner=replace(runner, network=network, head=network))
