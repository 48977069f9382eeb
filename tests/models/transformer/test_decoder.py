"""Decoder and encoder-decoder against torch.nn with the same weights, one layer and whole stacks."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from models.attention.masks import CausalMask, PaddingMask, all_of
from models.transformer import Decoder, Encoder, EncoderDecoder, build, shift_right
from models.transformer.blocks import DecoderBlock, EncoderBlock
from models.transformer.config import TransformerConfig
from models.transformer.kv_cache import KVCache
from tests.closeness import assert_close

CONFIG = TransformerConfig(
    vocabulary=60, layers=6, width=24, heads=4, ffn_width=40, max_positions=150, shape="encoder-decoder"
)
PLACEMENTS = {"post": {}, "pre": {"norm_placement": "pre", "final_norm": True}}
KEEP = torch.arange(9) < torch.tensor([9, 4, 1])[:, None]
TARGET_KEEP = torch.arange(7) < torch.tensor([7, 7, 3])[:, None]
CAUSAL = nn.Transformer.generate_square_subsequent_mask(7)

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")  # torch, of its own pre-norm encoder


def randomise_norms(module):
    """Scales and shifts that are not 1 and 0, so that a norm left out or taken twice is seen."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.rpartition(".")[2] in ("gamma", "beta"):
                parameter.copy_(1 + 0.3 * torch.randn_like(parameter))


@torch.no_grad()
def copy_attention(own, theirs):
    projections = [own.query, own.key, own.value]
    theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(own.out.state_dict())


@torch.no_grad()
def copy_norm(own, theirs):
    theirs.weight.copy_(own.gamma)
    theirs.bias.copy_(own.beta)


def copy_block(block, layer):
    """The own block's weights, into torch's encoder or decoder layer."""
    copy_attention(block.attention, layer.self_attn)
    layer.linear1.load_state_dict(block.ffn.up.state_dict())
    layer.linear2.load_state_dict(block.ffn.down.state_dict())
    norms = [block.attention_norm, block.ffn_norm]
    if isinstance(block, DecoderBlock):
        copy_attention(block.cross_attention, layer.multihead_attn)
        norms.insert(1, block.cross_norm)
    for number, norm in enumerate(norms, start=1):
        copy_norm(norm, getattr(layer, f"norm{number}"))


def torch_transformer(config, dtype):
    """nn.Transformer of the config; after post-norm layers it has no norm more, as in the paper."""
    sizes = {"d_model": config.width, "nhead": config.heads, "dim_feedforward": config.ffn_width, "dropout": 0.0}
    options = {**sizes, "batch_first": True, "norm_first": config.norm_placement == "pre", "dtype": dtype}
    reference = nn.Transformer(
        **options, num_encoder_layers=config.layers, num_decoder_layers=config.decoder_depth
    ).eval()
    reference.encoder.use_nested_tensor = False
    if not config.final_norm:
        reference.encoder.norm = reference.decoder.norm = None
    return reference


def pair(config, dtype):
    model, reference = EncoderDecoder(config).to(dtype).eval(), torch_transformer(config, dtype)
    randomise_norms(model)
    for own, theirs in ((model.encoder, reference.encoder), (model.decoder, reference.decoder)):
        for block, layer in zip(own.layers, theirs.layers, strict=True):
            copy_block(block, layer)
        if theirs.norm is not None:
            copy_norm(own.final_norm, theirs.norm)
    return model, reference


