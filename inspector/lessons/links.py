"""A teacher's lesson in a link: the text of its file, compressed, as letters that an address may hold.

```python
given = encode(text)  # "z.eNorys8FAAKKARs...", None where it is too long for a link
decode(given) == text
```

No server keeps a lesson, and none fetches an address. A link may be made up, so its text is counted while it is
unpacked: a kilobyte may hold a megabyte.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib

from inspector.lessons.reading import MOST_BYTES
from inspector.wording import lesson_file as words

MOST_LETTERS = 6_000  # of the link: servers refuse a line of more than 8 KB
BEFORE = "z."
"""The letters before a lesson in a link, which tell it from the name of a shipped one."""
PATTERN = r"[a-z]{1,20}|z\.[A-Za-z0-9_-]*"


def encode(text: str) -> str | None:
    """Write a lesson's file for a link; None where it is too long for one."""
    packed = zlib.compress(text.encode(), level=9)
    written = BEFORE + base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return written if len(written) <= MOST_LETTERS else None


def decode(given: str) -> str:
    """Read a lesson's file from a link; ValueError, with a sentence, for a link that holds none."""
    letters = given.removeprefix(BEFORE)
    if len(given) > MOST_LETTERS or not re.fullmatch(r"[A-Za-z0-9_-]+", letters):
        raise ValueError(words.NO_LINK)
    unpacking = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        unpacked = unpacking.decompress(packed, MOST_BYTES + 1)
        if len(unpacked) > MOST_BYTES:
            raise ValueError(words.too_large(MOST_BYTES))
        if not unpacking.eof or unpacking.unused_data:
            raise ValueError(words.NO_LINK)
        return unpacked.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(words.NO_LINK) from error
