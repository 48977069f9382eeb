"""Each norm is named for what it computes: held to torch's own functions, on plain modules and on tiny models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import inspector
import models
from inspector import normalization
from inspector.probe.norm_kinds import NO_STATISTICS, POOLED, NormParameters, parameters, why_unknown
from inspector.trace.norm_formula import normalise
from models import LoadedModel
from models.registry import own_model
from models.transformer import Encoder
from models.transformer.config import Norm, TransformerConfig
from tests.inspector.probe.families import Family, save

WIDTH = 32
CONFIG = TransformerConfig(
    shape="encoder", layers=2, heads=2, width=WIDTH, ffn_width=48, vocabulary=64, max_positions=32
)


class OnePlus(nn.RMSNorm):
    """Gemma's: gamma is kept less 1."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (WIDTH,), 1 + self.weight, self.eps)


def shaken(module: nn.Module) -> nn.Module:
    """Give every learned number and running statistic a random value, as training does."""
    random = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.5, 1.5, generator=random)
    return module.eval()


def made(found: NormParameters, x: Tensor) -> Tensor:
    return normalise(x, found.gamma, found.beta, kind=found.kind, epsilon=found.epsilon, running=found.running)


@pytest.mark.parametrize(
    ("module", "kind", "plus_one"),
    [
        (nn.LayerNorm(WIDTH), "layer", False),
        (nn.RMSNorm(WIDTH, eps=1e-6), "rms", False),
        (OnePlus(WIDTH, eps=1e-6), "rms", True),
        (nn.BatchNorm1d(WIDTH), "batch", False),
    ],
)
def test_a_norm_is_known_by_what_it_computes(module: nn.Module, kind: str, plus_one: bool) -> None:
    x = 100 * torch.randn(1, 5, WIDTH, generator=torch.Generator().manual_seed(2))
    found = parameters(shaken(module), width=WIDTH)
    assert found is not None
    assert (found.kind, found.plus_one, found.features_first) == (kind, plus_one, kind == "batch")
    expected = (module(x.mT).mT if found.features_first else module(x)).detach()
    assert float((made(found, x) - expected).abs().max() / expected.abs().max()) <= 1e-5


def test_what_is_none_of_them_is_said() -> None:
    pools = shaken(nn.GroupNorm(4, WIDTH))
    assert (parameters(pools, width=WIDTH), why_unknown(pools, width=WIDTH)) == (None, POOLED)
    alone = nn.Identity()
    assert (parameters(alone, width=WIDTH), why_unknown(alone, width=WIDTH)) == (None, NO_STATISTICS)


def own(minilm: LoadedModel, norm: Norm) -> LoadedModel:
    config = replace(CONFIG, norm=norm, vocabulary=len(minilm.tokenizer))
    network = shaken(Encoder(config))
    card = replace(minilm.card, id=f"own-{norm}")
    return own_model(card, network, minilm.tokenizer, max_tokens=config.max_positions)


@pytest.mark.parametrize("norm", ["batch", "masked_batch"])
def test_the_own_batch_norm_is_recorded_with_the_statistics_of_its_training(
    norm: Norm, minilm: LoadedModel, tmp_path: Path
) -> None:
    loaded = own(minilm, norm)
    trace = inspector.record(loaded, "The cat sat on the mat.")
    assert [(one.kind, one.layer, one.part) for one in trace.norms] == [
        ("batch", layer, part) for layer in (0, 1) for part in ("attention", "ffn")
    ]
    assert not trace.refused
    inspector.save(trace, tmp_path / "t.npz")
    for one, again in zip(trace.norms, inspector.open(tmp_path / "t.npz").norms, strict=True):
        module = loaded.network.get_submodule(one.name)
        statistics = (module.running_mean, module.running_variance)
        expected = functional.batch_norm(
            torch.tensor(one.input), *statistics, module.gamma, module.beta, eps=one.epsilon
        ).detach()
        assert np.abs(one.output - expected.numpy()).max() <= 1e-5 * float(expected.abs().max())
        np.testing.assert_array_equal(one.output, again.output)
    assert inspector.exactness.check_norms(trace).exact
    assert normalization.formula(trace.norms[0]) == r"\gamma\,\frac{x - m}{\sqrt{v + \epsilon}} + \beta"


INSIDE = "inside a sublayer, where vectors are normed that the sublayer itself makes, so not of the residual stream"


@pytest.mark.parametrize(
    ("family", "formula", "refused"),
    [
        (Family("gemma", ""), r"(1 + \gamma)\,\frac{x}{\sqrt{\overline{x^2} + \epsilon}}", set()),
        (Family("t5", "", {"decoder_start_token_id": 0}), r"\gamma\,\frac{x}{\sqrt{\overline{x^2} + \epsilon}}", set()),
        (
            Family("qwen3", ""),
            r"\gamma\,\frac{x}{\sqrt{\overline{x^2} + \epsilon}}",
            {f"an RMSNorm of each head's {what}, 8 dimensions, {INSIDE}" for what in ("queries", "keys")},
        ),
        (
            Family("olmo2", ""),
            r"\gamma\,\frac{x}{\sqrt{\overline{x^2} + \epsilon}}",
            {f"an RMSNorm of {what}, {width} dimensions, {INSIDE}" for what, width in (("queries", 32), ("keys", 16))},
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Family) else "",
)
def test_every_norm_of_a_family_is_shown_or_named(
    family: Family, formula: str, refused: set[str], tmp_path: Path
) -> None:
    save(family, tmp_path)
    loaded = models.load(tmp_path)
    trace = inspector.record(loaded, "the cat sat on the mat", target="a cat" if family.name == "t5" else None)
    assert {normalization.formula(norm) for norm in trace.norms} == {formula}
    assert {one.reason for one in trace.refused if one.what == "norm"} == refused
    for norm in trace.norms:
        x = torch.tensor(norm.input)
        expected = functional.rms_norm(x, x.shape[-1:], torch.tensor(norm.gamma), norm.epsilon)
        assert np.abs(norm.output - expected.numpy()).max() <= 1e-5 * float(expected.abs().max())
        assert norm.plus_one == (family.name == "gemma")