@pytest.mark.parametrize("placement", list(PLACEMENTS))
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@torch.no_grad()
def test_decoder_layer_equals_torch(dtype, tolerance, placement):
    torch.manual_seed(0)
    config = replace(CONFIG, norm_placement=placement)
    block = DecoderBlock(config).to(dtype).eval()
    layer = nn.TransformerDecoderLayer(
        24, 4, 40, dropout=0.0, batch_first=True, norm_first=placement == "pre", dtype=dtype
    ).eval()
    randomise_norms(block)
    copy_block(block, layer)
    x, source = torch.randn(3, 7, 24, dtype=dtype), torch.randn(3, 9, 24, dtype=dtype)
    mask = all_of(CausalMask(7), PaddingMask(TARGET_KEEP))
    ours = block(x, mask=mask, source=source, source_mask=PaddingMask(KEEP))
    theirs = layer(
        x,
        source,
        tgt_mask=CAUSAL.isinf(),
        tgt_key_padding_mask=~TARGET_KEEP,
        memory_key_padding_mask=~KEEP,
        tgt_is_causal=True,
    )
    assert_close(ours[TARGET_KEEP], theirs[TARGET_KEEP], relative=tolerance)


@pytest.mark.parametrize("placement", list(PLACEMENTS))
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@torch.no_grad()
def test_causal_encoder_layer_equals_torch(dtype, tolerance, placement):
    torch.manual_seed(1)
    block = EncoderBlock(replace(CONFIG, norm_placement=placement)).to(dtype).eval()
    layer = nn.TransformerEncoderLayer(
        24, 4, 40, dropout=0.0, batch_first=True, norm_first=placement == "pre", dtype=dtype
    ).eval()
    randomise_norms(block)
    copy_block(block, layer)
    x = torch.randn(3, 7, 24, dtype=dtype)
    theirs = layer(x, src_mask=CAUSAL.to(dtype), is_causal=True)
    assert_close(block(x, mask=CausalMask(7)), theirs, relative=tolerance)


@pytest.mark.parametrize("placement", list(PLACEMENTS))
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@torch.no_grad()
def test_six_and_six_layers_equal_nn_transformer(dtype, tolerance, placement):
    torch.manual_seed(2)
    model, reference = pair(replace(CONFIG, **PLACEMENTS[placement]), dtype)
    source, target = torch.randint(60, (3, 9)), torch.randint(60, (3, 7))
    expected = reference(
        model.encoder.embedding(source),
        model.decoder.embedding(target),
        tgt_mask=CAUSAL.isinf(),
        src_key_padding_mask=~KEEP,
        tgt_key_padding_mask=~TARGET_KEEP,
        memory_key_padding_mask=~KEEP,
    )
    ours = model(source, target, source_keep=KEEP, target_keep=TARGET_KEEP)
    assert_close(ours[TARGET_KEEP], expected[TARGET_KEEP], relative=tolerance)


@pytest.mark.parametrize("placement", list(PLACEMENTS))
def test_gradients_equal_those_of_nn_transformer(placement):
    """Both run in torch's fused kernel in training, the own decoder by `attend`."""
    torch.manual_seed(3)
    model, reference = pair(replace(CONFIG, layers=2, **PLACEMENTS[placement]), torch.float64)
    model.train(), reference.train()
    source, target = torch.randint(60, (3, 9)), torch.randint(60, (3, 7))
    noise = torch.randn(3, 7, 24, dtype=torch.float64)
    (model(source, target, source_keep=KEEP) * noise).sum().backward()
    x, y = model.encoder.embedding(source).detach(), model.decoder.embedding(target).detach()
    padding = {"src_key_padding_mask": ~KEEP, "memory_key_padding_mask": ~KEEP}
    (reference(x, y, tgt_mask=CAUSAL.double(), tgt_is_causal=True, **padding) * noise).sum().backward()
    for own, theirs in ((model.encoder, reference.encoder), (model.decoder, reference.decoder)):
        for block, layer in zip(own.layers, theirs.layers, strict=True):
            grads = [p.weight.grad for p in (block.attention.query, block.attention.key, block.attention.value)]
            assert_close(torch.cat(grads), layer.self_attn.in_proj_weight.grad, relative=1e-11)
            assert_close(block.ffn.up.weight.grad, layer.linear1.weight.grad, relative=1e-11)
            norm = layer.norm3 if isinstance(block, DecoderBlock) else layer.norm2
            assert_close(block.ffn_norm.gamma.grad, norm.weight.grad, relative=1e-11)


