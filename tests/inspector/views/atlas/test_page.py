"""The page Atlas: its grid and card for every shipped model, its links, its words, and building one from the page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit import config
from streamlit.testing.v1 import AppTest

import models
from inspector import atlas
from inspector.atlas import library
from inspector.atlas.estimate import Estimate
from inspector.atlas.measures import NAMES
from inspector.views.atlas import build_panel
from inspector.views.server import queue
from inspector.wording.english.phrases import percent
from tests.inspector.views.page import HOSTILE, opened, pressed, said, turned

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
    assert app.header[0].value.startswith(f"{stream.capitalize()} layer")
    assert "Cannot be shown" not in said(app)


def test_the_sentence_counts_the_heads_that_rest_on_cls() -> None:
    means = atlas.open(library.SHIPPED / "minilm").statistics.mean
    count = int((means[NAMES.index("cls")] > 0.5).sum())
    assert f"{count} rest on [CLS]" in said(opened(PAGE))


def test_a_head_without_a_name_in_the_link_is_the_strongest() -> None:
    means = atlas.open(library.SHIPPED / "minilm").statistics.mean
    layer, head = divmod(int(np.nanargmax(means[NAMES.index("next")])), 12)
    assert opened(PAGE, by="next").header[0].value.startswith(f"Layer {layer}, head {head} ")
    assert opened(PAGE, by="next", layer="3", head="4").header[0].value.startswith("Layer 3, head 4 ")


def test_an_atlas_that_another_visitor_removes_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    shelves = iter([library.of(models.load("minilm"))])
    gone = library.Shelf((), ("It was removed.",))
    monkeypatch.setattr(library, "of", lambda loaded, *, keys: next(shelves, gone))
    words = said(opened(PAGE))
    assert "It was removed." in words
    assert "does not know" not in words


@pytest.mark.parametrize("figure", ["All texts", "By offset", "Relations"])
@pytest.mark.parametrize("examples", ["usual", "strongest", "pairs"])
def test_every_figure_and_kind_of_texts(figure: str, examples: str) -> None:
    app = opened(PAGE, by="obj governor", figure=figure, examples=examples)
    assert "Cannot be shown" not in said(app)
    assert "layer 2, head 0" in said(app)


@pytest.mark.parametrize(
    "link",
    [
        {"by": HOSTILE},
        {"layer": "99", "head": "-1"},
        {"atlas": "7"},
        {"stream": HOSTILE},
        {"figure": "none", "examples": "9" * 30},
        {"by": "best_offset", "atlas_beside": HOSTILE},
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
    app.text_input(key="atlas_asked").set_value("layer 3 head 7").run()
    assert "Layer 3, head 7: from objects (obj)" in app.header[0].value
    assert "Taken for" not in said(app)
    app.text_input(key="atlas_asked").set_value(HOSTILE).run()
    assert "No number of this atlas is known by these words" in said(app)


def test_a_model_without_an_atlas_shows_another_and_says_so() -> None:
    assert "has no atlas here" in said(opened(PAGE, model="own-encoder"))


def test_the_own_transformer_shows_the_atlas_of_its_weights() -> None:
    assert "has the weights of minilm" in said(opened(PAGE, model="minilm-own"))


@pytest.mark.parametrize("by", ["previous", "nsubj governor", "offset_-3"])
def test_every_part_of_the_page_opens(by: str) -> None:
    app = opened(
        PAGE, by=by, state={"atlas_table": True, "atlas_take": True, "atlas_build_panel": True, "atlas_grid-menu": True}
    )
    assert "Cannot be shown" not in said(app)
    names = {element.proto.label for element in app.get("download_button")}
    assert {"CSV", "PARQUET", "HTML", "PNG", "SVG"} <= names
    assert {"Heads, CSV", "Heads, Parquet", "Relations, CSV"} <= names
    assert "Heads like it" in said(app)


def test_a_second_atlas_stands_beside_the_first_and_in_the_link() -> None:
    scores = (atlas.open(library.SHIPPED / model).scores for model in ("minilm", "mini-bert-zh"))
    best = [of_each.query("relation == 'det' and direction == 'governor'")["share"].max() for of_each in scores]
    app = opened(PAGE, by="det governor")
    app.selectbox(key="atlas_beside").set_value("mini-bert-zh").run()
    assert app.query_params["atlas_beside"] == "mini-bert-zh"
    for page in (app, opened(PAGE, by="det governor", atlas_beside="mini-bert-zh")):
        opening = page.header[0].value
        assert all(f"{percent(share)}" in opening for share in best), opening
        assert "more often than any of mini-BERT for Chinese's" in opening
        assert "The texts differ" in said(page)
        assert "Over 1,000 texts" in said(page)
        assert "Cannot be shown" not in said(page)
    app.selectbox(key="atlas_beside").set_value("nothing").run()
    assert "The texts differ" not in said(app)


@pytest.mark.parametrize("asked", [HOSTILE, "minilm", "kept/", "kept/../up", "9" * 2_000, f"kept/key-{'a' * 22}"])
def test_a_link_to_no_second_atlas_is_refused_in_a_sentence(asked: str) -> None:
    app = opened(PAGE, atlas_beside=asked)
    assert "The link asks for atlas_beside" in said(app)
    assert "atlas_beside" not in app.query_params
    assert "The texts differ" not in said(app)
    assert "Over 4,078 texts" in said(app)


def test_a_second_atlas_of_which_the_number_is_not_known_is_said_to_have_none() -> None:
    app = opened(PAGE, by="sep", atlas_beside="mini-gpt")
    assert "The atlas beside it has no such number" in said(app)
    assert app.header[0].value.startswith("Layer ")


def test_the_readers_atlas_stands_beside_the_shipped_one_until_it_is_removed(kept: Path) -> None:
    built(opened(PAGE, state={"atlas_build_panel": True}))
    app = opened(PAGE, by="previous", atlas_beside="kept/my texts", state={"atlas_build_panel": True})
    assert "over the other texts: " in app.header[0].value
    assert "my texts (3 texts)" in said(app)
    pressed(app, "remove my texts")
    assert "over the other texts" not in app.header[0].value
    assert "Cannot be shown" not in said(app)


def test_among_strangers_a_second_atlas_is_seen_by_its_link_alone(kept: Path, shared: None) -> None:
    built(opened(PAGE, state={"atlas_build_panel": True}), "The pin is 4711.\nNobody knows it.")
    (folder,) = kept.iterdir()
    stranger = opened(PAGE)
    assert not any(folder.name in option for option in stranger.selectbox(key="atlas_beside").options)
    assert "The texts differ" not in said(stranger)
    friend = opened(PAGE, atlas_beside=f"kept/{folder.name}")
    assert "The texts differ" in said(friend)
    assert "The link asks" not in said(friend)


def test_heads_are_found_that_beat_the_best_offset() -> None:
    app = opened(PAGE, state={"atlas_table": True})
    app.text_input(key="atlas_asked").set_value("beats the best offset").run()
    assert app.query_params["by"] == "best_offset"
    assert app.header[0].value.startswith("Layer 2, head 0 beats the best fixed offset by most: ")
    assert app.button_group(key="figure").value == "relations"
    assert "The relation on which the head is best in one half of the sentences comes first." in said(app)
    (table,) = [frame.value for frame in app.dataframe]
    assert table.iloc[0]["relation"] == "obj"


@pytest.mark.parametrize("direction", ["governor", "dependent"])
def test_a_relation_that_is_asked_for_is_what_the_card_shows(direction: str) -> None:
    app = opened(PAGE, by=f"nsubj {direction}")
    begins = "from subjects (nsubj), its" if direction == "governor" else "what looks most at subjects (nsubj)"
    assert f": {begins}" in app.header[0].value
    assert app.button_group(key="figure").value == "relations"
    assert "The relation that was asked for comes first." in said(app)


def test_the_card_turns_with_what_is_asked() -> None:
    app = opened(PAGE)
    figures = app.button_group(key="figure")
    assert figures.value == "texts"
    app.text_input(key="atlas_asked").set_value("governors of nsubj").run()
    assert "from subjects (nsubj), its strongest key is the governor in 59 % of cases" in app.header[0].value
    assert app.button_group(key="examples").value == "strongest"
    assert "How much it gives from subjects (nsubj) to their governors, the mean on each text." in said(app)
    assert app.button_group(key="figure").value == "relations"
    app.selectbox(key="by").set_value("sep").run()
    assert app.button_group(key="figure").value == "texts"
    assert "How much it looks at [SEP]" in said(app)


TEXTS = "The cat sat.\n\nA dog ran.\nRain fell on the old town."


def built(app: AppTest, texts: str = TEXTS) -> AppTest:
    """Type texts and press Build."""
    app.text_area(key="atlas_texts").set_value(texts).run()
    return pressed(app, "atlas_build")


@pytest.fixture
def shared() -> Iterator[None]:
    """A Headlight that a proxy shows to strangers under a name of its own."""
    own = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", [*own, "headlight.example"])
    yield
    config.set_option("server.allowedHosts", own)


def test_an_atlas_is_built_from_the_page_opens_at_once_and_is_removed(kept: Path) -> None:
    app = opened(PAGE, state={"atlas_build_panel": True})
    app.text_area(key="atlas_texts").set_value(TEXTS).run()
    assert "3 texts: about" in said(app)
    pressed(app, "atlas_build")
    assert atlas.open(kept / "my texts").counted.read == 3
    assert app.selectbox(key="atlas").value == "my texts"
    assert "You see my texts, an atlas that was built here." in said(app)
    assert "Over 3 texts" in said(app)
    assert "Few texts (3): on others" in said(app)
    assert app.query_params["atlas"] == "my texts"
    assert "my texts is built, and open at the top of this page." in [element.value for element in app.success]
    pressed(app, "remove my texts")
    assert not (kept / "my texts").exists()
    assert "Over 4,078 texts" in said(app)
    assert not app.success
    assert "The atlas of this link" not in said(app)
    assert "atlas" not in app.query_params


def test_an_atlas_without_relations_opens_where_a_relation_was_asked_for(kept: Path) -> None:
    app = built(opened(PAGE, by="nsubj governor", state={"atlas_build_panel": True}))
    assert "You see my texts" in said(app)
    assert "Cannot be shown" not in said(app)
    assert "The link asks" not in said(app)


def test_the_first_atlas_of_a_model_opens_in_place_of_the_stand_in(kept: Path) -> None:
    app = opened(PAGE, model="own-encoder", state={"atlas_build_panel": True})
    assert "has no atlas here" in said(app)
    built(app)
    assert "has no atlas here" not in said(app)
    assert "You see my texts" in said(app)
    again = opened(PAGE, model="own-encoder", atlas="my texts")
    assert "Over 3 texts" in said(again)


def test_a_second_atlas_of_this_name_gets_a_number(kept: Path) -> None:
    built(opened(PAGE, state={"atlas_build_panel": True}))
    app = built(opened(PAGE, state={"atlas_build_panel": True}), "Another text.\nAnd one more.")
    assert "Cannot be built" not in said(app)
    assert "You see my texts 2" in said(app)
    assert sorted(path.name for path in kept.iterdir()) == ["my texts", "my texts 2"]


def test_among_strangers_the_link_is_the_key(kept: Path, shared: None) -> None:
    app = built(opened(PAGE, state={"atlas_build_panel": True}), "The pin is 4711.\nNobody knows it.")
    (folder,) = kept.iterdir()
    assert library.is_key(folder.name)
    assert app.query_params["atlas"] == folder.name
    assert "The page's address is its key" in said(app)
    assert "The pin is 4711" in said(app)

    stranger = opened(PAGE, state={"atlas_build_panel": True})
    assert "Over which texts" not in [box.label for box in stranger.selectbox]
    assert not [button for button in stranger.button if (button.key or "").startswith("remove ")]
    guessed = opened(PAGE, atlas="key-" + "a" * 22, state={"atlas_build_panel": True})
    assert "The atlas of this link is not here" in said(guessed)
    for page in (stranger, guessed):
        assert "4711" not in said(page)
        assert folder.name not in said(page)
    again = built(stranger, "Mine.\nAnd only mine.")
    assert "You see my texts, an atlas" in said(again)

    friend = opened(PAGE, atlas=folder.name, state={"atlas_build_panel": True})
    assert "The pin is 4711" in said(friend)
    pressed(friend, f"remove {folder.name}")
    assert not folder.exists()


def test_an_atlas_that_is_removed_while_it_is_built_ends_in_a_calm_sentence(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(PAGE, state={"atlas_build_panel": True})
    app.text_area(key="atlas_texts").set_value("\n".join(f"Sentence {number}." for number in range(70))).run()
    build = atlas.build

    def build_and_remove(*given: object, **options: object) -> object:
        told = options["on_progress"]

        def tell(done: int, total: int) -> None:
            told(done, total)
            library.remove(kept, "my texts")

        return build(*given, **{**options, "on_progress": tell})

    monkeypatch.setattr(atlas, "build", build_and_remove)
    pressed(app, "atlas_build")
    assert "the atlas was removed while it was being built; Build begins anew" in said(app)
    assert "Over 4,078 texts" in said(app)
    assert list(kept.iterdir()) == []


def test_no_sentence_names_a_path_of_the_server(kept: Path) -> None:
    app = built(opened(PAGE, state={"atlas_build_panel": True, "atlas_table": True, "atlas_take": True}))
    (kept / "my texts" / "merged" / "atlas.json").write_text("{", encoding="utf-8")
    for page in (app, app.run(), opened(PAGE, state={"atlas_build_panel": True})):
        assert str(kept.parent) not in said(page)
        assert str(Path(atlas.__file__).parent) not in said(page)


def uploaded_corpus(content: bytes, name: str = "corpus.txt") -> AppTest:
    app = opened(PAGE, state={"atlas_build_panel": True})
    return app.file_uploader(key="atlas_file").set_value((name, content, "application/octet-stream")).run()


def test_a_file_is_read_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.atlas import corpus

    read, paths = corpus.read, []

    def counted(given: object, **options: object) -> object:
        if isinstance(given, Path) and given.name.startswith("upload"):
            paths.append(given)
        return read(given, **options)

    monkeypatch.setattr(corpus, "read", counted)
    app = uploaded_corpus(TEXTS.encode())
    assert "3 texts: about" in said(app)
    app.run().run()
    assert len(paths) == 1
    refused = uploaded_corpus(b"A text.\n" * 6_000)
    assert "the corpus has more than 5,000 texts" in said(refused)
    assert "python -m inspector.atlas build" in said(refused.run())
    assert len(paths) == 2
    assert not any(path.exists() for path in paths)


def test_reading_a_file_and_the_estimate_wait_for_their_turn(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    works, turn = list[str](), queue.turn

    def noted(work: str, **options: Any) -> AbstractContextManager[None]:
        works.append(work)
        return turn(work, **options)

    monkeypatch.setattr(queue, "turn", noted)
    assert "2 texts: about" in said(uploaded_corpus(b"Nobody estimated this.\nNor this."))
    assert works == ["Reading the file", "Estimating the work"]


def test_a_build_that_takes_too_long_is_left_to_the_command_line(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*given: object) -> Estimate:
        return Estimate(seconds=build_panel.MOST_MINUTES * 60 + 1, nbytes=10, tried=3)

    monkeypatch.setattr(build_panel, "estimate", slow)
    app = uploaded_corpus(b"A text that takes long.")
    assert "a page builds for 15 minutes at most; give fewer, or use the command line" in said(app)
    assert "atlas_build" not in [button.key for button in app.button]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", b"x" * 200_000, "a.txt, line 1 has 200,000 characters"),
        ("a.tsv", b"A text without a target\n", "a.tsv, line 1 has no text and target"),
        ("a.jsonl", b"{" * 1000, "a.jsonl, line 1 is no JSON"),
        ("a.conllu", b"1\tword\n", "a.conllu, line 1 has 2 columns"),
        ("a.parquet", b"PAR1" * 9, "a.parquet is damaged, or no Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_own_name(
    kept: Path, name: str, content: bytes, sentence: str
) -> None:
    assert sentence in said(uploaded_corpus(content, name)).replace("the corpus", name)


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
    unusual = {"layer": "3", "head": "8"}
    assert "than in any of 53 texts" in said(opened(**unusual))
    assert " texts" not in said(opened())  # which is as it is on others
    monkeypatch.setattr(library, "SHIPPED", Path("/nowhere"))
    assert " texts" not in said(opened(**unusual))


def cards(app: AppTest) -> list[dict[str, str]]:
    """List what the ways from Attention to a head's card say."""
    return [dict(parse_qsl(way.proto.query_string)) for way in app.get("page_link") if way.proto.page == "atlas"]


def test_attention_leads_to_the_atlas_that_lies_open_and_to_the_head_that_was_open_there(kept: Path) -> None:
    built(opened(PAGE, state={"atlas_build_panel": True}))
    head = {"layer": "3", "call": "0", "head": "8"}
    assert cards(opened(**head)) == [{"stream": "encoder", **head}], "the shipped atlas is the model's first"
    app = turned(opened(PAGE, atlas="my texts", **head), "Attention")
    (given,) = cards(app)
    assert given["atlas"] == "my texts"
    over = opened(PAGE, **given)
    assert "Over 3 texts" in said(over)
    assert over.header[0].value.startswith("Layer 3, head 8")
