"""BERT and its tokens. Questions 103 to 107, 109 and 110."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from inspector import feedforward, interventions, long_texts, masked_lm, sentence_vectors, stepwise, vocabularies
from inspector.information import entropy
from inspector.probe import record_blocks
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import Measure, Measurement
from inspector.questions.record.subject import Subject
from inspector.questions.themes import several_texts
from inspector.questions.themes.several_texts import Interval, interval
from inspector.trace import Trace
from inspector.vocabularies import dictionary

LEARNED_PIECES = 60
BLOCK = 64  # tokens that a sparse mask shows around a token
DOCUMENT = 4  # book pages
PARAPHRASES = {
    "en": (
        "The doctor told him to rest for a week.",
        "His physician advised seven days in bed.",
        "The bank raised its interest rates.",
        "Borrowing money became more expensive.",
        "The river bank was covered with flowers.",
        "Blossoms grew all along the water.",
        "The noise kept her awake all night.",
        "She could not sleep because it was so loud.",
    ),
    "zh": (
        "医生让他休息一个星期。",
        "大夫叫他在家躺七天。",
        "今天天气很冷。",
        "外面冷得让人发抖。",
        "她很喜欢喝茶。",
        "她最爱的就是茶水。",
        "他买了一本新书。",
        "他在书店花钱买了书。",
    ),
}


def _chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


# --- 103: BERT is an encoder ---------------------------------------------------------------------------------------


def _encoder(subject: Subject) -> Measurement:
    stand_in = subject.of("mini-gpt")
    moved = {}
    for asked in (subject, stand_in):
        table = asked.once("old keys", lambda asked=asked: stepwise.old_keys(asked.loaded, asked.trace))  # type: ignore[misc]
        moved[asked.loaded.card.id] = table[table["tensor"] == "key"]
    encoder, decoder = moved.values()
    picture = Lines(
        (
            Series(
                Both("this encoder", "该编码器"), [float(at) for at in encoder["layer"]], encoder["relative"].tolist()
            ),
            Series(
                Both("a decoder, mini-gpt", "解码器 mini-gpt"),
                [float(at) for at in decoder["layer"]],
                decoder["relative"].tolist(),
                dashed=True,
            ),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("change of earlier tokens' keys by a later token", "前面各 token 的 K 因后面 token 而发生的变化"),
    )
    return Measurement(
        {"encoder": float(encoder["relative"].max()), "decoder": float(decoder["relative"].max())}, picture
    )


# --- 104: characters, words, pieces --------------------------------------------------------------------------------


def _granularity(subject: Subject) -> Measurement:
    text = subject.text[: vocabularies.MOST_READ]
    page = long_texts.PAGES["home" if _chinese(text) else "pride"].text
    cut = vocabularies.by_model(subject.loaded.tokenizer, text)
    counts = {
        "characters": float(len(text)),
        "words": float(len(dictionary.words(text))),
        "pieces": float(len(cut.tokens)),
    }
    if not counts["words"]:
        raise UnanswerableError("The text has no words; write some.", "文本中没有词，请写一些。")
    names = (Both("characters", "字符"), Both("words", "词"), Both("pieces of this model", "这个模型的子词"))
    picture = Bars(names, list(counts.values()), Both("tokens of the text", "文本的 token 数"), parts=["attention"] * 3)
    return Measurement(
        {
            **counts,
            "cells": (counts["characters"] / counts["pieces"]) ** 2,
            "unknown_words": dictionary.unknown(text),
            "unknown_page": dictionary.unknown(page),
            "listed": float(len(dictionary.vocabulary("chinese" if _chinese(text) else "english"))),
            "vocabulary": float(cut.vocabulary),
        },
        picture,
    )


# --- 105: 15 % -----------------------------------------------------------------------------------------------------


def _masking(subject: Subject) -> Measurement:
    loaded, encoding = subject.loaded, subject.trace.encoding
    if not masked_lm.choosable(loaded, encoding):
        raise UnanswerableError(
            "The text has no token that can be hidden.",
            "文本中没有可以遮住的 token。",
        )
    shares = masked_lm.shares(loaded, encoding, rate=0.15, seed=0).set_index("fate")["share"]
    rates = (0.05, 0.15, 0.25, 0.4)
    table = masked_lm.by_rate(loaded, encoding, rates=rates, rows=20)
    every = table[table["fate"] == "all"].set_index("rate")
    right = {rate: rate * float(every.loc[rate, "top1"]) for rate in rates}
    picture = Lines(
        (
            Series(Both("right, of those that are hidden", "猜对的占被遮住的"), list(rates), every["top1"].tolist()),
            Series(Both("right, of all tokens", "猜对的占全部 token"), list(rates), list(right.values()), dashed=True),
        ),
        x_title=Both("share of tokens that are chosen", "被选中的 token 比例"),
        y_title=Both("share that is guessed right", "猜对的比例"),
        mark_x=0.15,
    )
    return Measurement(
        {
            "masked": float(shares["masked"]),
            "random": float(shares["random"]),
            "kept": float(shares["kept"]),
            "top_15": float(every.loc[0.15, "top1"]),
            "top_40": float(every.loc[0.4, "top1"]),
            "right_15": right[0.15],
            "right_40": right[0.4],
        },
        picture,
    )


# --- 106: [CLS] ----------------------------------------------------------------------------------------------------


_MOVED_TEXTS = 6  # whose words change places


def _even_in(trace: Trace) -> float:
    """Measure how much more even [CLS]'s attention among the text's tokens is than a word's: entropy / ln n."""
    words = ~np.array(trace.encoding.special)
    even = []
    for site in trace.sites:
        weights = trace.attention(layer=site.layer, call=site.call)[:, :, words].astype(np.float64)
        rows = weights / weights.sum(axis=2, keepdims=True)
        even.append(entropy(rows) / np.log(words.sum()))  # [H, Q]
    of_rows = np.array(even).mean(axis=(0, 1))
    return float(of_rows[0] - of_rows[words].mean())


