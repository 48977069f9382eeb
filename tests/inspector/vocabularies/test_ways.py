"""Ways to cut a text: every vocabulary of a corpus and of the models, their unknowns and costs, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inspector import vocabularies
from inspector.costs import clock
from models import LoadedModel
from tests.models.own_models import own

TEXT = "The cat sat on the mat."
CHINESE = "我昨天买了一本新书。"


@pytest.mark.parametrize("text", [TEXT, CHINESE])
def test_every_kind_gives_the_text_back(text: str) -> None:
    corpus = vocabularies.Corpus.of(text * 3)
    for kind in vocabularies.KINDS:
        way = vocabularies.by_library(vocabularies.train(kind, corpus, pieces=8), text)
        assert (way.unknown, len(way.spans)) == (0 if kind != "words" else way.unknown, len(way))
        kept = [span for span, token in zip(way.spans, way.tokens, strict=True) if token != "▁"]  # put before the text
        covered = "".join(text[first:last] for first, last in kept)
        assert covered.replace(" ", "") == text.replace(" ", "")
    words = vocabularies.by_library(vocabularies.train("words", corpus), text)
    assert len(words) == len(text.split())  # a Chinese sentence is one word: only blanks are looked at


def test_unknowns_are_counted() -> None:
    corpus = vocabularies.Corpus.of(TEXT)
    for kind, unknown in {"characters": 2, "words": 1, "bpe": 2, "wordpiece": 1, "unigram": 1}.items():
        way = vocabularies.by_library(vocabularies.train(kind, corpus), "cat 鱼鱼")
        assert way.unknown == unknown, kind  # unigram fuses them, WordPiece loses the whole word


def test_models_cut_as_their_tokenizers_do(minilm: LoadedModel, shipped: Callable[[str], LoadedModel]) -> None:
    way = vocabularies.by_model(minilm.tokenizer, TEXT)
    assert list(way.tokens) == minilm.tokenizer.tokenize(TEXT)
    assert way.vocabulary == 30_522  # BERT's WordPiece (Devlin et al. 2019)
    embedding = minilm.network.get_input_embeddings().weight
    table = vocabularies.costs({"minilm": way}, width=384, layer=clock.layer_shape(minilm.config), layers=6)
    assert table["parameters"][0] == embedding.numel() == 11_720_448
    chinese = vocabularies.by_model(shipped("mini-bert-zh").tokenizer, CHINESE)
    assert "".join(chinese.tokens) == CHINESE
    assert len(vocabularies.by_model(minilm.tokenizer, "a b " * 900)) == 1_800  # more than it reads, none cut off


@torch.no_grad()
def test_flops_of_the_pairs_are_those_that_torch_counts() -> None:
    loaded = own("encoder")
    layer = clock.layer_shape(loaded.config)
    text = "the cat sat on the mat"
    ways = {kind: vocabularies.by_library(vocabularies.train(kind, vocabularies.Corpus.of(text)), text)
            for kind in ("characters", "words")}  # fmt: skip
    table = vocabularies.costs(ways, width=loaded.config.width, layer=layer, layers=loaded.layers).set_index("way")
    totals = {}
    for kind, way in ways.items():
        for tokens in (len(way), 2 * len(way)):
            with FlopCounterMode(display=False) as counted:
                loaded.network(torch.ones(1, tokens, dtype=torch.long))
            totals[kind, tokens] = counted.get_total_flops()
        # a n + b n²: at 2 n, less twice that at n, only 2 b n² is left
        pairs = (totals[kind, 2 * len(way)] - 2 * totals[kind, len(way)]) / 2
        assert table["flops"][kind] == pairs
    assert table["times"]["characters"] == pytest.approx((22 / 6) ** 2)
    assert table["cells"].to_dict() == {"characters": 484, "words": 36}
    assert "flops" not in vocabularies.costs(ways, width=8, layer=None, layers=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (" \n ", "The corpus is empty"),
        ("a" * 20_001, "20,001 characters"),
        ("cat " + "b" * 201, "a word of 202 characters"),
        ("a\0b", r"Character 1 of the corpus is U\+0000"),
        ("\ud800", r"U\+D800"),
    ],
)
def test_a_strangers_corpus_is_bounded(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        vocabularies.Corpus.of(text)


def test_a_number_of_pieces_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="1001 pieces beyond the characters; choose 0 to 1,000"):
        vocabularies.train("bpe", vocabularies.Corpus.of("a b"), pieces=1001)


@pytest.mark.parametrize("text", ["a", "a a", ".", "🙂🙂", "▁▁ ##a ##a", "[UNK] [UNK] <UNK>", "é" * 199, "אב ab אב"])
def test_strange_corpora_are_learned_from(text: str) -> None:
    corpus = vocabularies.Corpus.of(text)
    for kind in vocabularies.KINDS:
        assert len(vocabularies.by_library(vocabularies.train(kind, corpus, pieces=5), text)) > 0
