"""Chance: the table against models drawn anew, and what sentences say of untrained models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

import inspector
import models
from inspector import chance, examples, head_roles, heads, mixers, overview
from inspector.components.grid import sides
from inspector.text import named
from inspector.trace import Trace
from inspector.wording.english import attention as words
from inspector.wording.english import mixers as mixer_words
from models import LoadedModel
from tests.inspector.probe.families import CAPTURED, WITHOUT_SOFTMAX, Family, save
from tests.inspector.probe.hybrids import FAMILIES

pytestmark = pytest.mark.heavy

SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 128}
GPT = {"n_embd": 64, "n_head": 4, "n_layer": 2}
SHAPES: dict[str, Callable[[int], PreTrainedModel]] = {
    "bert": lambda vocabulary: BertModel(BertConfig(vocab_size=vocabulary, **SIZES)),
    "gpt2": lambda vocabulary: GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, **GPT)),
    "llama": lambda vocabulary: LlamaForCausalLM(
        LlamaConfig(vocab_size=vocabulary, **SIZES, num_key_value_heads=2, max_position_embeddings=128)
    ),
}
WITHOUT_GAINS = ("mobilebert", "neomme", "olmo", "hrm_text", "nanochat")  # no norm of theirs learns anything
WHO = ("The cat", "A tired old woman", "Nobody", "My brother's dog", "He")
DID = ("sat on the mat.", "ate it because the bread was good, and the fish was not.", "was there, there and there!")
TEXTS = (
    *(text for text in examples.EXAMPLES.values() if len(text) < 200),
    *(f"{who} {did}" for who in WHO for did in DID),
)


def drawn(shape: str, folder: Path, *, seed: int) -> LoadedModel:
    """A model of transformers with random weights, from the folder that it was saved in."""
    tokenizer = models.load("minilm").tokenizer
    torch.manual_seed(seed)
    SHAPES[shape](len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return models.load(folder)


def opening(trace: Trace) -> head_roles.HeadReading:
    """Read the head that is open first, as the sentence over the page Attention does."""
    look = overview.measure(trace, sides=sides(trace.sites))
    layer, head = overview.first_head(look, trace, stream=trace.streams[0])
    (site,) = (site for site in trace.sites_of(trace.streams[0]) if (site.layer, site.call) == (layer, 0))
    return head_roles.head(heads.with_choice(look.measures, trace), trace, site, head)


def test_the_share_falls_with_the_keys_and_grows_with_the_width() -> None:
    for width in chance.SHARES:
        assert (np.diff(chance.SHARES[width]) < 0).all()
        assert all(share > 1 / keys for keys, share in zip(chance.KEYS, chance.SHARES[width], strict=True))
        np.testing.assert_array_equal(chance.largest_share(chance.KEYS, width=width), chance.SHARES[width])
    assert chance.largest_share([0, 1], width=32).tolist() == [1, 1]
    assert chance.largest_share(7, width=32) == chance.largest_share(6, width=32) > chance.largest_share(8, width=32)
    assert chance.largest_share(7, width=24) == chance.largest_share(7, width=32) < chance.largest_share(7, width=48)
    assert chance.largest_share(9999, width=512) == chance.SHARES[max(chance.SHARES)][-1]


def test_a_cell_is_beyond_chance_by_the_keys_that_its_query_sees() -> None:
    least = chance.largest_share([3, 4], width=32)
    rows = np.array(
        [[[least[0] + 0.01, 0.2, 0.3, 0], [least[0] - 0.01, 0.2, 0.3, 0], [least[1] + 0.01, 0.2, 0.2, 0.2]]]
    )
    marked = np.zeros((1, 3, 4), np.bool_)
    marked[0, [0, 2], 0] = True
    np.testing.assert_array_equal(chance.beyond(rows, width=32), marked)


@pytest.mark.parametrize("shape", SHAPES)
def test_sentences_on_untrained_models_name_no_cell(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Count sentences with a cell: at most 5 %, with seeds that are not the table's; nearly all look untrained."""
    monkeypatch.setattr(chance, "norms_as_drawn", lambda trace: False)  # which tells it without shares
    named, random, count = 0, 0, 0
    for seed in (101, 102, 103):
        loaded = drawn(shape, tmp_path / str(seed), seed=seed)
        for text in TEXTS:
            trace = inspector.record(loaded, text)
            read = opening(trace)
            named += read.opens_with_link
            look = overview.measure(trace, sides=sides(trace.sites))
            random += look.looks_untrained
            assert (read.role.kind == "chance") >= look.looks_untrained
            count += 1
    assert named <= 0.05 * count
    assert random >= 0.9 * count
    grid = head_roles.grid(heads.with_choice(look.measures, trace), trace, stream=trace.streams[0], by_chance=True)
    assert words.grid(grid) == "All 8 heads spread their attention as random weights would."


