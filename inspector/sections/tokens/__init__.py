"""The page Tokens: how a text becomes tokens, what BERT learns from them, and what to do with a long one."""

from inspector.sections.registry import Group, Sections
from inspector.sections.tokens import both, changed, long, masking, merges, pieces, sparse, vector
from inspector.wording import tokens as words

PAGE = Sections(
    words.ASKS,
    (
        Group("tokens_pieces", words.PIECES, (pieces.SECTION, merges.SECTION)),
        Group("tokens_bert", words.READING, (masking.SECTION, vector.SECTION, both.SECTION, changed.SECTION)),
        Group("tokens_long", words.LONG, (long.SECTION, sparse.SECTION)),
    ),
    streams=lambda subject: (),
)
