"""The bytes of an atlas do not depend on workers, executors, machines, kills or shards.

Every way to build is held to the build of one process that nothing interrupted: all files, byte by byte.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from inspector import atlas
from inspector.atlas import block, merging
from inspector.atlas.__main__ import main
from tests.inspector.atlas import sentences

ROOT = Path(__file__).parents[3]
MODEL = "own-encoder"
BLOCK = 4
SEED, KILLS = 20, 5
PATIENCE = 240  # seconds, at most; nothing is held to a time

Bytes = dict[str, bytes]

pytestmark = pytest.mark.heavy


def files(folder: Path) -> Bytes:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty texts of a treebank and of ours, in blocks of four."""
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n".join(sentences.sentences(60)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Bytes:
    """The atlas that one process built at once."""
    out = tmp_path_factory.mktemp("whole") / "atlas"
    assert atlas.build(MODEL, [corpus, TREES], out=out, block_texts=BLOCK) is not None
    return files(out)


TREES = Path(__file__).parent / "sentences.conllu"


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    options = ["--out", str(out), "--block-texts", str(BLOCK), *more]
    return [sys.executable, "-m", "inspector.atlas", "build", MODEL, str(corpus), str(TREES), *options]


def started(arguments: list[str], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        arguments,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        start_new_session=True,
    )


def measured(out: Path) -> int:
    return len(list((out / block.BLOCKS).glob("[0-9]*")))


def kill_at(process: subprocess.Popen[bytes], out: Path, *, blocks: int, delay: float) -> bool:
    """Kill a build and its workers with SIGKILL once so many blocks are there and a little later; False if it ended."""
    begun = time.monotonic()
    while process.poll() is None and measured(out) < blocks and time.monotonic() - begun < PATIENCE:
        time.sleep(0.005)
    time.sleep(delay)
    ended = process.poll() is not None
    if not ended:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)
    return not ended


def test_four_workers(corpus: Path, whole: Bytes, tmp_path: Path) -> None:
    assert started(command(corpus, tmp_path / "atlas", "--workers", "4")).wait(PATIENCE) == 0
    assert files(tmp_path / "atlas") == whole


def test_kills_at_random_moments(corpus: Path, whole: Bytes, tmp_path: Path) -> None:
    chance, out, killed = random.Random(SEED), tmp_path / "atlas", 0
    total = len(json.loads(whole["manifest.json"])["blocks"])
    while killed < KILLS:
        before = measured(out)
        process = started(command(corpus, out, "--workers", chance.choice(["1", "2"])))
        # Some die while they plan, some with a block half written, some between blocks, some while they merge.
        blocks = min(before + chance.choice([0, 1, 1, 2]), total)
        delay = chance.uniform(0.0, 3.0) if blocks == 0 else chance.uniform(0.0, 0.05)
        killed += kill_at(process, out, blocks=blocks, delay=delay)
    assert started(command(corpus, out)).wait(PATIENCE) == 0
    assert files(out) == whole, "nothing half done stays"


def test_executors_of_threads_and_processes(corpus: Path, whole: Bytes, tmp_path: Path) -> None:
    makers: dict[str, Callable[[], ThreadPoolExecutor | ProcessPoolExecutor]] = {
        "threads": lambda: ThreadPoolExecutor(3),
        "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    }
    for name, make in makers.items():
        out = tmp_path / name
        with make() as executor:
            assert atlas.build(MODEL, [corpus, TREES], out=out, block_texts=BLOCK, executor=executor) is not None
        assert files(out) == whole


def test_four_shards_of_which_one_was_killed(corpus: Path, whole: Bytes, tmp_path: Path) -> None:
    parts = [tmp_path / f"part-{number}" for number in range(1, 5)]
    process = started(command(corpus, parts[0], "--shard", "1/4"))
    kill_at(process, parts[0], blocks=1, delay=0.0)
    assert not (parts[0] / merging.MERGED).exists()
    for number, part in enumerate(parts, start=1):
        assert main(command(corpus, part, "--shard", f"{number}/4")[3:]) == 0
    assert main(["merge", *map(str, parts), "--out", str(tmp_path / "merged")]) == 0
    assert files(tmp_path / "merged") == whole


def test_shards_that_share_a_folder(corpus: Path, whole: Bytes, tmp_path: Path) -> None:
    out = tmp_path / "shared"
    both = [started(command(corpus, out, "--shard", f"{number}/2")) for number in (1, 2)]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    merging.merge(out)
    assert files(out) == whole


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def built(whole: Bytes, tmp_path: Path) -> Path:
    """A copy of the atlas, to be damaged."""
    for name, content in whole.items():
        path = tmp_path / "atlas" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "atlas"


@pytest.mark.parametrize("name", [block.NUMBERS, block.STATISTICS, block.EXAMPLES, block.PAIRS, block.RELATIONS])
def test_a_damaged_block_is_named(built: Path, name: str) -> None:
    path = block.path(built, 2) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"000002/{name} is damaged"):
        merging.merge(built)


def test_a_cut_block_and_a_block_without_a_name_are_named(built: Path) -> None:
    path = block.path(built, 1) / block.ABOUT
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match=r"000001/block\.json is damaged"):
        merging.merge(built)


def test_a_foreign_block_is_named(built: Path, corpus: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert atlas.build("own-decoder", [corpus, TREES], out=other, block_texts=BLOCK) is not None
    own = block.path(built, 3)
    for path in own.iterdir():
        path.unlink()
    for path in block.path(other, 3).iterdir():
        (own / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ValueError, match="000003 belongs to another atlas"):
        merging.merge(built)


def test_a_block_in_the_place_of_another_is_named(built: Path) -> None:
    for path in block.path(built, 3).iterdir():
        path.write_bytes((block.path(built, 4) / path.name).read_bytes())
    with pytest.raises(ValueError, match="000003 belongs to another atlas, or another place"):
        merging.merge(built)


def test_a_block_of_another_processor_is_named_and_merged_where_that_is_allowed(built: Path) -> None:
    path = block.path(built, 2) / block.ABOUT
    about = json.loads(path.read_text(encoding="utf-8"))
    about["capability"] = "AVX1024"
    path.write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(ValueError, match=r"000002 was measured on AVX1024.*allow-mixed"):
        merging.merge(built)
    merging.merge(built, allow_mixed=True)
    assert [one.partition(",")[0] for one in atlas.open(built).mixed] == ["AVX1024"]


def test_changed_texts_of_a_copied_plan_are_named(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "copied"
    assert main([*command(corpus, out, "--copy")[3:]]) == 0
    path = out / "texts" / "000001.parquet"
    path.write_bytes((out / "texts" / "000002.parquet").read_bytes())
    (own := block.path(out, 1)).rename(own.with_name("gone"))
    with pytest.raises(ValueError, match=r"000001\.parquet is damaged, or of another atlas"):
        block.MeasureBlock(out, MODEL)(1)
