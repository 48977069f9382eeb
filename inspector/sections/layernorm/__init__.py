"""The page Norms: what each norm does to each token, and what another norm would do in its place."""

from inspector.sections.layernorm import change, depth, direction, every, learned, numbers, other, outliers, stream
from inspector.sections.registry import Group, Sections
from inspector.wording import layernorm as words

PAGE = Sections(
    words.ASKS,
    (
        every.SECTION,
        learned.SECTION,
        other.SECTION,
        depth.SECTION,
        Group(
            "norms_further",
            words.FURTHER,
            (
                change.SECTION,
                direction.SECTION,
                outliers.SECTION,
                numbers.SECTION,
            ),
        ),
    ),
    opening="every",
    streams=stream.streams,
    stream_name="norm_stream",
)
