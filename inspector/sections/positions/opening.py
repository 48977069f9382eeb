"""The sentence that opens the page: how the model knows the order, and how alike this text's places are."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import numpy as np

from inspector import positional
from inspector.positional import Rotation
from inspector.sections.positions.found import Rows, find
from inspector.sections.section import Block, Section, Sentence
from inspector.sections.subject import Subject
from inspector.wording import positions as words


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the ways, how alike places are where a table is looked at, and how fast the first rotation turns."""
    found, tokens = find(subject), len(subject.tokens)
    none = getattr(subject.model.config, "positions", "") == "none"
    said = [words.ways(found.ways, none=none, causal=subject.model.shape == "decoder")]
    terms = [words.TERMS[way] for way in found.ways if way in words.TERMS]
    if found.compares and tokens > 1:
        said.append(alike(found.tables[found.first], tokens=tokens, own=bool(found.own)))
        terms.append("cosine")
    said += [turns(rotation, tokens=tokens) for rotation in found.rotations[:1]]
    yield Sentence(" ".join(filter(None, said)), tuple(dict.fromkeys(terms)))


def alike(table: Rows, *, tokens: int, own: bool) -> str:
    """Say how alike the first `tokens` rows of a table [T, D] are; "" for one row, and for rows of zeros."""
    rows = table[:tokens]
    if len(rows) < 2:
        return ""
    cosine = positional.similarity(rows)
    near, apart = float(np.diagonal(cosine, 1).mean()), max(2, len(rows) // 2)
    if isnan(near):
        return ""
    return words.alike(
        by_model=own,
        near=near,
        far=float(np.diagonal(cosine, apart).mean()) if apart < len(rows) else None,
        apart=apart,
        within=None if len(rows) == tokens else len(rows),
    )


def turns(rotation: Rotation, *, tokens: int) -> str:
    """Say how fast RoPE's pairs turn over a text."""
    waves = rotation.wavelengths
    turned = waves[np.isfinite(waves)]
    return words.turns(
        pairs=len(waves),
        still=len(waves) - len(turned),
        shortest=float(turned.min(initial=np.inf)),
        longest=float(turned.max(initial=0)),
        whole=int((waves <= tokens).sum()),
        tokens=tokens,
    )


SECTION = Section("opening", words.OPENING, answer, needs_model=True)
