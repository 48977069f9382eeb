"""The residual stream against what the blocks gave out, the logit lens against the model's own logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    ModernBertConfig,
    PreTrainedConfig,
)

import inspector
import models
from inspector import lens, questions, record
from models import LoadedModel, fetch
from models.registry import own_model
from models.transformer import Decoder, Encoder, EncoderDecoder
from models.transformer.masked_lm import MaskedLanguageModel
from tests.closeness import assert_close
from tests.inspector.probe.families import DECODERS, save
from tests.models import own_models

SOURCE, TARGET = "The cat sat on the mat because it was tired.", "Die Katze war müde."
SIZES = {
    "vocab_size": 30522,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 32,
    "initializer_range": 0.2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "cls_token_id": 101,
    "sep_token_id": 102,
}
THEIRS = [
    BertConfig(**SIZES),
    AlbertConfig(**SIZES, embedding_size=24),
    ElectraConfig(**SIZES, embedding_size=16),
    DistilBertConfig(vocab_size=30522, dim=24, n_layers=3, n_heads=4, hidden_dim=32, initializer_range=0.2),
    ModernBertConfig(**SIZES),  # pre-norm, and no norm before layer 0
]
OURS = [
    ("decoder", {}),
    ("decoder", {"norm_placement": "pre", "final_norm": True}),
    ("decoder", {"norm_placement": "pre", "final_norm": True, "norm": "rms", "shared_layers": True}),
    ("decoder", {"norm_placement": "pre"}),
    ("decoder", {"norm_placement": "pre", "residual": False, "embedding_norm": True}),
    ("encoder-decoder", {"decoder_layers": 3}),
    ("encoder-decoder", {"norm_placement": "pre", "final_norm": True, "decoder_layers": 1}),
]


def loaded_from(config: PreTrainedConfig, folder: Path) -> LoadedModel:
    """A tiny random model of transformers with the bundled tokenizer; the folder holds its head too."""
    torch.manual_seed(0)
    AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(fetch.folder("minilm"), local_files_only=True).save_pretrained(folder)
    return models.load(folder)


def own(shape: str, **switches: object) -> LoadedModel:
    """A random own model whose biases are not 0."""
    loaded = own_models.own(shape, **switches)
    for parameter in loaded.network.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    return loaded


def given_out(stack: nn.Module, run: Callable[[], object]) -> list[np.ndarray]:
    """The input of an own stack's first block, then the output of each block: [L + 1] of [Q, D]."""
    states: list[np.ndarray] = []

    def hook(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        states.extend([args[0][0].numpy()] if not states else [])
        states.append(output[0].numpy())

    handles = [block.register_forward_hook(hook) for block in set(stack.layers)]
    with torch.inference_mode():
        run()
    for handle in handles:
        handle.remove()
    return states


@pytest.mark.parametrize("config", THEIRS, ids=lambda config: config.model_type)
def test_the_residual_stream_of_transformers(config: PreTrainedConfig, tmp_path: Path) -> None:
    loaded = loaded_from(config, tmp_path)
    trace = record(loaded, SOURCE)
    eager = AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.inference_mode():
        expected = eager(torch.tensor([trace.encoding.ids]), output_hidden_states=True)
    states = lens.residual_stream(trace)
    assert [(state.stream, state.layer) for state in states] == [("encoder", layer) for layer in range(3)]
    for state, hidden in zip(states, expected.hidden_states[1:], strict=True):
        last = state.layer == 2 and config.model_type == "modernbert"  # which shows its last state after the final norm
        ends = expected.last_hidden_state if last else hidden
        shown = eager.final_norm(torch.tensor(state.state)).detach().numpy() if last else state.state
        assert_close(shown, ends[0].numpy(), relative=2e-5)


@pytest.mark.parametrize(("shape", "switches"), OURS, ids=str)
def test_the_residual_stream_of_the_own_transformer(shape: str, switches: dict[str, object]) -> None:
    loaded = own(shape, **switches)
    trace = record(loaded, SOURCE, target=TARGET if shape == "encoder-decoder" else None)
    network = loaded.network
    text = torch.tensor([trace.encoding.ids])

    def run() -> Tensor:
        return network(text, torch.tensor([trace.target.ids])) if trace.target else network(text)

    stacks = {"encoder": network.encoder, "decoder": network.decoder} if trace.target else {"decoder": network}
    for stream, stack in stacks.items():
        expected = given_out(stack, run)
        states = lens.residual_stream(trace, stream=stream)
        first = -1 if loaded.config.norm_placement == "pre" else 0
        assert [state.layer for state in states] == list(range(first, len(expected) - 1))
        for state in states:
            assert_close(state.state, expected[state.layer + 1], relative=2e-5)
    assert list(dict.fromkeys(state.stream for state in lens.residual_stream(trace))) == list(stacks)


@pytest.mark.parametrize(("shape", "switches"), OURS, ids=str)
def test_the_lens_against_head_and_final_norm(shape: str, switches: dict[str, object]) -> None:
    """Each layer by hand: the block's output through the network's own final norm and head, sorted by numpy."""
    loaded = own(shape, **switches)
    trace = record(loaded, SOURCE, target=TARGET if shape == "encoder-decoder" else None)
    network, text = loaded.network, torch.tensor([trace.encoding.ids])
    stack: Encoder | Decoder = network.decoder if isinstance(network, EncoderDecoder) else network

    def run() -> Tensor:
        return network(text, torch.tensor([trace.target.ids])) if trace.target else network(text)

    states = given_out(stack, run)
    with torch.inference_mode():
        own_logits = network.logits(run())[0].numpy()
    table = lens.logit_lens(trace, loaded.predict, loaded.tokenizer, top=3)
    tokens, predicts = trace.sites[-1].queries, trace.sites[-1].predicts
    layers = range(-1 if loaded.config.norm_placement == "pre" else 0, len(states) - 1)
    assert len(table) == len(layers) * len(tokens) * 3
    for layer in layers:
        state = torch.tensor(states[layer + 1])
        state = state if stack.final_norm is None else stack.final_norm(state)
        logits = own_logits if layer == layers[-1] else network.logits(state).detach().numpy()
        for position, row in enumerate(logits.astype(np.float64)):
            shown = table[(table["layer"] == layer) & (table["position"] == position)]
            probabilities = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
            order = np.argsort(-row)
            expected = loaded.tokenizer.convert_ids_to_tokens(order[:3].tolist())
            assert list(shown["prediction"]) == expected
            assert_close(shown["probability"], probabilities[order[:3]], relative=1e-3)
            assert list(shown["rank"]) == [1, 2, 3]
            assert set(shown["token"]) == {tokens[position]}
            assert set(shown["truth"]) == {predicts[position]}
            true = loaded.tokenizer.convert_tokens_to_ids(predicts[position])
            assert abs(int(shown["truth_rank"].iloc[0]) - (1 + list(order).index(true))) <= (layer < layers[-1])
            assert_close(shown["truth_probability"], probabilities[true], relative=1e-3)


def test_what_follows_the_end_of_a_text_is_unknown(tmp_path: Path) -> None:
    """GPT-2's kind of tokenizer ends no text; a token that looks like the sign for an unknown one is still a token."""
    save(next(family for family in DECODERS if family.name == "gpt2"), tmp_path)
    loaded = models.load(tmp_path)
    loaded.tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", loaded.tokenizer.cls_token_id)]
    )
    for more in ((), ("…",)):
        loaded.tokenizer.add_tokens(list(more))
        trace = record(loaded, "the cat sat on the mat")
        table = lens.logit_lens(trace, loaded.predict, loaded.tokenizer, top=1)
        last = table["position"] == len(trace.tokens) - 1
        assert list(table.loc[~last, "truth"].iloc[: len(trace.tokens) - 1]) == list(trace.tokens[1:])
        assert table.loc[~last, ["truth_rank", "truth_probability"]].notna().all(axis=None)
        assert table.loc[last, ["truth", "truth_rank", "truth_probability"]].isna().all(axis=None)
    saved = tmp_path / "text.npz"
    inspector.save(trace, saved)
    assert inspector.open(saved).sites == trace.sites
    answer = questions.ask(139, loaded, trace.text)
    assert (answer.problem, answer.measured_on) == (None, loaded.card.id)


