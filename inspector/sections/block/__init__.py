"""The page Block: the inside of a layer, from a token's state to what attention and FFN add to it."""

from inspector.sections.block import added, experts, ffn, inside, sharing, way, wrote
from inspector.sections.registry import Group, Sections
from inspector.sections.section import Need
from inspector.wording import block as words

PAGE = Sections(
    words.ASKS,
    (
        way.SECTION,
        added.SECTION,
        wrote.SECTION,
        Group("block_further", words.FURTHER, (ffn.SECTION, experts.SECTION, sharing.SECTION)),
    ),
    need=Need(words.CANNOT, lambda loaded: not inside.why_not(loaded), ("minilm", "mini-bert"), inside.why_not),
    streams=inside.streams,
    stream_name="block_stream",
)
