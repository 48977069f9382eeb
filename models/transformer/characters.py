"""A tokenizer of characters with byte fallback, for Chinese: a token a character, and never an unknown one."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from models.transformer.subwords import BYTES, END, SPACE, SPECIAL, START, UNKNOWN

ASCII = tuple(chr(code) for code in range(0x21, 0x7F))
QUOTES = ("“", "”")  # both become the straight mark, in which the novels are written


def character_tokenizer(characters: Iterable[str]) -> Tokenizer:
    """Make a tokenizer of 5 special tokens, 256 bytes, the space's mark, ASCII and the given characters.

    Any other character is spelled in its UTF-8 bytes. Each Chinese character and each mark of punctuation is a word by
    itself, letters and digits side by side are one. A text becomes [CLS] text [SEP]. The order of `characters` does not
    count.
    """
    single = sorted({SPACE, *ASCII, *characters} - {" ", *QUOTES})
    vocab = {piece: index for index, piece in enumerate((*SPECIAL, *BYTES, *single))}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token=UNKNOWN, byte_fallback=True))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(mark, '"') for mark in QUOTES])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(prepend_scheme="never"),
            pre_tokenizers.Punctuation(),
            pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated"),
        ]
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} $B:1 {END}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (START, END)],
    )
    return tokenizer


def common_characters() -> list[str]:
    """List the 3,755 most common characters of simplified Chinese: level 1 of the standard GB 2312 (1980)."""
    codes = (bytes((row, cell)) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF))
    return [code.decode("gb2312") for code in codes if code < b"\xd7\xfa"]