def test_the_last_layer_is_the_models_own_prediction(tmp_path: Path) -> None:
    """BERT's own masked language model on the same ids, at a [MASK] whose token is known."""
    loaded = loaded_from(THEIRS[0], tmp_path)
    masked = AutoModelForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
    text = SOURCE.replace("mat", "[MASK]")
    trace = record(loaded, text)
    position = trace.tokens.index("[MASK]")
    truth = [None] * len(trace.tokens)
    truth[position] = "mat"
    table = lens.logit_lens(trace, masked.cls, loaded.tokenizer, truth=truth, positions=[position], top=4)
    with torch.inference_mode():
        out = masked(torch.tensor([trace.encoding.ids]), output_hidden_states=True)
        logits = [masked.cls(hidden)[0, position] for hidden in out.hidden_states[1:]]
    assert_close(logits[-1], out.logits[0, position], relative=1e-6)
    mat = loaded.tokenizer.convert_tokens_to_ids("mat")
    for layer, row in enumerate(logits):
        shown = table[table["layer"] == layer]
        likeliest = row.softmax(dim=-1).topk(4)
        assert list(shown["prediction"]) == loaded.tokenizer.convert_ids_to_tokens(likeliest.indices.tolist())
        assert_close(shown["probability"], likeliest.values, relative=1e-4)
        assert abs(shown["truth_rank"].iloc[0] - int((row >= row[mat]).sum())) <= 1
    everywhere = lens.logit_lens(trace, masked.cls, loaded.tokenizer, truth=truth, top=1)
    assert everywhere["truth_rank"].notna().sum() == everywhere["truth_probability"].notna().sum() == 3
    assert set(everywhere["truth"].dropna()) == {"mat"}


