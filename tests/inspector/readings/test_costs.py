"""Readings of costs against the textbook's formulas in plain integers, and the sentences made of them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, GPT2Config, LlamaConfig, MistralConfig

from inspector import costs
from inspector.costs.clock import LayerShape, Measured
from inspector.plots import costs as draw
from inspector.readings import costs as read
from inspector.wording.english import costs as words
from models import LoadedModel
from models.attention.scores import linear_attention
from models.transformer.config import TransformerConfig
from tests.inspector.readings.said import COUNT, NUMBER, PERCENT, claim, count, is_number, is_percent

OF = r"of the FLOPs of the (?:encoder's |decoder's )?layers"
SHARES = (
    rf"At {COUNT} tokens? (?:(attention and the FFN) take {PERCENT} {OF} each; in longer texts attention takes more|"
    rf"(attention|the FFN) takes (?:just over )?{PERCENT} {OF} and (attention|the FFN) (?:just under )?{PERCENT}; "
    rf"(?:(attention costs more at any length)|(it overtook the FFN|attention overtakes it) "
    rf"(?:at {COUNT} tokens?|between {COUNT} and {COUNT} tokens)))\. "
    r"Scores and mix, the part that grows with the square of the text, take "
    rf"{PERCENT}; alone they cost more than the FFN (?:(at any length)|in texts of over {COUNT} tokens?)\."
)
COUNTED = rf"This model has {NUMBER} ?([kMG]?) parameters in (\d+) (layers?); {PERCENT} of them are embeddings\."


@dataclass(frozen=True)
class Shape:
    """A layer's width, the width of its queries and of its keys, of its FFN, and how many matrices that has."""

    width: int
    queries: int
    keys: int
    ffn_width: int
    matrices: int = 2

    def attention(self, n: int) -> int:
        """Count 2 (2 n d q + 2 n d k) for the projections, and the pairs."""
        return 4 * n * self.width * (self.queries + self.keys) + self.pairs(n)

    def pairs(self, n: int) -> int:
        """Count 2 n n q for the scores and as many for the mix."""
        return 4 * n * n * self.queries

    def ffn(self, n: int) -> int:
        """Count 2 n d f a matrix."""
        return 2 * n * self.width * self.ffn_width * self.matrices


def check(sentence: str, shape: Shape, tokens: int) -> None:
    """Assert that a sentence says what the textbook's formulas give in whole numbers."""
    n, even, each, more, most, less, least, ever, turned, *rest = claim(SHARES, sentence)
    at, above, below, pairs, always, beyond = rest
    attention, ffn = shape.attention(tokens), shape.ffn(tokens)
    assert count(n) == tokens
    assert f"{n} token{'s' * (tokens != 1)} " in sentence
    assert is_percent(pairs, shape.pairs(tokens) / (attention + ffn))
    if even:
        assert attention == ffn
        assert each == "50 %"
    else:
        costs = {"attention": attention, "the FFN": ffn}
        assert costs[more] > costs[less]
        for side, said in ((more, most), (less, least)):
            assert is_percent(said, costs[side] / (attention + ffn))
        assert (most == least) == ("just over" in sentence) == ("just under" in sentence)
        assert bool(ever) == (shape.attention(1) > shape.ffn(1))
        assert not turned or ("overtook" in turned) == (attention > ffn)
        if at:
            assert shape.attention(count(at)) == shape.ffn(count(at))
        if above:
            assert count(below) == count(above) + 1
            assert shape.attention(count(above)) < shape.ffn(count(above))
            assert shape.attention(count(below)) > shape.ffn(count(below))
    first = 1 if always else count(beyond) + 1
    assert shape.pairs(first) > shape.ffn(first)
    assert first == 1 or shape.pairs(first - 1) <= shape.ffn(first - 1)


def drawn(random: Random) -> tuple[object, Shape]:
    """Draw a configuration and its sizes: BERT's, a Llama's with grouped queries, or an own encoder-decoder's."""
    head, groups = random.choice((1, 3, 8, 64)), random.choice((1, 1, 2, 4))
    heads, layers = groups * random.choice((1, 2, 3)), random.choice((1, 1, 2))
    width, ffn = heads * head, random.choice((1, 2, 3, 4)) * heads * head + random.choice((0, 0, 1, 7))
    kind = random.choice(("bert", "llama", "own"))
    if kind == "bert":
        config = BertConfig(
            hidden_size=width, intermediate_size=ffn, num_hidden_layers=layers, num_attention_heads=heads
        )
        return config, Shape(width, width, width, ffn)
    if kind == "llama":
        head *= 2  # RoPE turns pairs
        width *= 2
        keys = heads // groups
        config = LlamaConfig(
            hidden_size=width,
            intermediate_size=ffn,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            num_key_value_heads=keys,
        )
        return config, Shape(width, width, keys * head, ffn, 3)
    shape = random.choice(("encoder", "decoder", "encoder-decoder"))
    own = TransformerConfig(
        shape=shape, vocabulary=50, width=width, heads=heads, layers=layers, ffn_width=ffn, max_positions=64
    )
    return own, Shape(width, width, width, ffn)


