from __future__ import annotations

import inspect
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BartConfig,
    BartModel,
    CTRLConfig,
    CTRLModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    GPT2Config,
    GPT2Model,
    IBertConfig,
    IBertModel,
    LlamaConfig,
    LlamaModel,
    M2M100Config,
    M2M100Model,
    MarianConfig,
    MarianModel,
    MobileBertConfig,
    MobileBertModel,
    OPTConfig,
    OPTModel,
    PegasusConfig,
    PegasusModel,
    RobertaConfig,
    RobertaModel,
    RoFormerConfig,
    RoFormerModel,
    XGLMConfig,
    XGLMModel,
)

from inspector import positional
from models.loaded import LoadedModel
from models.transformer import Encoder
from models.transformer.config import TransformerConfig
from tests.closeness import assert_close


class Vocabulary(list[int]):
    """The part of a tokenizer that the analysis reads."""

    pad_token_id = 1


def loaded(network: torch.nn.Module) -> Any:
    """The part of a LoadedModel that the analysis reads."""
    network.eval()

    def run(ids: torch.Tensor, keep: torch.Tensor, segments: torch.Tensor) -> Any:
        if isinstance(network, Encoder):
            return network(ids, keep=keep)
        return network(input_ids=ids, attention_mask=keep.long())

    def run_pair(ids: torch.Tensor, keep: torch.Tensor, target: torch.Tensor) -> Any:
        return network(input_ids=ids, attention_mask=keep.long(), decoder_input_ids=target)

    both = getattr(network.config, "is_encoder_decoder", False)
    return SimpleNamespace(
        card=SimpleNamespace(id="tiny"),
        network=network,
        config=network.config,
        tokenizer=Vocabulary(range(9)),
        run=run,
        run_pair=run_pair if both else None,
    )


def own_encoder(positions: str) -> Encoder:
    return Encoder(
        TransformerConfig(
            vocabulary=9, layers=1, width=6, heads=2, ffn_width=8, max_positions=7, positions=positions, segments=7
        )
    )


@pytest.mark.parametrize(("positions", "width"), [(5, 8), (1, 2), (600, 6)])
def test_sinusoidal_is_the_formula_of_the_paper(positions: int, width: int):
    expected = np.empty((positions, width))
    for position in range(positions):
        for pair in range(width // 2):
            angle = position / 10000 ** (2 * pair / width)
            expected[position, 2 * pair] = math.sin(angle)
            expected[position, 2 * pair + 1] = math.cos(angle)

    table = positional.sinusoidal(positions, width)
    assert table.dtype == np.float64
    assert_close(table, expected, relative=1e-12)


def test_table_of_the_bundled_model(minilm: LoadedModel):
    table = positional.table(minilm)
    assert (table.shape, table.dtype) == ((512, 384), np.float32)

    # Independently: what changes in the sum of embeddings when only the position does.
    norm = minilm.network.embeddings.LayerNorm
    sums: list[torch.Tensor] = []
    hook = norm.register_forward_pre_hook(lambda _module, inputs: sums.append(inputs[0]))
    ids = torch.full((1, 3), 2000)
    with torch.no_grad():
        minilm.network.embeddings(ids, position_ids=torch.tensor([[0, 17, 511]]))
    hook.remove()
    steps = (sums[0][0] - sums[0][0, 0]).numpy()
    assert_close(table[[0, 17, 511]] - table[0], steps, relative=1e-6)


def test_the_table_is_a_copy_of_the_shared_model(minilm: LoadedModel):
    before = positional.table(minilm)
    positional.table(minilm)[:] = 0
    np.testing.assert_array_equal(positional.table(minilm), before)


def test_the_own_model_has_the_same_table(minilm: LoadedModel, minilm_own: LoadedModel):
    np.testing.assert_array_equal(positional.table(minilm_own), positional.table(minilm))


def test_tables_of_own_encoders():
    learned = own_encoder("learned")
    np.testing.assert_array_equal(positional.table(loaded(learned)), learned.embedding.positions.table.detach().numpy())
    sinusoidal = positional.table(loaded(own_encoder("sinusoidal")))
    np.testing.assert_array_equal(sinusoidal, positional.sinusoidal(7, 6).astype(np.float32))
    assert sinusoidal.dtype == np.float32


def test_roberta_without_the_rows_of_its_padding():
    network = RobertaModel(
        RobertaConfig(
            vocab_size=20,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
            max_position_embeddings=12,
        )
    ).eval()
    sums: list[torch.Tensor] = []
    network.embeddings.LayerNorm.register_forward_pre_hook(lambda _module, inputs: sums.append(inputs[0]))
    with torch.no_grad():
        network(torch.full((1, 10), 5))  # ten equal tokens: all that RoBERTa has positions for
    table = positional.table(loaded(network))
    assert table.shape == (10, 8)
    assert_close(table - table[0], (sums[0][0] - sums[0][0, 0]).numpy(), relative=1e-6)


def test_tables_under_other_names():
    sizes = {"vocab_size": 20, "num_hidden_layers": 1, "num_attention_heads": 2}
    distilbert = DistilBertModel(DistilBertConfig(vocab_size=20, dim=8, n_layers=1, n_heads=2, hidden_dim=8))
    gpt2 = GPT2Model(
        GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2, n_positions=12, bos_token_id=0, eos_token_id=0)
    )
    opt = OPTModel(
        OPTConfig(**sizes, hidden_size=8, ffn_dim=8, word_embed_proj_dim=8, max_position_embeddings=12, pad_token_id=1)
    )
    electra = ElectraModel(ElectraConfig(**sizes, embedding_size=4, hidden_size=8, intermediate_size=8))
    for network, shape in ((distilbert, (512, 8)), (gpt2, (12, 8)), (opt, (12, 8)), (electra, (512, 4))):
        assert positional.table(loaded(network)).shape == shape


