from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers.generation.logits_process import (
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from models.transformer import build
from models.transformer.config import TransformerConfig
from models.transformer.generation import NextToken, beam_search, drawn_from, greedy, likeliest, sample
from models.transformer.kv_cache import KVCache
from tests.closeness import assert_close, relative_error

CONFIG = {"vocabulary": 12, "layers": 3, "width": 24, "heads": 4, "ffn_width": 40, "max_positions": 150}
SOURCE = torch.tensor([[3, 4, 5, 6, 7]])
KINDS = {
    "sinusoidal": {},
    "rope, grouped, window": {"positions": "rope", "kv_heads": 2, "window": 5, "norm": "rms", "activation": "swiglu"},
    "t5, shared layers": {"positions": "t5", "relative_distance": 20, "scale": "none", "shared_layers": True},
    "xl": {"positions": "xl"},
    "shaw": {"positions": "shaw", "relative_distance": 4},
    "sigmoid, window": {"weighting": "sigmoid", "window": 5},
    "alibi, additive": {"positions": "alibi", "score": "additive"},
}


def model_of(shape, **changes):
    torch.manual_seed(0)
    model = build(TransformerConfig(**{**CONFIG, **changes}, shape=shape)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))  # so that texts do not end in one repeated token
    return model


class Spy:
    """A NextToken whose logits are kept."""

    def __init__(self, model, *, cached, source=None):
        with torch.no_grad():
            self.ask, self.logits = NextToken(model, source=source, cached=cached), []

    def __call__(self, ids, rows=None):
        self.logits.append(self.ask(ids, rows))
        return self.logits[-1]


@pytest.mark.parametrize("shape", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_cached_equals_uncached_in_greedy_and_beam(kind, shape):
    model = model_of(shape, **kind)
    source = SOURCE if shape == "encoder-decoder" else None
    prompt = torch.tensor([[1, 2]])
    for decode in (greedy, lambda ask, ids, new_tokens: beam_search(ask, ids, new_tokens=new_tokens, beams=3)[0]):
        spies = [Spy(model, cached=cached, source=source) for cached in (True, False)]
        texts = [decode(spy, prompt, new_tokens=15) for spy in spies]
        assert torch.equal(*texts)
        assert len(spies[0].logits) == len(spies[1].logits) == 15
        for cached, whole in zip(spies[0].logits, spies[1].logits, strict=True):
            assert_close(cached, whole, relative=1e-10)


@torch.no_grad()
def test_cached_equals_uncached_for_a_batch_and_several_tokens_at_once():
    model = model_of("decoder")
    ids = torch.randint(12, (3, 20))
    cache = KVCache(3)
    parts = [model(ids[:, a:b], cache=cache) for a, b in [(0, 7), (7, 8), (8, 20)]]
    assert_close(torch.cat(parts, dim=1), model(ids), relative=1e-10)


def test_40_tokens_with_the_cache_take_a_fifth_of_the_flops_or_less():
    """More tokens take a still smaller part."""
    model, counts = model_of("decoder"), []
    for cached in (True, False):
        with FlopCounterMode(display=False) as counter:
            greedy(NextToken(model, cached=cached), torch.tensor([[1]]), new_tokens=40)
        counts.append(counter.get_total_flops())
    assert counts[1] >= 5 * counts[0]


@torch.no_grad()
def test_the_cache_holds_keys_and_values_alone():
    """2 L K E numbers a token and nothing else; those of the source once."""
    decoder = model_of("decoder", kv_heads=2)
    cache = KVCache(3)
    for step in range(1, 6):
        decoder(torch.tensor([[1]]), cache=cache)
        assert cache.length == step
        assert cache.nbytes == step * 2 * 3 * 2 * 6 * 8
    translator, cache = model_of("encoder-decoder"), KVCache(3)
    memory = translator.encoder(SOURCE)
    for step in range(1, 4):
        translator.decoder(torch.tensor([[1]]), source=memory, cache=cache)
        assert cache.nbytes == (step + 5) * 2 * 3 * 24 * 8


@torch.no_grad()
def test_nothing_of_an_encoder_could_be_kept():
    """One more token changes the keys of all tokens from the second layer on; in a decoder none."""
    for shape, kept in (("encoder", False), ("decoder", True)):
        model = model_of(shape)
        short, long = model(torch.tensor([[1, 2, 3]])), model(torch.tensor([[1, 2, 3, 4]]))
        assert (relative_error(short, long[:, :3]) < 1e-12) == kept


def test_greedy_takes_the_likeliest_and_stops_at_the_end():
    model = model_of("decoder")
    with torch.no_grad():
        expected = [1]
        for _ in range(10):
            expected.append(int(model.logits(model(torch.tensor([expected])))[0, -1].argmax()))
    prompt = torch.tensor([[1]])
    assert greedy(NextToken(model), prompt, new_tokens=10)[0].tolist() == expected
    end = expected[4]
    first = expected.index(end, 1)
    assert greedy(NextToken(model), prompt, new_tokens=10, ends=[end])[0].tolist() == expected[: first + 1]
    never = next(token for token in range(len(expected) + 1) if token not in expected)
    assert greedy(NextToken(model), prompt, new_tokens=10, ends=[never, end])[0].tolist() == expected[: first + 1]


def test_texts_that_are_over_are_filled_up():
    model, prompts = model_of("decoder"), torch.tensor([[1], [2], [5]])
    alone = [greedy(NextToken(model), prompt[None], new_tokens=12, ends=[7])[0].tolist() for prompt in prompts]
    for text, together in zip(alone, greedy(NextToken(model), prompts, new_tokens=12, ends=[7]).tolist(), strict=True):
        assert together[: len(text)] == text
        assert set(together[len(text) :]) <= {7}


@pytest.mark.parametrize("ends", [(), (3,), (2, 3)])
def test_a_wide_beam_finds_the_best_of_all_texts(ends):
    """Vocabulary 4, three tokens: all 64 texts scored one by one with the whole model."""
    model = model_of("decoder", vocabulary=4)

    def score(tokens):
        tokens = tokens[: min((place + 1 for place, token in enumerate(tokens) if token in ends), default=3)]
        ids = torch.tensor([[1, *tokens]])
        with torch.no_grad():
            log_p = torch.log_softmax(model.logits(model(ids)), dim=-1)[0]
        total = sum(float(log_p[i, token]) for i, token in enumerate(tokens))
        return total / ((5 + len(tokens)) / 6) ** 0.6, tokens

    best, tokens = max(score(list(tokens)) for tokens in product(range(4), repeat=3))
    found, value = beam_search(NextToken(model), torch.tensor([[1]]), new_tokens=3, beams=64, ends=ends)
    assert found[1:].tolist() == tokens
    assert_close(value, best, relative=1e-10)


def test_one_beam_is_greedy():
    model = model_of("encoder-decoder")
    with torch.no_grad():
        asks = [NextToken(model, source=SOURCE) for _ in range(2)]
    expected = greedy(asks[0], torch.tensor([[1]]), new_tokens=9)[0]
    assert torch.equal(beam_search(asks[1], torch.tensor([[1]]), new_tokens=9, beams=1)[0], expected)


def test_samples_follow_the_probabilities():
    logits = torch.tensor([0.5, 0.3, 0.2]).log().expand(4000, 3)
    drawn = sample(lambda ids, rows: logits, torch.zeros(4000, 1, dtype=torch.long), new_tokens=1)[:, 1]
    shares = torch.bincount(drawn, minlength=3) / 4000
    assert shares.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    cold = sample(lambda ids, rows: logits, torch.zeros(4000, 1, dtype=torch.long), new_tokens=1, temperature=0.05)
    assert (cold[:, 1] == 0).all()
    model = model_of("decoder")
    one, same, other = (sample(NextToken(model), torch.tensor([[1]]), new_tokens=20, seed=s) for s in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_only_the_likeliest_stay():
    logits = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).log()

    def kept(**options):
        return likeliest(logits, **{"top_k": None, "top_p": 1.0, **options}).isfinite()[0].tolist()

    assert kept() == [True] * 4
    assert kept(top_k=2) == [False, True, False, True]
    assert kept(top_p=0.39) == [False, True, False, False]
    assert kept(top_p=0.65) == [False, True, False, True]
    assert kept(top_k=1, top_p=0.01) == [False, True, False, False]
    assert_close(likeliest(logits, top_k=2, top_p=1.0)[0, 1], math.log(0.4), relative=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("top_k", [None, 1, 5, 40, 500])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 1.0])
