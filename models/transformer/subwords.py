"""Subword tokenizers with byte fallback: what the vocabulary does not hold is spelled in UTF-8 bytes.

Byte pair encoding (Sennrich et al. 2016) on text whose spaces are written as a mark (Kudo & Richardson 2018), so that
a text comes back as it was; byte fallback as in SentencePiece and Llama.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

PAD, UNKNOWN, START, END, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SPACE = "▁"  # stands for a space, as in SentencePiece
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


def train_subwords(texts: Iterable[str], *, vocabulary: int) -> Tokenizer:
    """A tokenizer of at most `vocabulary` tokens: 5 special ones, 256 bytes, then characters and merges.

    A text becomes [CLS] text [SEP], a pair [CLS] text [SEP] pair [SEP]. A mark of punctuation is a token by itself, so
    that the words beside it are words. The same texts give the same tokenizer.

    Raises ValueError where the vocabulary has no room for the bytes.
    """
    room = vocabulary - len(SPECIAL) - len(BYTES)
    if room < 1:
        raise ValueError(
            f"a vocabulary of {vocabulary} has no room beside 5 special tokens and 256 bytes; choose 262 or more"
        )
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    split = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation()])
    tokenizer.pre_tokenizer = split
    # Two fifths of the room at most for characters: the rarest are spelled in bytes, so that bytes are learned too.
    texts = list(texts)
    alphabet = _frequent_characters(texts, most=max(room * 2 // 5, 1))
    trainer = trainers.BpeTrainer(
        vocab_size=room, initial_alphabet=alphabet, limit_alphabet=len(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    learned = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    vocab = {piece: index for index, piece in enumerate((*SPECIAL, *BYTES, *pieces))}
    merges = [(first, second) for first, second in learned["merges"]]
    return _finished(Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token=UNKNOWN, byte_fallback=True)), split)


def _frequent_characters(texts: Iterable[str], *, most: int) -> list[str]:
    """The mark of a space and the most frequent characters, the lower code point first where two are as frequent.

    The trainer's own choice among those is another each time.
    """
    times: Counter[str] = Counter()
    for text in texts:
        times.update(text)
    del times[" "]
    return [SPACE, *sorted(times, key=lambda character: (-times[character], character))[: most - 1]]


def _finished(tokenizer: Tokenizer, split: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} $B:1 {END}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (START, END)],
    )
    return tokenizer


def leave_open(tokenizer: Tokenizer) -> None:
    """Let a text become [CLS] text, without an end: what is written goes on from there."""
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A",
        pair=f"{START} $A {END} $B:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (START, END)],
    )


def as_transformers(tokenizer: Tokenizer, *, max_tokens: int) -> Any:
    """The same tokenizer as the rest of Headlight takes it: a fast transformers tokenizer."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        unk_token=UNKNOWN,
        cls_token=START,
        sep_token=END,
        mask_token=MASK,
        model_max_length=max_tokens,
        clean_up_tokenization_spaces=False,
    )
