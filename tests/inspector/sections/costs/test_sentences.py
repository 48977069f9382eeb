"""The sentences of the page Costs against the textbook's formulas in plain integers."""

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
from inspector.sections.costs import layers, rules, shares
from inspector.wording.english import costs as words
from models import LoadedModel
from models.attention.scores import linear_attention
from models.transformer.config import TransformerConfig
from tests.inspector.wording.said import COUNT, NUMBER, PERCENT, claim, count, is_number, is_percent

OF = r"of the FLOPs of the (?:encoder's |decoder's )?layers"
SHARES = (
    rf"At {COUNT} tokens? (?:(attention and the FFN) take {PERCENT} {OF} each\. In longer texts attention takes more|"
    rf"(attention|the FFN) takes (just over )?{PERCENT} {OF} and (attention|the FFN) the rest\. "
    rf"(?:(Attention costs more at any length)|(Attention overtook the FFN|Attention overtakes it) "
    rf"(?:at {COUNT} tokens?|between {COUNT} and {COUNT} tokens)))\. "
    r"Scores and mix, the part that grows with the square of the text, take "
    rf"{NUMBER} % of these FLOPs; alone they cost more than the FFN "
    rf"(?:(at any length)|in texts of over {COUNT} tokens?)\."
)
COUNTED = rf"This model has {NUMBER} ?([kMG]?) parameters in (\d+) (layers?)\. Embeddings are {PERCENT} of them\."


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
    n, even, each, more, over, most, less, ever, turned, *rest = claim(SHARES, sentence)
    at, above, below, pairs, always, beyond = rest
    attention, ffn = shape.attention(tokens), shape.ffn(tokens)
    assert count(n) == tokens
    assert f"{n} token{'s' * (tokens != 1)} " in sentence
    assert is_number(pairs, 100 * shape.pairs(tokens) / (attention + ffn))
    if even:
        assert attention == ffn
        assert each == "50 %"
    else:
        costs = {"attention": attention, "the FFN": ffn}
        assert costs[more] > costs[less]
        assert is_percent(most, costs[more] / (attention + ffn))
        assert bool(over) == is_percent(most, costs[less] / (attention + ffn))
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
    table, crossovers = costs.breakdown(config, tokens=tokens), costs.crossovers(config)
    return f"{shares.shares(table, crossovers, tokens=tokens)} {shares.pairs(table, crossovers)}"


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
            for kind in ("each.", "between", "overtook", "overtakes", "just over", "any length")
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
        (768, "attention and the FFN take 50 % of the FLOPs of the layers each. In longer texts attention takes more",
         "attention takes 50 % of the FLOPs of the layers and the FFN the rest. Attention overtakes it at 768 tokens"),
        (2000, "overtook the FFN at 768", "overtook the FFN at 767"),
        (2000, "Attention overtook the FFN at 768 tokens", "Attention costs more at any length"),
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
    assert "Attention overtakes it at 5 tokens" in said(config, 1)
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
        sentence = shares.parameters(table)
        total, prefix, count_, noun, share = claim(COUNTED, sentence)
        assert is_number(total, sum(sizes) / {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[prefix])
        assert (int(count_), noun) == (layers, "layer" if layers == 1 else "layers")
        assert is_percent(share, sizes[0] / sum(sizes) if any(sizes) else 0)


def test_parameters_are_counted_in_the_tensors(minilm: LoadedModel) -> None:
    table = costs.parameters(minilm.network)
    total = sum(tensor.numel() for tensor in minilm.network.parameters())
    assert table["parameters"].sum() == total
    assert table.loc[table["layer"].notna(), "layer"].drop_duplicates().tolist() == [0, 1, 2, 3, 4, 5]
    embeddings = minilm.network.embeddings
    inside = sum(
        one.weight.numel()
        for one in (embeddings.word_embeddings, embeddings.position_embeddings, embeddings.token_type_embeddings)
    )
    said = shares.parameters(table)
    assert said == words.parameters(parameters=total, embeddings=inside, layers=6)
    assert said.startswith("This model has 22.7 M parameters in 6 layers. ")
    norm = minilm.network.encoder.layer[0].attention.output.LayerNorm
    of_norms = table[(table["layer"] == 0) & (table["part"] == "norm")]["parameters"].sum()
    assert of_norms == 4 * norm.weight.numel()


def test_what_a_layer_costs_is_the_sum_of_its_components() -> None:
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 9}
    table = costs.breakdown(BertConfig(**sizes, intermediate_size=16), tokens=5)
    matrices, biases, norms = 4 * 8 * 8 + 2 * 8 * 16, 4 * 8 + 16 + 8, 2 * 2 * 8
    said = layers.of_layers(table, "parameters", stream="encoder")
    assert said == f"Each of the 3 layers of the encoder takes {matrices + biases + norms} parameters."
    times = pd.DataFrame({"stream": "encoder", "layer": [0, 0, 1], "milliseconds": [1.0, 2.0, 5.0]})
    said = layers.of_layers(times, "milliseconds", stream="encoder")
    assert said == "The layers of the encoder take from 3.00 ms to 5.00 ms each."
    assert layers.of_layers(times[:2], "milliseconds", stream="encoder").startswith("The only layer of the encoder")


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
        each = 2 * 2 * width * layers  # FLOPs of scores and mix for a pair of a query and a key
        computed = each * mask.size
        found = rules.needed(pairs)
        assert found == words.needed(computed=computed, known=computed, needed=each * int(mask.sum()))
        assert rules.masks(pairs)["layers"].tolist() == [layers, layers]
        share = f"{mask.sum() / mask.size:.0%}".replace("%", " %")
        expected = share if mask.sum() < mask.size else "all"
        assert expected in found
    assert "no rule" in words.needed(computed=10, known=0, needed=0)
    assert "Of 4.00 FLOP more" in words.needed(computed=10, known=6, needed=6)


