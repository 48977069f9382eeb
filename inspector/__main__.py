"""The instrument from the command line.

python -m inspector "The cat sat on the mat."                                        what each head does
python -m inspector "The cat sat on the mat." --layer 3 --head 7 --save map.html     one head, as a file
python -m inspector "The cat sat on the mat." --report report.html                   all sections about the text
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from models import failures

if TYPE_CHECKING:
    import models
    from inspector.plots.theme import Mode
    from inspector.trace import Trace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, or 2 with one sentence on stderr where something is wrong."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except Exception as error:  # of a command a reader gets one line, whatever fails
        logging.getLogger(__name__).debug("failed", exc_info=True)
        known = isinstance(error, ValueError | OSError)
        wrong = failures.sentence(error, what="This", instead="Try another text or model.")
        print(" ".join((str(error) if known else wrong).split()), file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m inspector",
        description="Record a Transformer on a text. Prints what each head does, or saves one head to a file.",
    )
    add = parser.add_argument
    add("text", nargs="?", metavar="TEXT", help="the text to read; - reads it from standard input")
    add("--pair", metavar="TEXT", help="a second text, for models that read two")
    add("--target", metavar="TEXT", help="what an encoder-decoder is to write (default: what it writes by itself)")
    add("--open", metavar="FILE", help="look at a trace saved as .npz, in place of a text")
    add("--model", metavar="MODEL", help="a model's id or a folder (default: minilm, mini-bert until it is fetched)")
    add("--dtype", help="float32, bfloat16, float16, or auto: as the weights are stored (default: float32)")
    add("--device", help="cpu, cuda, cuda:1, mps, or auto: spread over all that there is (default: cpu)")
    add("--layer", type=int, help="the layer to save, from 0 (default: that of the most telling head)")
    add("--call", type=int, default=0, help="which attention of a layer that attends more than once, from 0")
    add("--kind", help='how the layer mixes its tokens, for one without softmax attention: "gated delta rule"')
    add("--head", type=int, help="the head to save, from 0 (with a layer and no head: the mean over its heads)")
    add("--stream", help="encoder, decoder or cross, where the model has several")
    add("--save", metavar="FILE", help="write the head to FILE: .html, .png, .svg or .csv; .npz writes the whole trace")
    add(
        "--report",
        metavar="FILE",
        help="write every section about the text to FILE.html, to read offline or print",
    )
    add("--dark", action="store_true", help="a dark .png or .svg")
    return parser


def _run(options: argparse.Namespace) -> None:
    _check(options)
    trace, loaded = _trace(options)
    if trace.cut is not None:
        print(trace.cut, file=sys.stderr)
    if trace.unknown:
        print(f"{trace.unknown} of {len(trace.tokens)} tokens are unknown to the tokenizer.", file=sys.stderr)
    if options.report is not None:
        from inspector.export import report

        report(trace, options.report, loaded=loaded)
    elif options.save is None:
        _print_heads(trace)
    else:
        _save(trace, options)


def _check(options: argparse.Namespace) -> None:
    """Check the command's options before a model loads."""
    recorded = (options.text, options.pair, options.model, options.dtype, options.device)
    if options.open is not None and any(given is not None for given in recorded):
        raise ValueError(
            "--open takes its text and its model from the file: leave out TEXT, --pair, --model, --dtype and --device."
        )
    if options.open is None and options.text is None:
        raise ValueError("There is no text: give one, - to read it from standard input, or --open FILE.npz.")
    if options.save is None and any(
        chosen is not None for chosen in (options.layer, options.head, options.stream, options.kind)
    ):
        raise ValueError("--layer, --head, --stream and --kind choose what to save: give --save FILE too.")
    if options.head is not None and options.layer is None:
        raise ValueError(f"head {options.head} of which layer? Give --layer too.")
    if options.kind is not None and options.layer is None:
        raise ValueError(f"a {options.kind} in which layer? Give --layer too.")
    if options.save is not None and options.report is not None:
        raise ValueError("--save writes one head and --report all sections: give one of the two.")
    if options.report is not None:
        from inspector.export.text_report import check_name

        check_name(options.report)
    if options.save is not None:
        from inspector.export import ending_of

        ending_of(options.save)


def _trace(options: argparse.Namespace) -> tuple[Trace, models.LoadedModel | None]:
    """Read the trace that the command is about from a file, or record it now; with its model where it was loaded."""
    if options.open is not None:
        from inspector.trace.file import open

        return open(options.open), None

    # Only now: torch and transformers take seconds, and --help should not.
    import models
    from inspector.probe import record
    from models.registry import default_id, default_note

    text = sys.stdin.read() if options.text == "-" else options.text
    if options.model is None and (note := default_note()):
        print(note, file=sys.stderr)
    model = options.model or default_id()
    loaded = models.load(model, dtype=options.dtype or "float32", device=options.device or "cpu")
    return record(loaded, text, text_pair=options.pair, target=options.target), loaded


def _print_heads(trace: Trace) -> None:
    """A line for each head, with its measures to three significant digits."""
    from inspector import heads
    from inspector.text import number

    measures = heads.measure(trace)
    table = measures.assign(label=heads.with_choice(measures, trace)["label"])
    print(table.to_string(index=False, float_format=number, na_rep="–"))


def _save(trace: Trace, options: argparse.Namespace) -> None:
    """The chosen head, or the most telling one, to the file."""
    from inspector import export, heads

    layer, head = options.layer, options.head
    if layer is None:
        layer, head = heads.most_telling(heads.measure(trace))
    mode: Mode = "dark" if options.dark else "light"
    chosen = {"layer": layer, "head": head, "stream": options.stream, "call": options.call}
    export.write(trace, options.save, **chosen, kind=options.kind or "softmax", mode=mode)


if __name__ == "__main__":
    sys.exit(main())
