"""A model of transformers writes, step by step, what its own `generate` writes: greedy, drawn, with beams."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    MistralConfig,
    MistralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from models.decoding import BeamStep, DecodedStep, Decoding
from models.huggingface import writing
from tests.closeness import assert_close

VOCABULARY, NEW, POSITIONS = 40, 9, 64
TEXT = torch.tensor([[5, 6, 7, 8, 9]])
STACKS = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "d_model": 16,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": POSITIONS,
}
LLAMA = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 16,
    "intermediate_size": 24,
    "max_position_embeddings": POSITIONS,
}


def gpt2() -> Any:
    size = {"n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": POSITIONS}
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2, pad_token_id=0, **size))


def llama() -> Any:
    return LlamaForCausalLM(LlamaConfig(vocab_size=VOCABULARY, eos_token_id=[2, 3], pad_token_id=0, **LLAMA))


def mistral() -> Any:
    return MistralForCausalLM(
        MistralConfig(vocab_size=VOCABULARY, eos_token_id=2, pad_token_id=0, sliding_window=4, **LLAMA)
    )


def t5() -> Any:
    size = {"num_layers": 2, "num_heads": 2, "d_model": 16, "d_kv": 8, "d_ff": 24}
    return T5ForConditionalGeneration(
        T5Config(vocab_size=VOCABULARY, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0, **size)
    )


def bart() -> Any:
    ids = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1, "decoder_start_token_id": 2}
    forced = {"forced_bos_token_id": 0, "forced_eos_token_id": 2}
    made = BartForConditionalGeneration(BartConfig(vocab_size=VOCABULARY, **ids, **forced, **STACKS))
    made.generation_config.forced_bos_token_id = 0
    return made


def marian() -> Any:
    ids = {"eos_token_id": 0, "pad_token_id": 39, "decoder_start_token_id": 39, "forced_eos_token_id": 0}
    made = MarianMTModel(MarianConfig(vocab_size=VOCABULARY, **ids, **STACKS))
    made.generation_config.bad_words_ids = [[39]]
    return made


MODELS = {"gpt2": gpt2, "llama": llama, "t5": t5, "bart": bart, "marian": marian, "mistral": mistral}


@pytest.fixture(scope="module", params=MODELS)
def network(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(3)
    return noisy(MODELS[request.param]())


def noisy(network: Any) -> Any:
    """Weights large enough that texts differ, end, and are not one token again and again."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return network.eval()


def generated(network: Any, **how: Any) -> Any:
    """Generate by transformers' own loop, which shares nothing with ours but the model."""
    return network.generate(input_ids=TEXT, attention_mask=torch.ones_like(TEXT), max_new_tokens=NEW, **how)


def decoded(network: Any, how: Decoding, *, cached: bool = True) -> tuple[list[int], list[DecodedStep]]:
    steps: list[DecodedStep] = []
    ids = writing.decode(network, TEXT, how, new_tokens=NEW, cached=cached, watch=steps.append)
    return ids[0].tolist(), steps


@pytest.mark.parametrize("cached", [True, False])
def test_greedy(network: Any, *, cached: bool) -> None:
    expected = generated(network, num_beams=1, do_sample=False, use_cache=cached)[0].tolist()
    ids, steps = decoded(network, Decoding(), cached=cached)
    assert ids == expected
    assert ids[-len(steps) :] == [step.token for step in steps]


@pytest.mark.parametrize(
    ("seed", "cut"),
    [(0, {}), (1, {"temperature": 0.7, "top_p": 0.8}), (2, {"temperature": 1.6, "top_k": 9, "top_p": 0.9})],
)
def test_drawn_by_the_same_seed(network: Any, seed: int, cut: dict[str, Any]) -> None:
    torch.manual_seed(seed)
    expected = generated(network, num_beams=1, do_sample=True, **{"top_k": 0, **cut})[0].tolist()
    state = torch.get_rng_state()
    ids, _ = decoded(network, Decoding(True, seed=seed, **cut))
    assert ids == expected
    assert torch.equal(torch.get_rng_state(), state)  # no other visitor's numbers change


RULES: list[dict[str, Any]] = [
    {"no_repeat_ngram_size": 2, "min_length": 8},
    {"repetition_penalty": 1.4, "min_new_tokens": 4},
    {"bad_words_ids": [[7], [8, 9]], "suppress_tokens": [11, 12], "begin_suppress_tokens": [13]},
    {"forced_eos_token_id": 2},
]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: "+".join(rules))
def test_the_rules_of_its_generation_config(network: Any, rules: dict[str, Any], monkeypatch: Any) -> None:
    for name, value in rules.items():
        monkeypatch.setattr(network.generation_config, name, value)
    assert decoded(network, Decoding())[0] == generated(network, num_beams=1, do_sample=False)[0].tolist()
    torch.manual_seed(5)
    expected = generated(network, num_beams=1, do_sample=True, top_k=0)[0].tolist()
    assert decoded(network, Decoding(True, seed=5))[0] == expected
    _check_beams(network, beams=3)


