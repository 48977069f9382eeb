"""Sections on writers: their sentences, sums and buttons against what inspector.writers gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import inspector
from inspector import writers
from inspector.plots.writers import PairLines
from inspector.sections import registry
from inspector.sections.picks import Named
from inspector.sections.section import Block, Check, Choices, Figure, Link, Map, Note, Row, Section, Sentence, flat
from inspector.sections.subject import Subject
from inspector.text import signed
from models import LoadedModel
from tests.closeness import assert_close

SCORE, PREDICTION = "scores/wrote", "block/wrote_prediction"
TEXT = "One two three four one two three"


@pytest.fixture(scope="module")
def subject(shipped: Callable[[str], LoadedModel]) -> Subject:
    loaded = shipped("mini-gpt")
    return Subject(inspector.record(loaded, TEXT), loaded, stream="decoder")


def blocks(path: str, subject: Subject, **chosen: object) -> list[Block]:
    return list(flat(registry.section(path).blocks(subject, **chosen)))


def test_a_score_is_told_by_its_strongest_pair(subject: Subject) -> None:
    listed = blocks(SCORE, subject, head=(2, 0, 0), wrote_query=7, wrote_key=1)
    score = writers.of_score(subject.trace, subject.model, layer=2, head=0, query=7, key=1)
    at = np.unravel_index(np.abs(score.matrix).argmax(), score.matrix.shape)
    sentence = next(block for block in listed if isinstance(block, Sentence))
    assert signed(float(score.matrix[at])) in sentence.text
    assert sentence.text.startswith(f"Of the score {signed(score.recorded)}, ")
    for writer in (score.queries[at[0]], score.keys[at[1]]):
        name = (
            f"layer {writer.layer}, head {writer.head}" if writer.kind == "head" else f"the FFN of layer {writer.layer}"
        )
        assert name in sentence.text
    check = next(block for block in listed if isinstance(block, Check))
    assert check.holds
    assert f"{score.matrix.size} pairs" in check.text
    assert f"score {score.before:.6g}" in check.text
    figure = next(block for block in listed if isinstance(block, Figure) and block.id == "wrote-pairs")
    assert isinstance(figure.draw, PairLines)
    whole = float(score.matrix.sum())
    drawn = figure.draw.table["contribution"].sum() + sum(figure.draw.rest.values())  # the rest is a number too
    assert_close(drawn, whole, relative=1e-9, scale=score.matrix)
    assert list(figure.draw.rest) == [f"all other {score.matrix.size - 10} pairs:"]


def test_the_reader_chooses_which_head_is_opened_to_its_tokens(subject: Subject) -> None:
    listed = blocks(SCORE, subject, head=(2, 0, 0), wrote_query=7, wrote_key=1)
    score = writers.of_score(subject.trace, subject.model, layer=2, head=0, query=7, key=1)
    part = next(block for block in listed if isinstance(block, Section))
    (pick,) = part.picks
    assert isinstance(pick, Named)
    options = pick.options(subject)
    assert len(options) > 2
    assert len({role for role, *_ in (id.split(".") for id in options)}) == 2
    of_first = next(iter(part.blocks(subject)))
    for id, name in options.items():
        role, _, layer, head, _ = id.split(".")
        side = score.side("query" if role == "query" else "key")
        place = side[(side["kind"] == "head") & (side["layer"] == int(layer)) & (side["head"] == int(head))]
        (figure,) = part.blocks(subject, wrote_opened=id)
        assert isinstance(figure, Figure)
        assert figure.table is not None
        assert_close(
            figure.table["contribution"].sum(), place["contribution"].item(), relative=1e-5, scale=score.matrix
        )
        assert name == f"L{layer} H{head}, {role}'s side"
        if id == pick.first(subject):
            assert isinstance(of_first, Figure)
            assert figure.heading == of_first.heading
    with pytest.raises(ValueError, match="is none of"):
        list(part.blocks(subject, wrote_opened="key.decoder.3.0.0"))


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ((2, 8, 8, 10), "comes from where `it` stands meeting where `tired` stands."),
        ((1, 9, 2, 3), "comes from what the model adds to every token alike."),
        ((0, 9, 2, 10), "comes from what the model adds to every token meeting where `tired` stands."),
    ],
)
def test_the_kinds_that_give_most_are_told_in_plain_words(
    minilm: LoadedModel, place: tuple[int, int, int, int], told: str
) -> None:
    layer, head, query, key = place
    subject = Subject(
        inspector.record(minilm, "The cat sat on the mat because it was tired."), minilm, stream="encoder"
    )
    score = writers.of_score(subject.trace, minilm, layer=layer, head=head, query=query, key=key)
    sums: dict[tuple[str, str], float] = {}
    plain = {"embedding": "word", "positions": "place", "ffn": "FFN", "bias": "constant", "beta": "constant"}
    for i, a in enumerate(score.queries):
        for j, b in enumerate(score.keys):
            kinds = plain.get(a.kind, "attention"), plain.get(b.kind, "attention")
            sums[kinds] = sums.get(kinds, 0.0) + float(score.matrix[i, j])
    table = score.by_kind().set_index(["query", "key"])["contribution"]
    assert set(table.index) == set(sums)
    assert_close(table.to_numpy(), np.array([sums[kinds] for kinds in table.index]), relative=1e-12)
    most = max(sums.values(), key=lambda share: share * np.sign(score.before))
    listed = blocks(SCORE, subject, head=(layer, head, 0), wrote_query=query, wrote_key=key)
    sentence = next(block for block in listed if isinstance(block, Sentence)).text
    assert f"Of the score {signed(score.before)}, {signed(most)} comes from" in sentence
    assert told in sentence


def test_a_button_opens_the_cell_in_which_a_head_read_most(subject: Subject) -> None:
    listed = blocks(SCORE, subject, head=(2, 0, 0), wrote_query=7, wrote_key=1)
    (choices,) = (block for block in listed if isinstance(block, Choices))
    buttons = [choice.chosen for choice in choices.choices if choice.chosen]
    assert 1 <= len(buttons) <= 6
    for chosen in buttons:
        layer, head, query = chosen["layer"], chosen["head"], chosen["wrote_query"]
        assert layer in (0, 1)
        assert query in (1, 7)
        row = subject.trace.attention(layer=layer, head=head)[query]  # type: ignore[arg-type]
        assert row.argmax() == chosen["wrote_key"]
        place = (layer, head, chosen["call"] or 0)
        assert blocks(SCORE, subject, head=place, wrote_query=query, wrote_key=chosen["wrote_key"])


def test_a_key_that_the_query_does_not_see_is_said(subject: Subject) -> None:
    with pytest.raises(ValueError, match="query 1 does not see key 5: it is still to come"):
        blocks(SCORE, subject, head=(2, 0, 0), wrote_query=1, wrote_key=5)


def test_a_prediction_is_told_by_its_strongest_part(subject: Subject) -> None:
    listed = blocks(PREDICTION, subject, token=7)
    assert subject.model.predict is not None
    logits = subject.model.predict(subject.trace.hidden[None])[0, 7]
    first, second = logits.topk(2).indices.tolist()
    logit = writers.of_logit(subject.trace, subject.model, position=7, token=first, against=second)
    parts = logit.by_part()
    most = parts.loc[parts["contribution"].idxmax()]
    sentence = next(block for block in listed if isinstance(block, Sentence))
    assert f"of layer {most['layer']} writes {signed(float(most['contribution']))}" in sentence.text
    assert f"lies {signed(float(logits[first] - logits[second]))} above" in sentence.text
    assert next(block for block in listed if isinstance(block, Check)).holds
    heads = next(block for block in listed if isinstance(block, Map))
    shares = {(w.layer, w.head): c for w, c in zip(logit.writers, logit.contributions, strict=True) if w.kind == "head"}
    assert_close([heads.panels[0].values[place] for place in shares], list(shares.values()), relative=1e-5)
    assert heads.chooses is not None
    assert heads.chooses(1, 2) == {"wrote_head": 1 * 6 + 2 + 1}
    other = blocks(PREDICTION, subject, token=7, wrote_head=9)
    link = next(block for block in other if isinstance(block, Link))
    assert (link.given["layer"], link.given["head"], link.given["query"]) == ("1", "2", "7")


def test_the_bar_of_a_layers_attention_opens_the_head_that_writes_most_of_it(subject: Subject) -> None:
    figure = next(block for block in blocks(PREDICTION, subject, token=7) if getattr(block, "id", "") == "wrote-parts")
    assert isinstance(figure, Figure)
    assert callable(figure.chooses)
    assert figure.table is not None
    logits = subject.model.predict(subject.trace.hidden[None])[0, 7]  # type: ignore[misc]
    first, second = logits.topk(2).indices.tolist()
    table = writers.of_logit(subject.trace, subject.model, position=7, token=first, against=second).table()
    of_heads = table[table["kind"] == "head"].assign(size=lambda rows: rows["contribution"].abs())
    opened = set()
    for bar, (layer, part) in enumerate(zip(figure.table["layer"], figure.table["part"], strict=True)):
        chosen = figure.chooses(bar)
        if part != "attention":
            assert chosen == {}
            continue
        rows = of_heads[of_heads["layer"] == layer]
        head = int(rows.loc[rows["size"].idxmax(), "head"])
        link = next(block for block in blocks(PREDICTION, subject, token=7, **chosen) if isinstance(block, Link))
        assert (link.given["layer"], link.given["head"]) == (str(layer), str(head))
        opened.add(layer)
    assert opened == {site.layer for site in subject.trace.sites}


def test_a_typed_token_is_set_against_another(subject: Subject) -> None:
    listed = blocks(PREDICTION, subject, token=7, guess="four", against="two")
    assert subject.model.predict is not None
    sentence = next(block for block in listed if isinstance(block, Sentence)).text
    assert "`␣four`" in sentence
    assert "`␣two`" in sentence
    with pytest.raises(ValueError, match=r"'xyzzyx' is [0-9] tokens here"):
        blocks(PREDICTION, subject, token=7, guess="xyzzyx")


def test_a_model_without_a_head_and_the_encoder_of_a_translator_say_so(
    shipped: Callable[[str], LoadedModel], minilm: LoadedModel
) -> None:
    need = registry.section(PREDICTION).need
    assert need is not None
    assert not need.can(minilm)  # another model stands in on the page
    translator = shipped("translator")
    both = Subject(inspector.record(translator, "I love cats.", target="我爱猫。"), translator, stream="encoder")
    (note,) = blocks(PREDICTION, both)
    assert isinstance(note, Note)
    assert "choose the decoder" in note.text
    crossing = blocks(SCORE, replace(both, stream="cross"), head=(1, 2, 0), wrote_query=1, wrote_key=1)
    streams = {
        choice.chosen.get("stream", "cross")
        for block in crossing
        if isinstance(block, Choices)
        for choice in block.choices
        if choice.chosen
    }
    assert streams <= {"encoder", "decoder", "cross"}
    assert "encoder" in streams  # who wrote the keys
    assert any(isinstance(block, Row | Figure) for block in crossing)
