"""The page Atlas: its grid and card for every shipped model, its links, its words, and building one from the page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from inspector import atlas
from inspector.atlas import library
from inspector.atlas.measures import NAMES
from tests.inspector.views.page import HOSTILE, opened, pressed, said

PAGE = "Atlas"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the reader's own atlases, empty."""
    monkeypatch.setenv(library.VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.mark.parametrize("model", library.shipped())
def test_every_shipped_model_has_its_atlas(model: str) -> None:
    app = opened(PAGE, model=model)
    found = atlas.open(library.SHIPPED / model)
    assert f"Over {found.counted.read:,} texts" in said(app)
    assert found.manifest.attribution in said(app)
    assert "Cannot be shown" not in said(app)


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_every_stream_of_the_translator(stream: str) -> None:
    app = opened(PAGE, model="translator", stream=stream)
    assert f"{stream} layer" in said(app)
    assert "Cannot be shown" not in said(app)


def test_the_sentence_counts_the_heads_that_rest_on_cls() -> None:
    means = atlas.open(library.SHIPPED / "minilm").statistics.mean
    count = int((means[NAMES.index("cls")] > 0.5).sum())
    assert f"{count} rest on [CLS]" in said(opened(PAGE))


def test_a_head_without_a_name_in_the_link_is_the_strongest() -> None:
    means = atlas.open(library.SHIPPED / "minilm").statistics.mean
    layer, head = divmod(int(np.nanargmax(means[NAMES.index("next")])), 12)
    assert f"layer {layer}, head {head}" in said(opened(PAGE, by="next"))
    assert "layer 3, head 4" in said(opened(PAGE, by="next", layer="3", head="4"))


@pytest.mark.parametrize("figure", ["All texts", "By offset", "Relations"])
@pytest.mark.parametrize("texts", ["usual", "strongest", "pairs"])
def test_every_figure_and_kind_of_texts(figure: str, texts: str) -> None:
    app = opened(PAGE, by="obj governor", figure=figure, texts=texts)
    assert "Cannot be shown" not in said(app)
    assert "layer 2, head 0" in said(app)


@pytest.mark.parametrize(
    "link",
    [
        {"by": HOSTILE},
        {"layer": "99", "head": "-1"},
        {"atlas": "7"},
        {"stream": HOSTILE},
        {"figure": "none", "texts": "9" * 30},
    ],
)
def test_a_hostile_link_opens_the_page(link: dict[str, str]) -> None:
    app = opened(PAGE, **link)
    assert "Over 4,078 texts" in said(app)
    assert "Cannot be shown" not in said(app)


def test_words_choose_what_the_grid_shows() -> None:
    app = opened(PAGE)
    app.text_input(key="atlas_asked").set_value("direct objects").run()
    assert "finds the governor of obj" in said(app)
    assert "layer 2, head 0" in said(app)
    app.text_input(key="atlas_asked").set_value(HOSTILE).run()
    assert "No number of this atlas is known by these words" in said(app)


def test_a_model_without_an_atlas_shows_another_and_says_so() -> None:
    assert "has no atlas here" in said(opened(PAGE, model="own-encoder"))


def test_the_own_transformer_shows_the_atlas_of_its_weights() -> None:
    assert "has the weights of minilm" in said(opened(PAGE, model="minilm-own"))


def test_an_atlas_is_built_from_the_page_and_removed(kept: Path) -> None:
    app = opened(PAGE, state={"atlas_build_panel": True})
    app.text_area(key="atlas_texts").set_value("The cat sat.\n\nA dog ran.\nRain fell on the old town.").run()
    assert "3 texts: about" in said(app)
    pressed(app, "atlas_build")
    assert atlas.open(kept / "my texts").counted.read == 3
    pressed(app.run(), "remove my texts")
    assert not (kept / "my texts").exists()


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", "", "-x"])
def test_a_name_that_is_a_path_is_refused(kept: Path, name: str) -> None:
    app = opened(PAGE, state={"atlas_build_panel": True, "atlas_name": name})
    app.text_area(key="atlas_texts").set_value("The cat sat.").run()
    assert "Cannot be built" in said(app)
    assert not kept.exists()


def test_building_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "off")
    assert "HEADLIGHT_ATLASES is off" in said(opened(PAGE, state={"atlas_build_panel": True}))


def test_a_damaged_atlas_of_the_reader_is_named_and_the_page_goes_on(kept: Path) -> None:
    shutil.copytree(library.SHIPPED / "minilm", kept / "mine" / "merged")
    path = kept / "mine" / "merged" / "atlas.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    found["manifest"]["texts"] = "many"
    path.write_text(json.dumps(found), encoding="utf-8")
    app = opened(PAGE)
    assert "An atlas cannot be read" in said(app)
    assert "Over 4,078 texts" in said(app)


def test_attention_says_how_usual_the_head_is_and_nothing_without_an_atlas(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "% of 4,078 texts" in said(opened())
    monkeypatch.setattr(library, "SHIPPED", Path("/nowhere"))
    assert " texts." not in said(opened())
