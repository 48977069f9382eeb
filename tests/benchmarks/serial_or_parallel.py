"""Time n steps of an LSTM beside one pass of attention, side by side, and print ratios.

Run it alone on the machine: `python tests/benchmarks/serial_or_parallel.py [widths] [device]`, by default 128,512 on
the CPU with one thread and with as many as torch takes.
"""

from __future__ import annotations

import sys

import torch

from inspector import stepwise

LENGTHS = (32, 128, 512, 2048)


def main(widths: list[int], device: str) -> None:
    """Print a row per length: the clock of the LSTM's runs over attention's, and the FLOPs beside."""
    every = torch.get_num_threads()
    for threads in sorted({1, every}) if device == "cpu" else [every]:
        torch.set_num_threads(threads)
        for width in widths:
            timed = stepwise.measure(LENGTHS, width=width, device=device)
            print(
                f"\nwidth {width}, {threads} thread(s) on {device}, medians of {timed.repeats} in turns, {timed.clock}"
            )
            print("     n  FLOPs LSTM/attention   step by step   one call   apart   layer  (over attention)   waiting")
            over = {run: timed.ratios(run, "attention") for run in stepwise.RUNS}
            waits = timed.ratios("lstm", "lstm_apart")
            for length in LENGTHS:
                lstm, attention = (stepwise.flops(layer, tokens=length, width=width) for layer in ("lstm", "attention"))
                print(
                    f"{length:6} {lstm / attention:21.2f} {over['lstm_steps'][length]:14.2f} "
                    f"{over['lstm'][length]:10.2f} {over['lstm_apart'][length]:7.2f} {over['block'][length]:7.2f} "
                    f"{waits[length]:27.2f}"
                )
    print("\nwaiting: the LSTM's one call over the same FLOPs in n texts of one token, which wait for nothing.")


if __name__ == "__main__":
    main(
        [int(width) for width in (sys.argv[1] if len(sys.argv) > 1 else "128,512").split(",")],
        sys.argv[2] if len(sys.argv) > 2 else "cpu",
    )
