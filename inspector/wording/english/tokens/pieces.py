"""Sentences of the section One text, many vocabularies."""

from __future__ import annotations

from inspector.text import number
from inspector.wording.english.phrases import count_of, percent

PIECES = "One text, many vocabularies"
CUTTING, CUTTING_INSTEAD = "Cutting the text", "Choose another text or another corpus."
CORPUS, MORE = "Corpus to learn from", "Pieces beyond characters"
ENGLISH, CHINESE = "English", "Chinese"
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
TERMS = ("token", "FLOPs")


def corpus_help(most: int) -> str:
    """Say what the field of the corpus takes; most: characters."""
    return f"{most:,} characters at most. Real vocabularies are learned from billions."


def pieces_help(least: int) -> str:
    """Say what the number of pieces means; least: how often a pair must stand."""
    return f"As many for BPE, WordPiece and unigram. Only pairs that stand {least} times or more are joined."


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
    words: int,
    pieces: int,
    unknown: tuple[float, float, float],
    vocabulary: int,
    blanks: bool,
    times: float,
    model: str,
) -> str:
    """Say how long the text is in each vocabulary, what that costs, and how much is unknown.

    characters, words, pieces: tokens of the text in each vocabulary; unknown: the share of unknown tokens in each.
    vocabulary: the size of the model's. blanks: False for a text without blanks, which is one word. times: the cells of
    the longest vocabulary's map over the cells of the shortest.
    """
    as_words = f"{words:,} as words" if blanks else f"{words:,} as words, for it has no blanks,"
    counts = (
        f"This text is {count_of(characters, 'token')} as characters, {as_words} and {pieces:,} in "
        f"{model}'s vocabulary of {vocabulary:,}."
    )
    cost = f" The longest of the three has {number(times)} times the attention cells of the shortest."
    letters, whole, parts = map(_share, unknown)
    return (
        f"{counts}{cost} Unknown are {whole} of the words, {letters} of the characters and {parts} of {model}'s pieces."
    )


def explained(*, model: str, pieces: int, blanks: bool) -> str:
    """Say which vocabularies stand in the picture, and what cuts a word."""
    chinese = "" if blanks else " Chinese is written without blanks, so a whole sentence counts as one word."
    return (
        "The first five are learned here from the corpus, by the trainers of the tokenizers library; WordPiece, BPE "
        f"and unigram are asked for {pieces} pieces beyond its characters, of which a small corpus may give unigram "
        f"fewer. The others belong to models; {model} is the sidebar's. Words are cut at blanks alone.{chinese} Pieces "
        "of a word touch. A question mark in a dashed box is a token for anything unknown. A box without letters is a "
        "byte of a character. [CLS] and [SEP] are left out."
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
