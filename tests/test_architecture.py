"""Rooms are folders, and arrows between them lead down: read from imports and paths by tests/rooms.py."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import rooms
from tests.rooms import ROOT

house = cache(rooms.arrows)  # not read before it is asked for: every worker imports this file


def test_every_arrow_leads_to_a_lower_floor() -> None:
    assert rooms.upward(house()) == []


def test_no_circle_of_rooms() -> None:
    assert rooms.circle(house()) == []


def test_every_room_has_a_floor_and_every_floor_a_room() -> None:
    found = {rooms.room(path) for path in rooms.files(ROOT, "py")}
    used = {rooms.floor(room) for room in found}
    assert used == set(range(len(rooms.FLOORS)))
    assert len(found) > 25


def test_streamlit_and_plotly_stay_in_their_rooms() -> None:
    for path in rooms.files(ROOT, "py"):
        room, tops = rooms.room(path), {name.split(".")[0] for name in rooms.imports(path)}
        assert "streamlit" not in tops or room == "app" or room.startswith("inspector/views/"), path
        assert "plotly" not in tops or not room.startswith("models"), path


PLANTED = {
    "a page from the analysis": ("inspector/heads.py", "def f():\n    from inspector.views.shell import session\n"),
    "the probe from the analysis": ("inspector/heads.py", "import inspector.probe\n"),
    "the probe from the analysis, by its door": ("inspector/heads.py", "from inspector.probe import record\n"),
    "the instrument from the models": ("models/attention/seam.py", "from inspector import heads\n"),
    "a model from the seam": ("models/attention/seam.py", "from models.transformer.config import Shape\n"),
    "the door from the own Transformer": ("models/transformer/config.py", "from models import load\n"),
    "a page from another": ("inspector/views/lab/page.py", "from inspector.views.attention import page\n"),
    "a page from the shell": ("inspector/views/shell/session.py", "import inspector.views.layernorm.page\n"),
    "JavaScript from a plot": ("inspector/plots/theme.py", 'SCRIPT = PLACE / "../components/head/index.js"\n'),
    "CSS from the models": ("models/files.py", 'open("inspector/components/shared.css")\n'),
}
SMALL = {
    **dict.fromkeys(("inspector/heads.py", "inspector/trace/trace.py", "inspector/probe/__init__.py"), ""),
    **dict.fromkeys(("inspector/views/shell/session.py", "inspector/views/lab/page.py", "models/files.py"), ""),
    **dict.fromkeys(
        ("inspector/views/attention/page.py", "inspector/views/layernorm/page.py", "models/__init__.py"), ""
    ),
    **dict.fromkeys(("models/attention/seam.py", "models/transformer/config.py", "inspector/plots/theme.py"), ""),
    **dict.fromkeys(("inspector/components/head/index.js", "inspector/components/shared.css"), ""),
    "inspector/components/standalone.py": 'PLACE / component / "index.js", "shared.css"\n',
    "app.py": "import inspector.views.shell.session\n",
}


def plant(root: Path, files: dict[str, str]) -> rooms.Arrows:
    """Write a small house, and read its arrows."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return rooms.arrows(root)


def test_a_small_house_stands(tmp_path: Path) -> None:
    arrows = plant(tmp_path, SMALL)
    assert arrows == {("app", "inspector/views/shell"): ["app.py: inspector.views.shell.session"]}
    assert rooms.upward(arrows) == rooms.circle(arrows) == []


@pytest.mark.parametrize(("file", "text"), PLANTED.values(), ids=PLANTED)
def test_a_planted_wrong_arrow_is_seen(tmp_path: Path, file: str, text: str) -> None:
    arrows = plant(tmp_path, {**SMALL, file: text})
    (wrong,) = rooms.upward(arrows)
    assert f": {file}: " in wrong


@pytest.mark.parametrize(
    "back", ["from inspector.components import standalone\n", 'SCRIPT = PLACE / "components" / "index.js"\n']
)
def test_a_planted_circle_is_seen(tmp_path: Path, back: str) -> None:
    there = "from inspector.export import files\n"
    arrows = plant(tmp_path, {**SMALL, "inspector/export/files.py": back, "inspector/components/pack.py": there})
    assert set(rooms.circle(arrows)) == {"inspector/components", "inspector/export"}


def test_a_longer_circle_is_seen(tmp_path: Path) -> None:
    circle = {
        "inspector/views/shell/session.py": "from inspector.views.lab import page\n",
        "inspector/views/lab/page.py": "import inspector.views.attention.page\n",
        "inspector/views/attention/page.py": "from inspector.views.shell import session\n",
    }
    assert len(set(rooms.circle(plant(tmp_path, {**SMALL, **circle})))) == 3


def test_a_new_folder_asks_for_a_floor(tmp_path: Path) -> None:
    arrows = plant(tmp_path, {**SMALL, "inspector/observatory/__init__.py": "import inspector.heads\n"})
    with pytest.raises(ValueError, match="inspector/observatory is a new room"):
        rooms.upward(arrows)


def test_the_page_draws_before_torch_is_there() -> None:
    """Import what app.py imports for its sidebar: neither torch nor transformers, no question and no exercise."""
    late = {"torch", "transformers", "inspector.questions.index", "inspector.practice"}
    frame = "inspector.views.shell.languages, inspector.views.shell.session"
    code = f"import sys, {frame}; sys.exit(str({late} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.stderr.decode().strip() == "set()"
