"""Sentences of the section One text, many vocabularies."""

from __future__ import annotations

from inspector.text import number
from inspector.wording.english.phrases import count_of, percent

PIECES = "One text, many vocabularies"
CUTTING, CUTTING_INSTEAD = "Cutting the text", "Choose another text or another corpus."
CORPUS, MORE = "Corpus to learn from", "Pieces beyond characters"
ENGLISH, CHINESE = "English", "Chinese"
READ_SO = "Pieces of a word touch; a question mark in a dashed box is anything unknown. Framed: the two ways compared."
WAYS_ALT = "the text cut by each vocabulary, a row of tokens each"
KINDS = {
    "characters": "characters",
    "words": "words",
    "wordpiece": "WordPiece",
    "bpe": "BPE",
    "unigram": "unigram",
}
COLUMNS = {
    "way": "vocabulary",
    "tokens": "tokens n",
    "unknown_share": "unknown (%)",
    "characters_per_token": "chars / token",
    "vocabulary": "size V",
    "cells": "cells n²",
    "times": "n² / least n²",
    "flops": "FLOPs of n²",
    "parameters": "embedding V·D",
}
LONGEST_NAME = 24  # letters of a model beside its row
TERMS = ("token", "FLOPs")


def corpus_help(most: int) -> str:
    """Say what the field of the corpus takes; most: characters."""
    return f"{most:,} characters at most. Real vocabularies are learned from billions."


def pieces_help(least: int) -> str:
    """Say what the number of pieces means; least: how often a pair must stand."""
    return f"As many for BPE, WordPiece and unigram. Only pairs that stand {least} times or more are joined."


def shortened(model: str) -> str:
    """Name a model beside its row."""
    return model if len(model) <= LONGEST_NAME else f"{model[: LONGEST_NAME - 1]}…"


def row(name: str, tokens: int) -> str:
    """Name a row of the picture."""
    return f"{name} · {tokens}"


def cut_of(read: int, characters: int) -> str:
    """Say how much of a long text is counted."""
    return f"The first {read:,} of {characters:,} characters are cut and counted."


def drawn_of(drawn: int, characters: int) -> str:
    """Say how much of a text is drawn."""
    return f"The first {drawn:,} of {characters:,} characters are drawn; the table counts all."


def cutting(
    *,
    characters: int,
    pieces: int,
    unknown: tuple[float, float],
    times: float,
    model: str,
) -> str:
    """Say how long the text is in the model's pieces and in characters, what that costs, and how much is unknown.

    characters, pieces: tokens of the text; unknown: the share of unknown tokens as words, and of the model's pieces.
    times: the cells of the longer way's map over the cells of the shorter.
    """
    as_words, as_pieces = unknown
    if pieces < characters and not as_pieces:
        sentence = (
            f"Pieces keep a text short and still know all of it: {model} cuts this one into "
            f"{count_of(pieces, 'token')}, characters make {characters:,}."
        )
    else:
        shorter = "fewer than" if pieces < characters else "as many as" if pieces == characters else "more than"
        sentence = (
            f"In {model} this text is {count_of(pieces, 'token')}, {shorter} its {count_of(characters, 'character')}."
        )
    if as_pieces:
        sentence += f" Of its pieces {_share(as_pieces)} are unknown to {model}."
    elif times > 1:
        sentence += f" The longer way has {number(times)} times the attention cells."
    return f"{sentence} As whole words {_share(as_words)} would be unknown." if as_words else sentence


def explained(*, model: str, pieces: int, blanks: bool) -> str:
    """Say which vocabularies stand in the picture, and what cuts a word."""
    chinese = "" if blanks else " Chinese is written without blanks, so a whole sentence counts as one word."
    return (
        "The first five are learned here from the corpus, by the trainers of the tokenizers library; WordPiece, BPE "
        f"and unigram are asked for {pieces} pieces beyond its characters, of which a small corpus may give unigram "
        f"fewer. The others belong to models; {model} is the sidebar's. Words are cut at blanks alone.{chinese} A box "
        "without letters is a byte of a character. [CLS] and [SEP] are left out."
    )


def trade_off(
    *, model: str, width: int, tokens: int, shortest: int, vocabulary: int, flops: int | None, encoder: bool
) -> str:
    """Fill the numbers into n² and V D, and say what BERT does; tokens: counted by the sidebar's model.

    encoder: True where only an encoder-decoder's encoder is counted.
    """
    sentence = (
        f"{model}: n² = {tokens:,}² = {tokens**2:,} cells of a map, against {shortest:,}² = {shortest**2:,} for the "
        f"shortest way; V · D = {vocabulary:,} · {width:,} = {vocabulary * width:,} numbers in the embedding. The "
        f"table counts what {model}'s sizes would cost with each vocabulary."
    )
    if flops is not None:
        where = "the encoder" if encoder else "all layers"
        sentence += f" Scores and mix, the part that grows with n², take 4 n² H E FLOPs a layer, {flops:,} in {where}."
    return (
        f"{sentence} Small units know every text and make it long; words keep it short and know little. Pieces lie "
        "between: BERT reads WordPiece with 30,522 pieces, which its paper rounds to 30,000 (Devlin et al. 2019), and "
        "its Chinese version cuts Chinese into single characters. BPE: Sennrich et al. 2016; WordPiece: Schuster & "
        "Nakajima 2012; unigram: Kudo 2018."
    )


def _share(share: float) -> str:
    return {0.0: "none", 1.0: "all"}.get(share) or percent(share)
