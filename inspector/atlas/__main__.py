"""Builds, shows and merges atlases from the command line.

python -m inspector.atlas build minilm sentences.txt --out my-atlas --workers 2
python -m inspector.atlas plan minilm treebank.conllu --out plan
python -m inspector.atlas build minilm treebank.conllu --plan plan --out part-3 --shard 3/64
python -m inspector.atlas merge part-1 part-2 --out my-atlas
python -m inspector.atlas show my-atlas --measure previous
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from time import monotonic
from types import FrameType
from typing import Any

from tqdm import tqdm

from inspector import atlas
from inspector.atlas import manifest as manifests
from inspector.atlas import measures, plain, planning, storage
from inspector.atlas.estimate import kept_bytes
from inspector.atlas.manifest import Manifest
from inspector.atlas.merging import ABOUT, gather
from inspector.atlas.opened import Atlas
from inspector.atlas.ray_cluster import RayExecutor, connect
from inspector.atlas.storage import Place
from inspector.memory import freed
from inspector.plain import command, document
from models.placement import DTYPES

_MOST_ASIDE = 10  # texts set aside that are printed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 where it was done, 1 with a sentence where it could not be, 2 where blocks are left."""
    return command.run(_run, arguments, failed=1)


def _run(arguments: Sequence[str]) -> int:
    chosen = _parser().parse_args(arguments)
    done: int = chosen.run(chosen)
    return done


def _parser() -> argparse.ArgumentParser:
    parser = command.Parser(prog="python -m inspector.atlas", description="Every head over a corpus.")
    commands = parser.add_subparsers(required=True, metavar="build|plan|show|merge")
    build = commands.add_parser("build", help="measure every head of a model on every text of a corpus")
    plan = commands.add_parser("plan", help="read the corpus and cut it into blocks, for shards that are built apart")
    for each in (build, plan):
        _add_plan(each)
    plan.set_defaults(
        run=_build, command="plan", workers=1, ray=None, shard=None, plan=None, allow_mixed=False, gpus=0.0
    )
    build.add_argument("--plan", metavar="FOLDER", help="take over the plan of this folder, and do not read the corpus")
    build.add_argument("--workers", type=_positive, default=1, help="processes, one thread each (default 1)")
    build.add_argument(
        "--ray", metavar="ADDRESS", nargs="?", const="", help="run on a Ray cluster; here without ADDRESS"
    )
    build.add_argument(
        "--gpus", type=float, default=0.0, help="GPUs of each Ray task, with --device cuda (not run on Ray yet)"
    )
    build.add_argument("--shard", type=_shard, metavar="3/64", help="measure this part alone, and merge later")
    build.add_argument("--allow-mixed", action="store_true", help="take blocks of other processors, equal to 1e-5")
    build.set_defaults(run=_build, command="build")
    merge = commands.add_parser("merge", help="bring the blocks of shards together")
    merge.add_argument("folders", nargs="+")
    merge.add_argument("--out", required=True)
    merge.add_argument("--allow-mixed", action="store_true", help="take blocks of other processors, equal to 1e-5")
    merge.set_defaults(run=_merge)
    show = commands.add_parser("show", help="print what an atlas holds")
    show.add_argument("folder")
    show.add_argument("--measure", default="previous", help="the measure by which heads are sorted")
    show.add_argument("--most", type=_positive, default=10, help="heads that are printed")
    show.set_defaults(run=_show)
    for each in (build, plan, merge, show):
        command.add_json(each)
    return parser


def _add_plan(parser: argparse.ArgumentParser) -> None:
    """Add the options that a plan depends on."""
    parser.add_argument("model", help="minilm, mini-bert, a folder, org/name of the hub")
    parser.add_argument(
        "corpus", nargs="+", help="files, s3://bucket/key too: text lines, .tsv, .conllu, .parquet, .jsonl"
    )
    parser.add_argument(
        "--out", required=True, help="the atlas's folder, s3://bucket/folder too; what is there is not measured again"
    )
    parser.add_argument("--device", default="cpu", help="where the model runs: cpu, cuda, cuda:1")
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="of the weights (default float32)")
    parser.add_argument("--name", default="", help="the corpus's name")
    parser.add_argument("--attribution", default="", help="whose texts they are, and their licence")
    parser.add_argument("--column", default="text", help="the column of Parquet or JSONL files with the text")
    parser.add_argument(
        "--block-texts", type=_positive, default=planning.BLOCK_TEXTS, help="most texts of a block (default 512)"
    )
    parser.add_argument(
        "--block-bytes", type=_positive, default=planning.BLOCK_BYTES, help="most bytes of a block's texts (131072)"
    )
    parser.add_argument(
        "--keep", choices=manifests.KEEP, default="all", help="the numbers of single texts that are kept (default all)"
    )
    parser.add_argument("--copy", action="store_true", help="copy the texts into the folder when they are planned")
    parser.add_argument(
        "--retries", type=_whole, default=storage.RETRIES, help="calls of an object store made again (default 8)"
    )
    parser.add_argument("--no-resume", action="store_true", help="refuse a folder that holds an atlas already")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!a} is no whole number")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not (number := int(text)):
        raise argparse.ArgumentTypeError(f"{text!a} is no whole number above 0")
    return number


def _shard(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!a} is no part such as 3/64")
    return int(number), int(count)


class _Stop:
    """Turns the first Ctrl-C, or a request to end, into a stop between blocks; the second ends at once."""

    def __init__(self) -> None:
        self.asked = False
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("Stopping after the blocks at work; the same command goes on from here.", file=sys.stderr)


