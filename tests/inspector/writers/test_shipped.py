"""Sums of writers in the shipped models, for several texts, layers and cells, held to what the models gave."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import inspector
from inspector import writers
from models import LoadedModel
from tests.closeness import assert_close

TEXTS = (
    "The cat sat on the mat because it was tired.",
    "When Mary and John went to the store, John gave a drink to Mary.",
    "One two three four one two three.",
)


def check(loaded: LoadedModel, text: str, *, layers: int) -> set[str]:
    """Hold sums to scores and logits; return why heads were not split."""
    trace = inspector.record(loaded, text)
    inside = writers.look_inside(trace, loaded)
    whole: set[str] = set()
    random = np.random.default_rng(0)
    for site in trace.sites[:: max(1, len(trace.sites) // layers)]:
        for head in random.choice(site.heads, 2, replace=False).tolist():
            scores = trace.scores(layer=site.layer, head=head, stream=site.stream)
            query = int(random.integers(1, len(site.queries)))
            key = int(random.choice(np.flatnonzero(np.isfinite(scores[query]))))
            place = {"layer": site.layer, "head": head, "stream": site.stream, "query": query, "key": key}
            score = writers.of_score(trace, loaded, **place, inside=inside)  # type: ignore[arg-type]
            assert_close(score.total, float(scores[query, key]), relative=1e-5, scale=scores[np.isfinite(scores)])
            assert_close(
                score.side("query")["contribution"].sum(), score.matrix.sum(), relative=1e-9, scale=score.matrix
            )
            assert_close(score.pairs()["contribution"].sum(), score.matrix.sum(), relative=1e-9, scale=score.matrix)
            whole |= {writer.whole for writer in (*score.queries, *score.keys)}
    if loaded.predict is not None:
        logits = loaded.predict(trace.hidden[None])[0].double().numpy()
        position = len(logits) - 2
        best, second = (int(token) for token in np.argsort(-logits[position])[:2])
        for against in (None, second):
            logit = writers.of_logit(trace, loaded, position=position, token=best, against=against, inside=inside)
            want = logits[position, best] - (0 if against is None else logits[position, against])
            assert_close(logit.total, want, relative=1e-5, scale=logits[position])
            assert_close(logit.by_part()["contribution"].sum(), logit.total, relative=1e-9, scale=logit.contributions)
            heads = [writer for writer in logit.writers if writer.kind == "head"]
            split = writers.of_logit(
                trace, loaded, position=position, token=best, against=against, opened=heads[-1], inside=inside
            )
            assert_close(split.total, logit.total, relative=1e-6, scale=logits[position])
            whole |= {writer.whole for writer in logit.writers}
    return whole - {""}


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["minilm", "translator", "mini-gpt", "mini-bert"])
def test_sums_hold_in_the_shipped_models(shipped: Callable[[str], LoadedModel], name: str) -> None:
    loaded = shipped(name)
    for text in TEXTS:
        assert check(loaded, text.replace("mat", "[MASK]") if name == "mini-bert" else text, layers=4) == set()


@pytest.mark.heavy
def test_sums_hold_in_smollm2(smollm2: LoadedModel) -> None:
    for text in TEXTS:
        assert check(smollm2, text, layers=4) == set()


def test_previous_token_heads_write_the_keys_of_mini_gpts_induction_head(
    shipped: Callable[[str], LoadedModel],
) -> None:
    """The text's word stands twice; the key behind the first is told by the heads that look one token back."""
    loaded = shipped("mini-gpt")
    trace = inspector.record(loaded, "the cat saw the dog and the cat saw the bird")
    measures = inspector.heads.measure(trace)
    induction = measures.loc[measures["induction"].idxmax()]
    previous = measures.sort_values("previous", ascending=False).head(2)
    tokens = [token.lstrip("\u2581\u0120") for token in trace.tokens]
    query, key = max(at for at, token in enumerate(tokens) if token == "cat"), tokens.index("cat") + 1
    place = {"layer": int(induction["layer"]), "head": int(induction["head"])}
    assert trace.attention(**place)[query].argmax() == key
    side = writers.of_score(trace, loaded, **place, query=query, key=key).side("key")
    strongest = side[side["kind"] == "head"].nlargest(2, "contribution")
    assert set(zip(strongest["layer"], strongest["head"], strict=True)) == set(
        zip(previous["layer"], previous["head"], strict=True)
    )
