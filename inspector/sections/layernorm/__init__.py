"""The page LayerNorm: what each norm does to each token, and what another norm would do in its place."""

from inspector.sections.layernorm import change, depth, direction, every, learned, numbers, other, outliers, stream
from inspector.sections.registry import Sections
from inspector.wording import layernorm as words

PAGE = Sections(
    words.ASKS,
    (
        every.SECTION,
        learned.SECTION,
        change.SECTION,
        direction.SECTION,
        outliers.SECTION,
        other.SECTION,
        depth.SECTION,
        numbers.SECTION,
    ),
    opening="every",
    streams=stream.streams,
    stream_name="norm_stream",
)