@pytest.mark.parametrize(("beams", "penalty", "early"), [(4, 1.0, False), (2, 0.0, True), (3, 2.0, "never")])
def test_beams(network: Any, beams: int, penalty: float, early: bool | str, monkeypatch: Any) -> None:
    monkeypatch.setattr(network.generation_config, "length_penalty", penalty)
    monkeypatch.setattr(network.generation_config, "early_stopping", early)
    _check_beams(network, beams=beams)


def _check_beams(network: Any, *, beams: int) -> None:
    given = generated(
        network, num_beams=beams, num_return_sequences=beams, return_dict_in_generate=True, output_scores=True
    )
    steps: list[BeamStep] = []
    found = writing.search(network, TEXT, beams=beams, new_tokens=NEW, length_penalty=None, watch=steps.append)
    begun = TEXT.shape[1] if not network.config.is_encoder_decoder else 1
    answers = [
        tuple(row[begun:].tolist())[: int((indices >= 0).sum())]
        for row, indices in zip(given.sequences, given.beam_indices, strict=True)
    ]
    assert found.ids == answers[0]
    assert_close(found.score, float(given.sequences_scores[0]), relative=1e-6)
    texts = _finished(steps, open_could_win=found.open_could_win)
    for answer, score in zip(answers, given.sequences_scores.tolist(), strict=True):
        if score > -1e8:  # fewer texts than beams have ended
            assert_close(texts[answer], score, relative=1e-5)
    assert_close(max(texts.values()), found.score, relative=1e-5)


def _finished(steps: list[BeamStep], *, open_could_win: bool) -> dict[tuple[int, ...], float]:
    """The texts that the reported steps end with, and their scores."""
    going: list[tuple[int, ...]] = [()]
    texts: dict[tuple[int, ...], float] = {}
    for step in steps:
        kept = [(*going[row], token) for row, token in zip(step.rows.tolist(), step.tokens.tolist(), strict=True)]
        scores, over = step.scores.tolist(), step.over.tolist()
        texts |= {text: score for text, score, ends in zip(kept, scores, over, strict=True) if ends}
        going = [text for text, ends in zip(kept, over, strict=True) if not ends]
        last = {text: score for text, score, ends in zip(kept, scores, over, strict=True) if not ends}
    return texts | (last if open_could_win else {})


def test_one_beam_is_greedy(network: Any) -> None:
    steps: list[BeamStep] = []
    found = writing.search(network, TEXT, beams=1, new_tokens=NEW, length_penalty=None, watch=steps.append)
    ids, seen = decoded(network, Decoding())
    assert found.ids == tuple(ids[-len(seen) :]) == tuple(int(step.tokens) for step in steps)
    expected = sum(float(torch.log_softmax(step.scores, dim=-1)[step.token]) for step in seen) / len(seen)
    assert_close(found.score, expected, relative=1e-6)


@torch.no_grad()
def test_every_step_has_the_whole_models_logits(network: Any) -> None:
    ids, steps = decoded(network, Decoding())
    for count, step in enumerate(steps):
        read = torch.tensor([ids[: len(ids) - len(steps) + count]])
        source = {"input_ids": TEXT, "decoder_input_ids": read} if network.config.is_encoder_decoder else None
        logits = network(**(source or {"input_ids": read}), use_cache=False).logits[0, -1]
        assert_close(step.logits, logits, relative=1e-5)


@torch.no_grad()
def test_flops_are_torchs_own_count_of_the_decoder(network: Any) -> None:
    """Without a cache each step is a forward of the decoder over all tokens; the encoder's work is not the step's."""
    ids, steps = decoded(network, Decoding(), cached=False)
    source = {"encoder_outputs": network.get_encoder()(TEXT)} if network.config.is_encoder_decoder else None
    for count, step in enumerate(steps):
        read = torch.tensor([ids[: len(ids) - len(steps) + count]])
        with FlopCounterMode(display=False) as counter:
            if source is None:
                network(input_ids=read, use_cache=False, logits_to_keep=1)
            else:
                network(**source, decoder_input_ids=read, use_cache=False)
        assert step.flops == counter.get_total_flops()


def test_the_cache_is_what_its_layers_hold(network: Any) -> None:
    """2 L K E numbers of 4 bytes for each token read; a window keeps its last tokens; a source counts once."""
    config = network.config
    wide = {"gpt2": 16, "llama": 8, "mistral": 8, "t5": 16, "bart": 16, "marian": 16}[config.model_type]  # K E
    _, steps = decoded(network, Decoding())
    for count, step in enumerate(steps):
        read = TEXT.shape[1] + count
        tokens = TEXT.shape[1] + count + 1 if config.is_encoder_decoder else read
        if config.model_type == "mistral":
            tokens = min(read, 3)  # the newest token is added to 3 kept ones, and the window is full
        assert step.cache_bytes == 2 * 2 * wide * 4 * tokens
    assert all(step.cache_bytes == 0 for step in decoded(network, Decoding(), cached=False)[1])
