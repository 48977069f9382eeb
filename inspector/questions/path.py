r"""A teacher's path: questions in an order, each after a few words of the teacher's, as two parameters of a link.

```python
path = Path((Step(16, "Begin with the scale."), Step(41)))
encode(path)  # {"path": "16.41", "path_words": "Begin with the scale."}
decode("16.41", "Begin with the scale.", known={16, 41}) == path
```

In `path_words` a bar stands between two steps; a bar or a backslash of the text has a backslash before it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

MOST_STEPS = 30
ROOM = 1_500  # letters of all words together; a letter beyond ASCII counts as its bytes, a Chinese one as three
_NOTHING: Mapping[int, int] = MappingProxyType({})
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # would turn the text after them


@dataclass(frozen=True)
class Step:
    """A question, and the words that stand before it."""

    number: int
    words: str = ""


@dataclass(frozen=True)
class Path:
    """Questions in an order, each once."""

    steps: tuple[Step, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the questions, in their order."""
        return tuple(step.number for step in self.steps)


def encode(path: Path) -> dict[str, str]:
    """Write a path as the parameters of a link; without "path_words" where no step has words."""
    texts = [re.sub(r"[\\|]", r"\\\g<0>", plain(step.words)) for step in path.steps]
    words = "|".join(texts)
    given = {"path": ".".join(str(step.number) for step in path.steps)}
    return given | ({"path_words": words} if any(texts) else {})


def room(path: Path) -> int:
    """Count the letters that a path has left; below 0 where the path is too long for a link."""
    return ROOM - _size(encode(path).get("path_words", ""))


def decode(numbers: str, words: str, *, known: Collection[int], merged: Mapping[int, int] = _NOTHING) -> Path:
    """Read a path from the parameters of a link; ValueError, with a sentence, for a link that holds no path.

    known: the numbers of all questions. merged: of questions that went into another, whose words are joined.
    """
    parts = numbers.split(".")
    if len(parts) > MOST_STEPS:
        raise ValueError(f"The link's path has more than {MOST_STEPS} questions, which is the most.")
    if not all(re.fullmatch(r"[0-9]{1,6}", part) for part in parts):
        raise ValueError("The link's path is no list of numbers with dots between, such as 16.35.41.")
    asked = [int(part) for part in parts]
    if unknown := [number for number in asked if merged.get(number, number) not in known]:
        raise ValueError(f"The link's path asks for question {unknown[0]}, which there is not.")
    if twice := [number for number in asked if asked.count(number) > 1]:
        raise ValueError(f"The link's path has question {twice[0]} more than once.")
    if _size(words) > ROOM:
        raise ValueError(f"The words of the link's path are longer than the {ROOM:,} letters that fit.")
    texts = [plain(re.sub(r"\\([\\|])", r"\1", text)) for text in re.findall(r"(?:^|\|)((?:\\[\\|]|[^|])*)", words)]
    if len(texts) > len(asked):
        raise ValueError("The link's path has words for more questions than it has.")
    texts += [""] * (len(asked) - len(texts))
    joined: dict[int, list[str]] = {}
    for number, text in zip(asked, texts, strict=True):
        joined.setdefault(merged.get(number, number), []).append(text)
    return Path(tuple(Step(number, "\n".join(filter(None, said))) for number, said in joined.items()))


def plain(text: str) -> str:
    """Drop from a stranger's text all control characters but line ends, and characters that turn the direction."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    seen = (
        character for character in text if character == "\n" or (unicodedata.category(character) not in ("Cc", "Cs"))
    )
    return "".join(character for character in seen if character not in _DIRECTIONS).strip()


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
