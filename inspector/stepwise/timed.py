"""The clock on serial and parallel work: torch.nn's LSTM beside torch.nn's attention, random weights, one text.

Five runs take turns: the LSTM fed token by token, as a model that writes is fed; the LSTM given the whole text in one
call, where each step still waits for the last; the same LSTM given n texts of one token, which computes as many FLOPs
and waits for nothing; self-attention; and a Transformer's layer. The third is the control: between the second and the
third the FLOPs are equal and only the waiting differs.

Shapes: B texts, n tokens, d width.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal, get_args

import pandas as pd
import torch
from torch import Tensor, nn

from inspector.costs.clock import take_turns
from inspector.costs.timed_layer import clock_of
from inspector.stepwise import serial

Run = Literal["lstm_steps", "lstm", "lstm_apart", "attention", "block"]
RUNS: tuple[Run, ...] = get_args(Run)
COUNTED: dict[Run, serial.Layer] = {
    "lstm_steps": "lstm",
    "lstm": "lstm",
    "lstm_apart": "lstm",
    "attention": "attention",
    "block": "block",
}
"""The layer whose FLOPs each run computes."""
REPEATS = 5
HEAD_WIDTH = 64  # of attention, as in most models; a narrower layer has one head
MOST_TOKENS, MOST_WIDTH = 8192, 2048


@dataclass(frozen=True)
class SerialTimes:
    """Times by length.

    table: a row per tokens and run with seconds (the median of `repeats` runs that take turns), flops, waiting (steps
    that wait for each other). difference: the largest between a state of the LSTM fed token by token and in one call.
    clock: "CPU time" of one thread, or "wall time"; threads: that torch may use.
    """

    table: pd.DataFrame
    width: int
    repeats: int
    clock: str
    threads: int
    difference: float

    def ratios(self, of: Run, to: Run) -> dict[int, float]:
        """Divide one run's time by another's, for each length."""
        seconds = self.table.pivot_table(index="tokens", columns="run", values="seconds")
        return {int(tokens): float(ratio) for tokens, ratio in (seconds[of] / seconds[to]).items()}


def measure(
    tokens: Sequence[int],
    *,
    width: int,
    device: str = "cpu",
    repeats: int = REPEATS,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
    on_turn: Callable[[SerialTimes], object] = lambda so_far: None,
) -> SerialTimes:
    """Time the five runs at these lengths, in float32.

    on_progress: called with the runs that are done and the runs that there will be; what it raises ends the clock.
    on_turn: called with what is measured so far, after each turn. Raises ValueError for lengths, a width or repeats out
    of range.
    """
    lengths = sorted(set(tokens))
    if not lengths or not 1 <= lengths[0] <= lengths[-1] <= MOST_TOKENS or repeats < 1:
        raise ValueError(f"tokens {list(tokens)[:5]}, repeats {repeats}: choose 1 to {MOST_TOKENS:,}, and 1 or more")
    if not 1 <= width <= MOST_WIDTH or (width > HEAD_WIDTH and width % HEAD_WIDTH):
        raise ValueError(f"width {width}: choose up to {HEAD_WIDTH}, or a multiple of it up to {MOST_WIDTH:,}")
    layers = Layers.make(width, device=torch.device(device))
    now = clock_of(layers.device)
    texts = {length: layers.text(length) for length in lengths}

    def so_far(times: Mapping[tuple[int, Run], Sequence[float]]) -> SerialTimes:
        rows = [
            (
                length,
                run,
                median(seconds),
                serial.flops(COUNTED[run], tokens=length, width=width),
                length if run in ("lstm_steps", "lstm") else 1,
            )
            for (length, run), seconds in times.items()
        ]
        return SerialTimes(
            table=pd.DataFrame(rows, columns=["tokens", "run", "seconds", "flops", "waiting"]),
            width=width,
            repeats=len(next(iter(times.values()))),
            clock="CPU time" if now is time.thread_time else "wall time",
            threads=torch.get_num_threads(),
            difference=difference,
        )

    with torch.inference_mode():
        shortest = texts[lengths[0]]
        difference = float((layers.lstm_steps(shortest) - layers.lstm_once(shortest)).abs().max())
        runs: dict[tuple[int, Run], Callable[[], object]] = {
            (length, run): layers.call(run, texts[length]) for length in lengths for run in RUNS
        }
        times = take_turns(
            runs, now=now, repeats=repeats, on_progress=on_progress, on_turn=lambda times: on_turn(so_far(times))
        )
    return so_far(times)


@dataclass(frozen=True, eq=False)
class Layers:
    """The three layers of torch.nn, with random weights from one seed."""

    lstm: nn.LSTM
    attention: nn.MultiheadAttention
    block: nn.TransformerEncoderLayer
    device: torch.device

    @classmethod
    def make(cls, width: int, *, device: torch.device | None = None, dtype: torch.dtype = torch.float32) -> Layers:
        """Draw the weights of layers of this width from seed 0; no other generator moves."""
        device, heads = device or torch.device("cpu"), max(width // HEAD_WIDTH, 1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            lstm = nn.LSTM(width, width, batch_first=True)
            attention = nn.MultiheadAttention(width, heads, batch_first=True)
            block = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True)
        for layer in (lstm, attention, block):
            layer.to(device, dtype).eval()
        return cls(lstm, attention, block, device)

    def text(self, tokens: int) -> Tensor:
        """Draw random inputs, [1, n, d]."""
        generator = torch.Generator().manual_seed(tokens)
        like = next(self.lstm.parameters())
        return torch.randn(1, tokens, self.lstm.input_size, generator=generator).to(like)

    def call(self, run: Run, text: Tensor) -> Callable[[], Tensor]:
        """Give the call that one run times."""
        calls: dict[Run, Callable[[], Tensor]] = {
            "lstm_steps": lambda: self.lstm_steps(text),
            "lstm": lambda: self.lstm_once(text),
            "lstm_apart": lambda: self.lstm_once(text.transpose(0, 1)),
            "attention": lambda: self.attend(text),
            "block": lambda: self.whole(text),
        }
        return calls[run]

    def lstm_steps(self, text: Tensor) -> Tensor:
        """Feed the LSTM token by token: [1, n, d] -> [1, n, d]."""
        state: tuple[Tensor, Tensor] | None = None
        outputs = []
        for token in torch.split(text, 1, dim=1):
            output, state = self.lstm(token, state)
            outputs.append(output)
        return torch.cat(outputs, dim=1)

    def lstm_once(self, texts: Tensor) -> Tensor:
        """Give the LSTM whole texts in one call: [B, n, d] -> [B, n, d]."""
        output: Tensor = self.lstm(texts)[0]
        return output

    def attend(self, text: Tensor) -> Tensor:
        """Let every token attend to every token: [1, n, d] -> [1, n, d]."""
        output: Tensor = self.attention(text, text, text, need_weights=False)[0]
        return output

    def whole(self, text: Tensor) -> Tensor:
        """Run a Transformer's layer: [1, n, d] -> [1, n, d]."""
        output: Tensor = self.block(text)
        return output
