"""The instrument from the command line.

python -m inspector "The cat sat on the mat."                                        what each head does
python -m inspector "The cat sat on the mat." --layer 3 --head 7 --save map.html     one head, as a file
python -m inspector "The cat sat on the mat." --report report.html                   all sections about the text
python -m inspector "The cat sat on the mat." --section block/added --json           one section, for a program
python -m inspector --sections                                                       the sections that there are
python -m inspector "The cat sat on the mat." --record --save trace.npz --json       what was recorded
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector.plain import command

if TYPE_CHECKING:
    import models
    from inspector.plots.theme import Mode
    from inspector.trace import Trace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, or 2 with one sentence on stderr where something is wrong."""
    return command.run(lambda given: _run(_parser().parse_args(given)), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command.Parser(
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
    add("--record", action="store_true", help="print what was recorded: tokens, attention calls, norms")
    add("--sections", action="store_true", help="print the sections that there are, and read no text")
    add("--section", metavar="PATH", help='print a section about the text, such as "block/added"')
    add("--choose", metavar="JSON", help='what is chosen in the section, such as {"token": 2}')
    command.add_json(parser)
    return parser


def _run(options: argparse.Namespace) -> int:
    _check(options)
    if options.sections:
        _print_sections(options)
        return 0
    trace, loaded = _trace(options)
    if trace.cut is not None:
        print(trace.cut, file=sys.stderr)
    if trace.unknown:
        print(f"{trace.unknown} of {len(trace.tokens)} tokens are unknown to the tokenizer.", file=sys.stderr)
    if options.section is not None:
        _print_section(options.section, trace, loaded, _chosen(options), as_json=options.json)
    elif options.report is not None:
        from inspector.export import report

        report(trace, options.report, loaded=loaded)
    elif options.save is not None:
        _save(trace, options)
    elif not options.record:
        _print_heads(trace, as_json=options.json)
    if options.record:
        _print_recording(trace, options)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Check the command's options before a model loads."""
    recorded = (options.text, options.pair, options.model, options.dtype, options.device)
    if options.open is not None and any(given is not None for given in recorded):
        raise ValueError(
            "--open takes its text and its model from the file: leave out TEXT, --pair, --model, --dtype and --device."
        )
    if options.open is None and options.text is None and not options.sections:
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
    files = options.save is not None or options.report is not None
    if sum((options.sections, options.section is not None, options.record or files)) > 1:
        raise ValueError("--sections, --section and a file or --record are three things: give one of them.")
    if options.json and files and not options.record:
        raise ValueError("--json prints what was recorded beside a file: give --record too, or leave the file out.")
    if options.choose is not None and options.section is None:
        raise ValueError("--choose chooses in a section: give --section PATH too.")
    _chosen(options)
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


def _chosen(options: argparse.Namespace) -> Mapping[str, Any]:
    """Read what is chosen in a section; ValueError for what is no JSON object."""
    try:
        chosen = json.loads(options.choose or "{}")
    except (ValueError, RecursionError):
        chosen = None
    if not isinstance(chosen, dict):
        raise ValueError(f'--choose takes a JSON object such as {{"token": 2}}, not {options.choose[:60]!a}.')
    return chosen


def _print_sections(options: argparse.Namespace) -> None:
    from inspector.sections import plain

    sections = plain.listed()
    if options.json:
        command.show(sections)
        return
    for section in sections["sections"]:
        print(f"{section['path']:24} {section['page']}: {section['title']}")


def _print_section(
    path: str, trace: Trace, loaded: models.LoadedModel | None, chosen: Mapping[str, Any], *, as_json: bool
) -> None:
    from inspector import sections
    from inspector.sections import asking, plain

    if as_json:
        blocks = asking.ask(path, trace, loaded=loaded, chosen=chosen)
        command.show(plain.answered(path, blocks, trace=trace, chosen=chosen))
        return
    for output in sections.show(path, trace, loaded=loaded, **chosen).outputs():
        if text := output.get("text/plain"):
            print(f"{text}\n")


def _print_recording(trace: Trace, options: argparse.Namespace) -> None:
    from inspector import plain

    if options.json:
        command.show(plain.recording(trace, file=options.save))
        return
    print(trace)
    for site in trace.mixing_sites:
        print(f"{site.stream} {site.name}: {site.heads} heads of {site.kind}, {len(site.queries)} x {len(site.keys)}")


def _print_heads(trace: Trace, *, as_json: bool) -> None:
    """A line for each head, with its measures to three significant digits, or all digits as JSON."""
    from inspector import heads, plain
    from inspector.text import number

    if as_json:
        command.show(plain.heads(trace))
        return
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
