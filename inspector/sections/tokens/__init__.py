"""The page Tokens: how a text becomes tokens, what BERT learns from them, and what to do with a long one."""

from inspector.sections.registry import Sections
from inspector.sections.tokens import both, long, masking, merges, pieces, sparse, vector
from inspector.wording import tokens as words

PAGE = Sections(
    words.ASKS,
    (
        pieces.SECTION,
        merges.SECTION,
        masking.SECTION,
        vector.SECTION,
        both.SECTION,
        sparse.SECTION,
        long.SECTION,
    ),
    streams=lambda subject: (),
)