def test_the_last_layer_equals_the_prediction_bit_for_bit() -> None:
    """The head is given the recorded hidden state itself, in pre-norm and in post-norm."""
    for switches in ({}, {"norm_placement": "pre", "final_norm": True}):
        loaded = own("decoder", **switches)
        trace = record(loaded, SOURCE)
        given: list[Tensor] = []

        def predict(hidden: Tensor, loaded: LoadedModel = loaded, given: list[Tensor] = given) -> Tensor:
            given.append(hidden)
            return loaded.predict(hidden)

        table = lens.logit_lens(trace, predict, loaded.tokenizer, top=1)
        assert torch.equal(given[-1][0], trace.hidden)
        with torch.inference_mode():
            expected = loaded.network.logits(trace.hidden).softmax(dim=-1).max(dim=-1).values
        np.testing.assert_array_equal(table[table["layer"] == 1]["probability"], expected.numpy())


def test_an_own_masked_language_model() -> None:
    reader = own_masked()
    trace = record(reader, SOURCE.replace("mat", "[MASK]"))
    table = lens.logit_lens(trace, reader.predict, reader.tokenizer)
    assert list(table.columns) == [
        *("layer", "position", "token", "rank", "prediction", "probability"),
        *("truth", "truth_rank", "truth_probability"),
    ]
    assert table["truth_rank"].isna().all()
    assert sorted(set(table["layer"])) == [0, 1]


def own_masked() -> LoadedModel:
    torch.manual_seed(0)
    loaded = models.load("own-encoder")
    masked = MaskedLanguageModel(loaded.config).eval().requires_grad_(False)
    return own_model(loaded.card, masked, loaded.tokenizer, max_tokens=loaded.max_tokens)


def test_what_is_not_known_is_a_sentence(minilm: LoadedModel) -> None:
    trace = record(minilm, SOURCE)
    with pytest.raises(ValueError, match="minilm has no head that predicts tokens"):
        lens.logit_lens(trace, minilm.predict, minilm.tokenizer)
    other = replace(trace, hidden=trace.hidden + 0.1)
    with pytest.raises(ValueError, match="between the last layer of minilm and its last hidden state stands more"):
        lens.logit_lens(other, lambda hidden: hidden, minilm.tokenizer)
    with pytest.raises(ValueError, match="there is no residual stream 'decoder': this model has encoder"):
        lens.residual_stream(trace, stream="decoder")
    before = replace(trace, states=())  # as a file of an older version has it
    with pytest.raises(ValueError, match="the residual stream of minilm's encoder was not recorded"):
        lens.residual_stream(before)


@pytest.mark.parametrize("switches", [{"norm": "none"}, {}], ids=str)
def test_the_residual_stream_needs_no_norm(switches: dict[str, object]) -> None:
    """The last layer's output, which no norm takes, is kept by itself."""
    loaded = own("encoder-decoder", norm_placement="pre", **switches)
    trace = record(loaded, SOURCE, target=TARGET)
    network = loaded.network
    for stream, stack in (("encoder", network.encoder), ("decoder", network.decoder)):
        expected = given_out(
            stack, lambda: network(torch.tensor([trace.encoding.ids]), torch.tensor([trace.target.ids]))
        )
        states = lens.residual_stream(trace, stream=stream)
        first = -1 if switches == {} else 0
        assert [state.layer for state in states] == list(range(first, len(stack.layers)))
        for state in states:
            np.testing.assert_array_equal(state.state, expected[state.layer + 1])
    assert set(lens.logit_lens(trace, loaded.predict, loaded.tokenizer)["layer"]) == {state.layer for state in states}


def test_what_is_out_of_range_is_a_sentence() -> None:
    reader = own_masked()
    trace = record(reader, SOURCE)

    def look(**arguments: object) -> pd.DataFrame:
        return lens.logit_lens(trace, reader.predict, reader.tokenizer, **arguments)

    with pytest.raises(ValueError, match="position 99 is out of range: the encoder read tokens 0 to 12"):
        look(positions=[0, 99])
    with pytest.raises(ValueError, match="positions is empty"):
        look(positions=[])
    with pytest.raises(ValueError, match="top is 0; ask for at least 1"):
        look(top=0)
    with pytest.raises(ValueError, match="truth has 1 tokens for 13 positions"):
        look(truth=["cat"])
    with pytest.raises(ValueError, match="'catzzz' is no token of this model"):
        look(truth=["catzzz", *[None] * 12])
    assert len(look(positions=[3], top=10**6)) == 2 * reader.config.vocabulary