def _with_words(traces: Sequence[Trace]) -> list[Trace]:
    """The texts in which words can change places."""
    return [trace for trace in traces if sum(not special for special in trace.encoding.special) > 1]


def _steadiness(subject: Subject) -> tuple[Interval, Interval]:
    """Measure how far [CLS]'s last state moves when words change places, and how much farther a word's does."""
    of_cls, less = [], []
    for trace in _with_words(several_texts.traces(subject))[:_MOVED_TEXTS]:
        words = ~np.array(trace.encoding.special)
        changed = interventions.reorder(subject.loaded, trace, "shuffle").changed
        of_cls.append(float(changed[0]))
        less.append(float(np.median(changed[words]) - changed[0]))
    return interval(of_cls), interval(less)


def _cls(subject: Subject) -> Measurement:
    loaded, trace = subject.loaded, subject.trace
    nearest = sentence_vectors.nearest_average(trace.output)
    attention = sentence_vectors.cls_attention(trace)
    texts = PARAPHRASES["zh" if loaded.card.id.partition("?")[0].endswith("zh") else "en"]
    read = subject.cached(("paraphrases", loaded.card.id), lambda: sentence_vectors.read(loaded, texts))
    ranks = {pooling: sentence_vectors.partner_ranks(read.cosines(pooling)) for pooling in sentence_vectors.POOLINGS}
    layers = [float(at) for at in attention["layer"]]
    moved, less = _steadiness(subject)
    picture = Lines(
        (
            Series(Both("on itself", "看自己"), layers, attention["itself"].tolist()),
            Series(Both("on the text", "看文本"), layers, attention["text"].tolist(), dashed=True),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("attention of [CLS], mean of heads", "[CLS] 的注意力，各头平均"),
    )
    return Measurement(
        {
            "text": float(attention["text"].max()),
            "miss": nearest.miss,
            "cls": float(ranks["cls"].mean()),
            "mean": float(ranks["mean"].mean()),
            "agreement": float(np.mean(read.agreement)),
            **interval([_even_in(trace) for trace in _with_words(several_texts.traces(subject))]).named("even"),
            "moved": moved.mean,
            **less.named("less"),
        },
        picture,
    )


# --- 107: what is not linear ---------------------------------------------------------------------------------------


def _nonlinear(subject: Subject) -> Measurement:
    trace, loaded = subject.trace, subject.loaded
    stream = trace.streams[0]
    blocks = subject.once("blocks", lambda: record_blocks(loaded, trace))
    ffns = [ffn for ffn in blocks.ffns if ffn.stream == stream]
    if not ffns:
        raise UnanswerableError(
            f"No FFN of {loaded.card.id} was seen to be one.",
            f"没有认出 {loaded.card.id} 的 FFN。",
        )
    norms = [norm for norm in trace.norms if norm.stream == stream]
    if not norms:
        raise UnanswerableError(
            f"{loaded.card.id} has no norm that was seen.",
            f"没有看到 {loaded.card.id} 的归一化层。",
        )
    unit = feedforward.units(ffns[len(ffns) // 2], loaded.network)
    softmax, without = feedforward.attention_doubled(trace, stream=stream, layer=0)
    norm = norms[len(norms) // 2]
    grown = np.linalg.norm(replace(norm, input=2 * norm.input).output) / np.linalg.norm(norm.output)
    numbers = {"ffn": unit.mirrored, "softmax": softmax, "without": without, "norm": float(grown)}
    picture = Bars(
        [
            Both("FFN", "FFN"),
            Both("attention with the softmax", "带 softmax 的注意力"),
            Both("attention without it", "不带 softmax 的注意力"),
            Both("norm", "归一化"),
        ],
        [unit.doubled, softmax, without, float(grown)],
        Both("growth when the input is doubled; 2 if linear", "输入加倍后输出的倍数；线性时为 2"),
        parts=("ffn", "attention", "attention", "norm"),
        mark=2.0,
    )
    return Measurement(numbers, picture)


# --- 109: long texts -----------------------------------------------------------------------------------------------


def _long(subject: Subject) -> Measurement:
    loaded = subject.loaded
    page = long_texts.PAGES["home" if _chinese(subject.text) else "pride"].text
    document = len(vocabularies.by_model(loaded.tokenizer, " ".join([page] * DOCUMENT)).tokens)
    limit = loaded.max_tokens
    specials = 2
    room = max(8, min(limit, document) - specials)
    ways = {
        way.name: way
        for way in long_texts.ways_for(document, room=min(room, 512), overlap=min(room, 512) // 2, specials=specials)
    }
    patterns: dict[str, long_texts.Pattern] = {
        "longformer": long_texts.Longformer(side=BLOCK // 2),
        "bigbird": long_texts.BigBird(size=BLOCK // 4),
    }
    cell_shares = {name: pattern.cells(document) / document**2 for name, pattern in patterns.items()}
    token_shares = {name: len(ways[name].covered) / document for name in ("first", "windows")}
    picture = Bars(
        [
            Both("cut off: tokens read", "截断：读到的 token"),
            Both("windows: tokens read", "滑动窗口：读到的 token"),
            Both("Longformer: pairs", "Longformer：token 对"),
            Both("BigBird: pairs", "BigBird：token 对"),
        ],
        [token_shares["first"], token_shares["windows"], cell_shares["longformer"], cell_shares["bigbird"]],
        Both("share of the whole", "占全部的比例"),
        parts=["attention"] * 4,
    )
    return Measurement({"document": float(document), "limit": float(limit), **token_shares, **cell_shares}, picture)


# --- 110: BPE, WordPiece, unigram ----------------------------------------------------------------------------------


def _pieces(subject: Subject) -> Measurement:
    corpus = vocabularies.Corpus.of(long_texts.PAGES["home" if _chinese(subject.text) else "pride"].text)
    merges = 12
    bpe = vocabularies.learn(corpus.marked, merges=merges, rule="count", least=2)
    gain = vocabularies.learn(corpus.marked, merges=merges, rule="gain", least=2)
    if not bpe.merges:
        raise UnanswerableError(
            "No pair of characters stands twice in the corpus.",
            "语料中没有出现两次的字符对。",
        )
    frequent = np.mean([merge.count == bpe.pairs(step)["count"].max() for step, merge in enumerate(bpe.merges)])
    least_gain = np.mean(
        [merge.count == gain.pairs(step)["count"].max() for step, merge in enumerate(gain.merges)] or [1.0]
    )
    trained = vocabularies.train("unigram", corpus, pieces=LEARNED_PIECES)
    lost = vocabularies.losses(corpus.marked, vocabularies.scores(trained))["loss"]
    picture = Lines(
        (
            Series(Both("BPE", "BPE"), list(range(1, len(bpe.merges) + 1)), [merge.count for merge in bpe.merges]),
            Series(
                Both("likelihood gain", "似然增益"),
                list(range(1, len(gain.merges) + 1)),
                [merge.count for merge in gain.merges],
                dashed=True,
            ),
        ),
        x_title=Both("merge", "第几次合并"),
        y_title=Both("count of the pair that is joined", "被合并的符号对的次数"),
    )
    return Measurement(
        {
            "frequent": float(frequent),
            "gain": float(least_gain),
            "least": float(lost.min()),
            "most": float(lost.max()),
        },
        picture,
    )


MEASURES: dict[int, Measure] = {
    103: _encoder,
    104: _granularity,
    105: _masking,
    106: _cls,
    107: _nonlinear,
    109: _long,
    110: _pieces,
}
