"""Queries and keys of the reader's text, read from its recording, for the questions that compare them."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from inspector.questions.record.both import UnanswerableError
from inspector.questions.record.subject import Subject
from inspector.trace import AttentionRecord
from models.attention.functions import for_each_head

MOST_LAYERS = 12  # layers whose heads are measured, spread over the model


def layers_of(subject: Subject) -> list[AttentionRecord]:
    """The calls of the first stream, whose queries and keys are of one text: at most MOST_LAYERS, evenly spaced.

    Raises ValueError for a text of one token, and where queries and keys were not seen.
    """
    sites = subject.trace.sites_of(subject.trace.streams[0])
    chosen = np.unique(np.linspace(0, len(sites) - 1, min(len(sites), MOST_LAYERS)).round().astype(int))
    records = [subject.trace.record_of(sites[at].layer, sites[at].stream, call=sites[at].call) for at in chosen]
    seen = [record for record in records if record.query.shape[-1] and record.query.shape[-1] == record.key.shape[-1]]
    if not seen:
        raise UnanswerableError(
            f"The queries and keys of {subject.loaded.card.id} were not seen.",
            f"没有看到 {subject.loaded.card.id} 的 Q 和 K。",
        )
    if len(seen[0].site.keys) < 2:
        raise UnanswerableError(
            "The text has one token, and nothing can be compared with it; write a longer one.",
            "这段文本只有一个 token，没有可以比较的对象，请写长一些。",
        )
    return seen


def of_each_head(tensor: Tensor, heads: int) -> Tensor:
    """Keys or values [K, T, E] as every head reads them, float64 [H, T, E]."""
    return for_each_head(tensor[None].double().cpu(), heads)[0]
