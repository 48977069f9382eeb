"""Reading of serial and parallel work: what one length costs, counted and on the clock."""

from __future__ import annotations

from dataclasses import dataclass

from inspector import stepwise


@dataclass(frozen=True)
class Counting:
    """A length and a width: FLOPs of an LSTM, of attention and of a Transformer's layer; crossing: see `stepwise`."""

    tokens: int
    width: int
    lstm: int
    attention: int
    block: int
    crossing: int


@dataclass(frozen=True)
class Timing:
    """The clock at its longest length: seconds by run.

    slower: the shortest measured length from which on attention takes longer than the LSTM in one call; None where it
    is faster at the longest. crossing: see `stepwise`. waiting: the LSTM's one call over the same FLOPs without waits.
    """

    tokens: int
    seconds: dict[str, float]
    slower: int | None
    crossing: int
    waiting: float


def counting(tokens: int, *, width: int) -> Counting:
    """Count one length."""
    lstm, attention, block = (stepwise.flops(layer, tokens=tokens, width=width) for layer in stepwise.LAYERS)
    return Counting(tokens, width, lstm, attention, block, stepwise.crossing(width=width))


def timing(timed: stepwise.Timed) -> Timing:
    """Read what the clock found."""
    seconds = timed.table.pivot_table(index="tokens", columns="run", values="seconds")
    longest = int(seconds.index.max())
    slower = None
    for tokens, ratio in sorted(timed.ratios("attention", "lstm").items(), reverse=True):
        if ratio <= 1:
            break
        slower = tokens
    return Timing(
        tokens=longest,
        seconds={str(run): float(value) for run, value in seconds.loc[longest].items()},
        slower=slower,
        crossing=stepwise.crossing(width=timed.width),
        waiting=timed.ratios("lstm", "lstm_apart")[longest],
    )