@torch.no_grad()
def test_no_token_is_moved_by_a_later_one():
    torch.manual_seed(4)
    decoder = Decoder(replace(CONFIG, shape="decoder")).double().eval()
    ids = torch.randint(60, (1, 40))
    other = ids.clone()
    other[0, 35] = (other[0, 35] + 1) % 60
    difference = (decoder(ids) - decoder(other)).abs().amax(dim=-1)[0]
    assert (difference[:35] == 0).all()
    assert (difference[35:] > 0).all()


@torch.no_grad()
def test_teacher_forcing_predicts_every_token_as_if_one_at_a_time():
    torch.manual_seed(5)
    model = EncoderDecoder(CONFIG).double().eval()
    source, target = torch.randint(60, (2, 9)), torch.randint(60, (2, 12))
    read = shift_right(target, start=1)
    assert read[:, 0].tolist() == [1, 1]
    assert torch.equal(read[:, 1:], target[:, :-1])
    together = model.logits(model(source, read))
    for step in range(12):
        alone = model.logits(model(source, read[:, : step + 1]))[:, -1]
        assert_close(together[:, step], alone, relative=1e-12)


@torch.no_grad()
def test_padding_before_a_causal_text_moves_no_real_token():
    torch.manual_seed(6)
    decoder = Decoder(replace(CONFIG, shape="decoder", positions="rope")).double().eval()
    ids = torch.randint(60, (2, 9))
    keep = torch.arange(9) >= torch.tensor([0, 4])[:, None]
    hidden = decoder(ids, keep=keep)
    assert hidden.isfinite().all()
    assert_close(hidden[1, 4:], decoder(ids[1:, 4:])[0], relative=1e-12)


def test_tied_embeddings_are_one_matrix():
    V, D = 60, 24  # noqa: N806
    count = {}
    for tied in ("none", "output", "three-way"):
        model = EncoderDecoder(replace(CONFIG, tied_embeddings=tied))
        count[tied] = sum(p.numel() for p in model.parameters())
        output, target = model.decoder.head.weight, model.decoder.embedding.token.weight
        assert (output is target) == (tied != "none")
        assert (target is model.encoder.embedding.token.weight) == (tied == "three-way")
    assert count["none"] - count["output"] == count["output"] - count["three-way"] == V * D


def test_each_shape_has_its_class():
    kinds = {"encoder": Encoder, "decoder": Decoder, "encoder-decoder": EncoderDecoder}
    for shape, kind in kinds.items():
        assert type(build(replace(CONFIG, shape=shape))) is kind
    with pytest.raises(ValueError, match="Encoder of a config with shape 'encoder-decoder'; choose shape='encoder'"):
        Encoder(CONFIG)
    with pytest.raises(ValueError, match="Decoder of a config with shape 'encoder'"):
        Decoder(replace(CONFIG, shape="encoder"))


def test_a_source_too_many_or_too_few_is_refused():
    decoder, ids = Decoder(replace(CONFIG, shape="decoder")), torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match="this decoder reads no source, and source is given"):
        decoder(ids, source=torch.zeros(1, 2, 24))
    with pytest.raises(ValueError, match="this decoder reads a source, and source is missing"):
        Decoder(CONFIG)(ids)
    with pytest.raises(ValueError, match=r"source has shape \(2, 3, 24\) for 1 texts of width 24"):
        Decoder(CONFIG)(ids, source=torch.zeros(2, 3, 24))
    with pytest.raises(ValueError, match="the cache has 2 layers, the decoder 6"):
        decoder(ids, cache=KVCache(2))


def test_a_bare_decoder_predicts_nothing():
    decoder = Decoder(replace(CONFIG, shape="decoder", output_head=False))
    with pytest.raises(ValueError, match="no output matrix"):
        decoder.logits(decoder(torch.tensor([[1, 2]])))
