"""Sections of the page Atlas: every figure of a head, its texts and heads like it, and what a reader's words choose."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inspector
import models
from inspector import atlas
from inspector.atlas import library, measures
from inspector.atlas.measures import NAMES
from inspector.atlas.reading import head_relations
from inspector.atlas.reading.distribution import distribution
from inspector.plots.atlas import units
from inspector.sections import registry
from inspector.sections.atlas import card, colour, heads
from inspector.sections.section import Block, Choices, Figure, Files, Map, Note, Quote, Section, Sentence, Table, flat
from inspector.sections.subject import Subject
from inspector.wording.english import atlas_card as words
from inspector.wording.english import phrases
from tests.inspector.sections.contract import code_faults, picture_faults


@pytest.fixture(scope="module")
def subject(minilm: models.LoadedModel) -> Subject:
    return Subject(inspector.record(minilm, "The cat sat."), minilm, "encoder")


@pytest.fixture(scope="module")
def treebank(minilm: models.LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> atlas.Atlas:
    """An atlas of a treebank whose relations have the names of a stranger's."""
    source = Path(__file__).parents[2] / "atlas" / "sentences.conllu"
    path = tmp_path_factory.mktemp("treebank") / "named.conllu"
    named = source.read_text(encoding="utf-8").replace("\tdet\t", "\tdet:'x\t")
    path.write_text(4 * named, encoding="utf-8")  # of fewer a relation has no score
    made = atlas.build(minilm, path, out=path.parent / "atlas")
    assert made is not None
    return made


def subject_of(model: str) -> Subject:
    return Subject(None, loaded := models.load(model), opened=library.of(loaded, keys=()).atlases[0])


def told(section: Section, subject: Subject, **chosen: Any) -> list[Block]:
    """List a section's blocks with those of its parts, each part with those of the choices that it has."""
    listed: list[Block] = []
    own = {pick.id: chosen[pick.id] for pick in section.picks if pick.id in chosen}
    for block in flat(section.blocks(subject, **own)):
        listed += told(block, subject, **chosen) if isinstance(block, Section) else [block]
    return listed


@pytest.mark.parametrize("by", ["previous", "offset_-3", "nsubj governor", "obj dependent", "best_offset"])
@pytest.mark.parametrize("figure", ["texts", "offsets", "relations"])
def test_the_lines_of_every_figure_give_its_table(subject: Subject, by: str, figure: str) -> None:
    listed = told(heads.SECTION, subject, by=by, figure=figure)
    (drawn,) = [block for block in listed if isinstance(block, Figure)]
    assert (
        drawn.id == {"texts": "atlas_distribution", "offsets": "atlas_offsets", "relations": "atlas_relations"}[figure]
    )
    assert list(code_faults(listed, models.load)) == []
    assert list(picture_faults(heads.SECTION, listed)) == []


def test_the_strongest_head_opens_and_another_where_the_choice_names_it(subject: Subject) -> None:
    means = subject.atlas.statistics.mean
    layer, head = divmod(int(np.nanargmax(means[NAMES.index("next")])), 12)
    for chosen, place in (
        ({}, (layer, head)),
        ({"layer": 3, "head": 4}, (3, 4)),
        ({"call": 0, "head": 11}, (layer, 11)),
    ):
        listed = told(heads.SECTION, subject, by="next", **chosen)
        (grid,) = [block for block in listed if isinstance(block, Map)]
        assert grid.panels[0].named == place
        assert isinstance(listed[0], Sentence)
        assert f"ayer {place[0]}, head {place[1]} gives" in listed[0].text
        assert [mark.where for mark in listed[0].about] == [grid.chooses(*place)]
        assert grid.chooses is not None
        assert grid.chooses(*place) == {"layer": place[0], "call": 0, "head": place[1]}


def test_heads_are_counted_under_the_grid(subject: Subject) -> None:
    below = [block.text for block in told(heads.SECTION, subject) if isinstance(block, Note)]
    count = int((subject.atlas.statistics.mean[NAMES.index("cls")] > 0.5).sum())
    assert f"Of 72 heads {count} rest on [CLS]" in below[0]


