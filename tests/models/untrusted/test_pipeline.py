"""The pipelines of published tokenizers pass, with the ids that the tokenizers library gives by itself."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from models import fetch
from models.untrusted import charsmap
from models.untrusted.growth import HEAVIEST
from models.untrusted.regexes import KNOWN, is_known
from models.untrusted.tokenizer import load_tokenizer
from models.untrusted.weight import weight

TEXTS = [
    "The cat sat on the mat because it was tired. It's 1234567 o'clock!",
    "  two  spaces,\ttabs\r\nand lines\n\n",
    "Ünïcödé ﬁ ﷺ ① 我爱水 안녕 قطة 👩‍👩‍👧 e\u0301 <s> </s>",
]
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = QWEN2.replace(r"|\p{N}| ", r"|\p{N}{1,3}| ")
DEEPSEEK = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def split(pattern: str) -> Any:
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated")


def byte_level(*before: Any, use_regex: bool = False) -> Any:
    return pre_tokenizers.Sequence([*before, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)])


def charsmap_of(entries: dict[str, str]) -> bytes:
    """A table of replacements as Darts stores it: one unit for each node, children at (offset xor letter)."""
    tree: dict[int, Any] = {}
    for key, text in entries.items():
        node = tree
        for letter in key.encode():
            node = node.setdefault(letter, {})
        node[0] = text
    units, texts = [0] * 2**16, b""
    free = 256

    def place(node: dict[int, Any], at: int, label: int) -> None:
        nonlocal free, texts
        base, free = free, free + 256
        units[at] = (base ^ at) << 10 | (0 in node) << 8 | label
        for letter, child in node.items():
            if letter:
                place(child, base ^ letter, letter)
            else:
                units[base] = len(texts) | 1 << 31
                texts += child.encode() + b"\0"

    place(tree, 0, 0)
    trie = b"".join(unit.to_bytes(4, "little") for unit in units[:free])
    return len(trie).to_bytes(4, "little") + trie + texts


FORMS = charsmap_of({"ﬁ": "fi", "ﷺ": "صلى الله عليه وسلم", "①": "1", "\t": " ", "ß": "ss"})

BPE_KINDS: dict[str, tuple[Any, Any, Any]] = {
    "gpt2": (None, pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()),
    "gpt-neox": (normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()),
    "llama3": (None, byte_level(split(LLAMA3)), decoders.ByteLevel()),
    "qwen2": (normalizers.NFC(), byte_level(split(QWEN2)), decoders.ByteLevel()),
    "gpt-oss": (None, byte_level(split(O200K)), decoders.ByteLevel()),
    "starcoder": (
        None,
        byte_level(pre_tokenizers.Digits(individual_digits=True), use_regex=True),
        decoders.ByteLevel(),
    ),
    "bloom": (None, byte_level(split(" ?[^(\\s|[.,!?…。，、।۔،])]+")), decoders.ByteLevel()),
    "falcon": (
        None,
        byte_level(
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.Digits(individual_digits=False),
            split("[0-9][0-9][0-9]"),
        ),
        decoders.ByteLevel(),
    ),
    "deepseek-v3": (
        normalizers.Sequence([]),
        byte_level(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK)),
        decoders.ByteLevel(),
    ),
    "llama2": (
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        None,
        decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
    ),
    "gemma": (
        normalizers.Replace(" ", "▁"),
        pre_tokenizers.Split(" ", "merged_with_previous"),
        decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]),
    ),
}
UNIGRAM_KINDS: dict[str, tuple[Any, Any]] = {
    "t5": (
        normalizers.Precompiled(FORMS),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    ),
    "xlm-roberta": (
        normalizers.Sequence([normalizers.Precompiled(FORMS), normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Metaspace(prepend_scheme="always"),
    ),
    "albert": (
        normalizers.Sequence(
            [
                *(normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD()),
                *(normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Precompiled(FORMS)),
                normalizers.Replace(Regex(" {2,}"), " "),
            ]
        ),
        pre_tokenizers.Metaspace(),
    ),
    "seamless": (
        normalizers.Sequence(
            [
                *(normalizers.Precompiled(FORMS), normalizers.Replace(Regex(r"[\n\r\t]"), " ")),
                *(normalizers.Replace(Regex(r" +▁"), "▁"), normalizers.Replace(Regex(r"^▁+$"), "")),
                normalizers.Replace(Regex(r" {2,}"), "▁"),
            ]
        ),
        pre_tokenizers.Metaspace(prepend_scheme="first"),
    ),
}


def trained(kind: str) -> Tokenizer:
    """A small tokenizer of the kind, trained on the texts."""
    special = ["<unk>", "<s>", "</s>"]
    if kind in BPE_KINDS:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
        tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = BPE_KINDS[kind]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer: Any = trainers.BpeTrainer(
            vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer, tokenizer.pre_tokenizer = UNIGRAM_KINDS[kind]
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=150, special_tokens=special, unk_token="<unk>", show_progress=False
        )
    tokenizer.train_from_iterator(TEXTS * 5, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    return tokenizer


@pytest.mark.parametrize("kind", [*BPE_KINDS, *UNIGRAM_KINDS])
def test_published_pipelines_pass_with_the_ids_of_the_library(kind: str, tmp_path: Path) -> None:
    plain = trained(kind)
    plain.save(str(tmp_path / "tokenizer.json"))
    loaded = load_tokenizer(tmp_path)
    for text in TEXTS:
        assert loaded(text)["input_ids"] == plain.encode(text).ids
        assert loaded(text, TEXTS[0])["input_ids"] == plain.encode(text, TEXTS[0]).ids
        assert loaded.decode(loaded(text)["input_ids"]) == plain.decode(
            plain.encode(text).ids, skip_special_tokens=False
        )


def test_the_bundled_tokenizer_passes() -> None:
    plain = Tokenizer.from_file(str(fetch.folder("minilm") / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    loaded = load_tokenizer(fetch.folder("minilm"))
    for text in TEXTS:
        assert loaded(text)["input_ids"] == plain.encode(text).ids


def test_a_vocabulary_without_its_own_token_for_the_unknown_is_refused(tmp_path: Path) -> None:
    Tokenizer(models.WordLevel({"the": 0, "cat": 1}, unk_token="<unk>")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"lacks '<unk>', its own token for what is unknown"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text("[PAD]\n[CLS]\n[SEP]\n[MASK]\ncat\n", encoding="utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"lacks '\[UNK\]', its own token for what is unknown"):
        load_tokenizer(tmp_path)


def test_a_vocabulary_as_bert_and_gpt2_had_it_first(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n我\n爱\ncat\n##s\n", encoding="utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    assert load_tokenizer(tmp_path)("我爱cats")["input_ids"] == [2, 5, 6, 7, 8, 3]
    (tmp_path / "vocab.txt").unlink()
    (tmp_path / "vocab.json").write_text('{"c": 0, "a": 1, "t": 2, "ca": 3, "cat": 4}', encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\nc a\nca t\n", encoding="utf-8")
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    assert load_tokenizer(tmp_path)("cat")["input_ids"] == [4]


def test_a_known_expression_is_one_that_the_library_takes() -> None:
    for pattern in KNOWN:
        assert pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str("It's 12 cats!\n")
    assert is_known("\\s?[A-Za-zµÀ-ÖØ-öø-ƺ]+")
    assert is_known("[\r\n]")
    for pattern in ("(a+)+$", "a*", "", "(x|x)*y", r"[a]*[b]*", "[a]+[a]+", r"\1", "[[a]&&[b]]+", "a{0,3}", r"\p{L}*"):
        assert not is_known(pattern), pattern


def test_no_form_of_unicode_is_longer_than_the_weight() -> None:
    """The bound stands on this: one character weighs at most 18, and no form of it is longer or weighs more."""
    forms = [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Nmt()]
    forms += [
        normalizers.Lowercase(),
        normalizers.StripAccents(),
        normalizers.BertNormalizer(handle_chinese_chars=False),
    ]
    for code in range(0x2FFFF):
        character = chr(code)
        if 0xD800 <= code < 0xE000:
            continue
        own = weight(character)
        assert own <= HEAVIEST
        if own > 1 or character.lower() != character:
            for form in forms:
                assert weight(form.normalize_str(character)) <= own, hex(code)


def test_the_growth_of_a_table_is_measured_on_its_keys() -> None:
    assert charsmap.growth(base64.b64encode(FORMS).decode()) == 2  # ß
    assert charsmap.growth(base64.b64encode(charsmap_of({"a": "b" * 30, "xyz": "b" * 60})).decode()) == 30
    for damaged in ("", "%%%", "AAAA", base64.b64encode(b"\xff" * 2000).decode(), base64.b64encode(bytes(40)).decode()):
        with pytest.raises(ValueError, match="table of replacements"):
            charsmap.growth(damaged)


def test_chance_padding_and_cutting_are_left_out(tmp_path: Path) -> None:
    plain = trained("gpt2")
    plain.enable_padding(length=100)
    plain.enable_truncation(4)
    fields = json.loads(plain.to_str())
    fields["model"]["dropout"] = 0.5
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    loaded = load_tokenizer(tmp_path)
    plain.no_padding()
    plain.no_truncation()
    assert {tuple(loaded(TEXTS[0])["input_ids"]) for _ in range(9)} == {tuple(plain.encode(TEXTS[0]).ids)}