def said(config: object, tokens: int) -> str:
    found = read.shares(costs.breakdown(config, tokens=tokens), costs.crossovers(config), tokens=tokens)
    return words.shares(found)


def test_no_sentence_says_what_the_formulas_do_not() -> None:
    """200 configurations, each at a length drawn near the two at which attention overtakes the FFN, or anywhere."""
    random, kinds = Random(3), set()
    for _ in range(200):
        config, shape = drawn(random)
        meets = (shape.ffn(1) - 4 * shape.width * (shape.queries + shape.keys)) / (4 * shape.queries)
        alone = shape.ffn(1) / (4 * shape.queries)
        near = random.choice((meets, meets, alone, random.randrange(9000)))
        tokens = max(1, int(near) + random.choice((-1, 0, 0, 1)))
        sentence = said(config, tokens)
        check(sentence, shape, tokens)
        kinds |= {
            kind
            for kind in ("each;", "between", "overtook", "overtakes", "just over", "any length")
            if kind in sentence
        }
    assert len(kinds) == 6


MINILM = Shape(384, 384, 384, 1536)


@pytest.mark.parametrize(
    ("tokens", "true", "false"),
    [
        (13, "66 %", "67 %"),
        (13, "the FFN takes", "attention takes"),
        (13, "768 tokens", "769 tokens"),
        (13, "over 1,536", "over 1,535"),
        (1, "1 token ", "1 tokens "),
        (767, "just over 50 %", "51 %"),
        (768, "attention and the FFN take 50 % of the FLOPs of the layers each; in longer texts attention takes more",
         "attention takes 50 % of the FLOPs of the layers and the FFN 50 %; it overtook the FFN at 768 tokens"),
        (2000, "overtook the FFN at 768", "overtook the FFN at 767"),
        (2000, "it overtook the FFN at 768 tokens", "attention costs more at any length"),
    ],
)  # fmt: skip
def test_a_false_sentence_is_found(tokens: int, true: str, false: str) -> None:
    config = BertConfig(hidden_size=384, intermediate_size=1536, num_hidden_layers=6, num_attention_heads=12)
    sentence = said(config, tokens)
    check(sentence, MINILM, tokens)
    assert true in sentence
    with pytest.raises(AssertionError):
        check(sentence.replace(true, false), MINILM, tokens)


def test_attention_and_ffn_may_meet_at_no_whole_length() -> None:
    config = BertConfig(hidden_size=64, num_attention_heads=2, intermediate_size=64 * 2 + 5)
    assert "attention overtakes it at 5 tokens" in said(config, 1)
    grouped = LlamaConfig(
        hidden_size=6, num_attention_heads=3, num_key_value_heads=1, intermediate_size=9, num_hidden_layers=1
    )
    assert "between 5 and 6 tokens" in said(grouped, 1)


@pytest.mark.parametrize("layers", [1, 2])
def test_counted_parameters_are_those_of_the_tensors(layers: int) -> None:
    """A table as `costs.parameters` makes it: a row a tensor, with its layer or none."""
    random = Random(layers)
    for _ in range(20):
        sizes = [random.choice((0, 1, 50, 999_949, 999_950, 12_345_678)) for _ in range(1 + layers)]
        table = pd.DataFrame(
            {
                "stack": "encoder",
                "layer": pd.array([None, *range(layers)], dtype="Int64"),
                "part": ["embedding"] + ["ffn"] * layers,
                "parameters": sizes,
            }
        )
        sentence = words.counted(read.counted(table))
        total, prefix, count_, noun, share = claim(COUNTED, sentence)
        assert is_number(total, sum(sizes) / {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[prefix])
        assert (int(count_), noun) == (layers, "layer" if layers == 1 else "layers")
        assert is_percent(share, sizes[0] / sum(sizes) if any(sizes) else 0)


def test_parameters_are_counted_in_the_tensors(minilm: LoadedModel) -> None:
    table = costs.parameters(minilm.network)
    total = sum(tensor.numel() for tensor in minilm.network.parameters())
    assert table["parameters"].sum() == total
    assert table.loc[table["layer"].notna(), "layer"].drop_duplicates().tolist() == [0, 1, 2, 3, 4, 5]
    counted = read.counted(table)
    embeddings = minilm.network.embeddings
    assert counted.embeddings == sum(
        one.weight.numel()
        for one in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings)
    )
    assert words.counted(counted).startswith("This model has 22.7 M parameters in 6 layers; ")
    norm = minilm.network.encoder.layer[0].attention.output.LayerNorm
    of_norms = table[(table["layer"] == 0) & (table["part"] == "norm")]["parameters"].sum()
    assert of_norms == 4 * norm.weight.numel()


