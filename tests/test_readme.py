"""README is the first page: short, its example runs as written, and its pictures are few, small and of one size."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = [ROOT / path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)]


@pytest.mark.heavy
def test_the_example_runs_as_written() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len([line for line in example.splitlines() if line.strip()]) <= 6
    done = subprocess.run(
        [sys.executable, "-c", example + "\nprint(trace.attention(layer=1, head=7).shape)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("(13, 13)\n")


def test_it_is_short() -> None:
    lines = README.splitlines()
    assert len(lines) <= 120
    assert max(len(line) for line in lines if not line.startswith("|")) <= 150


def test_trust_is_told_in_five_points() -> None:
    told = README.split("## What is trusted, and why\n")[1].split("\n## ")[0]
    assert len(re.findall(r"^- ", told, re.MULTILINE)) == 5


def test_it_has_a_moving_picture_and_six_of_one_size() -> None:
    moving, *still = PICTURES
    with Image.open(moving) as film:
        assert 800 <= film.width <= 1000
        assert 8 <= _seconds(film) <= 15
    assert moving.stat().st_size <= 1_500_000
    assert len(still) == 6
    assert len({_size(path) for path in still}) == 1


def _size(path: Path) -> tuple[int, int]:
    with Image.open(path) as picture:
        return picture.size


def _seconds(film: Image.Image) -> float:
    milliseconds = 0
    for number in range(film.n_frames):
        film.seek(number)
        film.load()  # WebP tells a picture's duration with its pixels
        milliseconds += film.info["duration"]
    return milliseconds / 1000
