from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from models.attention import fused, watch
from models.attention.masks import PaddingMask
from models.transformer import Encoder
from models.transformer.blocks import EncoderBlock
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close

CONFIG = TransformerConfig(vocabulary=60, layers=3, width=24, heads=4, ffn_width=40, max_positions=150)
PRE = {"norm_placement": "pre", "final_norm": True}
PRECISIONS = [(torch.float32, 1e-6), (torch.float64, 1e-12)]
LENGTHS = torch.tensor([9, 4, 1])
KEEP = torch.arange(9) < LENGTHS[:, None]


def randomise_norms(module):
    """Scales and shifts that are not 1 and 0, so that a norm left out or taken twice is seen."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.rpartition(".")[2] in ("gamma", "beta"):
                parameter.copy_(1 + 0.3 * torch.randn_like(parameter))


def torch_layer(config, dtype):
    return nn.TransformerEncoderLayer(
        config.width,
        config.heads,
        config.ffn_width,
        dropout=0.0,
        activation=config.activation,
        layer_norm_eps=config.norm_epsilon,
        batch_first=True,
        norm_first=config.norm_placement == "pre",
        dtype=dtype,
    )


@torch.no_grad()
def copy_block(block, layer):
    """The own block's weights, into torch's layer."""
    projections = [block.attention.query, block.attention.key, block.attention.value]
    layer.self_attn.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    layer.self_attn.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    layer.self_attn.out_proj.load_state_dict(block.attention.out.state_dict())
    layer.linear1.load_state_dict(block.ffn.up.state_dict())
    layer.linear2.load_state_dict(block.ffn.down.state_dict())
    for theirs, ours in [(layer.norm1, block.attention_norm), (layer.norm2, block.ffn_norm)]:
        theirs.weight.copy_(ours.gamma)
        theirs.bias.copy_(ours.beta)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_placement", ["pre", "post"])
@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@torch.no_grad()
def test_block_equals_torch(dtype, tolerance, norm_placement, activation):
    torch.manual_seed(0)
    config = replace(CONFIG, norm_placement=norm_placement, activation=activation)
    block, layer = EncoderBlock(config).to(dtype).eval(), torch_layer(config, dtype).eval()
    randomise_norms(block)
    copy_block(block, layer)
    x = torch.randn(3, 9, config.width, dtype=dtype)
    assert_close(block(x), layer(x), relative=tolerance)
    padded, expected = block(x, mask=PaddingMask(KEEP)), layer(x, src_key_padding_mask=~KEEP)
    assert_close(padded[KEEP], expected[KEEP], relative=tolerance)  # torch zeroes rows of padding


@pytest.mark.parametrize("placement", [PRE, {"norm_placement": "post"}])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@torch.no_grad()
def test_encoder_equals_torch(dtype, tolerance, placement):
    torch.manual_seed(1)
    config = replace(CONFIG, **placement)
    encoder = Encoder(config).to(dtype).eval()
    randomise_norms(encoder)
    final = nn.LayerNorm(config.width, eps=config.norm_epsilon, dtype=dtype) if config.final_norm else None
    reference = nn.TransformerEncoder(torch_layer(config, dtype), config.layers, final, enable_nested_tensor=False)
    for block, layer in zip(encoder.layers, reference.layers, strict=True):
        copy_block(block, layer)
    if final is not None:
        final.weight.copy_(encoder.final_norm.gamma)
        final.bias.copy_(encoder.final_norm.beta)
    ids = torch.randint(60, (3, 9))
    expected = reference.eval()(encoder.embedding(ids), src_key_padding_mask=~KEEP)
    assert_close(encoder(ids, keep=KEEP)[KEEP], expected[KEEP], relative=tolerance)


@torch.no_grad()
def test_embedding_is_token_plus_position_plus_segment_then_norm():
    torch.manual_seed(2)
    config = replace(CONFIG, positions="learned", segments=2, embedding_norm=True)
    embedding = Encoder(config).double().embedding
    randomise_norms(embedding)
    ids, segments = torch.tensor([[3, 59, 0]]), torch.tensor([[0, 1, 1]])
    norm = embedding.embedding_norm
    for column, (token, segment) in enumerate(zip(ids[0].tolist(), segments[0].tolist(), strict=True)):
        total = embedding.token.weight[token] + embedding.positions.table[column] + embedding.segment.weight[segment]
        expected = nn.functional.layer_norm(total, (24,), norm.gamma, norm.beta, norm.epsilon)
        result = embedding(ids, segments=segments)[0, column]
        assert_close(result, expected, relative=1e-12)
    assert_close(embedding(ids), embedding(ids, segments=torch.zeros_like(ids)), relative=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_positions_take_the_dtype_of_the_weights(dtype):
    assert Encoder(CONFIG).to(dtype)(torch.tensor([[1, 2]])).dtype == dtype


@pytest.mark.parametrize("placement", [PRE, {"norm_placement": "post"}])
@pytest.mark.parametrize("side", ["right", "left"])
@torch.no_grad()
def test_what_the_padding_holds_changes_no_real_token(side, placement):
    torch.manual_seed(3)
    encoder = Encoder(replace(CONFIG, **placement)).double()
    keep = KEEP if side == "right" else KEEP.flip(1)
    ids = torch.randint(60, (3, 9))
    other = torch.where(keep, ids, (ids + 7) % 60)
    assert (ids != other).any()
    ours, theirs = encoder(ids, keep=keep), encoder(other, keep=keep)
    assert_close(ours[keep], theirs[keep], relative=0)
    assert not torch.equal(encoder(ids)[keep], encoder(other)[keep])  # without the mask it does


@torch.no_grad()
def test_right_padding_changes_nothing_that_a_text_alone_would_get():
    torch.manual_seed(4)
    encoder = Encoder(replace(CONFIG, **PRE)).double()
    ids = torch.randint(60, (3, 9))
    batch = encoder(ids, keep=KEEP)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = encoder(ids[row : row + 1, :length])[0]
        assert_close(batch[row, :length], alone, relative=1e-12)


def test_a_batch_without_padding_makes_no_mask():
    encoder, ids = Encoder(CONFIG), torch.tensor([[1, 2, 3]])
    calls = []
    with watch(calls.append):
        encoder(ids)
        encoder(ids, keep=torch.ones(1, 3, dtype=torch.bool))
        encoder(ids, keep=torch.tensor([[True, True, False]]))
    assert [call.mask is None for call in calls] == [True] * 6 + [False] * 3


@torch.no_grad()
def test_a_long_padded_text_equals_the_fused_kernel():
    torch.manual_seed(5)
    encoder = Encoder(CONFIG).double()
    ids, keep = torch.randint(60, (2, 150)), torch.arange(150) < torch.tensor([[150], [140]])
    with fused():
        kernel = encoder(ids, keep=keep)
    assert_close(encoder(ids, keep=keep), kernel, relative=1e-12)


def test_bias_off_leaves_none_but_the_norms_betas():
    names = [name for name, _ in Encoder(replace(CONFIG, bias=False)).named_parameters()]
    assert not [name for name in names if name.endswith("bias")]
    assert "layers.0.ffn_norm.beta" in names


IDS = torch.tensor([[1, 2, 3]])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"ids": IDS[0]}, r"ids has shape \(3,\); pass \[B, T\]"),
        ({"ids": IDS[:, :0]}, r"ids has shape \(1, 0\); .* at least one token"),
        ({"ids": IDS.float()}, "token ids are torch.float32; pass integers"),
        ({"ids": IDS + 57}, "token ids go from 58 to 60, the model knows 0 to 59"),
        ({"ids": IDS - 2}, "token ids go from -1 to 1, the model knows 0 to 59"),
        ({"ids": torch.zeros(1, 151, dtype=torch.long)}, "the text has 151 tokens, the model has 150 positions"),
        ({"ids": IDS, "keep": torch.ones(1, 2, dtype=torch.bool)}, r"keep has shape \(1, 2\), ids \(1, 3\)"),
        ({"ids": IDS, "keep": torch.ones(1, 3)}, "boolean .* got torch.float32"),
        ({"ids": IDS, "keep": torch.zeros(1, 3, dtype=torch.bool)}, r"sequences \[0\] of the batch have no real token"),
        ({"ids": IDS, "segments": IDS[:, :2]}, r"segments has shape \(1, 2\), ids \(1, 3\)"),
        ({"ids": IDS, "segments": IDS}, "segment ids go from 1 to 3, the model knows 0 to 1"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    encoder = Encoder(replace(CONFIG, segments=2))
    with pytest.raises(ValueError, match=sentence):
        encoder(**arguments)


def test_segments_for_a_model_without_them_are_refused():
    with pytest.raises(ValueError, match="the model has 0 segment embeddings"):
        Encoder(CONFIG)(IDS, segments=IDS)
