"""Models of transformers whose attention is not, or not only, a map from token to token, and why."""

from __future__ import annotations

from typing import Any


def why_no_maps(config: Any) -> str | None:
    """A sentence that says why there is nothing to record; None for all other models."""
    if config.model_type == "nystromformer" and config.num_landmarks != config.segment_means_seq_len:
        each = config.segment_means_seq_len / config.num_landmarks
        return (
            f"its attention goes through {config.num_landmarks} landmarks, each the mean of {each:.3g} tokens, and the "
            "pseudo-inverse of a matrix between them, so that no softmax leads from token to token; with as many "
            "landmarks as segment_means_seq_len it attends in full, and is recorded"
        )
    if config.model_type == "funnel" and len(config.block_sizes) == 1:  # nothing is pooled
        return None
    if config.model_type == "reformer" and "lsh" not in config.attn_layers:
        return None
    if config.model_type == "cpmant" and not config.prompt_length:
        return None
    if config.model_type == "yoso" and config.use_expectation:
        return None
    return _SENTENCES.get(config.model_type)


_BOXES = "it reads the box of every word on its page beside the words, and a text has no boxes"
_SENTENCES = {
    "bros": _BOXES,
    "layoutlmv2": f"{_BOXES}, nor a picture of the page",
    "udop": _BOXES,
    "canine": (
        "it attends to stretches of four characters, and its first and last layers to the characters of a stretch, so "
        "that no map is between the tokens of a text"
    ),
    "cpmant": (
        "it reads prompt tokens of its own before the text, and its maps have these as queries and keys, which are no "
        "tokens of the text"
    ),
    "t5gemma2": (
        "its decoder attends to its own tokens and to the source's in one softmax, so that it has no map of either "
        "alone"
    ),
    "deepseek_v4": (
        "beside the tokens its layers see stretches of the text, each compressed into one key, so that its maps have "
        "more keys than there are tokens"
    ),
    "funnel": (
        "it pools its tokens: from its second block on a query stands for two tokens, in the third for four, and its "
        "maps are between these, not between the text's tokens"
    ),
    "prophetnet": (
        "its decoder reads a target in several streams at once, and what it predicts with are streams of their own, "
        "whose queries see the tokens and themselves: their maps have twice as many keys as there are tokens"
    ),
    "reformer": (
        "its LSH layers sort tokens into buckets by random rotations, drawn anew for each run, and attend within them, "
        "so that what a token sees is not the same twice"
    ),
    "mra": (
        "it weighs most of a text in blocks at once (a multi-resolution approximation of the softmax), so that most "
        "pairs of tokens have no weight of their own"
    ),
    "yoso": (
        "it hashes tokens into buckets by random hyperplanes, drawn anew for each run, so that what a token sees is "
        "not the same twice; with use_expectation its weights are how likely a bucket is shared, and it is recorded"
    ),
    "fnet": (
        "it mixes tokens by a Fourier transform over tokens and features at once: the real part of a complex matrix "
        "between tokens times another between features, so that no real matrix leads from token to token"
    ),
}
