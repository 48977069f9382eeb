"""The weight of a text: how long it can become by any form of Unicode."""

from __future__ import annotations

import unicodedata


def weight(text: str) -> int:
    """Count the characters of a text's compatibility decomposition (NFKD), at least 1."""
    return max(1, len(unicodedata.normalize("NFKD", text)))
