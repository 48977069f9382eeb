"""The tree of a beam search, against all texts of a tiny vocabulary scored one by one, and a beam search by hand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch

import models
from inspector.generating import beams
from inspector.generating.beams import BeamTree
from models.decoding import BeamStep
from models.transformer import build
from models.transformer.config import TransformerConfig
from models.transformer.generation import NextToken, beam_search
from tests.closeness import assert_close

END, LONGEST = 3, 3
Score = Callable[[tuple[int, ...]], tuple[float, float]]


@pytest.fixture(scope="module")
def decoder():
    torch.manual_seed(3)
    config = TransformerConfig(
        vocabulary=4, layers=2, width=16, heads=2, ffn_width=24, max_positions=9, shape="decoder"
    )
    model = build(config).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.4 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module")
def score(decoder) -> Score:
    """(log P, score) of new tokens after the prompt [1], by one forward of the whole model."""

    @torch.no_grad()
    def of(tokens: tuple[int, ...]) -> tuple[float, float]:
        log_p = torch.log_softmax(decoder.logits(decoder(torch.tensor([[1, *tokens]]))), dim=-1)[0]
        total = sum(float(log_p[place, token]) for place, token in enumerate(tokens))
        return total, total / ((5 + len(tokens)) / 6) ** 0.6

    return of


def tree_of(decoder, width: int) -> tuple[BeamTree, list[int], float]:
    steps: list[BeamStep] = []
    with torch.no_grad():
        ask = NextToken(decoder)
    text, best = beam_search(
        ask, torch.tensor([[1]]), new_tokens=LONGEST, beams=width, ends=[END], length_penalty=0.6, watch=steps.append
    )
    return beams.grow(steps, beams=width, length_penalty=0.6, name=str), text[1:].tolist(), best


def test_a_wide_beam_grows_all_texts(decoder, score: Score) -> None:
    """A beam wider than there are texts drops nothing: every beginning is a node, with its exact probability."""
    tree, text, best = tree_of(decoder, 100)
    begun = {
        tokens
        for length in range(1, LONGEST + 1)
        for tokens in product(range(4), repeat=length)
        if END not in tokens[:-1]
    }
    assert {tree.ids(index) for index in range(len(tree.nodes))} == begun
    assert len(tree.nodes) == len(begun)
    for index, node in enumerate(tree.nodes):
        total, value = score(tree.ids(index))
        assert_close((node.total, node.score), (total, value), relative=1e-10)
        before = score(tree.ids(index)[:-1])[0] if node.step > 1 else 0.0
        assert_close(node.log_probability, total - before, relative=1e-10)
        assert node.over == (tree.ids(index)[-1] == END)
        assert node.hypothesis == (node.over or node.step == LONGEST)
        assert node.alive
    finished = [tree.ids(index) for index, node in enumerate(tree.nodes) if node.hypothesis]
    winner = max(finished, key=lambda tokens: score(tokens)[1])
    assert list(winner) == text == [node.id for node in tree.nodes if node.best]
    assert_close(score(winner)[1], best, relative=1e-10)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_a_narrow_beam_keeps_the_likeliest_of_each_step(decoder, score: Score, width: int) -> None:
    """The same search by hand, in sets of texts: keep the `width` likeliest, put aside those that ended."""
    going, rows, finished = [()], [], []
    for _ in range(LONGEST):
        texts = [(*text, token) for text in going for token in range(4)]
        kept = sorted(texts, key=lambda tokens: -score(tokens)[0])[:width]
        rows.append(kept)
        finished += [tokens for tokens in kept if tokens[-1] == END]
        going = [tokens for tokens in kept if tokens[-1] != END]
        if not going or len(finished) >= width:
            break
    finished += going
    tree, text, _ = tree_of(decoder, width)
    found = [tree.ids(index) for index in range(len(tree.nodes))]
    assert found == [tokens for row in rows for tokens in row]
    assert {found[index] for index, node in enumerate(tree.nodes) if node.hypothesis} == set(finished)
    for tokens, node in zip(found, tree.nodes, strict=True):
        assert node.alive == any(end[: len(tokens)] == tokens for end in finished)
        assert node.best == (tuple(text[: len(tokens)]) == tokens)
    assert tuple(text) == max(finished, key=lambda tokens: score(tokens)[1])


def test_watching_changes_nothing(decoder) -> None:
    with torch.no_grad():
        asks = [NextToken(decoder) for _ in range(2)]
    prompt, steps = torch.tensor([[1]]), []
    alone = beam_search(asks[0], prompt, new_tokens=5, beams=3, ends=[END])
    watched = beam_search(asks[1], prompt, new_tokens=5, beams=3, ends=[END], watch=steps.append)
    assert torch.equal(alone[0], watched[0])
    assert alone[1] == watched[1]
    assert steps


def test_the_translator_answers_with_the_best_path() -> None:
    loaded = models.load("translator")
    tree, greedy = (beams.search(loaded, "I love cats.", beams=width, new_tokens=40) for width in (4, 1))
    table = beams.texts(loaded, tree, greedy=greedy)
    assert table["text"][0] == loaded.generate("I love cats.")
    assert table["score"].is_monotonic_decreasing
    best = next(index for index, node in reversed(list(enumerate(tree.nodes))) if node.best)
    assert (table["score"][0], table["log_probability"][0]) == (tree.nodes[best].score, tree.nodes[best].total)
    assert table["tokens"][0] == len(tree.path(best))
    assert set(table["found_by"]) <= {"beam", "greedy", "both"}
    assert table["found_by"].isin(["greedy", "both"]).sum() == 1
    assert table["ended"].any()


def test_a_beam_as_wide_as_it_likes_and_one_of_none() -> None:
    loaded = models.load("own-decoder")
    assert len([node for node in beams.search(loaded, "Hi.", beams=6, new_tokens=1).nodes if node.hypothesis]) == 6
    with pytest.raises(ValueError, match="beam search with 0 beams for 1 new tokens"):
        beams.search(loaded, "Hi.", beams=0, new_tokens=1)
    with pytest.raises(ValueError, match="The text is empty"):
        beams.search(loaded, "", beams=2, new_tokens=1)
