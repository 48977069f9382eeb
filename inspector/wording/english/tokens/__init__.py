"""Sentences of the page Tokens."""

from inspector.wording.english.tokens import both as both
from inspector.wording.english.tokens import changed as changed
from inspector.wording.english.tokens import long as long
from inspector.wording.english.tokens import masking as masking
from inspector.wording.english.tokens import merges as merges
from inspector.wording.english.tokens import pieces as pieces
from inspector.wording.english.tokens import sparse as sparse
from inspector.wording.english.tokens import vector as vector

ASKS = "What to see of tokens"
PIECES, READING, LONG = "Pieces", "How BERT reads", "Long texts"
