"""Sentences of the section One text, many vocabularies."""

from __future__ import annotations

from inspector.plots.theme import number
from inspector.readings.tokens.pieces import Cutting
from inspector.wording.english.phrases import percent

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
    "characters_per_token": "characters / token",
    "vocabulary": "size V",
    "cells": "cells n²",
    "times": "n² / least n²",
    "flops": "FLOPs of n²",
    "parameters": "embedding V·D",
}
TERMS = ("token", "FLOPs")


def cutting(found: Cutting, *, model: str) -> str:
    """Say how long the text is in each vocabulary, what it costs, and what is unknown."""
    counts = (
        f"This text is {_tokens(found.characters)} as characters, {_words(found)} and {found.pieces:,} in {model}'s "
        f"vocabulary of {found.vocabulary:,}."
    )
    cost = f" The longest of the three has {number(found.times)} times the attention cells of the shortest."
    return (
        f"{counts}{cost} Unknown are {_share(found.unknown_words)} of the words, {_share(found.unknown_characters)} of "
        f"the characters and {_share(found.unknown_pieces)} of {model}'s pieces."
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
    """Fill the numbers into n² and V D, and say what BERT does; tokens: of the sidebar's model.

    encoder: True where only an encoder-decoder's encoder is counted.
    """
    said = (
        f"{model}: n² = {tokens:,}² = {tokens**2:,} cells of a map, against {shortest:,}² = {shortest**2:,} for the "
        f"shortest way; V · D = {vocabulary:,} · {width:,} = {vocabulary * width:,} numbers in the embedding. The "
        f"table counts what {model}'s sizes would cost with each vocabulary."
    )
    if flops is not None:
        where = "the encoder" if encoder else "all layers"
        said += f" Scores and mix, the part that grows with n², take 4 n² H E FLOPs a layer, {flops:,} in {where}."
    return (
        f"{said} Small units know every text and make it long; words keep it short and know little. Pieces lie "
        "between: BERT reads WordPiece with 30,522 pieces, which its paper rounds to 30,000 (Devlin et al. 2019), and "
        "its Chinese version cuts Chinese into single characters. BPE: Sennrich et al. 2016; WordPiece: Schuster & "
        "Nakajima 2012; unigram: Kudo 2018."
    )


def _share(share: float) -> str:
    return {0.0: "none", 1.0: "all"}.get(share) or percent(share)


def _words(found: Cutting) -> str:
    return f"{found.words:,} as words" if found.blanks else f"{found.words:,} as words, for it has no blanks,"


def _tokens(count: int) -> str:
    return f"{count:,} token{'' if count == 1 else 's'}"