class _Progress:
    """Tells how far a build is: a bar in a terminal, a line a block where stderr is a file."""

    def __init__(self, bar: tqdm[Any]) -> None:
        self._bar, self._begun, self._first = bar, monotonic(), 0

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)
        if not self._bar.disable:
            return
        self._first = self._first or done  # the first block waits for the model, and blocks of earlier runs count in it
        if done == self._first:
            self._begun = monotonic()
            rate = ""
        else:
            left = (total - done) * (monotonic() - self._begun) / (done - self._first)
            rate = f", about {left / 60:,.0f} minutes left"
        print(f"{done:,} of {total:,} texts{rate}", file=sys.stderr, flush=True)


def _build(chosen: argparse.Namespace) -> int:
    if chosen.gpus and (chosen.ray is None or chosen.device == "cpu"):
        raise ValueError(
            "--gpus reserves GPUs of a Ray cluster, which a model on the CPU does not use: add --ray and --device cuda"
        )
    stop = _Stop()
    if not freed.can_release():
        print(
            "This system's C library keeps freed memory: workers may grow with texts of many lengths.", file=sys.stderr
        )
    plans_alone = chosen.command == "plan"

    def place(name: str) -> Place:
        return storage.place(name, retries=chosen.retries)

    with tqdm(total=0, unit=" texts", disable=True if plans_alone else None) as bar:
        out, corpus = place(chosen.out), [place(name) for name in chosen.corpus]
        options = {"out": out, "shard": chosen.shard, "allow_mixed": chosen.allow_mixed, "on_progress": _Progress(bar)}
        options |= {"resume": not chosen.no_resume, "name": chosen.name, "attribution": chosen.attribution}
        options |= {"block_texts": chosen.block_texts, "block_bytes": chosen.block_bytes, "column": chosen.column}
        options |= {"keep": chosen.keep, "copy": chosen.copy, "planned": chosen.plan, "on_planned": _say_size}
        options |= {"dtype": chosen.dtype, "device": chosen.device, "stop": lambda: stop.asked or plans_alone}
        if chosen.ray is None:
            made = atlas.build(chosen.model, corpus, workers=chosen.workers, **options)
        else:
            cores = chosen.workers if chosen.workers > 1 else None
            with connect(chosen.ray or None, workers=cores), RayExecutor(gpus=chosen.gpus) as executor:
                made = atlas.build(chosen.model, corpus, executor=executor, **options)
    if made is None and plans_alone:
        return _tell_plan(manifests.read(out), chosen)
    if made is None:
        left = f"{chosen.out} has blocks left: build again, or merge it with the other shards."
        if chosen.json:
            command.show(document("atlas_build", finished=False, message=left))
        else:
            print(left)
        return 2 if chosen.shard is None else 0
    _tell(made, chosen)
    return 0


def _say_size(manifest: Manifest) -> None:
    """Say what will be kept, before the first block is measured."""
    size = kept_bytes(manifest)
    others = [f"--keep {keep} {kept_bytes(manifest, keep=keep) / 1e9:,.2f} GB" for keep in manifests.KEEP]
    counted = f"{manifest.texts:,} texts in {len(manifest.blocks):,} blocks, {len(manifest.heads):,} heads"
    print(f"{counted}: the atlas takes about {size / 1e9:,.2f} GB ({', '.join(others)}).", file=sys.stderr)


def _tell_plan(manifest: Manifest, chosen: argparse.Namespace) -> int:
    said = f"{chosen.out} holds the plan: build it, or shards of it with --plan {chosen.out}."
    if chosen.json:
        command.show(document("atlas_build", finished=False, message=said))
    else:
        print(said)
    return 0


def _merge(chosen: argparse.Namespace) -> int:
    gather(chosen.folders, out=chosen.out, allow_mixed=chosen.allow_mixed)
    _tell(atlas.open(chosen.out), chosen)
    return 0


def _show(chosen: argparse.Namespace) -> int:
    opened = atlas.open(chosen.folder)
    if chosen.json:
        command.show(plain.of_atlas(opened, by=chosen.measure, most=chosen.most))
        return 0
    _print(opened)
    measure = measures.find(chosen.measure)
    table = opened.table().sort_values(measure.name, ascending=False, kind="stable").head(chosen.most)
    print(table[["stream", "layer", "head", measure.name]].to_string(index=False, float_format=lambda x: f"{x:.3g}"))
    return 0


def _tell(opened: Atlas, chosen: argparse.Namespace) -> None:
    if chosen.json:
        command.show(plain.of_atlas(opened))
    else:
        _print(opened)


def _print(opened: Atlas) -> None:
    counted, manifest = opened.counted, opened.manifest
    print(f"{manifest.model}, {len(opened.heads):,} heads, over {counted.read:,} texts of {manifest.corpus}")
    print(f"{counted.tokens:,} tokens; {counted.cut:,} texts were cut, {counted.unread:,} had nothing to read")
    for id, reason in list(opened.aside.items())[:_MOST_ASIDE]:
        print(f"Text {id:,} was set aside, because measuring it failed twice: {reason}")
    if (more := len(opened.aside) - _MOST_ASIDE) > 0:
        print(f"{more:,} more texts were set aside: {opened.folder / ABOUT} names them.")
    if manifest.attribution:
        print(manifest.attribution)
    if opened.mixed:
        print(f"Measured on {manifest.capability}, and some blocks on others: {'; '.join(opened.mixed)}.")


if __name__ == "__main__":
    sys.exit(main())
