"""Writers in every family of transformers whose block is followed: their sums against scores and logits.

What is not told is told why, and the families of each reason are listed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import inspector
import models
from inspector import writers
from inspector.block import UNSEEN
from inspector.writers import Inside
from models import LoadedModel
from tests.closeness import assert_close
from tests.inspector.probe.families import CAPTURED, Family, save
from tests.rounds import in_turn

TEXTS = ("the cat sat on the mat", "the dog sat on the log because it was tired", "it was tired")
TARGET = "the dog sat"

BY_LAYER = {
    **dict.fromkeys(("afmoe", "bitnet", "diffllama", "t5gemma"), "no output projection"),
    "zaya": "do not sum up to what its attention adds",
}
"""Families whose heads are one writer a layer, with a part of the reason."""
REFUSED = {
    **dict.fromkeys(("inkling_text", "zaya"), "made of other tokens' too"),
    "inkling2_text": "not followed|neither the residual stream nor its norm",
    "longcat_flash": "neither the residual stream nor its norm",
}
"""Families of whose scores some are refused, with a part of the reason; but for those that do their attention alone."""
NO_LOGIT = dict.fromkeys(("fsmt", "inkling2_text"), "neither the residual stream nor its norm")
"""Families whose logits are refused, with a part of the reason."""


@dataclass
class Told:
    """Results for one family: how many scores, and why others, heads and logits were not."""

    scores: int
    refused: set[str]
    whole: set[str]
    logit: set[str]


def tell(loaded: LoadedModel, text: str) -> Told | None:
    """Hold sums of one text to scores and logits; None where the block is not followed."""
    trace = inspector.record(loaded, text, target=TARGET if loaded.shape == "encoder-decoder" else None)
    try:
        inside = writers.look_inside(trace, loaded)
        for stream in dict.fromkeys(layer.stream for layer in inside.blocks.layers):
            inside.sublayers(stream)
    except ValueError:
        return None
    told = Told(0, set(), set(), set())
    for site in trace.sites:
        scores = trace.scores(layer=site.layer, stream=site.stream, call=site.call)
        for head in (0, site.heads - 1):
            query = len(site.queries) - 1
            key = int(np.flatnonzero(np.isfinite(scores[head, query]))[0])
            place = {"layer": site.layer, "stream": site.stream, "call": site.call, "head": head}
            try:
                score = writers.of_score(trace, loaded, **place, query=query, key=key, inside=inside)  # type: ignore[arg-type]
            except ValueError as error:
                told.refused.add(str(error))
                continue
            total = score.total if score.cap is None else score.cap * np.tanh(score.total / score.cap)
            finite = scores[head][np.isfinite(scores[head])]
            assert_close(total, float(scores[head, query, key]), relative=1e-5, scale=finite)
            told.scores += 1
            told.whole |= {writer.whole for writer in (*score.queries, *score.keys)} - {""}
    if loaded.predict is not None:
        told.logit |= _logit(loaded, inside, told)
    return told


def _logit(loaded: LoadedModel, inside: Inside, told: Told) -> set[str]:
    trace = inside.trace
    assert loaded.predict is not None
    logits = loaded.predict(trace.hidden[None])[0].double().numpy()
    try:
        logit = writers.of_logit(trace, loaded, position=1, token=7, against=9, inside=inside)
    except ValueError as error:
        return {str(error)}
    assert_close(logit.total, float(logits[1, 7] - logits[1, 9]), relative=1e-5, scale=logits[1])
    told.whole |= {writer.whole for writer in logit.writers} - {""}
    return set()


@pytest.mark.parametrize("family", in_turn(CAPTURED, of=6), ids=lambda family: family.name)
def test_writers_sum_up_or_say_why_not(family: Family, tmp_path: Path) -> None:
    save(family, tmp_path)
    loaded = models.load(tmp_path)
    for text in TEXTS:
        told = tell(loaded, text)
        if told is None:
            continue
        alone = any(UNSEEN in reason for reason in told.refused)
        refused = REFUSED.get(family.name)
        assert alone or all(refused is not None and re.search(refused, reason) for reason in told.refused), told.refused
        assert bool(told.refused) == (alone or refused is not None)
        assert bool(told.scores) or told.refused
        by_layer = BY_LAYER.get(family.name, "no output projection" if alone else None)
        assert all(by_layer is not None and by_layer in reason for reason in told.whole), told.whole
        missing = NO_LOGIT.get(family.name)
        assert all(missing is not None and missing in reason for reason in told.logit), told.logit
