from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
)

from models import fetch
from models.attention import fused, watch
from models.convert import from_transformers
from models.convert.families import config_from_transformers
from tests.closeness import assert_close

SMALL = {
    "vocab_size": 70,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 160,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "attn_implementation": "eager",
}
KEEP = {
    "unpadded": torch.ones(2, 150, dtype=torch.bool),
    "right": torch.arange(150) < torch.tensor([[150], [133]]),
    "left": torch.arange(150) >= torch.tensor([[0], [17]]),
}


def small_bert(dtype=torch.float32, *, kind=BertModel, **changes):
    """A tiny random BERT whose norms and biases are random too: at 1 and 0 a swap would go unseen."""
    torch.manual_seed(0)
    bert = kind(BertConfig(**{**SMALL, **changes})).eval()
    with torch.no_grad():
        for parameter in bert.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return bert.to(dtype)


@torch.no_grad()
def run_both(bert, encoder, ids, keep, segments):
    """Hidden states and all maps of transformers' eager BERT, then those of the own Encoder."""
    theirs = bert(ids, attention_mask=keep.long(), token_type_ids=segments, output_attentions=True)
    calls = []
    with watch(calls.append):
        hidden = encoder(ids, keep=keep, segments=segments)
    length, maps = ids.shape[1], []
    for call in calls:
        mask = None if call.mask is None else call.mask.rows(0, length)
        maps.append(call.function(call.query, call.key, call.value, mask, rows=slice(0, length))[1])
    return theirs.last_hidden_state, theirs.attentions, hidden, maps


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
@pytest.mark.parametrize("padding", list(KEEP))
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
def test_equals_transformers_on_a_random_bert(dtype, tolerance, padding, activation):
    bert = small_bert(dtype, hidden_act=activation)
    encoder, keep = from_transformers(bert), KEEP[padding]
    ids, segments = torch.randint(70, (2, 150)), (torch.arange(150) > 60).long().expand(2, 150)
    expected, attentions, hidden, maps = run_both(bert, encoder, ids, keep, segments)
    assert_close(hidden[keep], expected[keep], relative=tolerance)
    assert len(maps) == len(attentions) == 3
    for ours, theirs in zip(maps, attentions, strict=True):
        assert_close(ours, theirs, relative=tolerance)


@pytest.fixture(scope="module")
def bundled():
    """The real pretrained BERT of the package, and a text of 300 tokens."""
    options = {"local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(fetch.folder("minilm"), **options)
    text = "The cat sat on the mat because it was tired; its owner, an engineer, read about Transformers. " * 20
    ids = tokenizer(text, truncation=True, max_length=300, return_tensors="pt").input_ids
    assert ids.shape == (1, 300)
    bert = AutoModel.from_pretrained(
        fetch.folder("minilm"), use_safetensors=True, attn_implementation="eager", dtype=torch.float32, **options
    )
    return bert.eval(), ids


@pytest.mark.parametrize(
    ("dtype", "on_maps", "on_hidden"), [(torch.float32, 1e-5, 5e-5), (torch.float64, 1e-10, 1e-10)]
)
def test_equals_transformers_on_the_bundled_bert(bundled, dtype, on_maps, on_hidden):
    bert, ids = bundled
    bert = deepcopy(bert).to(dtype)
    encoder = from_transformers(bert)
    keep = torch.ones_like(ids, dtype=torch.bool)
    expected, attentions, hidden, maps = run_both(bert, encoder, ids, keep, torch.zeros_like(ids))
    assert_close(hidden, expected, relative=on_hidden)
    assert len(maps) == len(attentions) == 6
    for ours, theirs in zip(maps, attentions, strict=True):
        assert_close(ours, theirs, relative=on_maps)
    with fused(), torch.no_grad():
        assert_close(encoder(ids), hidden, relative=on_hidden)


def test_a_bert_with_a_task_head_gives_the_same_encoder():
    network = small_bert(kind=BertForMaskedLM)
    ids = torch.tensor([[1, 2, 3]])
    assert_close(from_transformers(network)(ids), from_transformers(network.bert)(ids), relative=0)


def test_weights_are_copies_in_the_same_dtype_and_the_result_is_in_eval_mode():
    bert = small_bert(torch.bfloat16).train()
    state = torch.get_rng_state()
    encoder = from_transformers(bert)
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(module.training for module in encoder.modules())
    assert bert.training
    theirs, ours = dict(bert.named_parameters()), dict(encoder.named_parameters())
    assert {parameter.dtype for parameter in ours.values()} == {torch.bfloat16}
    assert not {p.data_ptr() for p in theirs.values()} & {p.data_ptr() for p in ours.values()}
    pooler = sum(p.numel() for name, p in theirs.items() if name.startswith("pooler."))
    assert sum(p.numel() for p in ours.values()) == sum(p.numel() for p in theirs.values()) - pooler


def test_the_configuration_is_translated():
    config = config_from_transformers(BertConfig(hidden_act="gelu_new"))
    assert (config.vocabulary, config.layers, config.width, config.heads) == (30522, 12, 768, 12)
    assert (config.ffn_width, config.max_positions, config.segments, config.norm_epsilon) == (3072, 512, 2, 1e-12)
    assert (config.activation, config.positions, config.norm_placement) == ("gelu_tanh", "learned", "post")
    assert (config.embedding_norm, config.final_norm, config.bias) == (True, False, True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hidden_act": "silu"}, "activation 'silu' is not supported; only relu, gelu"),
        ({"is_decoder": True}, "is_decoder=True and add_cross_attention=False"),
        ({"is_decoder": True, "add_cross_attention": True}, "is_decoder=True and add_cross_attention=True"),
        ({"position_embedding_type": "relative_key"}, "position embeddings 'relative_key' are not supported"),
    ],
)
def test_variants_of_bert_that_the_encoder_has_not_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_transformers(BertModel(BertConfig(**{**SMALL, **changes})))


def test_other_architectures_are_refused():
    with pytest.raises(ValueError, match="Linear cannot become the own Transformer; only BertModel"):
        from_transformers(nn.Linear(2, 2))
    config = DistilBertConfig(vocab_size=10, dim=8, n_heads=2, n_layers=1, hidden_dim=8)
    with pytest.raises(ValueError, match="DistilBertModel cannot become the own Transformer"):
        from_transformers(DistilBertModel(config))
    with pytest.raises(ValueError, match="model type 'distilbert' has no own Transformer"):
        config_from_transformers(config)


def test_a_bert_with_foreign_weights_is_refused():
    bert = small_bert()
    bert.encoder.layer[0].attention.self.query.lora = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"2 of the model's weights .* encoder\.layer\.0\..*\.lora\.bias"):
        from_transformers(bert)