@pytest.mark.heavy
def test_the_sentence_tells_what_is_asked_for(subject: Subject) -> None:
    """Its numbers are those of the cell that it marks, of the strongest head, and of the best offset; two at most."""
    scores = subject.atlas.scores
    for by in colour.options(subject):
        for site in ({}, {"layer": 3, "head": 4}):
            listed = told(heads.SECTION, subject, by=by, figure="texts", **site)
            first = listed[0]
            assert isinstance(first, Sentence)
            assert len(first.text.split()) <= 30
            names = re.sub(r"[Ll]ayer \d+, head \d+|\d+ tokens (?:back|ahead)", "", first.text)
            numbers = re.findall(r"\d[\d.,]*\d|\d", names)
            assert len(numbers) <= 2
            (grid,) = [block for block in listed if isinstance(block, Map)]
            assert grid.panels[0].named is not None
            value = float(grid.panels[0].values[grid.panels[0].named])
            if by == "best_offset":
                assert any(number in f"{value:.3g}" for number in numbers)
                continue
            relation = tuple(by.split()) if " " in by else None
            if relation is None:
                assert any(
                    number in units.written(value, measures.find(by).unit).replace("under ", "") for number in numbers
                )
                continue
            assert f"{phrases.percent(value)} of cases" in first.text
            chosen = scores.query("relation == @relation[0] and direction == @relation[1]")
            best = chosen.loc[chosen["share"].idxmax()]
            other = float(
                best["baseline_share"] if grid.panels[0].named == (best["layer"], best["head"]) else best["share"]
            )
            assert phrases.percent(other) in first.text.partition("cases")[2]


def test_no_number_is_offered_that_no_head_of_the_stream_has() -> None:
    """A decoder looks back alone: of some relations it cannot see one end from the other."""
    decoder = replace(subject_of("mini-gpt"), stream="decoder")
    for by in colour.options(decoder):
        assert isinstance(told(heads.SECTION, decoder, by=by, figure="texts")[0], Sentence)


def test_a_sentence_without_a_number_of_the_head_says_so() -> None:
    told = words.opening("layer 0, head 0", measures.find("self"), math.nan, most=("layer 1, head 2", 0.5), first=False)
    assert told == "Layer 0, head 0 has no text with this number; layer 1, head 2 has most, 50 %."


@pytest.mark.parametrize("model", ["minilm", "mini-bert", "mini-gpt"])
def test_two_shares_of_a_head_are_more_than_all_only_where_the_sentence_says_what_both_count(model: str) -> None:
    """The second token's previous token is the first: a head that rests on the first gives to both."""
    opened = subject_of(model).atlas
    sentences = [card.mostly(opened, place) for place in range(len(opened.heads))]
    shares = [re.findall(r"(\d+) % (?:of its weight )?to", re.sub(r"\(.*?\)", "", text)) for text in sentences]
    pairs = [(*map(int, pair), text) for pair, text in zip(shares, sentences, strict=True) if len(pair) == 2]
    assert pairs
    for most, beside, text in pairs:
        assert most <= 95, text  # else what is left is less than a share that is told
        assert most + beside <= 100 or "which for" in text


def test_a_share_that_is_counted_twice_is_told_as_such(subject: Subject) -> None:
    """Five tokens give all to the first: the second gives it to the token before, a quarter of those that have one."""
    weights = np.eye(5)[[0] * 5]
    assert weights[np.arange(1, 5), np.arange(4)].mean() == 0.25  # over the queries that have a token before
    most, beside = (
        replace(distribution(subject.atlas, name, 0), mean=mean) for name, mean in (("first", 0.9), ("previous", 0.25))
    )
    told = words.head(name="layer 1, head 2", texts=9, most=most, beside=beside, spread=0.1)
    assert "25 % to the previous token, which for the second token is the first." in told
    told = words.head(name="layer 1, head 2", texts=9, most=replace(most, mean=0.98), beside=beside, spread=0.1)
    assert "previous" not in told  # 2 % are left for other keys


