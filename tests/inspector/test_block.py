"""Additions of attention and FFN against hooks on the modules; cosines pair by pair; the lens after each sublayer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import inspector
from inspector import block, lens
from models import LoadedModel
from models.transformer.config import NormPlacement
from tests.closeness import assert_close
from tests.models.own_models import own

TEXT = "The cat sat on the mat because it was tired."


def test_additions_are_what_the_sublayers_gave() -> None:
    loaded = own("decoder", layers=2, norm_placement="pre", final_norm=True)
    trace = inspector.record(loaded, TEXT)
    gave: list[torch.Tensor] = []
    parts = [module for layer in loaded.network.get_submodule("layers") for module in (layer.attention, layer.ffn)]
    handles = [part.register_forward_hook(lambda module, given, out: gave.append(out[0].clone())) for part in parts]
    blocks = inspector.record_blocks(loaded, trace)
    for handle in handles:
        handle.remove()
    stages = block.stages(trace, blocks, stream="decoder")
    table = block.additions(stages)
    for stage, want, row in zip(stages, gave, table.itertuples(), strict=True):
        added, before = want.double().numpy(), stage.before.astype(np.float64)
        assert_close(stage.added, added, relative=1e-5)
        sizes = [np.linalg.norm(one, axis=1) for one in (added, before)]
        assert row.added_norm == pytest.approx(sizes[0].mean(), rel=1e-5)
        assert row.share == pytest.approx((sizes[0] / sizes[1]).mean(), rel=1e-5)
        assert_close(row.cosine, ((added * before).sum(1) / sizes[0] / sizes[1]).mean(), relative=1e-5)
        units = stage.after / np.linalg.norm(stage.after, axis=1, keepdims=True)
        pairs = (units @ units.T)[~np.eye(len(units), dtype=bool)]
        assert_close(row.alike, pairs.mean(), relative=1e-6)
    assert np.isnan(block.alike(stages[0].after[:1]))
    moved = block.moved(trace, stages, loaded.predict, loaded.tokenizer, position=3)
    table = lens.logit_lens(trace, loaded.predict, loaded.tokenizer, positions=[3], top=1)
    after_ffn = moved[moved["part"] != "attention"]
    assert after_ffn["guess"].tolist() == table["prediction"].tolist()
    assert moved["probability"].iloc[-1] == pytest.approx(table["probability"].iloc[-1], rel=1e-5)
    assert_close(
        moved["bits"].sum(), np.log2(moved["probability"].iloc[-1] / moved["probability"].iloc[0]), relative=1e-5
    )


def test_a_walk_ends_at_the_recorded_state(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, TEXT)
    blocks = inspector.record_blocks(minilm, trace)
    walk = block.walk(trace, blocks, minilm.network, stream="encoder", layer=3, position=2)
    kinds = ["x", "q", "k", "v", "mix", "out", "sum", "norm", "up", "hidden", "down", "sum", "norm"]
    assert [step.kind for step in walk.steps] == kinds
    assert walk.off < 1e-6
    assert all(step.off is None or step.off < 1e-5 for step in walk.steps)
    by_kind = {step.kind: step for step in walk.steps}
    record = trace.record_of(3, None)
    weights = trace.attention(layer=3)[:, 2].astype(np.float64)
    mixed = np.stack([row @ value for row, value in zip(weights, record.value.double().numpy(), strict=True)])
    assert by_kind["mix"].norm == pytest.approx(np.linalg.norm(mixed), rel=1e-6)
    assert by_kind["q"].norm == pytest.approx(float(record.query[:, 2].double().norm()), rel=1e-6)
    assert walk.steps[-1].norm == pytest.approx(np.linalg.norm(blocks.layers[3].leaves[2]), rel=1e-6)
    with pytest.raises(ValueError, match="layer 9"):
        block.walk(trace, blocks, minilm.network, stream="encoder", layer=9, position=2)


def test_the_steps_of_cross_attention_are_made_by_its_own_matrices() -> None:
    loaded = own("encoder-decoder", layers=2, norm_placement="pre", final_norm=True)
    trace = inspector.record(loaded, TEXT, target="A dog ran.")
    blocks = inspector.record_blocks(loaded, trace)
    walk = block.walk(trace, blocks, loaded.network, stream="decoder", layer=1, position=2)
    for part, name in (("attention", "attention"), ("cross", "cross_attention")):
        steps = {step.kind: step for step in walk.steps if step.part == part}
        for kind, role in (("q", "query"), ("k", "key"), ("v", "value"), ("out", "out")):
            assert steps[kind].name == f"decoder.layers.1.{name}.{role}.weight"


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_sublayers_beside_each_other_read_the_same_stream(placement: NormPlacement) -> None:
    """Cross-attention and FFN are added at once in a layer whose attention stands alone, and one norm takes both."""
    loaded = own("encoder-decoder", layers=1, norm_placement=placement, final_norm=placement == "pre")
    trace = inspector.record(loaded, TEXT, target="A dog ran.")
    blocks = inspector.record_blocks(loaded, trace)
    (layer,) = blocks.of("decoder")
    attention, cross, ffn = layer.additions
    parallel = replace(layer, additions=(attention, cross, replace(ffn, beside=True)))
    stages = block.stages(trace, replace(blocks, layers=(parallel,)), stream="decoder")
    assert [stage.part for stage in stages] == ["attention", "cross", "ffn"]
    after = {norm.part: norm for norm in trace.norms if (norm.stream, norm.placement) == ("decoder", "post")}
    assert [stage.norm for stage in stages] == [after.get("attention"), None, after.get("ffn")]
    attended = layer.enters + attention.added if placement == "pre" else after["attention"].output
    for stage, before in zip(stages, (layer.enters, attended, attended), strict=True):
        assert_close(stage.before, before, relative=1e-6)
    assert_close(stages[1].after, attended + cross.added, relative=1e-6)
