"""Own models of the three shapes: every stream is recorded as it ran, with the tokens read and the tokens predicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import inspector
import models
from inspector import Trace, record, record_batch
from inspector.exactness import check
from inspector.probe import hold
from models import LoadedModel
from models.transformer.multi_head import MultiHeadAttention
from tests.closeness import assert_close
from tests.models import own_models

pytestmark = pytest.mark.heavy

SOURCE, TARGET = "The cat sat on the mat because it was tired.", "Die Katze war müde."
SHAPES = ("encoder", "decoder", "encoder-decoder")
SWITCHES = [
    {"positions": "t5"},
    {"positions": "alibi", "norm_placement": "pre", "final_norm": True},
    {"positions": "shaw", "relative_distance": 3},
    {"positions": "xl"},
    {"positions": "rope", "kv_heads": 2},
    {"score": "additive"},
    {"score": "general", "mask_fill": -20.0, "mask_before_scale": True},
    {"score": "cosine", "shared_layers": True},
    {"mask_fill": "zero", "window": 4},
    {"score": "additive_naive", "embedding_norm": True},
]


@pytest.fixture(scope="module")
def loaded() -> dict[str, LoadedModel]:
    return {shape: models.load(f"own-{shape}") for shape in SHAPES}


@pytest.fixture(scope="module")
def translated(loaded: dict[str, LoadedModel]) -> Trace:
    return record(loaded["encoder-decoder"], SOURCE, target=TARGET)


def expected_maps(network: torch.nn.Module, run: Callable[[], object]) -> dict[str, np.ndarray]:
    """The weights of each attention module by its path, from torch's own module on the same inputs."""
    maps: dict[str, np.ndarray] = {}

    def hook(name: str) -> Callable[..., None]:
        def compute(module: MultiHeadAttention, args: tuple, kwargs: dict, output: object) -> None:
            x, context = args[0], kwargs.get("context", args[0])
            reference = torch.nn.MultiheadAttention(x.shape[-1], module.query.out_features // 16, batch_first=True)
            linears = (module.query, module.key, module.value)
            reference.in_proj_weight.copy_(torch.cat([linear.weight for linear in linears]))
            reference.in_proj_bias.copy_(torch.cat([linear.bias for linear in linears]))
            causal = (
                torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if module.stream == "decoder" else None
            )
            maps[name] = reference(x, context, context, attn_mask=causal, average_attn_weights=False)[1][0].numpy()

        return compute

    handles = [
        module.register_forward_hook(hook(name), with_kwargs=True)
        for name, module in network.named_modules()
        if isinstance(module, MultiHeadAttention)
    ]
    with torch.no_grad():
        run()
    for handle in handles:
        handle.remove()
    return maps


def test_three_streams_equal_torchs_own_attention(loaded: dict[str, LoadedModel], translated: Trace) -> None:
    own = loaded["encoder-decoder"]
    source = torch.tensor([translated.encoding.ids])
    target = torch.tensor([translated.target.ids])
    expected = expected_maps(own.network, lambda: own.network(source, target))
    assert [(site.stream, site.layer) for site in translated.sites] == [
        *[("encoder", 0), ("encoder", 1), ("decoder", 0), ("cross", 0), ("decoder", 1), ("cross", 1)]
    ]
    paths = {"encoder": "encoder.layers.{}.attention", "decoder": "decoder.layers.{}.attention"}
    paths["cross"] = "decoder.layers.{}.cross_attention"
    for site in translated.sites:
        maps = translated.attention(layer=site.layer, stream=site.stream)
        assert_close(maps, expected[paths[site.stream].format(site.layer)], relative=1e-6)
        assert maps.shape == (4, len(site.queries), len(site.keys))
        assert_close(maps.sum(axis=-1), 1, relative=4e-6)


def test_a_row_knows_the_token_read_and_the_token_predicted(translated: Trace) -> None:
    target = ("die", "katz", "##e", "war", "mud", "##e", ".", "[SEP]")
    encoder, decoder, cross = (
        next(site for site in translated.sites if site.stream == stream) for stream in ("encoder", "decoder", "cross")
    )
    assert (encoder.queries, encoder.keys, encoder.predicts) == (translated.tokens, translated.tokens, None)
    assert (decoder.queries, decoder.keys, decoder.predicts) == (("[CLS]", *target[:-1]),) * 2 + (target,)
    assert (cross.queries, cross.keys, cross.predicts) == (decoder.queries, translated.tokens, target)
    assert translated.target_text == TARGET
    assert translated.read_by("cross") is translated.read_by("decoder") is translated.target
    assert translated.read_by("encoder") is translated.encoding
    assert translated.output.shape == (8, 64)


def test_a_decoder_sees_no_later_token(loaded: dict[str, LoadedModel], translated: Trace) -> None:
    trace = record(loaded["decoder"], SOURCE)
    assert trace.tokens[0] == "[CLS]"
    assert trace.tokens[1:] == trace.sites[0].predicts[:-1]
    assert trace.sites[0].predicts[-1] == "[SEP]"
    for maps, scores in (
        (trace.attention(layer=1), trace.scores(layer=1)),
        (translated.attention(layer=1, stream="decoder"), translated.scores(layer=1, stream="decoder")),
    ):
        later = np.triu(np.ones(maps.shape[1:], bool), k=1)
        assert (maps[:, later] == 0).all()
        assert np.isneginf(scores[:, later]).all()
        assert np.isfinite(scores[:, ~later]).all()


def test_without_a_target_it_writes_its_own(loaded: dict[str, LoadedModel]) -> None:
    own = loaded["encoder-decoder"]
    trace = record(own, SOURCE)
    written = own.generate_ids(trace.encoding, new_tokens=40)
    assert trace.target_text is None
    assert list(trace.target.ids) == written[:-1]
    assert list(trace.sites[-1].predicts) == own.tokenizer.convert_ids_to_tokens(written[1:])
    assert len(trace.target.words) == len(trace.target.tokens)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_badge_holds(loaded: dict[str, LoadedModel], shape: str) -> None:
    own = loaded[shape]
    trace = record(own, SOURCE)
    checked = check(trace, own)
    assert checked.holds, str(checked)
    assert checked.layers == {"encoder": 2, "decoder": 2, "encoder-decoder": 6}[shape]


@pytest.mark.parametrize("positions", ["t5", "alibi"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_bias_on_the_scores_is_checked_in_the_fused_kernel_too(
    loaded: dict[str, LoadedModel], shape: str, positions: str
) -> None:
    own = own_models.own(shape, positions=positions)
    held = hold(own, record(own, SOURCE))
    assert held.holds
    assert held.fused == held.calls
    assert not hold(own, record(own_models.own(shape, positions="none"), SOURCE)).holds


def test_what_the_fused_kernel_cannot_do_is_held_to_the_models_own_function() -> None:
    own = own_models.own("encoder", score="additive")
    trace = record(own, SOURCE)
    checked = check(trace, own)
    assert checked.holds
    assert checked.second.fused == 0
    assert "run a second time in the model's own attention" in str(checked)
    unheld = check(trace)
    assert unheld.holds
    assert "recorded, not held: the model was not at hand" in str(unheld)


def test_weight_on_what_is_to_come_breaks_the_badge(loaded: dict[str, LoadedModel]) -> None:
    for shape in ("decoder", "encoder-decoder"):
        assert check(record(loaded[shape], SOURCE), expected_layers=0).future == 0
    leaks = record(own_models.own("decoder", mask_fill="zero"), SOURCE)
    made = check(leaks, expected_layers=2)
    assert made.future > 0.01
    assert made.holds  # the model's own fill lets it through
    assert not replace(made, lets_through=False).holds
    assert check(record(loaded["encoder"], SOURCE), expected_layers=2).future is None


def test_norms_know_stream_and_place(loaded: dict[str, LoadedModel], translated: Trace) -> None:
    places = [(norm.stream, norm.layer, norm.part, norm.placement) for norm in translated.norms]
    encoder = [("encoder", layer, part, "post") for layer in (0, 1) for part in ("attention", "ffn")]
    assert places == encoder + [
        ("decoder", layer, part, "post") for layer in (0, 1) for part in ("attention", "cross", "ffn")
    ]
    pre = own_models.own("decoder", norm_placement="pre", final_norm=True, embedding_norm=True, shared_layers=True)
    places = [(norm.stream, norm.layer, norm.part, norm.placement) for norm in record(pre, SOURCE).norms]
    middle = [("decoder", layer, part, "pre") for layer in (0, 1) for part in ("attention", "ffn")]
    ends = [("decoder", None, end, end) for end in ("embedding", "final")]
    assert places == [ends[0], *middle, ends[1]]
    statistics = inspector.normalization.statistics(translated)
    assert len(statistics) == 4 * len(translated.tokens) + 6 * 8
    assert list(statistics[statistics.norm == 9].token) == list(translated.target.tokens)
    assert_close(
        statistics.mean_after, 0, relative=1e-5, scale=statistics.std_after
    )  # at the start gamma is 1 and beta 0


def test_distances_mean_nothing_between_two_texts(translated: Trace) -> None:
    measures = inspector.heads.measure(translated).set_index("stream")
    assert len(measures) == 24
    between = ["distance", "self", "previous", "next"]
    assert measures.loc["cross", between].isna().all(axis=None)
    assert measures.loc["encoder", between].notna().all(axis=None)
    assert measures.loc["decoder", ["distance", "self", "previous"]].notna().all(axis=None)
    assert measures.loc["decoder", "next"].isna().all()  # no query sees a next token
    assert measures.loc["cross", ["entropy", "confidence", "information"]].notna().all(axis=None)
    assert inspector.heads.label(measures.loc["cross"].reset_index()).notna().all()


@pytest.mark.parametrize("padding", ["right", "left"])
def test_a_batch_of_texts_in_a_decoder(loaded: dict[str, LoadedModel], padding: str) -> None:
    texts = [SOURCE, "A cat.", "word " * 140]
    own = own_models.own("decoder", positions="rope")  # positions that padding on the left does not shift
    for trace, text in zip(record_batch(own, texts, padding=padding), texts, strict=True):
        alone = record(own, text)
        assert trace.sites == alone.sites
        assert_close(trace.attention(layer=1), alone.attention(layer=1), relative=1e-5)
        assert_close(trace.output, alone.output, relative=5e-5)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_kind_of_attention_is_recorded_saved_and_opened(
    loaded: dict[str, LoadedModel], shape: str, switches: dict[str, object], tmp_path: Path
) -> None:
    target = {"target": TARGET} if shape == "encoder-decoder" else {}
    trace = record(own_models.own(shape, **switches), SOURCE, **target)
    inspector.save(trace, tmp_path / "t.npz")
    again = inspector.open(tmp_path / "t.npz")
    assert (again.sites, again.encoding, again.target) == (trace.sites, trace.encoding, trace.target)
    assert again.target_text == trace.target_text
    for site in trace.sites:
        where = {"layer": site.layer, "stream": site.stream}
        np.testing.assert_array_equal(again.attention(**where), trace.attention(**where))
        np.testing.assert_array_equal(again.scores(**where), trace.scores(**where))
        assert_close(trace.attention(**where).sum(axis=-1), 1, relative=4e-6)
    assert [norm.stream for norm in again.norms] == [norm.stream for norm in trace.norms]


def test_a_mask_that_leaks_shows_its_scores(loaded: dict[str, LoadedModel]) -> None:
    """Masked scores are shown as they are where they are finite: -20, or the 0 of a multiplication."""
    later = np.triu(np.ones((13, 13), bool), k=1)[:12, :12]
    for fill, shown in ((-20.0, -20.0), ("zero", 0.0)):
        trace = record(own_models.own("decoder", mask_fill=fill), SOURCE)
        assert (trace.scores(layer=0)[:, later] == shown).all()
        assert (trace.attention(layer=0)[:, later] > 0).all()


def test_what_a_model_cannot_read_is_a_sentence(loaded: dict[str, LoadedModel]) -> None:
    for shape in ("encoder", "decoder"):
        with pytest.raises(ValueError, match=f"own-{shape} is an? {shape} and has no target; leave the target out"):
            record(loaded[shape], SOURCE, target=TARGET)
    with pytest.raises(ValueError, match="own-decoder reads one text, and a pair is for encoders"):
        record(loaded["decoder"], SOURCE, text_pair="another")
    with pytest.raises(ValueError, match="The text is empty"):
        record(loaded["encoder-decoder"], SOURCE, target=" ")
    with pytest.raises(ValueError, match="record the texts one by one"):
        record_batch(loaded["encoder-decoder"], [SOURCE])
    trace = record(loaded["encoder-decoder"], SOURCE, target=TARGET)
    with pytest.raises(ValueError, match="this model has the streams encoder, decoder, cross: say which"):
        trace.attention(layer=0)


def test_rms_norms_are_recorded_as_they_ran(loaded: dict[str, LoadedModel], tmp_path: Path) -> None:
    own = own_models.own("decoder", norm="rms", norm_placement="pre", final_norm=True)
    for parameter in own.network.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    outputs = []
    hooks = [
        module.register_forward_hook(lambda module, args, output: outputs.append(output[0].numpy()))
        for module in own.network.modules()
        if type(module).__name__ == "RMSNorm"
    ]
    trace = record(own, SOURCE)
    for hook in hooks:
        hook.remove()
    inspector.save(trace, tmp_path / "t.npz")
    for norms in (trace.norms, inspector.open(tmp_path / "t.npz").norms):
        assert [norm.kind for norm in norms] == ["rms"] * 5
        for norm, output in zip(norms, outputs, strict=True):
            assert_close(norm.output, output, relative=1e-5)
            assert not norm.beta.any()


def test_what_is_learned_later_changes_no_record(loaded: dict[str, LoadedModel]) -> None:
    own = own_models.own("encoder", score="general", positions="t5")
    trace = record(own, SOURCE)
    before = trace.attention(layer=1).copy()
    for parameter in own.network.parameters():
        parameter.add_(1.0)
    np.testing.assert_array_equal(replace(trace, key="another").attention(layer=1), before)
