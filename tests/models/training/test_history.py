"""A training's history is read without torch, and a damaged file is named in a sentence with the way out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from models.training import history, metrics, replay_file
from models.training.replay_file import MapKey, ReplaySentence

ROOT = Path(__file__).parents[3]
HEADER = "step,loss,valid_loss,valid_accuracy,learning_rate,gradient_norm,tokens_per_second,seconds\n"
SENTENCE = {"source": "a b", "target": "c", "source_tokens": ["[CLS]", "a", "b"], "target_tokens": ["[CLS]", "c"]}
SHAPES = {"encoder": (2, 3, 3), "decoder": (2, 1, 1), "cross": (2, 1, 3)}


def moments() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    tensors = {}
    for step in (0, 5, 40):
        for stream, shape in SHAPES.items():
            weights = generator.random(shape)
            tensors[f"{step}/0.{stream}.0"] = (weights / weights.sum(-1, keepdims=True)).astype(np.float16)
        tensors[f"{step}/norm.encoder.embedding.token.weight"] = np.array(step + 1, np.float32)
    return tensors


def write(folder: Path, tensors: dict[str, np.ndarray], about: object) -> None:
    save_file(tensors, folder / replay_file.FILE, metadata={"about": json.dumps(about)})


def test_the_replay_is_what_was_written(tmp_path: Path) -> None:
    tensors = moments()
    write(tmp_path, tensors, {"steps": [0, 5, 40], "sentences": [SENTENCE]})
    replay = history.read_replay(tmp_path)
    assert (replay.steps, replay.streams) == ((0, 5, 40), ("encoder", "decoder", "cross"))
    assert [replay.layers(stream) for stream in replay.streams] == [1, 1, 1]
    for stream in SHAPES:
        for at, step in enumerate(replay.steps):
            np.testing.assert_array_equal(replay.maps[MapKey(0, stream, 0)][at], tensors[f"{step}/0.{stream}.0"])
    assert replay.norms["encoder.embedding.token.weight"].tolist() == [1, 6, 41]
    assert replay.nbytes == 3 * 2 * (9 + 1 + 3) * 2 + 3 * 8


def test_rows_and_columns_are_named_as_the_page_names_them() -> None:
    sentence = ReplaySentence("a", "c d", ("[CLS]", "a", "[SEP]"), ("[CLS]", "c", "d", "[SEP]"))
    queries = ("[CLS] → c", "c → d", "d → [SEP]")
    assert sentence.tokens("encoder") == (("[CLS]", "a", "[SEP]"), ("[CLS]", "a", "[SEP]"))
    assert sentence.tokens("decoder") == (queries, ("[CLS]", "c", "d"))
    assert sentence.tokens("cross") == (queries, ("[CLS]", "a", "[SEP]"))


def without(name: str) -> dict[str, np.ndarray]:
    return {key: tensor for key, tensor in moments().items() if key != name}


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda f: (f / replay_file.FILE).unlink(), "There is no file"),
        (lambda f: (f / replay_file.FILE).write_bytes(b"\x00" * 40), "is damaged"),
        (lambda f: (f / replay_file.FILE).write_bytes((f / replay_file.FILE).read_bytes()[:-9]), "is damaged"),
        (lambda f: write(f, moments(), []), "is damaged"),
        (lambda f: write(f, moments(), {"steps": [0, 5, 41], "sentences": [SENTENCE]}), "a moment or a sentence"),
        (lambda f: write(f, moments(), {"steps": [0, 5, 40], "sentences": []}), "a moment or a sentence"),
        (lambda f: write(f, without("5/0.cross.0"), {"steps": [0, 5, 40], "sentences": [SENTENCE]}), "a moment"),
        (lambda f: write(f, moments(), {"steps": [0, 5, 40], "sentences": [SENTENCE] * 2}), "a map is missing"),
        (
            lambda f: write(f, moments(), {"steps": [0, 5, 40], "sentences": [{**SENTENCE, "source_tokens": ["a"]}]}),
            r"maps of shape \(3, 2, \d, 3\) for tokens \(1, 1\)",
        ),
        (
            lambda f: write(f, {**moments(), "x": np.zeros(1)}, {"steps": [0, 5, 40], "sentences": [SENTENCE]}),
            "damaged",
        ),
    ],
)
def test_a_damaged_replay_is_named_with_the_way_out(spoil: Callable[[Path], None], says: str, tmp_path: Path) -> None:
    write(tmp_path, moments(), {"steps": [0, 5, 40], "sentences": [SENTENCE]})
    spoil(tmp_path)
    with pytest.raises(ValueError, match=says) as caught:
        history.read_replay(tmp_path)
    assert str(tmp_path / replay_file.FILE) in str(caught.value)
    assert str(caught.value).endswith(f"`git checkout -- {tmp_path}`, or train it: python -m models.train --help.")


def test_metrics_are_numbers_and_none_between_evaluations(tmp_path: Path) -> None:
    (tmp_path / metrics.FILE).write_text(
        HEADER + "1,8.5,,,0.1,2,300,0.5\n2,7,6.5,0.25,0.2,1,300,1.5\n", encoding="utf-8"
    )
    first, second = history.read_metrics(tmp_path)
    assert list(first.values()) == [1, 8.5, None, None, 0.1, 2, 300, 0.5]
    assert (second["valid_loss"], second["valid_accuracy"]) == (6.5, 0.25)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "There is no file"),
        (b"", "is damaged"),
        (b"\xff\xfe\x00", "is damaged"),
        (b"step,loss\n1,2\n", "its columns are not step, loss, valid_loss"),
        (HEADER.encode(), "has no row"),
        (HEADER.encode() + b"1,8.5,,,0.1,2,300,0.5\n2,7,,,0.1\n", "line 3: 5 cells; expected 8"),
        (HEADER.encode() + b"1,high,,,0.1,2,300,0.5\n", "could not convert string to float: 'high'"),
        (HEADER.encode() + b"1,nan,,,0.1,2,300,0.5\n", "line 2: loss is 'nan'; expected a number"),
        (HEADER.encode() + b"1,,,,0.1,2,300,0.5\n", "line 2: loss is ''; expected a number"),
    ],
)
def test_damaged_metrics_are_named_with_the_way_out(content: bytes | None, says: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / metrics.FILE).write_bytes(content)
    with pytest.raises(ValueError, match=says) as caught:
        history.read_metrics(tmp_path)
    assert str(tmp_path / metrics.FILE) in str(caught.value)
    assert "python -m models.train --help" in str(caught.value)


def test_size_is_counted_from_the_headers(tmp_path: Path) -> None:
    save_file({"a": np.zeros((3, 4), np.float16), "b": np.zeros(5, np.float16)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"transformer": {"vocabulary": 11}}', encoding="utf-8")
    assert history.read_size(tmp_path) == history.CheckpointSize(17, 11)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json is damaged"):
        history.read_size(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"There is no file .*config\.json\. Get"):
        history.read_size(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        history.read_size(tmp_path)


def test_a_card_and_its_sections(tmp_path: Path) -> None:
    (tmp_path / "CARD.md").write_text("# x\n\n## Data\n\n- some\n\n## Limits\n\nmany\n", encoding="utf-8")
    card = history.read_card(tmp_path)
    assert [history.section(card, title) for title in ("Data", "Limits", "Scores")] == ["- some", "many", ""]
    (tmp_path / "CARD.md").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"CARD\.md is damaged"):
        history.read_card(tmp_path)
    (tmp_path / "CARD.md").unlink()
    with pytest.raises(ValueError, match=r"There is no file .*CARD\.md\. Get"):
        history.read_card(tmp_path)


def test_names_are_of_folders_that_tell_of_their_training(tmp_path: Path) -> None:
    for name, file in (("b", "CARD.md"), ("a", "metrics.csv"), ("c", "replay.safetensors"), ("d", "config.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    (tmp_path / "CARD.md").touch()
    assert history.names(tmp_path) == ("a", "b", "c")


def test_reading_needs_no_torch() -> None:
    code = "import sys, models.training.history, inspector.training; sys.exit(str('torch' in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.stderr.decode().strip() == "False"