FIXED = {"vocab_size": 20, "d_model": 8, "max_position_embeddings": 12, "pad_token_id": 1}
STACKS = {f"{stack}_{size}": 8 for stack in ("encoder", "decoder") for size in ("layers", "ffn_dim", "attention_heads")}
STACKS |= {"encoder_layers": 1, "decoder_layers": 1}
HEADED = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
CTRL = CTRLConfig(vocab_size=20, n_embd=8, n_layer=1, n_head=2, dff=8, n_positions=12)
HALVES, OTHERS = "all sines before all cosines", "other frequencies"  # tensor2tensor's are 10000^(-i / (D/2 - 1))
SINUSOIDAL = {
    "marian": (lambda: MarianModel(MarianConfig(**FIXED, **STACKS, decoder_start_token_id=1)), HALVES),
    "pegasus": (lambda: PegasusModel(PegasusConfig(**FIXED, **STACKS)), HALVES),
    "m2m_100": (lambda: M2M100Model(M2M100Config(**FIXED, **STACKS)), OTHERS),
    "ctrl": (
        lambda: CTRLModel(CTRLConfig(vocab_size=20, n_embd=8, n_layer=1, n_head=2, dff=8, n_positions=12)),
        HALVES,
    ),
    "xglm": (lambda: XGLMModel(XGLMConfig(**FIXED, num_layers=1, attention_heads=2, ffn_dim=8)), OTHERS),
}


