"""Sentences of the section Serial or parallel."""

from __future__ import annotations

from inspector.plots.theme import number, quantity
from inspector.readings.time.clock import Counting, Timing
from inspector.stepwise import Timed

LAYERS = {"lstm": "LSTM", "attention": "self-attention", "block": "Transformer layer"}
RUNS = {
    "lstm_steps": "LSTM, token by token",
    "lstm": "LSTM, one call",
    "lstm_apart": "LSTM, n texts of 1 token",
    "attention": "self-attention",
    "block": "Transformer layer",
}
TERMS = ("FLOPs",)


def counting(found: Counting) -> str:
    """Say what a length costs, and that waiting is another thing than FLOPs."""
    ratio = found.attention / found.lstm
    said = "as many FLOPs" if round(ratio, 2) == 1 else f"{number(ratio)} times the FLOPs"
    steps = "one step" if found.tokens == 1 else f"{found.tokens:,} steps in a row"
    return (
        f"For {found.tokens:,} token{'' if found.tokens == 1 else 's'} of width {found.width} an LSTM takes {steps} "
        f"({quantity(found.lstm, 'FLOPs')}), self-attention one step with {said}: what makes an RNN serial is "
        "dependency, not the amount of work."
    )


def formulas(found: Counting) -> str:
    """Write the formulas with their numbers."""
    n, d = found.tokens, found.width
    return (
        rf"LSTM $16nd^2$ = 16 · {n:,} · {d}² = {found.lstm:,}; self-attention $8nd^2 + 4n^2d$ = {found.attention:,}; "
        rf"a Transformer's layer $24nd^2 + 4n^2d$ = {found.block:,} (matrix products, 1 multiply-add = 2 FLOPs, an FFN "
        "of width 4d). The state $h_t$ needs $h_{t-1}$, so an LSTM's layer has n steps in a row; the n rows of "
        r"$\mathrm{softmax}(QK^\top/\sqrt{d_k})V$ need the inputs alone (Vaswani et al. 2017, table 1). L layers wait "
        "for each other either way."
    )


def conditions(found: Counting) -> str:
    """Say where the common sentences hold."""
    return (
        f"- **Long sequences especially?** Only for the steps. Attention has a term in n²: beyond n = 2d = "
        f"{found.crossing:,} tokens it has more FLOPs than the LSTM.\n"
        "- **Is that model parallelism?** No. Model parallelism puts the parts of one model on several devices "
        "(Shoeybi et al. 2019). Here one device computes the positions of one text at once.\n"
        "- **Is every RNN serial?** No. A recurrence that is linear in $h_{t-1}$, such as a state-space "
        "model's, can be "
        "computed as a scan in about log n steps (Blelloch 1990; Martin & Cundy 2018; Gu & Dao 2023)."
    )


def timing(found: Timing, *, threads: int) -> str:
    """Say what the clock found at its longest length, and what waiting alone costs."""
    ms = {run: f"{number(1000 * seconds)} ms" for run, seconds in found.seconds.items()}
    at = f"{found.tokens:,} tokens"
    if found.slower is None:
        crossed = "Attention is faster than the LSTM in one call here, up to the longest text."
    else:
        crossed = f"From {found.slower:,} tokens on attention takes longer than the LSTM in one call: "
        if found.slower <= found.crossing:
            crossed += f"up to 2d = {found.crossing:,} tokens by what its calls take besides FLOPs, beyond "
        crossed += f"its n² counts, and this machine, with {_threads(threads)}, can do little at once."
    return (
        f"At {at} the LSTM takes {ms['lstm_steps']} token by token and {ms['lstm']} in one call, attention "
        f"{ms['attention']}, a Transformer's layer {ms['block']}. The same LSTM on as many texts of one token computes "
        f"the same FLOPs and waits for nothing: {ms['lstm_apart']}, so waiting multiplies the time by "
        f"{number(found.waiting)} here. {crossed}"
    )


def measured(timed: Timed) -> str:
    """Say how it was measured, and what of an LSTM need not wait."""
    return (
        f"Medians of {timed.repeats} runs that take turns, {timed.clock}, float32, {_threads(timed.threads)}. In one "
        "call the LSTM computes the inputs' products, half of its FLOPs, for all tokens at once; the other half waits. "
        "Token by token each call has its own overhead besides. Both give the same states (largest difference "
        f"{timed.difference:.1g}). A busy machine moves these numbers."
    )


def _threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"
