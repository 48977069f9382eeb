"""Relations held to a plain script on transformers' own maps, and the cases that a treebank and a tokenizer make."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import models
from inspector import atlas
from inspector.atlas import conllu
from inspector.atlas.relations import OFFSETS, PlacedWords, RelationCounter, RelationCounts, place
from inspector.atlas.statistics import EXAMPLES
from inspector.atlas.texts import Text, Tree
from models import LoadedModel, fetch
from models.tokenizers import Encoding, encode
from tests.closeness import assert_close
from tests.inspector.atlas.plain_relations import Plain, Sentence, as_plain, count


def sentence(*words: tuple[str, int, str]) -> Text:
    """A sentence of (word, governor counted from 1 or 0, relation); "_" stands in the multiword token before it."""
    text, spans = "", []
    for word, _, relation in words:
        if word == "_":
            spans.append(spans[-1])
            continue
        text += "" if relation == "punct" or not text else " "
        spans.append((len(text), len(text) + len(word)))
        text += word
    starts, stops = zip(*spans, strict=True)
    return Text(text, tree=Tree(starts, stops, tuple(g - 1 for _, g, _ in words), tuple(r for *_, r in words)))


SENTENCES = tuple(conllu.read(Path(__file__).with_name("sentences.conllu")))
DOES_NOT = sentence(
    ("Grandmother", 4, "nsubj"),
    ("doesn't", 4, "aux"),
    ("_", 4, "advmod"),
    ("like", 0, "root"),
    ("unbelievably", 6, "advmod"),
    ("salty", 7, "amod"),
    ("vegetables", 4, "obj"),
    (".", 4, "punct"),
)
LET_US = sentence(("Let's", 0, "root"), ("_", 1, "nsubj"), ("dance", 1, "xcomp"), (".", 1, "punct"))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(fetch.folder("minilm"))


@pytest.fixture(scope="module")
def bert() -> torch.nn.Module:
    return AutoModel.from_pretrained(fetch.folder("minilm"), attn_implementation="eager", use_safetensors=True).eval()


def gpt2() -> torch.nn.Module:
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=30522, n_positions=64, n_embd=24, n_layer=3, n_head=4, attn_implementation="eager")
    network = GPT2LMHeadModel(config).eval()
    for block in network.transformer.h:
        torch.nn.init.normal_(block.attn.c_attn.weight, std=0.3)  # random maps are nearly uniform without
    return network


def llama() -> torch.nn.Module:
    torch.manual_seed(2)
    sizes = {"hidden_size": 24, "intermediate_size": 24, "num_hidden_layers": 3, "max_position_embeddings": 64}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    network = LlamaForCausalLM(LlamaConfig(vocab_size=30522, **sizes, **heads, attn_implementation="eager")).eval()
    for layer in network.model.layers:
        torch.nn.init.normal_(layer.self_attn.q_proj.weight, std=0.3)
        torch.nn.init.normal_(layer.self_attn.k_proj.weight, std=0.3)
    return network


def eager_maps(network: torch.nn.Module, encoding: Encoding) -> list[torch.Tensor]:
    """Float32 [1, H, n, n] of each layer."""
    with torch.inference_mode():
        return list(network(input_ids=torch.tensor([encoding.ids]), output_attentions=True).attentions)


def both_counts(
    network: torch.nn.Module, texts: list[tuple[Encoding, Tree]], *, causal: bool
) -> tuple[RelationCounts, Plain]:
    """Counts of the sentences in batches of equal length, and by the plain script one by one."""
    counter, plain = both(network, texts, causal=causal)
    return counter.counts(), plain


def both(
    network: torch.nn.Module, texts: list[tuple[Encoding, Tree]], *, causal: bool
) -> tuple[RelationCounter, Plain]:
    maps = [eager_maps(network, encoding) for encoding, _ in texts]
    heads = sum(layer.shape[1] for layer in maps[0])
    counter = RelationCounter(heads)
    for length in {len(encoding) for encoding, _ in texts}:
        ids = [id for id, (encoding, _) in enumerate(texts) if len(encoding) == length]
        placed = [place(*texts[id]) for id in ids]
        counter.see_sentences(placed, ids, causal=causal)
        first = 0
        for layer in range(len(maps[0])):
            weights = torch.cat([maps[id][layer] for id in ids])
            own = slice(first, first + weights.shape[1])
            counter.see(weights, heads=own, sentences=placed, ids=ids, causal=causal)
            first = own.stop
    plain = count(
        (
            Sentence(id, encoding.spans or (), tree, torch.cat(maps[id], dim=1)[0].double().numpy())
            for id, (encoding, tree) in enumerate(texts)
        ),
        causal=causal,
    )
    return counter, plain


@pytest.mark.parametrize("causal_network", [None, llama])
def test_the_sentences_of_a_relation_are_those_that_join_its_words_most(bert, tokenizer, causal_network) -> None:
    network = bert if causal_network is None else causal_network()
    texts = [(encode(tokenizer, text.text, max_tokens=40), text.tree) for text in SENTENCES]
    counter, plain = both(network, texts, causal=causal_network is not None)
    table = counter.examples().to_pandas()
    expected: dict[tuple[str, int], list[tuple[float, int]]] = {}
    for (relation, direction, id, head), weights in plain.given.items():
        expected.setdefault((f"{relation} {direction}", head), []).append((sum(weights) / len(weights), id))
    assert any(len(weights) > 1 for weights in plain.given.values()), "some sentence has a relation twice"
    found = dict(iter(table.groupby(["measure", "head"])))
    assert found.keys() == expected.keys()
    for key, of_texts in expected.items():
        best = sorted(of_texts, key=lambda given: (-given[0], given[1]))[:EXAMPLES]
        assert_close(found[key]["value"].tolist(), [value for value, _ in best], relative=1e-5)
        means = {id: value for value, id in of_texts}
        assert_close(found[key]["value"].tolist(), [means[id] for id in found[key]["text"]], relative=1e-5)


@pytest.mark.parametrize("causal_network", [None, gpt2, llama])
def test_counts_are_those_of_a_plain_script(bert, tokenizer, causal_network) -> None:
    network = bert if causal_network is None else causal_network()
    texts = [(encode(tokenizer, text.text, max_tokens=40), text.tree) for text in SENTENCES]
    assert len({len(encoding) for encoding, _ in texts}) < len(texts) / 2  # batches of several
    counts, plain = both_counts(network, texts, causal=causal_network is not None)
    assert as_plain(counts) == plain
    assert 0 < sum(plain.hits.values()) < sum(plain.totals.values()) * counts.heads
    assert {"nsubj", "det", "obj"} <= set(counts.relations)
    assert not {"root", "punct"} & set(counts.relations)


def test_cut_sentences_count_what_is_left(bert, tokenizer) -> None:
    texts = [(encode(tokenizer, text.text, max_tokens=6), text.tree) for text in SENTENCES]
    whole = [(encode(tokenizer, text.text, max_tokens=40), text.tree) for text in SENTENCES]
    counts, plain = both_counts(bert, texts, causal=False)
    assert as_plain(counts) == plain
    assert 0 < counts.totals.sum() < both_counts(bert, whole, causal=False)[0].totals.sum()


@pytest.mark.parametrize("shape", [pytest.param("encoder", marks=pytest.mark.heavy), "decoder"])
def test_an_atlas_counts_like_the_plain_script(shape, bert, tokenizer, tmp_path: Path) -> None:
    network = bert if shape == "encoder" else llama()
    network.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    loaded: LoadedModel = models.load(tmp_path / "model")
    assert loaded.shape == shape
    texts = [*SENTENCES, Text("A text without a tree."), *SENTENCES[:3]]
    built = atlas.build(loaded, texts, out=tmp_path / "atlas", block_texts=16)
    read = [(id, text, encode(loaded.tokenizer, text.text, max_tokens=40)) for id, text in enumerate(texts)]
    if shape == "decoder":
        read = [(id, text, encoding.without_end()) for id, text, encoding in read]
    plain = count(
        (
            Sentence(id, encoding.spans, text.tree, torch.cat(eager_maps(network, encoding), dim=1)[0].double().numpy())
            for id, text, encoding in read
            if text.tree is not None
        ),
        causal=shape == "decoder",
    )
    # The two strongest words differ by 2e-5 of their weight at least, so no rounding of float32 swaps them.
    assert as_plain(built.relations) == plain


# --- words and tokens ------------------------------------------------------------------------------------------------


def test_words_of_a_multiword_token_are_one_unit(tokenizer) -> None:
    placed = place(encode(tokenizer, DOES_NOT.text, max_tokens=40), DOES_NOT.tree)
    assert placed.count == 7  # eight words, two of them one unit
    joined = set(zip(placed.dependents, placed.governors, placed.relations, strict=True))
    assert {(1, 2, "aux"), (1, 2, "advmod")} <= joined
    lets = place(encode(tokenizer, LET_US.text, max_tokens=40), LET_US.tree)
    assert lets.relations == ("xcomp",)  # nsubj joins two words of one unit


def test_a_token_belongs_to_the_word_that_it_shares_most_with() -> None:
    tree = Tree(starts=(0, 4, 6), stops=(3, 6, 9), governors=(-1, 0, 0), relations=("root", "a", "b"))
    spans = ((0, 0), (0, 3), (3, 8), (8, 9), (9, 10), (5, 7), (0, 0))  # a space and two words; after the words; a tie
    assert place(_encoding(spans), tree).units == (-1, 0, 1, 2, -1, 1, -1)


def test_a_word_without_a_token_is_left_out() -> None:
    tree = Tree(starts=(0, 2, 4), stops=(1, 3, 5), governors=(-1, 0, 1), relations=("root", "a", "b"))
    assert place(_encoding(((0, 1), (4, 5))), tree) == PlacedWords((0, 1), (), (), ())
    assert place(_encoding(((0, 1), (2, 3))), tree) == PlacedWords((0, 1), (1,), (0,), ("a",))


def test_tokens_that_were_not_read_from_a_text_are_refused() -> None:
    with pytest.raises(ValueError, match="3 tokens were not read from a text"):
        place(replace(_encoding(((0, 1),) * 3), spans=None), SENTENCES[0].tree)


def _encoding(spans: tuple[tuple[int, int], ...]) -> Encoding:
    count = len(spans)
    special = tuple(span == (0, 0) for span in spans)
    return Encoding((1,) * count, ("a",) * count, (0,) * count, (0,) * count, special, 0, spans=spans)


# --- rows and columns ------------------------------------------------------------------------------------------------

CHAIN = PlacedWords(units=(0, 1, 2), dependents=(0, 1, 2), governors=(1, 2, 1), relations=("a", "b", "c"))


def _hits(weights: list[list[float]], *, causal: bool, id: int = 0) -> dict[tuple[str, str, str, int], int]:
    counter = RelationCounter(1)
    counter.see_sentences([CHAIN], [id], causal=causal)
    counter.see(torch.tensor([[weights]]), heads=slice(0, 1), sentences=[CHAIN], ids=[id], causal=causal)
    return dict(as_plain(counter.counts()).hits)


def test_the_first_of_equal_words_is_the_guess() -> None:
    uniform = [[1 / 3] * 3] * 3
    # Words 1, 0 and 0 are guessed for words 0, 1 and 2.
    assert _hits(uniform, causal=False) == {("a", "governor", "chosen", 0): 1, ("a", "dependent", "chosen", 0): 1}


def test_equal_words_of_several_tokens_stay_equal() -> None:
    """Three times a weight, by three, is the weight in float64; in float32 it is not always."""
    weights = np.float32(1) / np.arange(5, 200, dtype=np.float32)
    assert ((weights + weights + weights) / np.float32(3) < weights).any()
    placed = PlacedWords((0, 1, 1, 1, 2), (0,), (1,), ("a",))
    counter = RelationCounter(len(weights))
    maps = torch.tensor(weights)[None, :, None, None].repeat(1, 1, 5, 5)
    counter.see(maps, heads=slice(0, len(weights)), sentences=[placed], ids=[0], causal=False)
    assert (counter.counts().hits[0, :, 0] == 1).all()


def test_a_causal_model_is_asked_for_what_it_can_see() -> None:
    weights = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.4, 0.3]]
    counter = RelationCounter(1)
    counter.see_sentences([CHAIN], [3], causal=True)
    totals = as_plain(counter.counts()).totals
    assert totals == {("a", "dependent", "scored"): 1, ("b", "dependent", "scored"): 1, ("c", "governor", "scored"): 1}
    # Word 1 gives word 0 more than word 2 does; word 2 alone sees word 1, and sees it more than word 0.
    assert _hits(weights, causal=True, id=3) == {(*name, 0): 1 for name in totals}


def test_offsets_stop_at_the_ends_of_the_sentence() -> None:
    counter = RelationCounter(1)
    counter.see_sentences([CHAIN], [0], causal=False)
    found = as_plain(counter.counts()).offset_hits
    assert {offset for (name, direction, _, offset) in found if (name, direction) == ("a", "governor")} == {1}
    assert {offset for (name, direction, _, offset) in found if (name, direction) == ("b", "governor")} == set(
        range(1, 17)
    )
    assert not counter.counts().offset_hits[..., OFFSETS.index(0)].any()


def test_weights_of_other_sentences_are_refused() -> None:
    counter = RelationCounter(1)
    for shape in [(1, 1, 4, 4), (2, 1, 3, 3), (1, 1, 2, 3)]:
        with pytest.raises(ValueError, match=re.escape(str(list(shape)))):
            counter.see(torch.zeros(shape), heads=slice(0, 1), sentences=[CHAIN], ids=[0], causal=False)


# --- counts that are added up and written ----------------------------------------------------------------------------


def _some(seed: int, *relations: str) -> RelationCounts:
    rng = np.random.default_rng(seed)
    totals = rng.integers(5, 9, (len(relations), 2, 2))
    hits, offset_hits = (rng.integers(0, 5, (len(relations), 2, 2, size)) for size in (3, len(OFFSETS)))
    return RelationCounts(relations, totals, hits, offset_hits)


PARTS = (_some(1, "det", "nsubj"), _some(2), _some(3, "amod", "nsubj", "obj"), _some(4, "det"))


def test_counts_add_up_in_any_order_and_grouping() -> None:
    together = PARTS[0].merged(*PARTS[1:])
    assert together.relations == ("amod", "det", "nsubj", "obj")
    for order in permutations(PARTS):
        assert reduce(RelationCounts.merged, order).table() == together.table()
        assert order[0].merged(order[1].merged(*order[2:])).table() == together.table()
    assert as_plain(together).totals == sum((as_plain(part).totals for part in PARTS[1:]), as_plain(PARTS[0]).totals)
    assert as_plain(together).hits == sum((as_plain(part).hits for part in PARTS[1:]), as_plain(PARTS[0]).hits)


def test_counts_of_another_number_of_heads_are_no_part() -> None:
    with pytest.raises(ValueError, match="3 and of 4 heads"):
        PARTS[0].merged(RelationCounts.none(4))


def test_a_sentence_counts_alike_alone_and_in_a_batch(bert, tokenizer) -> None:
    texts = [(encode(tokenizer, text.text, max_tokens=40), text.tree) for text in SENTENCES]
    whole, _ = both_counts(bert, texts, causal=False)
    alone = []
    for id, (encoding, tree) in enumerate(texts):
        counter = RelationCounter(whole.heads)
        counter.see_sentences([place(encoding, tree)], [id], causal=False)
        weights = torch.cat(eager_maps(bert, encoding), dim=1)  # all heads in one call
        own = {"sentences": [place(encoding, tree)], "ids": [id], "causal": False}
        counter.see(weights, heads=slice(0, whole.heads), **own)
        alone.append(counter.counts())
    assert alone[0].merged(*alone[1:]).table() == whole.table()


@pytest.mark.parametrize("part", PARTS)
def test_counts_come_back_from_their_table(part) -> None:
    again = RelationCounts.from_table(part.table(), heads=3)
    assert again.relations == part.relations
    assert again.table() == part.table()
    assert again.hits.shape == part.hits.shape


def _with(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(name), pa.array(values, table.schema.field(name).type))


def _strange_tables() -> dict[str, pa.Table]:
    table = PARTS[0].table()
    hits = table["hits"].to_pylist()
    return {
        "columns are": table.append_column("more", table["total"]),
        "empty cells": _with(table, "total", [None, *table["total"].to_pylist()[1:]]),
        "hits of the table of relations has empty cells": _with(table, "hits", [[None, 0, 0], *hits[1:]]),
        "7 rows": table.slice(1),
        "8 rows": table.take([1, 0, *range(2, 8)]),
        "16 rows": pa.concat_tables([table, table]),
        r"lists of \[2, 3\] counts, not of 3": _with(table, "hits", [[0, 0], *hits[1:]]),
        "more governors found": _with(table, "hits", [[0, 0, 9], *hits[1:]]),
        "fewer than none": _with(table, "offset_hits", [[-1] * 33, *table["offset_hits"].to_pylist()[1:]]),
    }


@pytest.mark.parametrize("reason", list(_strange_tables()))
def test_a_strangers_table_is_refused(reason) -> None:
    with pytest.raises(ValueError, match=reason):
        RelationCounts.from_table(_strange_tables()[reason], heads=3)


def test_a_table_of_too_many_relations_is_refused() -> None:
    with pytest.raises(ValueError, match="20,004 rows"):
        RelationCounts.from_table(pa.concat_tables([_some(1, "det").table()] * 5001), heads=3)
