"""Beam search as a tree: every text that was kept for a while, and what became of it; a part of the probe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import pandas as pd
import torch
from torch import nn

import models
from inspector.generating.writing import Watch, prompt
from models import LoadedModel
from models.decoding import BeamStep, LengthPenalty
from models.tokenizers import token_names


@dataclass(frozen=True)
class BeamNode:
    """One kept token of the tree.

    step: from 1; parent: its index in the tree, None at the first step; log_probability: of the token after its text;
    total: of all new tokens up to it; score: total over the length penalty.
    hypothesis: the search could have answered with the text that ends here (it has ended, or was still in the beam when
    the search stopped); over: it has ended; alive: a hypothesis goes through here, else the beam dropped it.
    best: on the path of the text that won.
    """

    step: int
    parent: int | None
    id: int
    token: str
    log_probability: float
    total: float
    score: float
    over: bool
    hypothesis: bool = False
    alive: bool = False
    best: bool = False


@dataclass(frozen=True)
class BeamTree:
    """All nodes, step by step, the likeliest of a step first.

    A node's score is its total over ((5 + n) / 6)^length_penalty for n new tokens (divides_by "wu", Wu et al. 2016), or
    over n^length_penalty ("power"), as transformers divides.
    """

    beams: int
    length_penalty: float
    nodes: tuple[BeamNode, ...]
    divides_by: LengthPenalty = "wu"

    def path(self, index: int) -> list[int]:
        """The indices from the first step to this node."""
        path = [index]
        while (parent := self.nodes[path[-1]].parent) is not None:
            path.append(parent)
        return path[::-1]

    def ids(self, index: int) -> tuple[int, ...]:
        """The new tokens' ids up to this node."""
        return tuple(self.nodes[node].id for node in self.path(index))


def search(
    loaded: LoadedModel | nn.Module,
    text: str,
    *,
    beams: int,
    new_tokens: int,
    length_penalty: float | None = None,
    watch: Watch | None = None,
) -> BeamTree:
    """Beam search of what the model writes, with every step kept.

    The project's Transformer searches with `models.transformer.generation.beam_search`, a model of transformers with
    its own beam search and the rules of its generation_config. length_penalty: None for the model's own. watch is
    called with the number of steps done so far.

    Raises ValueError as `generating.prompt`, and for fewer than 1 beam or new token.
    """
    loaded = models.of(loaded)
    given = prompt(loaded, text)
    if beams < 1 or new_tokens < 1:
        raise ValueError(f"beam search with {beams} beams for {new_tokens} new tokens; search with at least 1 of each")
    runner, steps = loaded.runner, list[BeamStep]()

    def seen(step: BeamStep) -> None:
        steps.append(step)
        if watch is not None:
            watch(len(steps))

    answer = runner.search(
        torch.tensor([given.encoding.ids]),
        beams=beams,
        new_tokens=min(new_tokens, given.room),
        length_penalty=length_penalty,
        watch=seen,
    )

    def name(id: int) -> str:
        return token_names(loaded.tokenizer, [id])[0]

    penalty = runner.length_penalty if length_penalty is None else length_penalty
    tree = grow(steps, beams=beams, length_penalty=penalty, name=name, open_could_win=answer.open_could_win)
    return replace(tree, divides_by=runner.divides_by)


def grow(
    steps: list[BeamStep],
    *,
    beams: int,
    length_penalty: float,
    name: Callable[[int], str],
    open_could_win: bool = True,
) -> BeamTree:
    """The tree of a search's steps; `name` gives a token's text.

    open_could_win: whether the texts that had not ended when the search stopped could have been the answer.
    """
    nodes: list[BeamNode] = []
    going: list[int | None] = [None]  # the texts that are not over, as nodes
    for number, step in enumerate(steps, start=1):
        places = []
        columns = (step.rows.tolist(), step.tokens.tolist(), step.total.tolist(), step.scores.tolist())
        for row, id, total, score, over in zip(*columns, step.over.tolist(), strict=True):
            parent = going[row]
            before = 0.0 if parent is None else nodes[parent].total
            nodes.append(BeamNode(number, parent, id, name(id), total - before, total, score, over, hypothesis=over))
            if not over:
                places.append(len(nodes) - 1)
        going = [*places]
    for index in going if open_could_win else ():
        if index is not None:
            nodes[index] = replace(nodes[index], hypothesis=True)
    return _marked(BeamTree(beams, length_penalty, tuple(nodes)))


def _marked(tree: BeamTree) -> BeamTree:
    """Mark the living nodes and the winner: the first best score, ended texts before others, as the search does."""
    ends = [index for index, node in enumerate(tree.nodes) if node.hypothesis]
    ends.sort(key=lambda index: (not tree.nodes[index].over, index))
    alive = {node for end in ends for node in tree.path(end)}
    best = set(tree.path(max(ends, key=lambda index: tree.nodes[index].score)))
    nodes = (replace(node, alive=index in alive, best=index in best) for index, node in enumerate(tree.nodes))
    return replace(tree, nodes=tuple(nodes))


def table(tree: BeamTree) -> pd.DataFrame:
    """The nodes of a tree, a row each: node, its number, which `parent` refers to, and the fields of `BeamNode`."""
    nodes = pd.DataFrame([asdict(node) for node in tree.nodes]).astype({"parent": "Int64"})
    return nodes.rename_axis("node").reset_index()


def texts(loaded: LoadedModel, tree: BeamTree, *, greedy: BeamTree) -> pd.DataFrame:
    """The hypotheses of a beam, the best first, and the greedy text (the tree of one beam) among them.

    Columns: text, found_by (beam | greedy | both), score, log_probability, tokens, ended.
    """
    rows: dict[tuple[int, ...], dict[str, object]] = {}
    for found_by, of in (("beam", tree), ("greedy", greedy)):
        for index, node in enumerate(of.nodes):
            if not node.hypothesis:
                continue
            ids = of.ids(index)
            if ids in rows:
                rows[ids]["found_by"] = "both"
                continue
            rows[ids] = {
                "text": loaded.tokenizer.decode(list(ids), skip_special_tokens=True),
                "found_by": found_by,
                "score": node.score,
                "log_probability": node.total,
                "tokens": len(ids),
                "ended": node.over,
            }
    return pd.DataFrame(list(rows.values())).sort_values("score", ascending=False, ignore_index=True)


@dataclass(frozen=True)
class BeamGain:
    """The score of the best text that a beam kept, and of the greedy text; same: they are one text."""

    best: float
    greedy: float
    same: bool


def gain(texts: pd.DataFrame) -> BeamGain:
    """Compare the best text of a beam with the greedy text; texts: of `texts`."""
    best = texts[texts["found_by"] != "greedy"].iloc[0]
    greedy = texts[texts["found_by"] != "beam"].iloc[0]
    return BeamGain(float(best["score"]), float(greedy["score"]), same=bool(best.name == greedy.name))
