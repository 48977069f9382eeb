"""Words under a map of weights: the formula with its numbers, and what was hidden or merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.wording import maps as wording

if TYPE_CHECKING:
    from inspector.maps import Arrangement
    from inspector.trace import Array, AttentionRecord, AttentionSite, Trace


def softmax(record: AttentionRecord) -> str:
    """The formula of a call's weights as LaTeX with its own numbers: "A = softmax(QK^T / sqrt(d_k)) with d_k = 32".

    A sigmoid is written as such, and linear attention as the quotient that it is.
    """
    from inspector.explain import formula
    from models.attention.functions import ComposedAttention
    from models.attention.given import GivenWeights
    from models.attention.scores import LinearScore

    if isinstance(record.function, GivenWeights):
        return wording.GIVEN_FORMULA
    function, width = record.function, record.query.shape[-1]  # 0 where the scores were seen and no query
    with_width = f" with $d_k$ = {width}" if width else ""
    if isinstance(function, ComposedAttention) and function.score == LinearScore():
        return (
            r"$A_{ij} = \phi(q_i) \cdot \phi(k_j) \,/\, \sum_t \phi(q_i) \cdot \phi(k_t)$, "
            rf"$\phi = \mathrm{{elu}} + 1${with_width}"
        )
    if not function.normalised:
        return rf"$A = \sigma({formula(record)})$, $n$ the keys that a query sees{with_width and ','}{with_width}"
    return rf"$A = \mathrm{{softmax}}({formula(record)})$" + with_width


def what_is_drawn(trace: Trace, shown: Arrangement, weights: Array, *, site: AttentionSite, sink: bool = False) -> str:
    """Write the paragraph under a map: the formula with its numbers, and what was hidden or merged.

    sink: whether the part of each row that goes to no key of the text has a column.
    """
    stream = site.stream
    keys = trace.encoding if stream == "cross" else trace.read_by(stream)
    record = trace.record_of(site.layer, stream, call=site.call)
    sums = weights.sum(axis=-1)
    smallest, largest = float(sums.min()), float(sums.max())
    sentences = [wording.map_formula(formula=softmax(record))]
    if stream != "encoder":
        sentences.append(wording.ROWS_OF_A_DECODER)
    if stream == "cross":
        sentences.append(wording.KEYS_OF_THE_SOURCE)
    if len(shown.keys.positions) < len(keys):
        sentences.append(
            wording.hidden_and_divided(normalised=record.function.normalised)
            if shown.renormalise
            else wording.hidden_with_weight(smallest=smallest, largest=largest)
        )
    elif record.function.sinks:
        sentences.append(wording.rows_with_sinks(smallest=smallest, largest=largest))
    elif not record.function.normalised:
        sentences.append(wording.rows_of_a_sigmoid(smallest=smallest, largest=largest))
    else:
        sentences.append(wording.ROWS_SUM_TO_ONE)
    if sink:
        sentences.append(wording.SINK_COLUMN)
    if max(shown.keys.sizes.max(), shown.queries.sizes.max()) > 1:
        sentences.append(wording.MERGED)
    return " ".join(sentences)
