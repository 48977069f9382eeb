"""The norms of the stream that is looked at, and what all sections of the page Norms start from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from inspector import normalization
from inspector.sections.picks import Listed
from inspector.sections.section import Block, Note
from inspector.wording import layernorm as words

if TYPE_CHECKING:
    import pandas as pd

    from inspector.normalization import Size
    from inspector.sections.subject import Subject
    from inspector.trace import NormRecord

Answer = Callable[..., Iterator[Block]]


def streams(subject: Subject) -> Sequence[str]:
    """List the streams that have norms; all streams of a model whose norms cannot be shown."""
    return tuple(dict.fromkeys(norm.stream for norm in subject.trace.norms)) or subject.trace.streams


def norms(subject: Subject) -> dict[int, NormRecord]:
    """Collect the stream's norms by their number in the trace, in call order."""
    return {number: norm for number, norm in enumerate(subject.trace.norms) if norm.stream == subject.stream}


def where_norms(answer: Answer) -> Answer:
    """Make an answer that says so where the stream has no norm that can be shown."""

    @wraps(answer)
    def told(subject: Subject, **chosen: Any) -> Iterator[Block]:
        if norms(subject):
            yield from answer(subject, **chosen)
        else:
            yield Note(words.ONLY_GIVEN if subject.trace.given else words.NO_NORM)

    return told


def statistics(subject: Subject) -> pd.DataFrame:
    """Measure each token around each norm of the stream, as `normalization.statistics`."""
    table = subject.of_text("norms", lambda: normalization.statistics(subject.trace))
    return table[table["stream"] == subject.stream]


def code(subject: Subject, *, table: str = "statistics", only: str = "") -> str:
    """Write the Python lines that end in a table of `inspector.normalization` for this stream; only: which rows."""
    rows = f"stream == {subject.stream!r}" + (f" and {only}" if only else "")
    return f'{subject.code}table = inspector.normalization.{table}(trace).query("{rows}")'


def size(norms: Mapping[int, NormRecord]) -> Size:
    """Name what the norms divide by: "rms" where all are RMSNorms, else "std"."""
    return "rms" if all(norm.kind == "rms" for norm in norms.values()) else "std"


NORM = Listed("norm", words.NORM, lambda subject: [words.title(norm) for norm in norms(subject).values()])
