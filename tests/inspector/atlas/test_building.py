"""Building an atlas: resume, shards, and each thing that goes wrong: a sentence, and nothing that was done is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import models
from inspector import atlas
from inspector.atlas import block, manifest, merging, planning
from inspector.atlas.__main__ import main
from tests.inspector.atlas.conftest import SENTENCES

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]
FEW = SENTENCES[:6]


@pytest.fixture
def untrained() -> models.LoadedModel:
    return models.load("own-encoder")


def build(model: models.LoadedModel, out: Path, **options: object) -> atlas.Atlas | None:
    return atlas.build(model, FEW, out=out, block_texts=2, **options)  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_what_is_done_is_not_measured_again(untrained: models.LoadedModel, tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    assert build(untrained, tmp_path, on_progress=lambda *done: said.append(done)) is not None
    assert said == [(2, 6), (4, 6), (6, 6)]
    before = files(tmp_path)
    assert build(untrained, tmp_path, on_progress=lambda *done: said.append(done)) is not None
    assert len(said) == 3
    assert files(tmp_path) == before


def test_a_stop_keeps_what_is_done_and_the_same_build_goes_on(untrained: models.LoadedModel, tmp_path: Path) -> None:
    asked = iter([False, True])
    assert build(untrained, tmp_path / "stopped", stop=lambda: next(asked)) is None
    assert len(list((tmp_path / "stopped" / block.BLOCKS).iterdir())) == 1
    with pytest.raises(ValueError, match="is not merged yet: build it to its end"):
        atlas.open(tmp_path / "stopped")
    build(untrained, tmp_path / "stopped")
    build(untrained, tmp_path / "whole")
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


def test_what_a_worker_left_that_was_killed_meanwhile_is_taken_away(
    untrained: models.LoadedModel, tmp_path: Path
) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    names = [f".000001-{socket.gethostname()}-{process}" for process in (int(gone.stdout), os.getpid())]

    def die(done: int, total: int) -> None:
        for name in names:
            (tmp_path / block.BLOCKS / name).mkdir(exist_ok=True)

    build(untrained, tmp_path, on_progress=die)
    assert [(tmp_path / block.BLOCKS / name).exists() for name in names] == [False, True]  # who lives may go on


def test_shards_measured_apart_are_merged_to_the_same_bytes(untrained: models.LoadedModel, tmp_path: Path) -> None:
    parts = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        assert build(untrained, part, shard=(number, 2)) is None
    with pytest.raises(ValueError, match=r"block 1 and 1 more of 3 is not measured yet"):
        merging.merge(parts[0])
    atlas.gather(parts, out=tmp_path / "merged")
    build(untrained, tmp_path / "whole")
    assert files(tmp_path / "merged") == files(tmp_path / "whole")


def test_resume_refused_changes_nothing(untrained: models.LoadedModel, tmp_path: Path) -> None:
    build(untrained, tmp_path)
    with pytest.raises(ValueError, match="holds an atlas already"):
        build(untrained, tmp_path, resume=False)


def test_an_empty_corpus_is_refused_and_leaves_nothing(untrained: models.LoadedModel, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no text"):
        atlas.build(untrained, [], out=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no text"),
        (b"one\n" + b"x" * 1_000_000 + b"\n", "1,000,000|100,000"),
        (b"one\n\xff\xfe two\n", "UTF-8"),
    ],
    ids=["empty", "a line of 1 MB", "no UTF-8"],
)
def test_a_corpus_that_cannot_be_read_is_refused_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(content)
    assert main(["build", "own-encoder", str(path), "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err.strip()
    assert any(part in error for part in said.split("|"))
    assert "\n" not in error
    assert files(tmp_path / "out") == {}


def test_a_folder_with_something_else_is_left_alone(untrained: models.LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match=r"is not empty and holds no atlas \(thesis\.tex\)"):
        build(untrained, tmp_path)
    assert files(tmp_path) == {"thesis.tex": b"mine"}


def test_a_file_is_no_folder(untrained: models.LoadedModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="is a file; choose a folder"):
        build(untrained, tmp_path / "file")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs Linux's /proc, where nobody can make a folder")
def test_a_folder_that_cannot_be_written_is_named(untrained: models.LoadedModel) -> None:
    with pytest.raises(ValueError, match=r"/proc/self/atlas cannot be written to"):
        build(untrained, Path("/proc/self/atlas"))


def test_another_corpus_in_the_folder_is_refused(untrained: models.LoadedModel, tmp_path: Path) -> None:
    build(untrained, tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match="another corpus"):
        atlas.build(untrained, ["Other texts."], out=tmp_path, block_texts=2)
    assert files(tmp_path) == before


def test_another_model_in_the_folder_is_refused(untrained: models.LoadedModel, tmp_path: Path) -> None:
    build(untrained, tmp_path)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=r"another model \(own-encoder, not own-decoder\)"):
        build(models.load("own-decoder"), tmp_path)
    assert files(tmp_path) == before


def test_a_model_that_changed_between_runs_is_refused(untrained: models.LoadedModel, tmp_path: Path) -> None:
    asked = iter([False, True])
    build(untrained, tmp_path, stop=lambda: next(asked))
    before = files(tmp_path)
    other = models.load("own-encoder")
    with torch.no_grad():
        next(other.network.parameters()).add_(1.0)
    with pytest.raises(ValueError, match="another model under this name"):
        build(other, tmp_path)
    assert files(tmp_path) == before


def test_a_worker_whose_model_is_not_the_plans_refuses(untrained: models.LoadedModel, tmp_path: Path) -> None:
    planning.plan(untrained, map(atlas.Text, FEW), folder=tmp_path, corpus="few")
    other = models.load("own-encoder")
    with torch.no_grad():
        next(other.network.parameters()).add_(1.0)
    with pytest.raises(ValueError, match="has changed since the atlas was planned"):
        block.MeasureBlock(tmp_path, other)(0)


def test_another_processor_is_refused_unless_allowed(
    untrained: models.LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = iter([False, True])
    build(untrained, tmp_path, stop=lambda: next(asked))
    planned = manifest.read(tmp_path)
    monkeypatch.setattr(manifest, "capability", lambda loaded: "another processor")
    with pytest.raises(ValueError, match=f"planned on {planned.capability}, .* and this is another processor"):
        build(untrained, tmp_path)
    made = build(untrained, tmp_path, allow_mixed=True)
    assert made is not None
    assert [one.partition(",")[0] for one in made.mixed] == ["another processor"]


_FULL = """
import resource, signal, sys
import models
from inspector.atlas import __main__, building
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
loaded = models.load("own-encoder")  # a tokenizer is unpacked to a file
building.load = lambda id, **how: loaded
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(__main__.main(["build", "own-encoder", {corpus!r}, "--out", {out!r}, "--block-texts", "2"]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="a limit on files needs a POSIX system")
@pytest.mark.parametrize("limit", [400, 12_000], ids=["no room for the plan", "no room for a block"])
def test_a_full_disk_ends_with_a_sentence_and_the_same_command_goes_on(
    untrained: models.LoadedModel, tmp_path: Path, limit: int
) -> None:
    corpus, out = tmp_path / "few.txt", tmp_path / "out"
    corpus.write_text("\n".join(FEW), encoding="utf-8")
    code = _FULL.format(limit=limit, corpus=str(corpus), out=str(out))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [name for name in files(out) if "-" in Path(name).parts[0] and name.startswith(".")]
    assert main(["build", "own-encoder", str(corpus), "--out", str(out), "--block-texts", "2"]) == 0
    assert atlas.open(out).counted.read == len(FEW)


def test_texts_with_nothing_to_read_are_counted(untrained: models.LoadedModel, tmp_path: Path) -> None:
    made = atlas.build(untrained, ["A cat.", "\u200b", "A dog."], out=tmp_path)
    assert made is not None
    counted = made.counted
    assert counted.read + counted.unread == 3


def test_texts_from_a_generator(untrained: models.LoadedModel, tmp_path: Path) -> None:
    def stream() -> Iterator[str]:
        yield from FEW

    made = atlas.build(untrained, stream(), out=tmp_path)
    assert made is not None
    assert made.counted.read == len(FEW)


def test_an_encoder_decoder_is_given_its_targets(tmp_path: Path) -> None:
    loaded = models.load("own-encoder-decoder")
    pairs = [atlas.Text("I love cats.", "我爱猫。"), atlas.Text("I love dogs.", "我爱狗。"), atlas.Text("Go away!")]
    made = atlas.build(loaded, pairs, out=tmp_path)
    assert made is not None
    assert set(made.heads["stream"]) == {"encoder", "decoder", "cross"}
    assert made.counted.read == 3


def test_a_model_without_a_known_output_projection_says_why(
    untrained: models.LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(loaded: models.LoadedModel) -> None:
        raise ValueError("a gate stands behind the heads")

    for module in (planning, block):
        monkeypatch.setattr(module, "find", refuse)
    made = build(replace(untrained), tmp_path)
    assert made is not None
    assert made.manifest.norm_weighted == "a gate stands behind the heads"
    assert made.table().filter(like="norm_").isna().all(axis=None)


def test_show_prints_the_heads_by_a_measure(small: atlas.Atlas, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(small.folder.parent), "--measure", "previous", "--most", "1"]) == 0
    strongest = small.table().nlargest(1, "previous").iloc[0]
    assert capsys.readouterr().out.split()[-4:-1] == ["encoder", str(strongest["layer"]), str(strongest["head"])]
    assert main(["show", str(small.folder.parent), "--measure", "charm"]) == 1
    assert "there is no measure 'charm'" in capsys.readouterr().err