def test_words_choose_a_number_and_the_head_that_does_most_of_it(subject: Subject) -> None:
    asked = next(pick for pick in heads.SECTION.picks if pick.id == "atlas_asked")
    assert asked.chooses(subject, "direct objects") == {
        **dict.fromkeys(("layer", "call", "head", "figure", "examples")),
        "by": "obj governor",
    }
    assert asked.chooses(subject, "banana") == {}
    for named in ("layer 3 head 7", "Layer 3, head 7", "L: layer 3 / head 7"):
        assert asked.chooses(subject, named) == {"layer": 3, "call": 0, "head": 7}
    assert asked.chooses(subject, "layer 99 head 7") == {}
    notes = [block.text for block in told(heads.SECTION, subject, atlas_asked="banana") if isinstance(block, Note)]
    assert "No number of this atlas is known by these words" in notes[0]


def test_texts_lead_to_the_heads_map_and_pairs_to_the_pair(subject: Subject) -> None:
    quotes = {
        kind: [block for block in told(heads.SECTION, subject, examples=kind) if isinstance(block, Quote)]
        for kind in ("usual", "strongest", "pairs")
    }
    assert all(len(found) > 5 for found in quotes.values())
    place = card.site(subject.atlas, subject.atlas.place(layer=0, head=2, stream="encoder"))
    for found in quotes.values():
        assert all(quote.link is not None and quote.link.given["layer"] == str(place["layer"]) for quote in found)
    assert all({"query", "key"} <= quote.link.given.keys() for quote in quotes["pairs"] if quote.link)


def test_heads_like_it_open_where_they_are_this_models(subject: Subject) -> None:
    for beside in ("nothing", "mini-gpt"):
        listed = told(heads.SECTION, subject, atlas_beside=beside, by="previous", figure="texts", layer=0, head=2)
        (found,) = [block for block in listed if isinstance(block, Choices)]
        assert len(found.choices) == 6
        others = [choice.label for choice in found.choices if not choice.chosen]
        assert bool(others) is (beside == "mini-gpt")
        assert all(label.startswith("mini&#45;GPT: Layer") for label in others)


def test_a_filter_leaves_heads_out_and_says_where_none_is_left(subject: Subject) -> None:
    def counted(**chosen: Any) -> str:
        notes = [block.text for block in told(heads.SECTION, subject, **chosen) if isinstance(block, Note)]
        return notes[-2]

    assert counted().startswith("72 of 72 heads")
    assert counted(atlas_layers=("2", "3")).startswith("24 of 72 heads")
    labels = next(pick for pick in registry.sections("atlas").picks if pick.id == "atlas_labels")
    per_layer = {
        (layer, label): counted(atlas_layers=(layer,), atlas_labels=(label,))
        for layer in ("0", "5")
        for label in labels.options(subject)
    }
    assert "No head is left: take a filter away." in per_layer.values()
    assert sum(int(told.split()[0]) for told in per_layer.values() if told[0].isdigit()) == 24


def numbers(listed: list[Block]) -> pd.DataFrame:
    """The table of all heads."""
    (table,) = [block for block in listed if isinstance(block, Table)]
    return table.frame


def test_heads_of_a_relation_are_sorted_by_how_far_they_beat_the_best_offset(subject: Subject) -> None:
    table = numbers(told(heads.SECTION, subject, by="obj governor"))
    own = subject.atlas.scores.query("relation == 'obj' and direction == 'governor'")
    above = 100 * (own["share"] - own["baseline_share"])
    assert table["points above it"].tolist() == pytest.approx(sorted(above, reverse=True))
    assert (table["best offset"] == own["baseline_share"].iloc[0]).all(), "heads of one relation have one best offset"
    assert table["intervals part"].sum() == (own["low"] > own["baseline_high"]).sum() > 1
    assert "points above it" not in numbers(told(heads.SECTION, subject, by="previous"))


def test_heads_are_sorted_by_how_far_they_beat_the_best_offset_on_their_best_relation(subject: Subject) -> None:
    listed = told(heads.SECTION, subject, by="best_offset")
    table, first = numbers(listed), listed[0]
    assert table[colour.words.BEATS].is_monotonic_decreasing
    top = table.iloc[0]
    assert (top["layer"], top["head"], top["relation"], top["from the side of"]) == (2, 0, "obj", "governor")
    gain = top["share found"] - top["best offset"]
    assert top[colour.words.BEATS] == pytest.approx(100 * gain)
    assert isinstance(first, Sentence)
    assert f"by most: {100 * gain:.3g} percentage points at finding the governor of obj" in first.text
    (figure,) = [block for block in listed if isinstance(block, Figure)]
    assert figure.id == "atlas_relations", "the card opens on relations"
    assert tuple(figure.table.iloc[0][["relation", "direction"]]) == ("obj", "governor")


