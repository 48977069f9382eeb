"""The weight of a text: the most characters that any Unicode normal form of the text has."""

from __future__ import annotations

import unicodedata


def weight(text: str) -> int:
    """Count the characters of a text's compatibility decomposition (NFKD), at least 1."""
    return max(1, len(unicodedata.normalize("NFKD", text)))
