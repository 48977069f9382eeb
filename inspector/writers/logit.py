"""A prediction by its writers: what each part of the model adds to a logit (direct logit attribution).

logit(t) = x . u_t + b_t, x the last hidden state behind the final norm, whose scale is held; x is a sum of writers, so
the logit is the sum of w . u_t (Elhage et al. 2021; Wang et al. 2023). Direct is not total: what a head writes is read
by later layers too, and that counts for them.

Shapes: N writers, D width, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from inspector.probe.head_reading import read_head
from inspector.trace import Trace
from inspector.writers import residual
from inspector.writers.residual import Floats, Inside, Writer, look_inside
from models import LoadedModel
from models.tokenizers import word_id


@dataclass(frozen=True, eq=False)
class LogitWriters:
    """The logit of a token, or its difference to another token's logit, as a sum over writers.

    position: where it is predicted; token, against: ids, against None for the logit itself. contributions: float64 [N],
    in the order of `writers`. recorded: what the model's head gives. stream: of the writers.
    """

    position: int
    token: int
    against: int | None
    stream: str
    writers: tuple[Writer, ...]
    contributions: Floats
    recorded: float

    @property
    def total(self) -> float:
        """The sum over all writers."""
        return float(self.contributions.sum())

    def table(self) -> pd.DataFrame:
        """List the writers, the largest contribution first: the columns of `residual.table` and contribution."""
        rows = residual.table(self.writers).assign(contribution=self.contributions)
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        return rows.iloc[order].reset_index(drop=True)

    def sources(self) -> pd.DataFrame:
        """Split the opened head by the token that it read: source and contribution, a row a token."""
        rows = residual.table(self.writers).assign(contribution=self.contributions)
        return rows.dropna(subset="source")[["source", "contribution"]].reset_index(drop=True)

    def by_part(self) -> pd.DataFrame:
        """Sum over the heads of each layer, a row per stream, layer and part, in the order in which they write.

        part: "embedding", "attention", "cross", "ffn" or "head" (biases behind the last layer).
        """
        rows = residual.table(self.writers)[["stream", "layer"]]
        rows = rows.assign(part=_parts(self.writers), contribution=self.contributions)
        return rows.groupby(["stream", "layer", "part"], dropna=False, sort=False, as_index=False)["contribution"].sum()


def _parts(writers: Sequence[Writer]) -> list[str]:
    """Name the part of each writer, given in the order in which they write."""
    parts: list[str] = []
    for writer in writers:
        if writer.layer is None:
            parts.append("head" if parts and parts[-1] != "embedding" else "embedding")
        elif writer.kind == "ffn":
            parts.append("ffn")
        else:
            parts.append("cross" if writer.stream == "cross" else "attention")
    return parts


def of_logit(
    trace: Trace,
    loaded: LoadedModel,
    *,
    position: int,
    token: int | str,
    against: int | str | None = None,
    opened: Writer | None = None,
    inside: Inside | None = None,
) -> LogitWriters:
    """Tell who wrote the logit of a token at a position, or its difference to the logit of the token `against`.

    opened: a head among the writers, which is split by the tokens that it read. inside: what `look_inside` gave, where
    several questions are asked about a text.

    Raises ValueError for what is out of range, for a model without a head, where a block is not followed, and where the
    writers do not sum up to the logit.
    """
    stream = "decoder" if "decoder" in trace.streams else "encoder"
    tokens = trace.read_by(stream).tokens
    if not 0 <= position < len(tokens):
        raise ValueError(f"position {position} is out of range: the {stream} read tokens 0 to {len(tokens) - 1}")
    chosen = word_id(loaded.tokenizer, token)
    other = None if against is None else word_id(loaded.tokenizer, against)
    reading = read_head(loaded, trace, position=position, token=chosen, against=other)
    inside = look_inside(trace, loaded) if inside is None else inside
    state = residual.written(inside, stream=stream, position=position, opened=opened)
    if opened is not None and not any(writer.source is not None for writer in state.writers):
        raise ValueError(f"{opened} is no head among the writers")
    finals = [norm for norm in trace.norms if norm.stream == stream and norm.placement == "final"]
    state = residual.entered(inside, state, finals, reading.input, position, what="what the head is asked")
    biases = tuple(Writer("bias", stream, name=name) for name, _ in reading.biases)
    contributions = np.concatenate([state.vectors @ reading.gradient, [value for _, value in reading.biases]])
    made = LogitWriters(position, chosen, other, stream, (*state.writers, *biases), contributions, reading.value)
    scale = max(abs(reading.value), float(np.linalg.norm(reading.input) * np.linalg.norm(reading.gradient)))
    if abs(made.total - reading.value) > inside.allowed * scale:
        raise ValueError(
            f"the writers of {trace.model}'s logit sum up to {made.total:.6g}, and the head gives {reading.value:.6g}: "
            "more happens in the head than is followed"
        )
    return made
