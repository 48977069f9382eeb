"""The 80/10/10 rule within binomial bounds, and accuracy and loss by rate as transformers' BertForMaskedLM has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from transformers import BertConfig, BertForMaskedLM

import models
from inspector import masked_lm, record
from inspector.masked_lm.drawing import hidden
from models import LoadedModel
from tests.closeness import assert_close

TEXT = "The cat sat on the mat because it was tired."
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(scope="module")
def bert() -> BertForMaskedLM:
    """A tiny random BERT with its own head, by transformers; large weights, so that no guess is like another."""
    torch.manual_seed(0)
    config = BertConfig(max_position_embeddings=40, initializer_range=0.5, attn_implementation="eager", **SIZES)
    return BertForMaskedLM(config).eval()


@pytest.fixture(scope="module")
def loaded(bert: BertForMaskedLM, minilm: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """Load the model from a folder, as a reader does."""
    folder: Path = tmp_path_factory.mktemp("bert")
    bert.save_pretrained(folder)
    minilm.tokenizer.save_pretrained(folder)
    return models.load(folder)


@pytest.mark.parametrize("name", ["mini-bert", "mini-bert-zh"])
@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_shares_of_100_000_draws_are_within_binomial_bounds(shipped, name: str, rate: float) -> None:
    loaded = shipped(name)
    encoding = loaded.encode(TEXT if name == "mini-bert" else "我昨天买了一本新书。")
    table = masked_lm.shares(loaded, encoding, rate=rate, seed=0).set_index("fate")
    for fate, share in (("masked", 0.8), ("random", 0.1), ("kept", 0.1)):
        low, high = stats.binom.interval(0.999, 100_000, rate * share)
        assert low <= table["count"][fate] <= high
        assert table["deviation"][fate] == pytest.approx(stats.binom.std(100_000, rate * share) / 100_000)
    if rate == 0.15:
        assert table["rule"].tolist() == pytest.approx([0.12, 0.015, 0.015])
    assert masked_lm.trained_rate(loaded) == {"mini-bert": 0.15, "mini-bert-zh": 0.25}[name]


def test_a_draw_hides_what_it_says_and_nothing_else(shipped) -> None:
    loaded = shipped("mini-bert")
    trace = record(loaded, TEXT)
    fates = set()
    for seed in range(6):
        drawn = masked_lm.draw(loaded, trace, rate=0.5, seed=seed)
        ids, labels = hidden(loaded, trace.encoding, rate=0.5, seed=seed, rows=1)
        assert [one.position for one in drawn.chosen] == (labels[0] != -100).nonzero()[:, 0].tolist()
        for one in drawn.chosen:
            assert one.token == trace.tokens[one.position] == one.guess.token
            assert (one.read == "[MASK]") == (one.fate == "masked")
            assert (one.read == one.token) == (one.fate == "kept")
            fates.add(one.fate)
        untouched = [at for at in range(len(trace.tokens)) if labels[0, at] == -100]
        assert [int(ids[0, at]) for at in untouched] == [trace.encoding.ids[at] for at in untouched]
        assert {0, len(trace.tokens) - 1} <= set(untouched)  # [CLS] and [SEP]
    assert fates == set(masked_lm.FATES)


def test_a_draw_that_chooses_nothing_is_told_and_does_not_bend_the_rates(shipped) -> None:
    """Empty draws are 0.95^12 = 54 % at 5 % of 12 tokens; counted as draws of one token they make it 9.5 %."""
    loaded = shipped("mini-bert")
    trace = record(loaded, "He shook his head and said that he did not know.")
    drawn = [masked_lm.draw(loaded, trace, rate=0.05, seed=seed) for seed in range(60)]
    empty = [one for one in drawn if not one.by_chance]
    low, high = stats.binom.interval(0.999, len(drawn), 0.95 ** len(drawn[0].choosable))
    assert low <= len(empty) <= high
    assert {tuple(chosen.position for chosen in one.chosen) for one in empty} == {(1,)}
    table = masked_lm.by_rate(loaded, trace.encoding, rates=(0.05, 0.1)).set_index(["rate", "fate"])
    for rate in (0.05, 0.1):
        row = table.loc[(rate, "all")]
        tokens = int(row["draws"]) * len(drawn[0].choosable)
        low, high = stats.binom.interval(0.999, tokens, rate)
        assert low <= row["count"] == row["share"] * tokens <= high


def test_rates_equal_transformers_loss_and_accuracy(bert: BertForMaskedLM, loaded: LoadedModel) -> None:
    encoding = loaded.encode(TEXT)
    seen: list[tuple[int, int]] = []
    table = masked_lm.by_rate(
        loaded, encoding, rates=(0.1, 0.5), rows=9, on_progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (45, 45)
    assert dict(zip(table["rate"], table["draws"], strict=True)) == {0.1: 36, 0.5: 9}
    for rate, rows in table.groupby("rate"):
        ids, labels = hidden(loaded, encoding, rate=float(str(rate)), seed=0, rows=int(rows["draws"].iloc[0]))
        with torch.no_grad():
            found = bert(ids, labels=labels)
        likeliest = found.logits.topk(5).indices
        right = (likeliest == labels[..., None]) & (labels != -100)[..., None]
        row = rows.set_index("fate").loc["all"]
        count = int((labels != -100).sum())
        assert row["count"] == count == rows[rows["fate"] != "all"]["count"].sum()
        assert_close(row["loss"], float(found.loss), relative=1e-5)
        assert row["top1"] == pytest.approx(float(right[..., 0].sum()) / count)
        assert row["top5"] == pytest.approx(float(right.sum()) / count)


def test_the_error_is_the_spread_of_other_draws(loaded: LoadedModel) -> None:
    encoding = loaded.encode(TEXT)
    found = [
        masked_lm.by_rate(loaded, encoding, rates=(0.3,), rows=20, seed=seed).set_index("fate").loc["all"]
        for seed in range(30)
    ]
    spread = np.std([row["loss"] for row in found], ddof=1)
    assert np.mean([row["loss_error"] for row in found]) == pytest.approx(spread, rel=0.4)  # 30 draws of it: 13 %


def test_writing_with_masks_equals_a_plain_loop(bert: BertForMaskedLM, loaded: LoadedModel) -> None:
    ids = list(loaded.encode(TEXT).ids)
    for _ in range(3):
        read = torch.tensor([[*ids[:-1], 103, 102]])
        with torch.no_grad():
            logits = bert(read).logits[0, len(ids) - 1]
        logits[loaded.tokenizer.all_special_ids] = -torch.inf
        ids = [*ids[:-1], int(logits.argmax()), 102]
    assert masked_lm.write(loaded, TEXT, new_tokens=3).ids == tuple(ids[-4:-1])
    written = masked_lm.write(loaded, TEXT).ids
    assert (written[:3], len(written)) == (tuple(ids[-4:-1]), 12)


def test_what_cannot_be_is_refused(minilm: LoadedModel, loaded: LoadedModel) -> None:
    with pytest.raises(ValueError, match="guesses no hidden tokens"):
        masked_lm.choosable(minilm, minilm.encode(TEXT))
    with pytest.raises(ValueError, match="knows no token of this text"):
        masked_lm.choosable(loaded, loaded.encode("買"))
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        masked_lm.shares(loaded, loaded.encode(TEXT), rate=1.5, seed=0)
    with pytest.raises(ValueError, match="room for 1 to"):
        masked_lm.write(loaded, TEXT, new_tokens=400)


def test_the_work_is_two_operations_for_each_parameter_and_token(loaded: LoadedModel) -> None:
    encoding = loaded.encode(TEXT)
    read = (36 + 9) * len(encoding)  # 4 times 9 draws at the lower rate: as many chosen tokens would take 5 times
    parameters = loaded.network.num_parameters()  # as transformers counts them
    assert masked_lm.work(loaded, encoding, rates=(0.1, 0.5), rows=9) == 2 * parameters * read
