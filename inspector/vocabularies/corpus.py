"""A corpus from which pieces are learned: a stranger's text, bounded, and its words as each tokenizer counts them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass

from tokenizers import pre_tokenizers

MOST_CHARACTERS = 20_000
LONGEST_WORD = 200  # characters between two blanks or marks; unigram's trainer weighs all ways to cut a word
SPACE = "▁"  # how BPE and unigram write the space before a word (Kudo & Richardson 2018)
CONTINUES = "##"  # how WordPiece writes that a piece continues a word
MARKED = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(SPACE), pre_tokenizers.Punctuation()])
SPLIT = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
WHOLE = pre_tokenizers.WhitespaceSplit()
_NO_TEXT = ("Cc", "Cs")  # control characters, and halves of surrogate pairs


@dataclass(frozen=True)
class Corpus:
    """A text to learn pieces from, with a single space for every run of blanks."""

    text: str

    @classmethod
    def of(cls, text: str) -> Corpus:
        """Take a stranger's text; ValueError where it is empty, too long, or holds what no trainer can read."""
        if not text.strip():
            raise ValueError("The corpus is empty. Type or paste some sentences, or choose an example.")
        if len(text) > MOST_CHARACTERS:
            raise ValueError(
                f"The corpus has {len(text):,} characters, and pieces are learned from {MOST_CHARACTERS:,} at most: "
                "shorten it."
            )
        corpus = cls(" ".join(checked(text, what="corpus").split()))
        longest = max(corpus.marked, key=len)
        if len(longest) > LONGEST_WORD:
            raise ValueError(
                f"The corpus has a word of {len(longest):,} characters ({longest[:12]!a} ...), and {LONGEST_WORD} are "
                "the most between two blanks or marks of punctuation: put some in, or shorten it."
            )
        return corpus

    @property
    def marked(self) -> dict[str, int]:
        """Count the words of BPE and unigram: the space is written before the word, punctuation stands alone."""
        return _counted(MARKED, self.text)

    @property
    def split(self) -> dict[str, int]:
        """Count the words of WordPiece: between blanks, punctuation stands alone."""
        return _counted(SPLIT, self.text)

    @property
    def alphabet(self) -> tuple[str, ...]:
        """List the different characters of the words that are marked, by code point."""
        return tuple(sorted({letter for word in self.marked for letter in word}))


def checked(text: str, *, what: str) -> str:
    """Return the text with a space for each blank character; ValueError for a character that is no text.

    what: "corpus", "text" or "word", for the sentence.
    """
    for position, letter in enumerate(text):
        if unicodedata.category(letter) in _NO_TEXT and not letter.isspace():
            raise ValueError(
                f"Character {position} of the {what} is U+{ord(letter):04X}, which is no character of a text: leave it "
                "out."
            )
    return "".join(" " if letter.isspace() else letter for letter in text)


def _counted(splitting: pre_tokenizers.PreTokenizer, text: str) -> dict[str, int]:
    """Count the words, the most frequent first, the lower code points first among equals."""
    times = Counter(word for word, _ in splitting.pre_tokenize_str(text))
    return dict(sorted(times.items(), key=lambda item: (-item[1], item[0])))
