from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import inspector
import models
from inspector.__main__ import main
from models import LoadedModel
from tests.closeness import assert_close

ROOT = Path(__file__).parents[2]
TEXT = "The cat sat on the mat."


@pytest.fixture(autouse=True)
def one_load(minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """minilm as loaded once for all tests; every other name goes the usual way."""
    load = models.load
    plain = {"dtype": "float32", "device": "cpu"}
    monkeypatch.setattr(
        models, "load", lambda name, **how: minilm if (name, how) == ("minilm", plain) else load(name, **how)
    )


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inspector", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


def matrix(path: Path) -> np.ndarray:
    rows = path.read_text(encoding="utf-8").splitlines()[1:]
    return np.array([row.split(",")[1:] for row in rows], dtype=np.float32)


@pytest.mark.heavy
def test_from_the_shell_to_a_file(tmp_path: Path, minilm: LoadedModel) -> None:
    done = run(TEXT, "--model", "minilm", "--layer", "3", "--head", "7", "--save", str(tmp_path / "map.csv"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    expected = inspector.record(minilm, TEXT).attention(layer=3, head=7)
    assert_close(matrix(tmp_path / "map.csv"), expected, relative=1e-6)


@pytest.mark.heavy
def test_from_the_shell_to_an_error() -> None:
    done = run(TEXT, "--model", "no such model")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There is no model 'no such model'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_does_not_wait_for_torch() -> None:
    code = (
        "import sys, inspector.__main__ as cli\ntry: cli.main(['--help'])\nfinally: assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--save" in done.stdout


def test_without_a_file_it_prints_what_each_head_does(capsys: pytest.CaptureFixture[str], minilm: LoadedModel) -> None:
    assert main([TEXT]) == 0
    printed = capsys.readouterr()
    header, *rows = printed.out.splitlines()
    assert header.split()[:4] == ["stream", "layer", "head", "entropy"]
    assert len(rows) == 72
    weights = inspector.record(minilm, TEXT).attention(layer=0, head=3).astype(np.float64)
    entropy = -(weights * np.log(weights)).sum(axis=1).mean()
    assert rows[3].split()[:4] == ["encoder", "0", "3", f"{entropy:.3g}"]
    assert printed.err == ""


def test_what_was_cut_or_unknown_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cat \U00013000 " * 300]) == 0
    said = capsys.readouterr().err
    assert "602" in said  # tokens of the whole text
    assert "of 512 tokens are unknown to the tokenizer" in said


def test_a_text_from_standard_input_and_a_pair(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, minilm: LoadedModel
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Who sat?"))
    file = tmp_path / "trace.npz"
    assert main(["-", "--pair", "The cat sat.", "--save", str(file)]) == 0
    assert inspector.open(file).tokens == inspector.record(minilm, "Who sat?", text_pair="The cat sat.").tokens


def test_a_saved_trace_opens_without_its_model(
    tmp_path: Path, minilm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = inspector.record(minilm, TEXT)
    inspector.save(trace, tmp_path / "trace.npz")
    monkeypatch.setattr(models, "load", None)
    assert main(["--open", str(tmp_path / "trace.npz"), "--layer", "2", "--save", str(tmp_path / "map.csv")]) == 0
    mean = trace.attention(layer=2).mean(axis=0, dtype=np.float64)
    assert_close(matrix(tmp_path / "map.csv"), mean, relative=1e-6)


def test_without_a_layer_it_saves_the_most_telling_head(tmp_path: Path, minilm: LoadedModel) -> None:
    assert main([TEXT, "--save", str(tmp_path / "map.csv")]) == 0
    trace = inspector.record(minilm, TEXT)
    layer, head = inspector.heads.most_telling(inspector.heads.measure(trace))
    np.testing.assert_array_equal(matrix(tmp_path / "map.csv"), trace.attention(layer=layer, head=head))


def test_a_second_attention_that_there_is_not_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([TEXT, "--layer", "1", "--head", "0", "--call", "1", "--save", str(tmp_path / "map.csv")]) != 0
    assert "call 1 is out of range: layer 1 of encoder has calls 0 to 0" in capsys.readouterr().err


def test_dark_pictures(tmp_path: Path) -> None:
    from PIL import Image

    assert main([TEXT, "--dark", "--save", str(tmp_path / "map.png")]) == 0
    with Image.open(tmp_path / "map.png") as image:
        assert image.getpixel((0, 0)) == (0x14, 0x15, 0x1A)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "There is no text: give one"),
        (["  "], ""),
        ([TEXT, "--layer", "3"], "give --save FILE too"),
        ([TEXT, "--head", "3", "--save", "x.png"], "head 3 of which layer"),
        ([TEXT, "--layer", "9", "--head", "0", "--save", "x.png"], "layer 9 is out of range"),
        ([TEXT, "--save", "x.jpg"], "end it in .html, .png, .svg, .csv, .npz"),
        ([TEXT, "--layer", "0", "--save", "no/such/folder/x.csv"], "No such file or directory"),
        (["--open", "missing.npz"], "there is no file 'missing.npz'"),
        (["--open", "missing.npz", "--model", "minilm"], "leave out TEXT, --pair, --model, --dtype and --device"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert len(printed.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
