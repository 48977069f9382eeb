"""Sentences of a treebank: their texts, their words' characters and their trees, and a sentence for each broken one."""

import re
from pathlib import Path

import pytest

from inspector.atlas import conllu
from inspector.atlas.texts import Text, Tree

SENTENCES = Path(__file__).with_name("sentences.conllu")


def row(id: str, form: str, head: str, relation: str, notes: str = "_") -> str:
    return "\t".join([id, form, "_", "_", "_", "_", head, relation, "_", notes])


def surface(id: str, form: str) -> str:
    return row(id, form, "_", "_")


def chain(words: int, *, form: str = "a") -> list[str]:
    """Words of which each governs the next."""
    return [row(str(id), form, str(id - 1), "dep") for id in range(1, words + 1)]


def read(path: Path, *lines: str, end: str = "\n") -> list[Text]:
    path.write_bytes("".join(line + end for line in lines).encode())
    return list(conllu.read(path))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a.conllu"


def test_texts_are_those_of_the_comments() -> None:
    sentences = list(conllu.read(SENTENCES))
    assert len(sentences) == 30
    assert [one.text for one in sentences] == re.findall("^# text = (.*)$", SENTENCES.read_text("utf-8"), re.MULTILINE)


def test_words_are_those_of_the_columns() -> None:
    rows = [line.split("\t") for line in SENTENCES.read_text("utf-8").splitlines() if re.match("[0-9]+\t", line)]
    trees = [one.tree for one in conllu.read(SENTENCES)]
    assert [name for tree in trees for name in tree.relations] == [row[7] for row in rows]
    assert [governor + 1 for tree in trees for governor in tree.governors] == [int(row[6]) for row in rows]
    assert all(tree.governors.count(-1) == 1 for tree in trees)


def test_words_of_a_multiword_token_share_its_characters() -> None:
    sentence = list(conllu.read(SENTENCES))[18]
    tree = sentence.tree
    assert [sentence.text[start:stop] for start, stop in zip(tree.starts, tree.stops, strict=True)] == [
        *("I'm", "I'm", "sure", "they've", "they've", "seen", "it", ".")
    ]


def test_an_empty_node_is_left_out() -> None:
    sentence = list(conllu.read(SENTENCES))[4]
    assert sentence.text == "She ordered tea, and he coffee."
    assert sentence.tree == Tree(
        starts=(0, 4, 12, 15, 17, 21, 24, 30),
        stops=(3, 11, 15, 16, 20, 23, 30, 31),
        governors=(1, -1, 1, 5, 5, 1, 5, 1),
        relations=("nsubj", "root", "obj", "punct", "cc", "conj", "orphan", "punct"),
    )


def test_words_without_spaces_touch(path) -> None:
    lines = [row("1", "我", "2", "nsubj", "SpaceAfter=No|Translit=wo"), row("2", "来", "0", "root", "Gloss=come")]
    assert read(path, *lines, row("3", "。", "2", "punct", "SpaceAfter=No")) == [
        Text("我来 。", tree=Tree((0, 1, 3), (1, 2, 4), (1, -1, 1), ("nsubj", "root", "punct")))
    ]


