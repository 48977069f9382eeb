"""Sentences of the section Teacher forcing."""

from __future__ import annotations

import pandas as pd

from inspector.stepwise import ForcedReading
from inspector.text import number
from inspector.wording.english.phrases import count_of

COLUMNS = {
    "cached": "with the cache",
    "uncached": "without",
    "exact": "float64, with the cache",
    "same_cached": "same likeliest, cached",
    "same_uncached": "same, without",
    "flops_cached": "FLOPs, cached",
    "flops_uncached": "FLOPs, without",
}
FORCING, READ = "Teacher forcing", "Tokens read"
TITLE, READS, OF_LOGIT = "One pass against step by step", "token that is read", "|difference| of a logit"
LARGEST = "largest difference"
LINES = {"cached": "with the cache", "uncached": "without", "exact": "with the cache"}
READING = "Reading the text step by step"
CANNOT = "writes nothing step by step"
DIFFERENCE, DIFFERENCE_ALT = "Largest difference of a logit", "Largest difference of a logit at each position"
WAIT = "What has to wait"
WAITS = "Steps that wait, a layer"
TERMS = ("KV cache", "causal mask")


def comparing(forced: ForcedReading, *, model: str) -> str:
    """Say how far reading step by step is from one pass; model: its name."""
    count = len(forced.table)
    does = "does" if forced.agreeing == count else "all but does"
    differs = f"its likeliest token at {count - forced.agreeing or 'none'} of {count_of(count, 'position')}"
    return (
        f"One pass over a text {does} what reading it step by step does: {model}'s logits differ by "
        f"{number(forced.largest)} at most, {differs}."
    )


def numbers(forced: ForcedReading) -> list[tuple[str, str, str]]:
    """List the numbers below the picture: name, number, meaning."""
    tokens = len(forced.table)
    exact = [] if forced.exact is None else [("In float64", number(forced.exact), "The same weights, with the cache.")]
    return [
        ("Largest difference", number(forced.largest), "Of a logit, with the cache or without."),
        *exact,
        ("Likeliest token the same", f"{forced.agreeing} of {tokens}", "In all three ways to read."),
        ("Steps in a row", f"1 against {tokens}", "One pass against token by token; the L layers follow in both."),
    ]


def about(forced: ForcedReading) -> str:
    """Say what the difference is, and what it means for training."""
    exact = (
        f" In float64 the same weights leave {number(forced.exact)}: it is rounding."
        if forced.exact is not None
        else " What is left is rounding: products of other shapes are added in another order."
    )
    return (
        rf"Largest $|z^{{\text{{pass}}}}_{{t,v}} - z^{{\text{{step}}}}_{{t,v}}|$ of a logit, beside logits of up to "
        f"{number(forced.size)} in {forced.dtype}.{exact} In training the true text is there, so every position reads "
        "the true tokens before it, in one pass (teacher forcing, Williams & Zipser 1989; Vaswani et al. 2017). In "
        "writing token t + 1 is not there before step t has ended."
    )


def waiting(count: int) -> pd.DataFrame:
    """Table the steps that must wait for each other, in training and in writing."""
    return pd.DataFrame(
        {
            WAITS: ["Transformer decoder", "RNN, LSTM, GRU"],
            "training, the text is given": ["1", f"{count:,}"],
            "writing": [f"{count:,}", f"{count:,}"],
        }
    )


RNN = (
    "An RNN is trained with teacher forcing too: its inputs are the true tokens. Its state still waits for the state "
    "before it, so teacher forcing makes the training of a Transformer's decoder parallel, and an RNN's not."
)