def test_sampling_draws_from_what_transformers_draws_from(temperature, top_k, top_p):
    """Compare with transformers' warpers; some logits tie, and the vocabulary is smaller than the largest k."""
    logits = 3 * torch.randn(6, 200, generator=torch.Generator().manual_seed(1))
    logits[:3] = logits[:3].round()
    warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    warpers += [TopKLogitsWarper(top_k)] if top_k is not None else []
    warpers += [TopPLogitsWarper(top_p)] if top_p < 1 else []
    expected = torch.softmax(warpers(torch.zeros(6, 1, dtype=torch.long), logits), dim=-1)
    # Of tied tokens at the edge of the share either may stay: the probabilities in order are the same.
    found = drawn_from(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    assert_close(found[3:], expected[3:], relative=1e-6)
    assert_close(found.sort().values, expected.sort().values, relative=1e-6)


def test_an_unlikely_token_can_be_drawn_unless_a_share_is_asked_for():
    """Sums of float32 reach 1 before the last of many tokens."""
    logits = torch.linspace(0, -40, 50_000)[None]
    assert likeliest(logits, top_k=None, top_p=1.0).isfinite().all()


def test_bad_arguments_are_named():
    model, ids = model_of("decoder"), torch.tensor([[1]])
    with pytest.raises(ValueError, match="temperature is 0; it must be above 0"):
        sample(NextToken(model), ids, new_tokens=1, temperature=0)
    with pytest.raises(ValueError, match="top_k is 0 and top_p 1"):
        sample(NextToken(model), ids, new_tokens=1, top_k=0)
    with pytest.raises(ValueError, match="beam search of 2 texts, 4 beams"):
        beam_search(NextToken(model), ids.repeat(2, 1), new_tokens=1)
    with pytest.raises(ValueError, match="EncoderDecoder with source missing"):
        NextToken(model_of("encoder-decoder"))
    with pytest.raises(ValueError, match="Decoder with source given"):
        NextToken(model, source=SOURCE)
    with pytest.raises(ValueError, match="a cache keeps real tokens alone"):
        model(ids, keep=torch.ones(1, 1, dtype=torch.bool), cache=KVCache(3))
