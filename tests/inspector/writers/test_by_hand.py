"""Writers of a two-layer model against its own arithmetic, written out in numpy's float64 with plain loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import inspector
from inspector import writers
from inspector.writers import Writer
from models import LoadedModel
from tests.closeness import assert_close
from tests.models.own_models import own

SHAW = {"positions": "shaw"}
TEXT = "the cat sat on the mat"
Floats = np.ndarray[Any, Any]


def float64(shape: str, **switches: Any) -> LoadedModel:
    loaded = own(shape, **switches)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in loaded.network.parameters():
            parameter.copy_(parameter + 0.1 * torch.randn(parameter.shape, generator=generator))
    loaded.network.double()
    return loaded


@dataclass
class ByHand:
    """A pre-norm decoder with RMSNorm, RoPE and ReLU of width 64 and 4 heads, run token by token and head by head."""

    weights: dict[str, Floats]
    ids: list[int]

    def norm(self, vector: Floats, state: Floats, name: str) -> Floats:
        """Scale by gamma and by the state's own root mean square."""
        rms = np.sqrt(sum(x * x for x in state) / len(state) + 1e-5)
        return self.weights[f"{name}.gamma"] * vector / rms

    def turn(self, vector: Floats, position: int) -> Floats:
        """Rotate pairs (2i, 2i + 1) of 16 dimensions by position / 10000^(i / 8) (Su et al. 2021)."""
        turned = vector.copy()
        for i in range(8):
            angle = position / 10000 ** (i / 8)
            a, b = vector[2 * i], vector[2 * i + 1]
            turned[2 * i] = a * np.cos(angle) - b * np.sin(angle)
            turned[2 * i + 1] = a * np.sin(angle) + b * np.cos(angle)
        return turned

    def head(self, matrix: str, layer: int, head: int) -> tuple[Floats, Floats]:
        """W [D, E] and b [E] of a head."""
        name, columns = f"layers.{layer}.attention.{matrix}", slice(16 * head, 16 * head + 16)
        return self.weights[f"{name}.weight"][columns].T, self.weights[f"{name}.bias"][columns]

    def states(self) -> tuple[list[dict[Writer, Floats]], list[dict[Writer, Floats]], list[list[Floats]]]:
        """Compute who wrote what to each token before layer 1's attention and in the end, and layer 1's weights."""
        at: list[dict[Writer, Floats]] = [
            {Writer("embedding", "decoder"): 8.0 * self.weights["embedding.token.weight"][i]} for i in self.ids
        ]
        before: list[dict[Writer, Floats]] = []
        maps: list[list[Floats]] = []
        for layer in range(2):
            x = [sum(parts.values()) for parts in at]
            if layer == 1:
                before = [dict(parts) for parts in at]
            normed = [self.norm(state, state, f"layers.{layer}.attention_norm") for state in x]
            out = self.weights[f"layers.{layer}.attention.out.weight"]
            for head in range(4):
                rows = []
                (wq, bq), (wk, bk), (wv, bv) = (self.head(name, layer, head) for name in ("query", "key", "value"))
                for i in range(len(x)):
                    q = self.turn(normed[i] @ wq + bq, i)
                    scores = [q @ self.turn(normed[j] @ wk + bk, j) / 4 for j in range(i + 1)]
                    weights = np.exp(np.array(scores) - max(scores))
                    weights /= weights.sum()
                    rows.append(weights)
                    z = sum(weights[j] * (normed[j] @ wv + bv) for j in range(i + 1))
                    at[i][Writer("head", "decoder", layer, head)] = out[:, 16 * head : 16 * head + 16] @ z
                maps = [*maps, rows] if layer == 1 else maps
            for i in range(len(x)):
                at[i][Writer("bias", "decoder", layer, name="W_O")] = self.weights[f"layers.{layer}.attention.out.bias"]
                state = sum(at[i].values())
                h = self.norm(state, state, f"layers.{layer}.ffn_norm")
                up = self.weights[f"layers.{layer}.ffn.up.weight"] @ h + self.weights[f"layers.{layer}.ffn.up.bias"]
                down = self.weights[f"layers.{layer}.ffn.down.weight"] @ np.maximum(up, 0)
                at[i][Writer("ffn", "decoder", layer)] = down + self.weights[f"layers.{layer}.ffn.down.bias"]
        return before, at, maps


@pytest.fixture(scope="module")
def decoder() -> LoadedModel:
    return float64("decoder", norm="rms", norm_placement="pre", final_norm=True, positions="rope")


@pytest.fixture(scope="module")
def by_hand(decoder: LoadedModel) -> ByHand:
    weights = {name: parameter.numpy() for name, parameter in decoder.network.named_parameters()}
    return ByHand(weights, list(inspector.record(decoder, TEXT).encoding.ids))


