"""Sentences of the section Serial or parallel."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.stepwise import Layer, SerialTimes
from inspector.text import number, quantity
from inspector.wording.english.phrases import count_of

CLOCK = "Serial or parallel"
WIDTH, TOKENS, LENGTHS = "Width d", "Tokens n", "tokens n"
COUNTING = "Counting"
FLOPS, FLOPS_ALT, FLOPS_TITLE = "Work: FLOPs of a layer", "FLOPs of a layer by length, on logarithmic axes", "FLOPs"
WAITING, WAITING_ALT, WAITING_TITLE = (
    "Waiting: steps in a row",
    "Steps that wait for each other by length, on logarithmic axes",
    "steps that wait for each other",
)
TIME, TIME_ALT, TIME_TITLE = (
    "On this machine's clock",
    "Milliseconds of each run by length, on logarithmic axes",
    "milliseconds",
)
LAYERS = {"lstm": "LSTM", "attention": "self-attention", "block": "Transformer layer"}
RUNS = {
    "lstm_steps": "LSTM, token by token",
    "lstm": "LSTM, one call",
    "lstm_apart": "LSTM, n texts of 1 token",
    "attention": "self-attention",
    "block": "Transformer layer",
}
TERMS = ("FLOPs",)


def counting(*, tokens: int, lstm: int, attention: int) -> str:
    """Say that an RNN has to wait, and that its work is about attention's; lstm, attention: FLOPs of the width."""
    ratio = attention / lstm
    amount = "as many FLOPs" if round(ratio, 2) == 1 else f"{number(ratio)} times the FLOPs"
    many = "one step" if tokens == 1 else "as many steps in a row"
    return (
        f"Waiting makes an RNN serial, not work: for {count_of(tokens, 'token')} an LSTM takes {many}, self-attention "
        f"one step with {amount}."
    )


def costs(*, tokens: int, flops: Mapping[Layer, int]) -> list[tuple[str, str, str]]:
    """List the numbers below the pictures: name, number with its unit, meaning; flops: of each layer."""
    amounts = {layer: quantity(count, "FLOPs") for layer, count in flops.items()}
    return [
        ("LSTM", f"{amounts['lstm']} in {tokens:,} steps", "Four gates read x and h."),
        ("Self-attention", f"{amounts['attention']} in 1", "Projections, scores and mix."),
        ("Whole layer", f"{amounts['block']} in 1", "Of a Transformer, with an FFN of width 4d."),
    ]


def at(tokens: int) -> str:
    """Say behind the numbers at which length they stand."""
    return f" at {tokens:,} tokens"


def flops_title(width: int) -> str:
    """Name the picture of the work."""
    return f"FLOPs of a layer of width {width}"


WAITING_NAME = "Steps in a row of a layer"


def time_title(width: int) -> str:
    """Name the picture of the times."""
    return f"Serial or parallel, width {width}"


def chosen(tokens: int) -> str:
    """Name the chosen length."""
    return f"n = {tokens:,}"


def measuring(*, width: int, first: int, last: int) -> str:
    """Say what will be measured; first, last: the shortest and the longest length."""
    return (
        f"torch.nn's LSTM, MultiheadAttention and TransformerEncoderLayer of width {width}, random weights, are "
        f"run on one text of {first} to {last:,} tokens; they take turns. It takes half a minute or more, and "
        "minutes with a large width; Stop keeps the turns that are done."
    )


def formulas(*, tokens: int, width: int, flops: Mapping[Layer, int]) -> str:
    """Write the formulas with their numbers; flops: of each layer."""
    n, d = tokens, width
    return (
        rf"LSTM $16nd^2$ = 16 · {n:,} · {d}² = {flops['lstm']:,}; self-attention $8nd^2 + 4n^2d$ = "
        rf"{flops['attention']:,}; a Transformer's layer $24nd^2 + 4n^2d$ = {flops['block']:,} (matrix products, 1 "
        "multiply-add = 2 FLOPs, an FFN "
        "of width 4d). The state $h_t$ needs $h_{t-1}$, so an LSTM's layer has n steps in a row; the n rows of "
        r"$\mathrm{softmax}(QK^\top/\sqrt{d_k})V$ need the inputs alone (Vaswani et al. 2017, table 1). L layers wait "
        "for each other either way."
    )


def conditions(crossing: int) -> str:
    """Say where the common sentences hold; crossing: the length from which on attention has more FLOPs."""
    return (
        f"- **Long sequences especially?** Only for the steps. Attention has a term in n²: beyond n = 2d = "
        f"{crossing:,} tokens it has more FLOPs than the LSTM.\n"
        "- **Is that model parallelism?** No. Model parallelism puts the parts of one model on several devices "
        "(Shoeybi et al. 2019). Here one device computes the positions of one text at once.\n"
        "- **Is every RNN serial?** No. A recurrence that is linear in $h_{t-1}$, such as a state-space "
        "model's, can be "
        "computed as a scan in about log n steps (Blelloch 1990; Martin & Cundy 2018; Gu & Dao 2023)."
    )


def timing(
    *, tokens: int, seconds: Mapping[str, float], slower: int | None, crossing: int, waiting: float, threads: int
) -> str:
    """Say what the clock found at its longest length, and what waiting alone costs.

    seconds: by run. slower: the shortest measured length from which on attention takes longer than the LSTM in one
    call; None where attention is faster at the longest. waiting: the time of the LSTM's one call over the time of the
    same FLOPs without waits.
    """
    ms = {run: f"{number(1000 * taken)} ms" for run, taken in seconds.items()}
    if slower is None:
        crossed = "Attention is faster than the LSTM in one call here, up to the longest text."
    else:
        crossed = f"From {slower:,} tokens on attention takes longer than the LSTM in one call: "
        if slower <= crossing:
            crossed += f"up to 2d = {crossing:,} tokens by what its calls take besides FLOPs, beyond "
        crossed += f"its n² counts, and this machine, with {_threads(threads)}, can do little at once."
    return (
        f"At {tokens:,} tokens the LSTM takes {ms['lstm_steps']} token by token and {ms['lstm']} in one call, "
        f"attention {ms['attention']}, a Transformer's layer {ms['block']}. The same LSTM on as many texts of one "
        f"token computes the same FLOPs and waits for nothing: {ms['lstm_apart']}, so waiting multiplies the time by "
        f"{number(waiting)} here. {crossed}"
    )


def measured(timed: SerialTimes) -> str:
    """Say how the times were measured, and which part of an LSTM need not wait."""
    return (
        f"Medians of {timed.repeats} runs that take turns, {timed.clock}, float32, {_threads(timed.threads)}. In one "
        "call the LSTM computes the inputs' products, half of its FLOPs, for all tokens at once; the other half waits. "
        "Token by token each call has its own overhead besides. Both give the same states (largest difference "
        f"{timed.difference:.1g}). A busy machine moves these numbers."
    )


def _threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"