def test_linear_attention_without_pairs_takes_what_torch_counts() -> None:
    size = {"vocabulary": 9, "layers": 2, "decoder_layers": 1, "width": 12, "heads": 3, "ffn_width": 8}
    config = TransformerConfig(**size, max_positions=9, shape="encoder-decoder", weighting="linear")
    with FlopCounterMode(display=False) as counter:
        for queries, keys in ((7, 7), (7, 7), (5, 5), (5, 7)):
            query, key = (torch.empty(1, 3, count, 4, device="meta") for count in (queries, keys))
            linear_attention(query, key, key)
    assert shares.without_pairs(config, tokens=7, target_tokens=5) == counter.get_total_flops()
    assert shares.without_pairs(BertConfig(), tokens=7, target_tokens=7) == 0
    table = costs.breakdown(config, tokens=7, target_tokens=5)
    assert table[table["component"].isin(shares.PAIRS)]["flops"].sum() == 3 * 4 * 4 * (7 * 7 + 7 * 7 + 5 * 5 + 5 * 7)


def test_terms_of_a_component_give_its_flops_and_columns_of_zeros_are_left_out() -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    model = costs.count(BertConfig(**sizes))
    table = rules.terms(model, stream="encoder").set_index("component")
    assert list(table.columns) == ["n", "n²"]
    assert table.loc["attention: scores"].tolist() == [0, 2 * 2 * 16]  # layers, a product and a sum, D
    assert table.loc["attention: q"].tolist() == [2 * 2 * 16 * 16, 0]
    flops = model.table(tokens=10)
    inside = flops[flops["layer"].notna() & flops["part"].isin(["attention", "ffn"])]
    assert (10 * table["n"] + 100 * table["n²"]).sum() == inside["flops"].sum()


@pytest.mark.parametrize(
    ("flops", "parameters", "told"),
    [
        (0.506, 0.5, "needs about half the FFN's FLOPs (0.506) and has half its parameters."),
        (1 / 3, 0.42, "needs a third of the FFN's FLOPs and has 0.42 times its parameters."),
        (0.335, 1.25, "needs about a third of the FFN's FLOPs (0.335) and has 1.25 times its parameters."),
    ],
)
def test_a_ratio_near_a_plain_fraction_is_told_as_the_fraction(flops: float, parameters: float, told: str) -> None:
    said = words.against(flops=flops, parameters=parameters, elementwise=False, experts=False)
    assert said == f" Attention {told}"
