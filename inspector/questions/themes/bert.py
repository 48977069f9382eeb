"""BERT and its tokens. Questions 103 to 107, 109 and 110."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from inspector import feedforward, interventions, long_texts, masked_lm, sentence_vectors, stepwise, vocabularies
from inspector.information import entropy
from inspector.probe import record_blocks
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, around, at_least, at_most, below, equal
from inspector.questions.record.kinds import ANY, ENCODER, ENCODERS, FILLS_MASKS, Kind
from inspector.questions.record.measured import OTHERS
from inspector.questions.record.papers import (
    BELTAGY_2020,
    DEVLIN_2019,
    KUDO_2018,
    REIMERS_2019,
    SCHUSTER_2012,
    SENNRICH_2016,
    VASWANI_2017,
    WETTIG_2023,
    WU_2016,
    ZAHEER_2020,
)
from inspector.questions.record.picture import Bars, Lines, Series
from inspector.questions.record.question import ClaimPart, Label, Measurement, PageLink, Question, Theme
from inspector.questions.record.subject import Subject
from inspector.questions.themes import several_texts
from inspector.questions.themes.queries import SEES_QUERIES
from inspector.questions.themes.several_texts import SEVERAL, Interval, interval, interval_labels
from inspector.trace import Trace
from inspector.vocabularies import dictionary

LEARNED_PIECES = 60
BLOCK = 64  # tokens that a sparse mask shows around a token
DOCUMENT = 4  # book pages
HAS_CLS = Kind(
    sentence_vectors.starts_with_cls,
    Both("has no [CLS] before its texts", "文本前没有 [CLS]"),
    ENCODERS,
)
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


IS_ENCODER = Question(
    103,
    asked=Both("Is BERT the Transformer's encoder?", "BERT 用的是 Transformer 的编码器吗？"),
    claim=Both(
        "BERT is a stack of encoder layers: every token sees all others, before and after it.",
        "BERT 由 Transformer 编码器堆叠而成：每个 token 都能看到前后所有 token。",
    ),
    parts=(
        ClaimPart(
            Both("A later token changes the earlier ones.", "后面的 token 会改变前面的 token。"),
            (above("encoder", 1e-3),),
        ),
        ClaimPart(
            Both("In a decoder a later token does not.", "在解码器中，后面的 token 不会改变前面的 token。"),
            (below("decoder", 1e-4),),
        ),
    ),
    measure=_encoder,
    numbers={
        "encoder": Label(Both("change of earlier tokens' keys, this encoder", "前面各 token 的 K 的变化，该编码器")),
        "decoder": Label(
            Both("change of earlier tokens' keys, mini-gpt", "前面各 token 的 K 的变化，mini-gpt"), of=OTHERS
        ),
    },
    setting=Both(
        "The text without its last token and with it: |after − before| / |before| of earlier tokens' keys, mean over "
        "tokens, most moved layer. Beside it mini-gpt, a decoder.",
        "文本去掉最后一个 token 与不去掉：前面各 token 的 K 的 |后 − 前| / |前|，对 token 取平均，取变化最大的一层。"
        "对照是解码器 mini-gpt。",
    ),
    because=Both(
        "Encoder and decoder differ in the mask, and in the attention to a source. BERT has neither the causal mask "
        "nor a source, so it is trained on hidden tokens and not on the next one.",
        "编码器与解码器的差别在于因果掩码和交叉注意力。BERT 两者都没有，所以用被遮住的 token 训练，"
        "而不是预测下一个 token。",
    ),
    refuted=Both(
        "An encoder of several layers in which a later token leaves the earlier ones as they are.",
        "如果多层编码器中，后面的 token 不影响前面的 token，判断就会改变。",
    ),
    formula=r"\frac{|\Delta K|}{|K|}: \quad <encoder> \;(\leftrightarrow), \qquad <decoder> \;(\rightarrow)",
    papers=(DEVLIN_2019,),
    see=PageLink("time", {"section": "Old keys and queries"}),
    of=ENCODER,
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
    names = (Both("characters", "字符"), Both("words", "词"), Both("pieces of this model", "该模型的子词"))
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


GRANULARITY = Question(
    104,
    asked=Both("Characters or words: what does BERT read?", "BERT 用字粒度还是词粒度？"),
    claim=Both(
        "Words leave many tokens unknown, characters make the text long; BERT reads characters.",
        "词粒度容易出现未登录词（OOV），字粒度使序列变长；BERT 用的是字粒度。",
    ),
    parts=(
        ClaimPart(
            Both(
                "A vocabulary of more than 10,000 words leaves words of a book page unknown: one in 50 or more.",
                "一万多词的词表，读一页书也有未登录词：至少五十分之一。",
            ),
            (at_least("unknown_page", 0.02),),
        ),
        ClaimPart(
            Both(
                "Characters cost more pairs than pieces: at least twice as many.",
                "字粒度的 token 对数至少是子词的两倍。",
            ),
            (at_least("cells", 2),),
        ),
        ClaimPart(
            Both("The model reads characters.", "该模型按字（字符）切分。"),
            (at_least("pieces", "characters", times=0.9),),
        ),
    ),
    measure=_granularity,
    numbers={
        "characters": Label(Both("characters", "字符数")),
        "words": Label(Both("words", "词数")),
        "pieces": Label(Both("tokens of this model", "该模型的 token 数")),
        "cells": Label(
            Both("pairs with characters / with the model's tokens", "字粒度与该模型的 token 对数（n²）之比")
        ),
        "unknown_words": Label(Both("words of the text that the word vocabulary lacks", "文本中未登录词的占比"), "%"),
        "unknown_page": Label(
            Both("words of a book page that the word vocabulary lacks", "一页书中未登录词的占比"), "%"
        ),
        "listed": Label(Both("words of the word vocabulary", "按词建立的词表大小")),
        "vocabulary": Label(Both("vocabulary of this model", "该模型的词表大小")),
    },
    setting=Both(
        "This text, cut into characters, into words and by the model's tokenizer, special tokens left out. English "
        "words stand between blanks and marks; Chinese is cut from the left by the longest word of a dictionary of "
        "20,000. The word vocabulary: frequent words of SCOWL, of jieba's dictionary the first 12,000. The page: "
        "Pride and Prejudice, or 故乡 for a Chinese text.",
        "把该文本按字符、按词和用该模型的分词器切分，不计特殊 token。"
        "英文词按空格和标点切分；中文用 20000 词的词典从左起最长匹配。"
        "按词建立的词表：英文为 SCOWL 的常用词，中文为 jieba 词典的前 12000 词。"
        "书页：《傲慢与偏见》，中文文本用《故乡》。",
    ),
    because=Both(
        "The trade-off is real, and WordPiece is the way between: frequent words whole, rare ones in pieces. Chinese "
        "BERT does cut into characters, which is where the saying comes from; English BERT has 30,522 pieces.",
        "取舍确实存在，WordPiece 取折中：常见词保持完整，罕见词拆成子词。中文 BERT 确实按字切分，这种说法由此而来；"
        "英文 BERT 有 30522 个子词。",
    ),
    refuted=Both(
        "An English BERT whose tokens are characters, or texts whose words a fixed list always holds.",
        "如果英文 BERT 的 token 是字符，或者固定的词表总能覆盖所有词，判断就会改变。",
    ),
    formula=r"\left(\frac{n_c}{n}\right)^2 = \left(\frac{<characters>}{<pieces>}\right)^2 = <cells>",
    papers=(DEVLIN_2019,),
    see=PageLink("tokens", {"section": "One text, many vocabularies"}),
    of=ANY,
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


MASKING = Question(
    105,
    asked=Both("Why does BERT hide 15 % of the tokens?", "BERT 为什么遮住 15% 的 token？"),
    claim=Both(
        "15 % is a value found by trying, not a law; of them 80 % become [MASK], 10 % a random token, 10 % stay.",
        "15% 是经验值，并没有理论依据；其中 80% 换成 [MASK]，10% 换成随机 token，10% 不变。",
    ),
    parts=(
        ClaimPart(
            Both(
                "80/10/10 of 15 % are 12, 1.5 and 1.5 % of all tokens.",
                "15% 按 80/10/10 分配，占全部 token 的 12%、1.5%、1.5%。",
            ),
            (
                around("masked", 0.12, within=0.005),
                around("random", 0.015, within=0.003),
                around("kept", 0.015, within=0.003),
            ),
        ),
        ClaimPart(
            Both(
                "Hiding more gives more predictions for the same work: at 40 % more of a text is guessed right.",
                "遮得多，同样的计算量得到的预测就多：遮住 40% 时，每段文本猜对的 token 更多。",
            ),
            (above("right_40", "right_15"),),
            role="mechanism",
        ),
        ClaimPart(
            Both(
                "And each prediction has less to go by: of the hidden tokens a smaller share is guessed right at 40 %.",
                "但每个预测的线索更少：遮住 40% 时，被遮住的 token 猜对的比例更低。",
            ),
            (below("top_40", "top_15"),),
            role="mechanism",
        ),
    ),
    measure=_masking,
    numbers={
        "masked": Label(Both("share of all tokens that become [MASK]", "换成 [MASK] 的占全部 token 的比例"), "%"),
        "random": Label(
            Both("share of all tokens that become a random token", "换成随机 token 的占全部 token 的比例"), "%"
        ),
        "kept": Label(Both("stay", "不变"), "%"),
        "top_15": Label(Both("hidden tokens that are guessed right at 15 %", "遮住 15% 时，猜对的占被遮住的比例"), "%"),
        "top_40": Label(Both("hidden tokens that are guessed right at 40 %", "遮住 40% 时，猜对的占被遮住的比例"), "%"),
        "right_15": Label(
            Both("tokens that are guessed right at 15 %, of all tokens", "遮住 15% 时，猜对的占全部 token 的比例"), "%"
        ),
        "right_40": Label(
            Both("tokens that are guessed right at 40 %, of all tokens", "遮住 40% 时，猜对的占全部 token 的比例"), "%"
        ),
    },
    setting=Both(
        "100,000 draws by the rule on this text, seed 0; guesses of a masked language model on the text, 20 draws at "
        "40 % and more at lower rates. A trained model is asked; what another rate does to training is not measured "
        "here.",
        "按规则在该文本上抽取 10 万次，种子 0；掩码语言模型在该文本上猜词，40% 时抽 20 次，比例低时更多。"
        "这里问的是训练好的模型，没有测量不同比例对训练的影响。",
    ),
    because=Both(
        "Few hidden tokens give few predictions for the same work, many leave too little to guess from. Between the "
        "two there is no law: 40 % wins for large models in Wettig et al. 2023. 10 % stay, and 10 % are wrong, "
        "because a text has no [MASK] when the model is used.",
        "遮得太少，同样的计算量得到的预测少；遮得太多，线索不够。两者之间没有定律："
        "Wettig 等人（2023）发现大模型用 40% 更好。保留 10%、随机替换 10%，是因为使用模型时文本里没有 [MASK]。",
    ),
    refuted=Both("A reason that gives 15 % without trying.", "如果有理论能不经实验得出 15%，判断就会改变。"),
    formula=r"0.15 \cdot (0.8, 0.1, 0.1): \quad <masked>, \; <random>, \; <kept>",
    papers=(DEVLIN_2019, WETTIG_2023),
    see=PageLink("tokens", {"section": "Masking"}),
    of=FILLS_MASKS,
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


CLS = Question(
    106,
    asked=Both("Is [CLS] a fair vector of the sentence?", "[CLS] 能公平地代表整个句子吗？"),
    claim=Both(
        "[CLS] has no meaning of its own: it is a weighted average of all tokens, and so a fair sentence vector.",
        "[CLS] 本身没有语义，是所有 token 的加权平均，所以能更公平地表示整句话。",
    ),
    parts=(
        ClaimPart(
            Both("[CLS] takes from the text through attention.", "[CLS] 通过注意力从文本中取信息。"),
            (above("text", 0.05),),
        ),
        ClaimPart(
            Both(
                "The state of [CLS] is a weighted average of the other states.",
                "[CLS] 的状态是其他 token 状态的加权平均。",
            ),
            (below("miss", 0.1),),
        ),
        ClaimPart(
            Both(
                "[CLS] is fair: it looks at the text's tokens more evenly than a word does.",
                "[CLS] 更公平：它对文本各 token 的注意力比普通词更平均。",
            ),
            (above("even_least", 0),),
        ),
        ClaimPart(
            Both(
                "[CLS] stands above single words: it changes less than a word when words change places.",
                "[CLS] 不偏向某个词：词序打乱时，它的变化比普通词小。",
            ),
            (above("less_least", 1e-3),),  # less is rounding
        ),
    ),
    measure=_cls,
    numbers={
        "text": Label(Both("attention of [CLS] on the text, largest layer", "[CLS] 对文本的注意力，最大的一层"), "%"),
        "miss": Label(
            Both(
                "distance of [CLS] from the nearest weighted average, relative to its length",
                "[CLS] 与最近的加权平均的距离，相对自身长度",
            )
        ),
        "cls": Label(Both("rank of the paraphrase by [CLS], mean; 1 is best", "用 [CLS] 时同义句的平均名次，1 最好")),
        "mean": Label(
            Both("rank of the paraphrase by the mean vector, mean; 1 is best", "用平均向量时同义句的平均名次，1 最好")
        ),
        "agreement": Label(
            Both(
                "cosine of [CLS] and the mean vector, mean of eight sentences", "[CLS] 与平均向量的余弦，八个句子的均值"
            )
        ),
        **interval_labels(
            "even", Both("entropy / ln n among the text, [CLS] less a word", "对文本的熵 / ln n，[CLS] 减去普通词")
        ),
        "moved": Label(Both("change of [CLS]'s last state when words change places", "打乱词序后 [CLS] 的变化"), "%"),
        **interval_labels(
            "less", Both("change of a word's last state less that of [CLS]", "普通词的变化减去 [CLS] 的变化"), "%"
        ),
    },
    setting=Both(
        "Last states on this text: the nearest average with weights of 0 or more and sum 1. Ranks: four pairs of "
        "paraphrases, each among the other seven sentences; their vectors give the cosine. Fair: rows of [CLS] and of "
        "words, special tokens left out and the rest summing to 1, mean of heads and layers; and the text's words in a "
        f"random order, {_MOVED_TEXTS} texts, each token compared with itself, |change| / length. {SEVERAL.en}",
        "该文本的最后一层状态：求权重非负、和为 1 的最近加权平均。名次：四对同义句，每句在其余七句中找自己的同义句；"
        "余弦也取自这八句。"
        "公平：比较 [CLS] 与普通词的注意力行，去掉特殊 token 后归一，对各头各层取平均；再把文本的词随机打乱"
        f"（{_MOVED_TEXTS} 段文本），每个 token 与原来的自己比较，变化 / 长度。{SEVERAL.zh}",
    ),
    because=Both(
        "A weighted average is what one attention takes. Around it stand [CLS]'s own embedding, residual sums, norms "
        "and FFNs, so its state is something of its own, made for what it was trained on: in BERT the next sentence. "
        "Without tuning it ranks sentences worse than averaging (Reimers & Gurevych 2019).",
        "“加权平均”只是一次注意力所取的内容。除此之外还有 [CLS] 自己的嵌入、残差连接、归一化和 FFN，"
        "所以它的状态自成一体，取决于训练任务：在 BERT 里是下一句预测。不微调时，"
        "用它给句子排序不如用平均向量（Reimers 和 Gurevych，2019）。",
    ),
    refuted=Both(
        "A model whose last [CLS] lies within the span of the other states.",
        "如果某个模型最后一层的 [CLS] 就在其他状态的加权平均之中，判断就会改变。",
    ),
    formula=r"\min_{w \geq 0, \sum w = 1} \frac{|x_{CLS} - \sum_j w_j x_j|}{|x_{CLS}|} = <miss>",
    papers=(DEVLIN_2019, REIMERS_2019),
    see=PageLink("tokens", {"section": "A sentence as a vector"}),
    of=HAS_CLS,
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


NONLINEAR = Question(
    107,
    asked=Both("Where does BERT's non-linearity come from?", "BERT 的非线性来自哪里？"),
    claim=Both(
        "From GELU in the FFN and from the softmax in attention; the rest is linear.",
        "来自 FFN 的 GELU 激活函数和注意力的 softmax，其余部分都是线性的。",
    ),
    parts=(
        ClaimPart(Both("The FFN is not linear.", "FFN 不是线性的。"), (above("ffn", 0.01),)),
        ClaimPart(
            Both("Without the softmax attention would be linear.", "去掉 softmax，注意力就是线性的。"),
            (at_most("without", 2.02),),
        ),
        ClaimPart(Both("The norm is linear.", "归一化是线性的。"), (at_least("norm", 1.98),)),
    ),
    measure=_nonlinear,
    numbers={
        "ffn": Label(
            Both(
                "FFN(x) + FFN(−x) − 2 FFN(0), relative to the output's length; 0 if linear",
                "FFN(x) + FFN(−x) − 2 FFN(0)，相对输出的长度；线性时为 0",
            )
        ),
        "softmax": Label(Both("growth of attention's output, input doubled", "注意力输出的倍数，输入加倍"), "×"),
        "without": Label(
            Both("growth of (Q Kᵀ) V without softmax, input doubled", "不带 softmax 的 (Q Kᵀ) V 的倍数，输入加倍"), "×"
        ),
        "norm": Label(Both("growth of the norm's output, input doubled", "归一化输出的倍数，输入加倍"), "×"),
    },
    setting=Both(
        "The FFN and the norm in the middle of the stack, and attention of layer 0 without masks and biases, on this "
        "text; queries, keys and values doubled.",
        "该文本上取中间一层的 FFN 和归一化，以及第 0 层不含掩码和偏置的注意力；Q、K、V 加倍。",
    ),
    because=Both(
        "Q, K and V are each linear in the input, so their product is cubic before any softmax. A norm divides by the "
        "size of its input, and gives the same for 2x as for x.",
        "Q、K、V 各自对输入是线性的，所以三者相乘在 softmax 之前就已是三次的。归一化除以输入的大小，"
        "输入 2x 和 x 结果相同。",
    ),
    refuted=Both(
        "A norm, or (Q Kᵀ) V, that doubles with its input.", "如果归一化或 (Q Kᵀ) V 随输入加倍而加倍，判断就会改变。"
    ),
    formula=r"\frac{|f(2x)|}{|f(x)|}: \quad (QK^\top)V = <without>, \qquad \mathrm{LN} = <norm>",
    papers=(DEVLIN_2019, VASWANI_2017),
    see=PageLink("block", {"section": "FFN"}),
    of=SEES_QUERIES,
)


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


LONG = Question(
    109,
    reads_text=False,
    asked=Both("What does BERT do with long texts?", "BERT 怎么处理长文本？"),
    claim=Both(
        "Cut off, slide a window, or use sparse attention; or simply feed the whole document.",
        "截断、滑动窗口、稀疏注意力（Longformer、BigBird），或者直接输入整篇文档。",
    ),
    parts=(
        ClaimPart(Both("Cutting off loses a part of the text.", "截断会丢掉一部分文本。"), (below("first", 1),)),
        ClaimPart(Both("Windows read every token.", "滑动窗口能读到每个 token。"), (equal("windows", 1),)),
        ClaimPart(
            Both("Sparse masks see less than a quarter of the pairs.", "稀疏掩码下能看到的 token 对不到四分之一。"),
            (below("longformer", 0.25), below("bigbird", 0.25)),
        ),
        ClaimPart(Both("The whole document can be fed.", "可以直接输入整篇文档。"), (at_most("document", "limit"),)),
    ),
    measure=_long,
    numbers={
        "document": Label(Both("tokens of four book pages", "四页书的 token 数")),
        "limit": Label(Both("tokens that this model reads at most", "该模型最多读的 token 数")),
        "first": Label(Both("tokens that are left when the rest is cut off", "截断后剩下的 token"), "%"),
        "windows": Label(Both("tokens that windows read", "滑动窗口读到的 token"), "%"),
        "longformer": Label(Both("pairs that Longformer sees", "Longformer 能看到的 token 对"), "%"),
        "bigbird": Label(Both("pairs that BigBird sees", "BigBird 能看到的 token 对"), "%"),
    },
    setting=Both(
        "A document of four book pages (Pride and Prejudice, or 故乡), cut by this model's tokenizer; pieces as long "
        "as the model reads, 512 tokens at most. Longformer: 32 to either side and one global token; BigBird: blocks "
        "of 16.",
        "四页书的文档（《傲慢与偏见》或《故乡》），用该模型的分词器切分；每段取模型能读的长度，最多 512 个 token。"
        "Longformer：两侧各 32 个，一个全局 token；BigBird：块大小 16。",
    ),
    because=Both(
        "A learned table of positions ends: BERT has no vector for position 512. Padding fills a batch and makes no "
        "text readable. Each way has its price: what is cut off, what windows do not see of each other, what a mask "
        "hides.",
        "可学习的位置编码有长度上限：BERT 没有位置 512 的向量（位置从 0 数起）。填充（padding）只是补齐批次，"
        "并不能让长文本可读。每种办法都有代价：被截掉的、窗口之间互相看不到的、被掩码遮住的。",
    ),
    refuted=Both(
        "A BERT that reads a document longer than its table of positions as it is.",
        "如果 BERT 能直接读比位置编码表更长的文档，判断就会改变。",
    ),
    formula=r"n = <document>, \; n_{\max} = <limit>, \qquad \frac{nnz}{n^2}: \; <longformer>, \; <bigbird>",
    papers=(DEVLIN_2019, BELTAGY_2020, ZAHEER_2020),
    see=PageLink("tokens", {"section": "Ways to read a long text"}),
    of=ENCODER,
)


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


PIECES = Question(
    110,
    asked=Both("BPE, WordPiece, unigram: where do they differ?", "BPE、WordPiece、Unigram 有什么区别？"),
    claim=Both(
        "BPE joins the most frequent pair, WordPiece the pair that raises the likelihood most, unigram drops the "
        "pieces that it can best spare.",
        "BPE 合并出现次数最多的符号对，WordPiece 合并使似然提升最大的符号对，Unigram 则逐步删去使损失增加最少的子词。",
    ),
    parts=(
        ClaimPart(
            Both("BPE joins the most frequent pair, each time.", "BPE 每次都合并次数最多的符号对。"),
            (equal("frequent", 1),),
        ),
        ClaimPart(
            Both("The pair of the largest gain is at times another one.", "似然增益最大的符号对有时是另一对。"),
            (below("gain", 1),),
        ),
        ClaimPart(
            Both(
                "Unigram can spare some pieces far better than others.",
                "对 Unigram 来说，删去有些子词的代价远小于删去另一些。",
            ),
            (below("least", "most", times=0.1),),
        ),
    ),
    measure=_pieces,
    numbers={
        "frequent": Label(Both("merges of the most frequent pair, BPE", "合并最高频符号对的比例，BPE"), "%"),
        "gain": Label(
            Both("merges of the most frequent pair, by likelihood gain", "合并最高频符号对的比例，按似然增益"), "%"
        ),
        "least": Label(Both("loss without the least needed piece", "去掉最不需要的子词的损失"), Both("nats", "nat")),
        "most": Label(Both("loss without the most needed piece", "去掉最需要的子词的损失"), Both("nats", "nat")),
    },
    setting=Both(
        "12 merges by each rule, and 60 unigram pieces, learned from a book page (Pride and Prejudice, or 故乡 for a "
        "Chinese text). No loaded model takes part: its vocabulary is learned already.",
        "从一页书（《傲慢与偏见》，中文文本用《故乡》）学习：每种规则合并 12 次，Unigram 学 60 个子词。"
        "不涉及加载的模型，因为它的词表早已学好。",
    ),
    because=Both(
        "BPE and WordPiece build up from characters and differ in what they count; unigram starts with many pieces "
        "and prunes. In use BPE replays its merges, WordPiece takes the longest piece that fits, unigram the "
        "likeliest cut.",
        "BPE 和 WordPiece 都从字符开始合并，区别在于计分；Unigram 从很多子词开始删减。使用时，BPE 按顺序重放合并，"
        "WordPiece 取最长匹配，Unigram 取概率最大的切分。",
    ),
    refuted=Both(
        "A BPE training that joins a pair while another one is more frequent.",
        "如果 BPE 训练时合并了一个并非最高频的符号对，判断就会改变。",
    ),
    formula=r"\arg\max c(a, b): \; <frequent>, \qquad \arg\max \Delta \log L: \; <gain>",
    papers=(SENNRICH_2016, SCHUSTER_2012, WU_2016, KUDO_2018),
    see=PageLink("tokens", {"section": "How pieces are learned"}),
)


THEME = Theme(
    "bert", Both("BERT and tokens", "BERT 与 token"), (IS_ENCODER, GRANULARITY, MASKING, CLS, NONLINEAR, LONG, PIECES)
)