def test_pairs_of_a_score_are_those_of_plain_loops(decoder: LoadedModel, by_hand: ByHand) -> None:
    trace = inspector.record(decoder, TEXT)
    before, _, _ = by_hand.states()
    for head, query, key in ((0, 4, 2), (3, 5, 5), (2, 3, 0)):
        score = writers.of_score(trace, decoder, layer=1, head=head, query=query, key=key)
        sides = []
        for matrix, position in (("query", query), ("key", key)):
            w, b = by_hand.head(matrix, 1, head)
            state = sum(before[position].values())
            norm = "layers.1.attention_norm"
            side = {
                writer: by_hand.turn(by_hand.norm(vector, state, norm) @ w, position)
                for writer, vector in before[position].items()
            }
            side[Writer("bias", "decoder", 1, name=f"layers.1.attention.{matrix}.bias")] = by_hand.turn(b, position)
            sides.append(side)
        expected = [[sides[0][a] @ sides[1][b] / 4 for b in score.keys] for a in score.queries]
        assert (set(score.queries), set(score.keys)) == (set(sides[0]), set(sides[1]))
        assert_close(score.matrix, np.array(expected), relative=1e-12)
        assert_close(score.total, score.recorded, relative=1e-6, scale=score.matrix)  # the map itself is float32
        assert_close(score.total, score.before, relative=1e-12, scale=score.matrix)


def test_contributions_to_a_logit_are_those_of_plain_loops(decoder: LoadedModel, by_hand: ByHand) -> None:
    trace = inspector.record(decoder, TEXT)
    _, after, maps = by_hand.states()
    position, token, against = 4, 100, 7
    logit = writers.of_logit(trace, decoder, position=position, token=token, against=against)
    rows = by_hand.weights["embedding.token.weight"]
    direction, state = rows[token] - rows[against], sum(after[position].values())
    expected = {
        writer: by_hand.norm(vector, state, "final_norm") @ direction for writer, vector in after[position].items()
    }
    assert set(logit.writers) == set(expected)
    assert_close(logit.contributions, [expected[writer] for writer in logit.writers], relative=1e-12)
    assert_close(logit.total, logit.recorded, relative=1e-12, scale=logit.contributions)
    opened = Writer("head", "decoder", 1, 2)
    split = writers.of_logit(trace, decoder, position=position, token=token, against=against, opened=opened)
    by_token = {writer.source: share for writer, share in zip(split.writers, split.contributions, strict=True)}
    del by_token[None]
    assert list(by_token) == list(range(len(by_hand.ids)))
    assert_close(sum(by_token.values()), expected[opened], relative=1e-12)
    assert by_token[5] == 0.0  # the token behind the query
    assert len(maps[2][position]) == position + 1


@pytest.mark.parametrize(
    ("shape", "switches"),
    [
        ("encoder", {}),
        ("encoder", {"norm_placement": "pre", "final_norm": True}),
        ("decoder", SHAW),
        ("decoder", {"positions": "xl"}),
        ("decoder", {"positions": "alibi"}),
        ("decoder", {"positions": "t5"}),
        ("decoder", {"kv_heads": 2, "positions": "rope"}),
        ("decoder", {"score": "general"}),
        ("decoder", {"weighting": "sigmoid"}),
        ("decoder", {"merge": "sum"}),
        ("encoder", {"embedding_norm": True, "positions": "learned"}),
        ("encoder-decoder", {}),
        ("encoder-decoder", {"norm_placement": "pre", "final_norm": True}),
    ],
    ids=str,
)
def test_sums_are_exact_in_float64(shape: str, switches: dict[str, Any]) -> None:
    loaded = float64(shape, **switches)
    target = "the dog sat" if shape == "encoder-decoder" else None
    trace = inspector.record(loaded, TEXT, target=target)
    inside = writers.look_inside(trace, loaded)
    for site in trace.sites:
        query = min(3, len(site.queries) - 1)
        score = writers.of_score(
            trace, loaded, layer=site.layer, stream=site.stream, head=1, query=query, key=1, inside=inside
        )
        assert_close(score.total, score.before, relative=1e-12, scale=score.matrix)
        for role, each in (("query", score.queries), ("key", score.keys)):
            heads = [writer for writer in each if writer.kind == "head"]
            for head in heads[:2] if switches != SHAW else ():  # whose heads mix vectors of the distance too
                split = writers.of_score(
                    trace,
                    loaded,
                    layer=site.layer,
                    stream=site.stream,
                    head=1,
                    query=query,
                    key=1,
                    opened=(role, head),  # type: ignore[arg-type]
                    inside=inside,
                )
                assert_close(split.total, score.total, relative=1e-12, scale=score.matrix)
    if loaded.predict is not None:
        logit = writers.of_logit(trace, loaded, position=2, token=50, inside=inside)
        assert_close(logit.total, logit.recorded, relative=1e-12, scale=logit.contributions)
