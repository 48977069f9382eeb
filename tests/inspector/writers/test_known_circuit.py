"""A model whose circuit is known, for its weights are set by hand: a previous-token head and an induction head.

Token t is direction t of 16, position p direction 16 + p, and directions 32 to 47 hold the token before. Head 2 of
layer 0 compares position p with p - 1 and copies that token to 32 + t; head 1 of layer 1 compares its own token with
32 + t and copies the token that it finds to the output (Elhage et al. 2021; Olsson et al. 2022). All else is noise.
"""

from __future__ import annotations

import pytest
import torch

import inspector
from inspector import writers
from inspector.writers import Writer
from models import LoadedModel
from tests.closeness import assert_close
from tests.models.own_models import own

TEXT = "cat dog sun sea cat"  # the tokenizer adds [CLS] and [SEP]
PREVIOUS, INDUCTION = Writer("head", "decoder", 0, 2), Writer("head", "decoder", 1, 1)
STRENGTH = 12.0


@pytest.fixture(scope="module")
def induction() -> LoadedModel:
    loaded = own(
        "decoder",
        norm="rms",
        norm_placement="pre",
        final_norm=True,
        positions="learned",
        embedding_scale=False,
        max_positions=16,
    )
    ids = list(dict.fromkeys(loaded.encode(TEXT).ids))
    generator = torch.Generator().manual_seed(0)
    weights = dict(loaded.network.named_parameters())
    with torch.no_grad():
        for name, parameter in weights.items():
            if "norm" not in name:
                parameter.copy_(0.01 * torch.randn(parameter.shape, generator=generator))
        tokens = weights["embedding.token.weight"]
        for direction, token in enumerate(ids):
            tokens[token, direction] = 1.0
        (positions,) = (parameter for name, parameter in weights.items() if "position" in name)
        for place in range(16):
            positions[place, 16 + place] = 1.0

        def rows(matrix: str, layer: int, head: int) -> torch.Tensor:
            return weights[f"layers.{layer}.attention.{matrix}.weight"][16 * head : 16 * head + 16]

        for place in range(1, 16):
            rows("query", 0, 2)[place - 1, 16 + place] = STRENGTH
        for place in range(16):
            rows("key", 0, 2)[place, 16 + place] = 1.0
            rows("value", 0, 2)[place, place] = 1.0
            weights["layers.0.attention.out.weight"][32 + place, 16 * 2 + place] = 1.0
            rows("query", 1, 1)[place, place] = STRENGTH
            rows("key", 1, 1)[place, 32 + place] = 1.0
            rows("value", 1, 1)[place, place] = 1.0
            weights["layers.1.attention.out.weight"][place, 16 + place] = 1.0
    return loaded


def test_the_two_heads_and_the_edge_between_them_are_found(induction: LoadedModel) -> None:
    trace = inspector.record(induction, TEXT)
    again, first = (place for place in reversed(range(len(trace.tokens))) if trace.tokens[place] == "cat")
    row = trace.attention(layer=1, head=1)[again]
    assert row.argmax() == first + 1  # "dog", which came after the first "cat"
    score = writers.of_score(trace, induction, layer=1, head=1, query=again, key=first + 1)
    strongest = score.pairs().iloc[0]
    assert (strongest["query_kind"], strongest["key_kind"]) == ("embedding", "head")
    assert (strongest["key_layer"], strongest["key_head"]) == (0, 2)
    of_key = dict(zip(score.keys, score.matrix.sum(axis=0), strict=True))
    edge = of_key.pop(PREVIOUS)
    assert edge > 0.9 * score.total
    assert all(abs(other) < 0.1 * edge for other in of_key.values())
    opened = writers.of_score(
        trace, induction, layer=1, head=1, query=again, key=first + 1, opened=("key", PREVIOUS)
    ).side("key")
    from_tokens = opened[opened["source"].notna()].set_index("source")["contribution"]
    assert from_tokens.idxmax() == first
    assert from_tokens[first] > 0.9 * edge


def test_the_prediction_is_written_by_the_induction_head(induction: LoadedModel) -> None:
    trace = inspector.record(induction, TEXT)
    again = max(place for place, token in enumerate(trace.tokens) if token == "cat")
    logit = writers.of_logit(trace, induction, position=again, token="dog", against="sea")
    parts = dict(zip(logit.writers, logit.contributions, strict=True))
    assert max(parts, key=lambda writer: parts[writer]) == INDUCTION
    others = [abs(share) for writer, share in parts.items() if writer != INDUCTION and writer.kind == "head"]
    assert max(others) < 0.2 * parts[INDUCTION]
    opened = writers.of_logit(trace, induction, position=again, token="dog", against="sea", opened=INDUCTION)
    by_token = {
        writer.source: share
        for writer, share in zip(opened.writers, opened.contributions, strict=True)
        if writer.source is not None
    }
    assert trace.tokens[max(by_token, key=lambda place: by_token[place])] == "dog"
    assert_close(sum(by_token.values()), parts[INDUCTION], relative=1e-5, scale=list(by_token.values()))


def test_a_query_that_does_not_see_a_key_has_no_score(induction: LoadedModel) -> None:
    trace = inspector.record(induction, TEXT)
    with pytest.raises(ValueError, match="query 1 does not see key 3"):
        writers.of_score(trace, induction, layer=1, head=1, query=1, key=3)
    with pytest.raises(ValueError, match="no head among the writers of the query's side"):
        writers.of_score(trace, induction, layer=0, head=1, query=3, key=1, opened=("query", INDUCTION))
    with pytest.raises(ValueError, match="is 3 tokens here"):
        writers.of_logit(trace, induction, position=1, token="no such token")
    with pytest.raises(ValueError, match="position 99 is out of range"):
        writers.of_logit(trace, induction, position=99, token=3)
