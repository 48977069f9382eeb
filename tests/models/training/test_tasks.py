"""Data as a recipe makes it: rows of text for a model that writes, characters for a model of Chinese."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from models.training import corpus
from models.training.recipes import MINI_BERT_ZH, MINI_GPT
from models.training.repeats import PIECES
from models.training.tasks import Task, prepare

PARAGRAPHS = [f"Alice saw {n} rabbits" + ", and one more" * (n % 30) + "." for n in range(90)]
NOVELS = [f"却说{n}只兔子，往山里去了。" for n in range(40)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for split in ("train", "valid", "test"):
        (folder / corpus.PAIRS[split]).write_text(f"I see {split}.\t我看见{split}鼷。\tby A\n", encoding="utf-8")
    for split in ("train", "valid"):
        (folder / corpus.BOOKS[split]).write_text("\n".join(PARAGRAPHS), encoding="utf-8")
        (folder / corpus.CHINESE_BOOKS[split]).write_text("\n".join(NOVELS), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def writer(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Task:
    recipe = replace(MINI_GPT, vocabulary=330, max_positions=64, repeat_steps=6)
    return prepare(recipe, data, tokenizer_file=tmp_path_factory.mktemp("out") / "tokenizer.json")


def test_rows_hold_every_text_in_order_and_are_full(writer: Task) -> None:
    start, end = writer.vocabulary.start, writer.vocabulary.end
    assert all(row.source[0] == start and len(row) <= 64 for row in writer.valid)
    stream = [token for row in writer.valid for token in row.source[1:]]
    texts = [[*writer.tokenizer.encode(text).ids[1:], end] for text in PARAGRAPHS]
    assert stream == [token for text in texts for token in text]
    begins = {0}
    for text in texts:
        begins.add(max(begins) + len(text))
    place = 0
    for row, following in zip(writer.valid, writer.valid[1:], strict=False):
        place += len(row) - 1
        if place not in begins:  # goes on in a text that is longer than a row
            assert len(row) == 64
        elif following.source[-1] == end:
            first = following.source[1:].index(end) + 1 if end in following.source[1:] else len(following)
            assert len(row) + first > 64
    assert writer.tokenizer.encode("Alice").ids[0] == start
    assert writer.tokenizer.encode("Alice").ids[-1] != end  # what is written goes on from the last token


def test_text_is_mixed_with_repeats_and_short_repeats_come_before(writer: Task) -> None:
    *_, text = writer.phases
    assert [phase.count(seed=0) for phase in writer.before] == [6]
    for phase in writer.before:
        assert {len(example) for example in phase.examples} == {48}
        assert all(token >= PIECES for example in phase.examples for token in example.source[1:])
    twice = [row.source[1:] for row in text.examples if len(row) % 2]
    twice = [row for row in twice if row[: len(row) // 2] * 2 == row]
    plain = len(text.examples) - len(twice)
    assert len(twice) == plain * 7 // 100 + plain * 5 // 100 > 0


def test_chinese_is_a_token_a_character_and_sentences_come_ten_times(data: Path, tmp_path: Path) -> None:
    task = prepare(MINI_BERT_ZH, data, tokenizer_file=tmp_path / "tokenizer.json")
    assert len(task.train) == len(NOVELS) + 10
    (sentence,) = {task.tokenizer.decode(list(example.source)) for example in task.train[-10:]}
    assert sentence == "我看见train鼷。"
    assert len(task.train[-1]) == len(sentence) + 2  # also of a rare character, where a sentence has it
    assert len(task.valid) == len(NOVELS) // 8 + 1
    again = prepare(MINI_BERT_ZH, data, tokenizer_file=tmp_path / "again.json")
    assert again.tokenizer.to_str() == task.tokenizer.to_str()
    assert again.train == task.train