def test_measured_times_stand_for_the_layers_that_are_alike() -> None:
    config = LlamaConfig(hidden_size=8, num_hidden_layers=3, num_attention_heads=2, intermediate_size=16, vocab_size=9)
    table = costs.breakdown(config, tokens=5)
    table.loc[(table["layer"] == 2) & (table["component"] == "up"), "flops"] += 1  # a layer of its own kind
    seconds = {"projections": 0.004, "scores": 0.001, "softmax": 0.002, "mix": 0.001, "fused": 0.002, "ffn": 0.004}
    rows = [(5, part, one, 1, 1) for part, one in seconds.items()]
    frame = pd.DataFrame(rows, columns=["tokens", "part", "seconds", "flops", "bytes"])
    shape = LayerShape(width=8, heads=2, kv_heads=2, head_width=4, ffn_width=16, gated=True)
    measured = Measured(shape, frame, "float32", "cpu", "CPU time", 7, shape.crossover)
    for kernel, attention, parts in (("eager", 8.0, 5), ("sdpa", 6.0, 3)):
        found = read.timed(table, measured, kernel=kernel, tokens=5)
        assert (found.layers, found.others) == (2, 1)
        assert (found.attention, found.ffn) == (attention, 4.0)
        assert len(found.table) == 2 * parts
        assert found.table["milliseconds"].sum() == pytest.approx(2 * (attention + 4))
        said = words.timed(found, measured, kernel=kernel, tokens=5)
        assert f"attention takes {attention:.2f} ms and the FFN 4.00 ms, so attention takes" in said
        bars = draw.by_layer(found.table, value="milliseconds").data
        assert sum(sum(bar.y) for bar in bars) == pytest.approx(2 * (attention + 4))
        assert "8.00 ms" in draw.by_component(found.table, value="milliseconds").data[0].text[0]  # 2 x 4 ms
        (tree,) = draw.treemap(found.table, value="milliseconds").data
        assert tree.values[0] == 1e6 * 2 * (attention + 4)  # nanoseconds: areas add up exactly


def test_computed_and_needed_are_the_cells_of_real_masks() -> None:
    """A window of 4 in a Mistral, causal in a GPT-2, all in a BERT: the cells of numpy's masks, 2 products, 2 FLOPs."""
    tokens, width, layers = 11, 64, 2
    causal = np.tril(np.ones((tokens, tokens), bool))
    sizes = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": 4, "vocab_size": 99}
    ffn = {"intermediate_size": 128}
    for config, mask in (
        (BertConfig(**sizes, **ffn), np.ones_like(causal)),
        (GPT2Config(n_embd=width, n_layer=layers, n_head=4, vocab_size=99, bos_token_id=1, eos_token_id=2), causal),
        (MistralConfig(**sizes, **ffn, num_key_value_heads=4, sliding_window=4), causal & ~np.tril(causal, -4)),
    ):
        pairs = costs.count(config).needed(tokens=tokens)
        found = read.needed(pairs)
        each = 2 * 2 * width * layers  # FLOPs of scores and mix for a pair of a query and a key
        assert (found.computed, found.known, found.needed) == (each * mask.size, each * mask.size, each * mask.sum())
        assert read.masks(pairs)["layers"].tolist() == [layers, layers]
        share = f"{mask.sum() / mask.size:.0%}".replace("%", " %")
        expected = share if mask.sum() < mask.size else "all"
        assert expected in words.needed(found)
    assert "no rule" in words.needed(read.Needed(computed=10, known=0, needed=0))
    assert "Of 4.00 FLOP more" in words.needed(read.Needed(computed=10, known=6, needed=6))


def test_linear_attention_without_pairs_takes_what_torch_counts() -> None:
    size = {"vocabulary": 9, "layers": 2, "decoder_layers": 1, "width": 12, "heads": 3, "ffn_width": 8}
    config = TransformerConfig(**size, max_positions=9, shape="encoder-decoder", weighting="linear")
    table = costs.breakdown(config, tokens=7, target_tokens=5)
    found = read.linear(config, table, tokens=7, target_tokens=5)
    assert found is not None
    with FlopCounterMode(display=False) as counter:
        for queries, keys in ((7, 7), (7, 7), (5, 5), (5, 7)):
            query, key = (torch.empty(1, 3, count, 4, device="meta") for count in (queries, keys))
            linear_attention(query, key, key)
    assert found.without == counter.get_total_flops()
    assert found.pairs == 3 * 4 * 4 * (7 * 7 + 7 * 7 + 5 * 5 + 5 * 7)
    assert "pair by pair" in words.linear(found)
    assert read.linear(BertConfig(), table, tokens=7, target_tokens=None) is None