@pytest.mark.parametrize("name", SINUSOIDAL)
def test_fixed_sinusoids_are_found_and_not_called_learned(name: str):
    """The rows are what the first layer's input changes by from position to position while the token stays the same."""
    make, waves = SINUSOIDAL[name]
    network = make().eval()
    (found,) = positional.tables(loaded(network))  # encoder and decoder have the same
    assert found.kind == "sinusoidal"
    assert waves in found.own_waves
    assert len(found.values) >= 12
    ids = torch.full((1, 10), 5)
    stack = network.encoder if "decoder_input_ids" in inspect.signature(network.forward).parameters else network
    sums: list[torch.Tensor] = []

    def see(_module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        sums.append((*inputs, *named.values())[0])

    (stack.h if name == "ctrl" else stack.layers)[0].register_forward_pre_hook(see, with_kwargs=True)
    with torch.no_grad():
        stack(input_ids=ids)
    changes = (sums[0][0] - sums[0][0, 0]).numpy()
    assert_close(found.values[:10] - found.values[0], changes, relative=1e-6)


def test_learned_tables_wherever_they_are_added():
    """A quantisable embedding, an embedding wider than the tokens', and a table for each stack."""
    ibert = IBertModel(IBertConfig(**HEADED, max_position_embeddings=12))
    narrow = {"embedding_size": 4, "true_hidden_size": 8, "intra_bottleneck_size": 8, "max_position_embeddings": 12}
    mobile = MobileBertModel(MobileBertConfig(**HEADED, **narrow))
    bart = BartModel(BartConfig(**FIXED, **STACKS))
    for network, embeddings, first in (
        (ibert, [ibert.embeddings.position_embeddings], 2),
        (mobile, [mobile.embeddings.position_embeddings], 0),
        (bart, [bart.encoder.embed_positions, bart.decoder.embed_positions], 2),
    ):
        found = positional.tables(loaded(network))
        assert [table.kind for table in found] == ["learned"] * len(embeddings)
        for table, embedding in zip(found, embeddings, strict=True):
            np.testing.assert_array_equal(table.values, embedding.weight.detach()[first:].numpy())


def test_a_table_that_no_forward_uses_is_none():
    network = LlamaModel(LlamaConfig(**HEADED))
    network.position_embeddings = torch.nn.Embedding(12, 8)
    assert positional.tables(loaded(network)) == ()


def test_a_model_without_a_table_is_said():
    # RoFormer has an embedding named embed_positions, but it turns queries and keys.
    network = RoFormerModel(
        RoFormerConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    )
    with pytest.raises(ValueError, match=r"tiny has no table of absolute positions.*sinusoidal"):
        positional.table(loaded(network))


def test_similarity_against_a_plain_loop():
    table = np.random.default_rng(0).normal(size=(9, 5)).astype(np.float32)
    dot = np.array([[sum(float(x) * float(y) for x, y in zip(a, b, strict=True)) for b in table] for a in table])
    length = np.sqrt(np.diag(dot))
    assert_close(positional.similarity(table, measure="dot"), dot, relative=1e-12)
    assert_close(positional.similarity(table), dot / np.outer(length, length), relative=1e-12)


def test_cosine_of_a_row_of_zeros_is_undefined():
    similarity = positional.similarity(np.array([[0.0, 0.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(np.isnan(similarity), [[True, True], [True, False]])
    assert similarity[1, 1] == pytest.approx(1)


def test_similarity_by_distance_against_a_plain_loop(minilm: LoadedModel):
    table = positional.table(minilm)[:40]
    rows = positional.similarity_by_distance(table)
    assert list(rows.columns) == ["distance", "mean", "std", "count"]
    assert list(rows.distance) == list(range(40))
    exact = table.astype(np.float64)
    for distance in (0, 1, 7, 39):
        cosines = [
            exact[i] @ exact[i + distance] / (np.linalg.norm(exact[i]) * np.linalg.norm(exact[i + distance]))
            for i in range(40 - distance)
        ]
        row = rows.iloc[distance]
        assert row["count"] == len(cosines)
        assert_close(row["mean"], np.mean(cosines), relative=1e-12)
        assert_close(row["std"], np.std(cosines), relative=1e-12, scale=1)


def test_sinusoidal_similarity_knows_distances_alone():
    # PE(p) . PE(p + k) = sum_i cos(k / 10000^(2i/D)): the angle addition formula leaves no p.
    width, distance = 64, np.arange(300)
    rows = positional.similarity_by_distance(positional.sinusoidal(300, width))
    frequency = 10000.0 ** (-np.arange(0, width, 2) / width)
    assert_close(rows["mean"], np.cos(np.outer(distance, frequency)).mean(axis=1), relative=1e-12)
    assert_close(rows["std"], 0, relative=1e-12, scale=1)


def test_what_cannot_be_compared_is_said():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        positional.similarity(np.zeros(3))
    with pytest.raises(ValueError, match="'cosines'"):
        positional.similarity(np.zeros((2, 2)), measure="cosines")  # type: ignore[arg-type]