def test_a_multiword_token_says_whether_a_space_follows(path) -> None:
    inner = [row("1", "do", "0", "root", "SpaceAfter=No"), row("2", "n't", "1", "advmod")]
    end = row("3", "!", "1", "punct")
    apart, touching = surface("1-2", "Don't"), row("1-2", "Don't", "_", "_", "SpaceAfter=No")
    assert [read(path, first, *inner, end)[0].text for first in (apart, touching)] == ["Don't !", "Don't!"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_ends_of_lines_and_of_the_file_may_differ(path, end, first) -> None:
    lines = [f"{first}# newdoc", "", "", *chain(2), "", "# a comment alone", "", "# text = b", *chain(1)]
    assert [one.text for one in read(path, *lines, end=end)] == ["a a", "a"]
    path.write_bytes(path.read_bytes().removesuffix(end.encode()))
    assert [one.text for one in conllu.read(path)] == ["a a", "a"]


def test_empty_nodes_count_on_behind_each_word(path) -> None:
    lines = [surface("0.1", "x"), row("1", "a", "0", "root"), surface("1.1", "x"), surface("1.2", "x")]
    assert [one.text for one in read(path, *lines, row("2", "b", "1", "dep"), surface("2.1", "x"))] == ["a b"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1\ta\t0"], "line 4 has 3 columns, not 10; part them by tabs"),
        (["1 a _ _ _ _ 0 root _ _"], "line 4 has 1 columns, not 10"),
        ([row("x", "a", "0", "root")], "line 4 has the id 'x'; write it as 1, 1-2 or 1.1"),
        ([row("١", "a", "0", "root")], "line 4 has the id '١'"),
        ([row("2", "a", "0", "root")], "line 4 has the id 2, not 1; number the words one by one"),
        ([*chain(2), row("2", "a", "1", "dep")], "line 6 has the id 2, not 3"),
        ([*chain(2), row("4", "a", "1", "dep")], "line 6 has the id 4, not 3"),
        ([surface("1.1", "x"), *chain(2)], "line 4 has the id 1.1, not 0.1"),
        ([*chain(1), surface("1.2", "x")], "line 5 has the id 1.2, not 1.1"),
        ([*chain(1), row("2", "b", "3", "dep")], "line 5 has the head 3 in a sentence of 2 words; correct it"),
        ([*chain(1), row("2", "b", "_", "dep")], "line 5 has the head '_'; give the number of a word, or 0"),
        ([*chain(1), row("2", "b", "-1", "dep")], "line 5 has the head '-1'"),
        ([*chain(1), row("2", "b", "2", "dep")], "line 5 has word 2 as its own governor; correct its head"),
        ([*chain(1), row("2", "b", "1", "")], "line 5 has a relation of 0 characters; give 1 to 100"),
        ([*chain(1), row("2", "b", "1", "d" * 101)], "line 5 has a relation of 101 characters"),
        ([*chain(1), row("2", " ", "1", "dep")], "line 5 has an empty form; write the word"),
        ([row("1", "a", "2", "dep"), row("2", "b", "1", "dep")], "line 4 begins a sentence with no root; give one"),
        ([*chain(2), row("3", "b", "0", "root")], r"line 4 begins a sentence with 2 roots \(words 1, 3\); give one"),
        (
            [
                row("1", "a", "0", "root"),
                row("2", "b", "3", "dep"),
                row("3", "c", "4", "dep"),
                row("4", "d", "3", "dep"),
            ],
            "line 6 has word 3 in a cycle of governors; correct its head",
        ),
        ([surface("1-3", "aa"), *chain(2)], "line 4 has a multiword token up to word 3 of 2; correct its range"),
        ([surface("2-3", "aa"), *chain(3)], "line 4 has a multiword token 2-3 after 0 words; correct its range"),
        ([*chain(2), surface("2-3", "aa")], "line 6 has a multiword token 2-3 after 2 words"),
        ([surface("1-0", "aa"), *chain(2)], "line 4 has a multiword token 1-0 after 0 words"),
        ([surface("1-2", "aa"), surface("1-2", "aa"), *chain(2)], "line 5 has a multiword token 1-2 after 0 words"),
        ([surface("1-3", "aa"), *chain(1), surface("2-3", "aa")], "line 6 has a multiword token 2-3 after 1 words"),
        (chain(5001), "line 5004 has word 5,001 of a sentence, which may have 5,000; cut it"),
        (chain(11, form="a" * 10_000), "line 13: the sentence has 100,009 characters, and a text at most 100,000"),
    ],
)
def test_a_broken_sentence_is_named_with_its_line(path, lines, message) -> None:
    with pytest.raises(ValueError, match=f"a.conllu, {message}"):
        read(path, "# text = a", *chain(1), "", *lines)


def test_a_long_chain_of_governors_is_a_tree(path) -> None:
    (sentence,) = read(path, *chain(5000))
    assert sentence.tree.governors == tuple(range(-1, 4999))