def test_a_head_that_does_not_clearly_beat_the_offset_is_said_not_to(subject: Subject) -> None:
    best = head_relations.best_of_each(subject.atlas)
    for place in (int(best["gain"].idxmin()), int(best.index[~best["clear"] & (best["gain"] > 0)][0])):
        first = told(heads.SECTION, subject, by="best_offset", **card.site(subject.atlas, place))[0]
        assert isinstance(first, Sentence)
        assert "does not clearly beat the best fixed offset" in first.text
        assert "layer 2, head 0 is first" in first.text


def test_files_are_made_when_they_are_asked_for(subject: Subject) -> None:
    files = {
        file.name: file
        for block in told(heads.SECTION, subject, layer=2, head=0)
        if isinstance(block, Files)
        for file in block.files
    }
    assert {f"minilm-layer-2-head-0.{ending}" for ending in ("png", "svg", "html", "parquet", "csv")} <= files.keys()
    assert {"atlas-heads.csv", "atlas-heads.parquet", "atlas-relations.csv"} <= files.keys()
    assert len(files["atlas-relations.csv"].make("light")) == len(subject.atlas.scores)
    assert str(files["minilm-layer-2-head-0.html"].make("dark")).startswith("<!doctype html>")


def test_what_a_click_chooses_stands_in_the_link() -> None:
    assert {"by", "layer", "call", "head"} <= set(registry.sections("atlas").assigned)


def test_an_atlas_of_the_readers_own_is_told_with_lines_that_open_it(
    subject: Subject, treebank: atlas.Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.VARIABLE, str(treebank.folder.parents[1]))
    opened = replace(subject, opened=treebank)
    keys = list(colour.options(opened))
    assert "det:'x governor" in keys
    for by in ("previous", "det:'x governor"):
        listed = told(heads.SECTION, opened, by=by)
        assert any(f"Over {treebank.counted.read} texts" in getattr(block, "text", "") for block in listed)
        assert list(code_faults(listed, models.load)) == []


def test_texts_are_ranked_by_the_relation_that_is_asked_for(subject: Subject, treebank: atlas.Atlas) -> None:
    place = treebank.place(layer=2, head=0, stream="encoder")
    opened = replace(subject, opened=treebank)
    listed = told(heads.SECTION, opened, by="det:'x governor", layer=2, head=0)
    quotes = [block for block in listed if isinstance(block, Quote)]
    found = treebank.examples("det:'x governor", place)
    assert [quote.link.given["text"] for quote in quotes if quote.link] == [
        treebank.texts[id].text for id in found["text"]
    ]
    assert [quote.said for quote in quotes] == [f"**{units.written(value, 'share')}**" for value in found["value"]]
    notes = [block.text for block in listed if isinstance(block, Note)]
    assert "How much it gives from words in the relation det:'x to their governors, the mean on each text." in notes
    counts = treebank.relations
    assert counts is not None
    rare = {name for name, total in zip(counts.relations, counts.totals.min(axis=(1, 2)), strict=True) if total < 25}
    assert rare
    assert all(treebank.examples(f"{name} governor", place).empty for name in rare), "they have no score"


def test_an_atlas_without_texts_of_relations_shows_pairs(subject: Subject, treebank: atlas.Atlas) -> None:
    old = replace(treebank)
    of_measures = treebank._examples[~treebank._examples["measure"].str.contains(" ")]
    vars(old)["_examples"] = of_measures  # as it was built before they were kept
    listed = told(heads.SECTION, replace(subject, opened=old), by="det:'x governor", layer=2, head=0)
    quotes = [block for block in listed if isinstance(block, Quote)]
    assert quotes
    assert all("query" in quote.link.given for quote in quotes if quote.link)


def test_a_model_without_an_atlas_says_how_to_build_one(minilm: models.LoadedModel) -> None:
    untrained = models.load("own-encoder")
    with pytest.raises(ValueError, match="There is no atlas of own-encoder: build one"):
        Subject(inspector.record(untrained, "The cat sat."), untrained).atlas  # noqa: B018
