"""Encoding of the reader's text into token ids, with an honest account of everything that was cut."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from models.failures import told

SPACE = "▁"  # how Metaspace writes it
UNNAMED = re.compile(r"<(\d{1,9})>")  # an id that the tokenizer has no token for
BYTE = re.compile("<0x[0-9A-F]{2}>")  # a byte of a character that is not in the vocabulary
_INSTEAD = "Choose another text or another model."
BLANKS = re.compile(r"\s+")
MOST_BLANKS = 5000  # in a row; the time of patterns such as DeepSeek's `\s+$` grows with their square
MAX_CHARACTERS = 200_000  # a tokenizer takes seconds for millions; no model here reads that far


@dataclass(frozen=True)
class Cut:
    """The lengths of a text that did not fit, before and after it was cut.

    kept, total: in `unit`, "tokens" or "characters".
    """

    kept: int
    total: int
    unit: str
    limit: str

    def __str__(self) -> str:
        return (
            f"Only the first {self.kept:,} of {self.total:,} {self.unit} are read: {self.limit}. "
            f"The last {self.total - self.kept:,} are left out."
        )


@dataclass(frozen=True)
class Encoding:
    """A text as a model reads it; one entry per token.

    words: index of the word that a token belongs to, None for special tokens; a pair's second text counts on.
    segments: 0 for the text, 1 for its pair.
    special: True for tokens that the tokenizer added ([CLS], [SEP]).
    unknown: how many tokens stand for something the tokenizer does not know; unknown_id: the id of such a token, None
        where the tokenizer has none.
    spans: where in the text each token stands, (first, last + 1) characters, of a pair in "text<newline>pair"; (0, 0)
        for special tokens. None where there was no text: a model wrote the tokens itself.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    words: tuple[int | None, ...]
    segments: tuple[int, ...]
    special: tuple[bool, ...]
    unknown: int
    cut: Cut | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    unknown_id: int | None = None

    @property
    def known(self) -> tuple[bool, ...]:
        """Tell for each token if the tokenizer knows its text: two unknown tokens may stand for different texts."""
        return tuple(id != self.unknown_id for id in self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def without_end(self) -> Encoding:
        """Drop the special token that ends the text, where there is one: what a decoder goes on from has not ended."""
        return self.without_last() if self.special[-1] else self

    def without_last(self) -> Encoding:
        """All but the last token: what a decoder reads when each token predicts the next."""
        columns = {name: getattr(self, name)[:-1] for name in ("ids", "tokens", "words", "segments", "special")}
        return replace(self, **columns, spans=None if self.spans is None else self.spans[:-1])


class NoTokenizer:
    """Stands where a model has no tokenizer: it names no id, so that ids stay numbers, and reads no text.

    vocabulary: how many ids the model has.
    """

    is_fast = True
    model_max_length = 10**30  # transformers' own number for "no limit"
    all_special_ids: Sequence[int] = ()
    all_special_tokens: Sequence[str] = ()
    bos_token_id = eos_token_id = unk_token_id = sep_token_id = pad_token_id = cls_token_id = mask_token_id = None
    pad_token = mask_token = chat_template = None

    def __init__(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise ValueError with the way out."""
        raise ValueError(
            "This model was given without a tokenizer, so it reads no text: give the text's ids as tokens=[...], or "
            "the tokenizer as tokenizer="
        )

    def __len__(self) -> int:
        return self.vocabulary

    def get_vocab(self) -> dict[str, int]:
        """Give every id by the name that `token_names` gives it."""
        return {f"<{id}>": id for id in range(self.vocabulary)}

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[None]:
        """Name no id: see `token_names`."""
        return [None] * len(ids)

    def convert_tokens_to_ids(self, name: str) -> None:
        """Know no token."""
        return

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Write ids as `token_names` names them."""
        return " ".join(token_names(self, ids))


def token_names(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """The text of each token; "<32105>" for an id that the model has and its tokenizer has not.

    A vocabulary is often rounded up when a model is built (T5: 32,128 against the tokenizer's 32,100), and a model may
    write any of its ids.
    """
    names = tokenizer.convert_ids_to_tokens(list(ids))
    return tuple(f"<{id}>" if name is None else name for id, name in zip(ids, names, strict=True))


def token_id(tokenizer: Any, name: str) -> int | None:
    """The id of a token by the name that `token_names` gives it; None where the model has no such token."""
    outside = UNNAMED.fullmatch(name)
    id = tokenizer.convert_tokens_to_ids(name)
    if outside and token_names(tokenizer, [int(outside[1])]) == (name,):
        return int(outside[1])
    return id if id is not None and token_names(tokenizer, [id]) == (name,) else None


def word_id(tokenizer: Any, word: str | int) -> int:
    """Find the token that a word is within a text: "John" is "␣John" where the vocabulary tells the two apart.

    word: a word, a mark, the name of a token, or an id, which is returned. Raises ValueError where it is no one token.
    """
    if isinstance(word, int):
        return word
    named, unknown = token_id(tokenizer, word), getattr(tokenizer, "unk_token_id", None)
    if named is not None and named != unknown and not word.isalpha():
        return named
    pieces = [tokenizer(text, add_special_tokens=False).input_ids for text in (f" {word.strip()}", word.strip())]
    for ids in pieces:
        if len(ids) == 1 and ids[0] != unknown:
            return int(ids[0])
    if named is not None and named != unknown:
        return named
    names = ", ".join(token_names(tokenizer, pieces[0]))
    raise ValueError(
        f"{word!a} is {len(pieces[0])} tokens here ({names}), and one is asked for; choose a shorter word, or an id"
    )


def encode(
    tokenizer: Any, text: str, *, text_pair: str | None = None, max_tokens: int, limit: str | None = None
) -> Encoding:
    """Tokenize a text or a pair of texts with a fast transformers tokenizer, cut to `max_tokens`.

    limit: the reason for a cut, in words; the model's positions where it is left out.
    Raises ValueError where there is nothing to read, or something that is not text.
    """
    given = len(text) + len(text_pair or "")
    text, text_pair = _valid(text), None if text_pair is None else _valid(text_pair)
    options = {"add_special_tokens": True, "return_offsets_mapping": True}
    with told("Reading this text with the model's tokenizer", instead=_INSTEAD):
        encoded = tokenizer(text, text_pair, **options, verbose=False)
    total = len(encoded["input_ids"])
    cut = None
    if total > max_tokens:
        with told(f"Cutting this text to {max_tokens:,} tokens", instead=_INSTEAD):
            encoded = tokenizer(text, text_pair, **options, truncation=True, max_length=max_tokens)
        limit = limit or f"this model takes at most {max_tokens:,}"
        cut = Cut(len(encoded["input_ids"]), total, "tokens", limit)
        if cut.kept > max_tokens or all(sequence is None for sequence in encoded.sequence_ids()):
            added = tokenizer.num_special_tokens_to_add(pair=text_pair is not None)
            raise ValueError(
                f"None of the {total:,} tokens can be read: {limit}, and the tokenizer adds {added:,} of its own."
            )
    if given > len(text) + len(text_pair or ""):
        cut = Cut(min(given, MAX_CHARACTERS), given, "characters", f"a text is read up to {MAX_CHARACTERS:,}")
    ids = encoded["input_ids"]
    sequences = encoded.sequence_ids()
    unknown = tokenizer.unk_token_id
    special = tuple(sequence is None for sequence in sequences)
    if all(special):
        raise ValueError(
            "There is nothing to read in this text: it has no visible characters. Type or paste a sentence."
        )
    tokens = token_names(tokenizer, ids)
    return Encoding(
        ids=tuple(ids),
        tokens=tokens,
        words=marked_words(tokens, special) if has_marks(tokens) else _words(encoded.word_ids(), sequences),
        segments=tuple(encoded["token_type_ids"]) if "token_type_ids" in encoded else (0,) * len(ids),
        special=special,
        unknown=0 if unknown is None else ids.count(unknown),
        cut=cut,
        spans=_spans(encoded["offset_mapping"], sequences, second=len(text) + 1),
        unknown_id=unknown,
    )


def from_ids(tokenizer: Any, ids: Sequence[int]) -> Encoding:
    """Encode the ids that a model wrote, token by token; a piece that begins with ## continues the word before it.

    Where a tokenizer writes spaces as marks, `marked_words` says where words begin.
    """
    tokens = token_names(tokenizer, ids)
    special = tuple(token in tokenizer.all_special_ids for token in ids)
    begins = [not token.startswith("##") for token in tokens]
    words = marked_words(tokens, special) if has_marks(tokens) else _numbered(begins, special)
    unknown = tokenizer.unk_token_id
    return Encoding(tuple(ids), tokens, words, (0,) * len(ids), special, tuple(ids).count(unknown), unknown_id=unknown)


def substituted(tokenizer: Any, encoding: Encoding, ids: Mapping[int, int]) -> Encoding:
    """The same text with other tokens at some positions (position -> id); words, segments and the rest stay."""
    changed = tuple(ids.get(position, id) for position, id in enumerate(encoding.ids))
    tokens = token_names(tokenizer, changed)
    return replace(encoding, ids=changed, tokens=tokens, unknown=changed.count(tokenizer.unk_token_id))


def with_gaps(tokenizer: Any, encoding: Encoding, positions: Sequence[int], *, gap: str = "____") -> str:
    """The text as it reads with a gap for each token at `positions`; special tokens are left out."""
    real = [position for position, special in enumerate(encoding.special) if not special]
    marks = has_marks(encoding.tokens)
    text = ""
    for hidden, run in groupby(real, key=set(positions).__contains__):
        places = list(run)
        first = encoding.tokens[places[0]]
        written = first in tokenizer.all_special_tokens  # by the reader: it swallows the space before it
        begins = (written or first.startswith(SPACE)) if marks else not first.startswith("##")
        shown = " ".join([gap] * len(places)) if hidden else tokenizer.decode([encoding.ids[at] for at in places])
        text += (" " if begins else "") + shown.strip()
    return text.strip()


def has_marks(tokens: Sequence[str]) -> bool:
    """Return True if the tokenizer marks spaces (Metaspace) rather than continuations of words."""
    return any(token.startswith(SPACE) for token in tokens)


def marked_words(tokens: Sequence[str], special: Sequence[bool]) -> tuple[int | None, ...]:
    """The word of each token where spaces are marks: a word begins at a mark, and at punctuation.

    Chinese writes no spaces: there each token that begins with an ideograph is a word.
    """
    return _numbered([token.startswith(SPACE) or _stands_alone(token) for token in tokens], special)


def _stands_alone(token: str) -> bool:
    if BYTE.fullmatch(token):
        return False
    return not token[0].isalnum() or "\u3400" <= token[0] <= "\u9fff"


def _numbered(begins: Sequence[bool], special: Sequence[bool]) -> tuple[int | None, ...]:
    words: list[int | None] = []
    count = -1
    for first, added in zip(begins, special, strict=True):
        count += not added and (first or count < 0)
        words.append(None if added else count)
    return tuple(words)


def _valid(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is empty. Type or paste a sentence.")
    text = text[:MAX_CHARACTERS]
    if (blanks := max(map(len, BLANKS.findall(text)), default=0)) > MOST_BLANKS:
        raise ValueError(
            f"The text has {blanks:,} blanks in a row, and some tokenizers take minutes for over {MOST_BLANKS:,}. "
            "Leave them out."
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"Character {error.start} of the text is half of a surrogate pair ({text[error.start]!a}), "
            "so the text is not valid Unicode. Copy it again from its source."
        ) from error
    return text


def _words(words: list[int | None], sequences: list[int | None]) -> tuple[int | None, ...]:
    """Number the words of a pair's second text after the first text's: each text counts from 0 by itself."""
    first = 1 + max((w for w, s in zip(words, sequences, strict=True) if s == 0 and w is not None), default=-1)
    return tuple(
        None if word is None else word + first * (sequence == 1)
        for word, sequence in zip(words, sequences, strict=True)
    )


def _spans(offsets: list[tuple[int, int]], sequences: list[int | None], *, second: int) -> tuple[tuple[int, int], ...]:
    """A pair's second text counts on from `second`."""
    shifts = [second if sequence == 1 else 0 for sequence in sequences]
    return tuple((first + shift, last + shift) for (first, last), shift in zip(offsets, shifts, strict=True))