@pytest.mark.parametrize("id", ["minilm", "mini-gpt"])
def test_trained_models_do_not_look_untrained(id: str) -> None:
    loaded = models.load(id)
    for text in TEXTS:
        trace = inspector.record(loaded, text)
        look = overview.measure(trace, sides=sides(trace.sites))
        assert not look.looks_untrained
        assert look.beyond_chance.mean() > 0.9


def test_heads_beyond_chance_are_those_of_their_maps(minilm: LoadedModel) -> None:
    trace = inspector.record(minilm, "The cat sat on the mat because it was tired.")
    (least,) = {chance.largest_share(len(trace.tokens), width=32).item()}
    expected = [map_.max() > least for site in trace.sites for map_ in trace.attention(layer=site.layer)]
    assert overview.measure(trace, sides=sides(trace.sites)).beyond_chance.tolist() == expected


def test_a_text_of_two_choices_tells_nothing_of_a_model(tmp_path: Path) -> None:
    trace = inspector.record(drawn("gpt2", tmp_path, seed=1), "a b")
    assert len(trace.tokens) == 3
    assert not overview.measure(trace, sides=sides(trace.sites)).looks_untrained
    assert opening(trace).role.kind != "chance"


@pytest.mark.families
@pytest.mark.parametrize("family", [*CAPTURED, *WITHOUT_SOFTMAX], ids=lambda family: family.name)
def test_norms_of_every_family_are_as_drawn_until_it_is_trained(family: Family, tmp_path: Path) -> None:
    save(family, tmp_path, as_drawn=True)
    trace = inspector.record(models.load(tmp_path), "the cat sat on the mat")
    assert chance.norms_as_drawn(trace) == (family.name not in WITHOUT_GAINS)


def test_a_random_hybrid_looks_untrained_by_its_norms_alone(tmp_path: Path) -> None:
    """A norm of queries and keys makes random scores as large as trained ones: shares tell nothing there."""
    save(FAMILIES["qwen3_next"], tmp_path, as_drawn=True)
    trace = inspector.record(models.load(tmp_path), "the cat sat on the mat because the dog sat on the log")
    assert not overview.measure(trace, sides=sides(trace.sites)).looks_untrained
    assert chance.norms_as_drawn(trace)
    (site,), (mixer,) = trace.sites, trace.mixers
    chosen = heads.with_choice(heads.measure(trace), trace)
    for head in range(site.heads):
        read = head_roles.head(chosen, trace, site, head)
        assert (read.named, read.link) == (None, None)
        assert words.head(read).endswith("is of a model that looks untrained, so what it looks at is chance.")
    assert "looks untrained" in words.grid(head_roles.grid(chosen, trace, stream="decoder"))
    of_mixer = mixers.read(mixer, 2)
    query, key = (named(mixer.site.queries, at) for at in (of_mixer.query, of_mixer.key))
    told = mixer_words.head(of_mixer, query=query, key=key, untrained=chance.untrained(trace))
    assert told == "Layer 0 (gated delta rule), head 2 is of a model that looks untrained, so what it reads is chance."


def test_norms_of_a_variant_tell_nothing_of_its_other_weights() -> None:
    trace_of_drawn = replace(inspector.record(models.load("own-encoder"), "The cat sat."), model="a/folder")
    assert chance.untrained(trace_of_drawn) == "looks untrained"
    assert chance.untrained(replace(trace_of_drawn, model="mini-bert?norm=rms")) == ""
    assert chance.untrained(replace(trace_of_drawn, model="own-encoder?norm=rms")) == "random"


@pytest.mark.parametrize("id", [card.id for card in models.catalogue() if card.trained])
def test_norms_of_trained_models_are_not_as_drawn(id: str) -> None:
    assert not chance.norms_as_drawn(inspector.record(models.load(id), "The cat sat on the mat."))


@pytest.mark.parametrize("part", ["gamma", "beta"])
def test_one_bit_of_one_norm_tells_that_it_was_moved(part: str) -> None:
    trace = inspector.record(models.load("own-encoder"), "The cat sat on the mat.")
    assert chance.norms_as_drawn(trace)
    *others, last = trace.norms
    moved = getattr(last, part).copy()
    moved[-1] = np.nextafter(moved[-1], np.float32(2))
    assert not chance.norms_as_drawn(replace(trace, norms=(*others, replace(last, **{part: moved}))))
    assert not chance.norms_as_drawn(replace(trace, norms=()))
