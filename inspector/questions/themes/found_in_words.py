"""Findings about words: syntax, reference, alignment, rarity and order. Questions 133 to 136 and 143."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

import models
from inspector import examples, interventions
from inspector.probe import record, record_batch
from inspector.questions.record.both import Both, UnanswerableError
from inspector.questions.record.checks import above, at_least, below
from inspector.questions.record.kinds import ANY, ENCODER_DECODER, ENCODERS, FILLS_MASKS, Kind
from inspector.questions.record.papers import (
    BAHDANAU_2015,
    CLARK_2019,
    GARG_2019,
    PHAM_2020,
    SINHA_2021,
    VOITA_2019,
)
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    ClaimPart,
    Label,
    Measurement,
    PageLink,
    PublishedNumber,
    Question,
    Theme,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.several_texts import interval, interval_labels
from inspector.trace import Trace
from models.tokenizers import SPACE, Encoding

Floats = NDArray[np.float64]
Hits = NDArray[np.bool_]


def _english(loaded: models.LoadedModel) -> bool:
    return examples.reads(loaded.card.id, examples.FIRST)


READS_ENGLISH = Kind(
    _english, Both("does not read English, in which the words are marked", "不读英文，而这里标注的是英文句子"), ENCODERS
)
READS_BOTH_WAYS = Kind(
    lambda loaded: loaded.shape != "decoder" and _english(loaded),
    Both("does not read English in both directions", "不是双向阅读英文的模型"),
    ENCODERS,
)

# --- sentences in which words are marked by hand -------------------------------------------------------------------

# A number says how many words further the partner stands: a determiner's noun, and back from an object its verb.
SYNTAX = """
The:2 old dog chased a:2 small cat:-3 .
My sister bought a:3 very nice car:-4 .
The:1 teacher read the:2 long letter:-3 twice .
He closed the:1 door:-2 and opened a:1 window:-2 .
A:2 young man carried the:2 heavy box:-3 home .
We saw an:3 extremely large bird:-4 in the:1 garden .
The:1 cook washed the:3 dirty white plates:-4 .
She wrote an:1 email:-2 to the:2 new neighbour .
The:2 little girl quickly ate the:2 red apple:-3 .
They built a:2 wooden bridge:-3 over the:2 wide river .
The:2 tired workers finally finished the:1 job:-2 .
I lost the:2 blue umbrella:-3 on the:1 train .
The:3 big black horse kicked the:1 farmer:-2 .
The:1 doctor gave up the:2 dangerous plan:-4 .
An:2 unknown woman found the:3 small gold ring:-4 .
Our team won the:2 last game:-3 of the:1 year .
The:1 wind broke a:2 kitchen window:-3 during the:1 storm .
The:2 rich merchant sold his house:-2 and kept the:1 horses:-2 .
He quietly put the:2 clean glass:-3 on the:2 round table .
The:1 boy pulled the:3 long thick rope:-4 .
Some people never read the:1 newspaper:-2 .
The:3 two little boys stole a:1 bicycle:-2 .
She will visit the:2 old castle:-3 with a:1 friend .
The:2 new law protects the:2 poor farmers:-3 .
"""
# * a noun that the pronoun could mean, ** the one that it means, ! the pronoun.
REFERENCE = """
The **teacher praised the *girl because !he liked her drawing .
The *cat chased the **mice until !they found a hole .
The **farmers sold the *horse because !they needed money .
Mary told her **brother that !he could use the car .
My **aunt met the *boys before !she left the town .
The *man gave the **books to a friend because !they were old .
The **king sent his *daughter away because !he was angry .
The *queen lost the **ring when !it fell into the water .
The **dog followed the *children because !it was hungry .
The *soldiers left the **village before !it burned down .
The **women opened the *window because !they wanted fresh air .
The *boy carried the **bags until !they became too heavy .
The *nurse helped the old **man because !he could not walk .
The **nurse helped the old *man because !she was kind .
The *driver repaired the **car but !it broke again .
The **driver repaired the *cars before !he went home .
The *students liked the **lesson because !it was short .
The **students left the *school after !they passed the exam .
His **mother wrote the *letters while !she sat at the table .
Her *father planted the **trees when !they were small .
The **actress thanked the *writer because !she loved the play .
The *men pushed the **boat until !it reached the river .
The **men pushed the *boat because !they were strong .
The *lady bought the **flowers because !they smelled sweet .
"""
# A Chinese word and the English words that it stands for; nothing for one without a partner.
TRANSLATED = """
我=I 喜欢=like 这本=this 书=book 。 | I like this book .
她=She 昨天=yesterday 去了=went 学校=school 。 | She went to school yesterday .
我=I 明天=tomorrow 会=will 来=come 。 | I will come tomorrow .
他=He 每天=every,day 喝=drinks 牛奶=milk 。 | He drinks milk every day .
我=My 母亲=mother 在=in,is 厨房=kitchen 做饭=cooking 。 | My mother is cooking in the kitchen .
你=you 住=live 在= 哪里=Where ？ | Where do you live ?
汤姆=Tom 有=has 两个=two 孩子=children 。 | Tom has two children .
昨天=yesterday 下雨了=rained 。 | It rained yesterday .
我们=We 需要=need 更多的=more 时间=time 。 | We need more time .
这只=This 猫=cat 很=very 小=small 。 | This cat is very small .
他=He 在=in,is 房间=room 里=in 看书=reading 。 | He is reading in his room .
我=I 不=not 知道=know 她的=her 名字=name 。 | I do not know her name .
"""


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence as words, the last a full stop, and the pairs of words (from, to) that are marked in it."""

    words: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def text(self) -> str:
        """The sentence as it is read."""
        return " ".join(self.words[:-1]) + self.words[-1]


def _lines(marked: str) -> list[str]:
    return marked.strip().splitlines()


def _syntax() -> list[MarkedSentence]:
    sentences = []
    for line in _lines(SYNTAX):
        pieces = [piece.partition(":") for piece in line.split()]
        pairs = tuple((at, at + int(steps)) for at, (_, _, steps) in enumerate(pieces) if steps)
        sentences.append(MarkedSentence(tuple(word for word, _, _ in pieces), pairs))
    return sentences


@dataclass(frozen=True)
class PronounSentence:
    """A sentence with a pronoun: the places of the pronoun, of the noun it means, and of all nouns it could mean."""

    words: tuple[str, ...]
    pronoun: int
    meant: int
    nouns: tuple[int, ...]

    @property
    def text(self) -> str:
        """The sentence as it is read."""
        return " ".join(self.words[:-1]) + self.words[-1]


def _references() -> list[PronounSentence]:
    sentences = []
    for line in _lines(REFERENCE):
        pieces = line.split()
        places = {mark: [at for at, piece in enumerate(pieces) if piece.startswith(mark)] for mark in ("*", "**", "!")}
        words = tuple(piece.lstrip("*!") for piece in pieces)
        sentences.append(PronounSentence(words, places["!"][0], places["**"][0], tuple(places["*"])))
    return sentences


# --- what the questions share --------------------------------------------------------------------------------------


def _read(loaded: models.LoadedModel, texts: Sequence[str]) -> list[Trace]:
    """Record sentences. An encoder-decoder gets each as its target too, for only the encoder is measured."""
    if loaded.shape == "encoder-decoder":
        return [record(loaded, text, target=text) for text in texts]
    return record_batch(loaded, texts)


def _by_words(encoding: Encoding, words: Sequence[str]) -> Floats:
    """Tell which tokens are pieces of each word, [W, T]. Raises UnanswerableError where tokens span two words."""
    pieces = np.array([[word == at for word in encoding.words] for at in range(len(words))], dtype=np.float64)
    if not pieces.any(axis=1).all():
        sentence = " ".join(words)
        raise UnanswerableError(
            f"The tokenizer does not keep apart the words that are marked in “{sentence}”.",
            f"分词器没有把标注句“{sentence}”中的词分开。",
        )
    return pieces


def _weights(trace: Trace, stream: str) -> Floats:
    """The weights of all heads of a stream, layer after layer, [H, Q, K]."""
    sites = trace.sites_of(stream)
    weights = [trace.attention(layer=site.layer, stream=stream, call=site.call) for site in sites]
    return np.concatenate(weights).astype(np.float64)


def _between_words(trace: Trace, words: Sequence[str]) -> Floats:
    """The weights of all heads between words: sum over a key's pieces, mean over a query's, [H, W, W]."""
    pieces = _by_words(trace.encoding, words)
    rows = pieces / pieces.sum(axis=1, keepdims=True)
    weights: Floats = rows @ _weights(trace, trace.streams[0]) @ pieces.T
    return weights


def _held_out(hits: Hits, half: Hits) -> Floats:
    """Score the best head of one half on the other half, both ways: 1 where it is right, else 0, [N].

    hits: [N, heads]; half: [N].
    """
    right = np.empty(len(hits))
    for side in (False, True):
        right[half == side] = hits[half == side][:, hits[half != side].mean(axis=0).argmax()]
    return right


def _of_heads(trace: Trace, stream: str, shares: Floats) -> tuple[list[int], list[float]]:
    """The layer of each head and its share, for a figure."""
    layers = [site.layer for site in trace.sites_of(stream) for _ in range(site.heads)]
    return layers, shares.tolist()


# --- 133: syntax ---------------------------------------------------------------------------------------------------


def _single_heads(subject: Subject) -> Measurement:
    sentences = _syntax()
    traces = _read(subject.loaded, [sentence.text for sentence in sentences])
    maps = [_between_words(trace, sentence.words) for trace, sentence in zip(traces, sentences, strict=True)]

    def of(name: str, wanted: Callable[[int], bool]) -> tuple[dict[str, float], int]:
        """The best head, held out, the best fixed distance, held out, the gain; and the best head of all."""
        pairs = [
            (at, *pair) for at, sentence in enumerate(sentences) for pair in sentence.pairs if wanted(pair[1] - pair[0])
        ]
        hits = np.array([maps[at][:, start].argmax(axis=-1) == end for at, start, end in pairs])
        steps = np.arange(-6, 7)
        fixed = np.array([steps == end - start for _, start, end in pairs])
        of_sentence = np.array([at for at, _, _ in pairs])
        half = of_sentence % 2 == 1
        right, by_distance = _held_out(hits, half), _held_out(fixed, half)
        numbers = {
            **interval(right, of_sentence).named(name),
            f"{name}_fixed": float(by_distance.mean()),
            f"{name}_gain": interval(right - by_distance, of_sentence).least,
        }
        return numbers, int(hits.mean(axis=0).argmax())

    noun, noun_head = of("noun", lambda steps: steps > 0)
    verb, verb_head = of("verb", lambda steps: steps < 0)
    first = sentences[0].words
    picture = Heatmap(
        maps[0][noun_head].astype(np.float32),
        rows=first,
        columns=first,
        row_title=Both("query", "查询"),
        column_title=Both("key", "键"),
        quantity=Both("weight between words", "词与词之间的权重"),
        title=Both("the head for determiners", "找限定词所属名词的头"),
        beside=maps[0][verb_head].astype(np.float32),
        beside_title=Both("the head for objects", "找宾语所属动词的头"),
    )
    return Measurement({**noun, **verb, "both": min(noun["noun"], verb["verb"])}, picture)


SINGLE_HEADS = Question(
    133,
    reads_text=False,
    asked=Both("Do single heads do syntax?", "单个头会做句法分析吗？"),
    claim=Both(
        "One head finds the noun of a determiner, another the verb of an object, and far better than by distance. "
        "Nobody taught them.",
        "有的头能找到限定词所属的名词，有的头能找到宾语所属的动词，准确率远高于按固定距离猜，而且没有人教过它们。",
    ),
    parts=(
        ClaimPart(
            Both("A head finds the noun of most determiners.", "有一个头能为大多数限定词找到所属的名词。"),
            (at_least("noun_least", 0.5), above("noun_gain", 0)),
        ),
        ClaimPart(
            Both("A head finds the verb of most objects.", "有一个头能为大多数宾语找到所属的动词。"),
            (at_least("verb_least", 0.5), above("verb_gain", 0)),
        ),
        ClaimPart(
            Both("Both are right nine times in ten.", "这两个头的准确率都在九成以上。"),
            (at_least("both", 0.9),),
        ),
    ),
    measure=_single_heads,
    numbers={
        **interval_labels(
            "noun", Both("determiners whose noun the head finds", "限定词→名词的正确率（最好的头）"), "%"
        ),
        "noun_fixed": Label(
            Both("determiners whose noun the best fixed distance finds", "限定词→名词的正确率（最佳固定距离）"), "%"
        ),
        "noun_gain": Label(
            Both("determiners, head less fixed distance, lower end", "限定词：头减去固定距离，区间下端"), "%"
        ),
        **interval_labels("verb", Both("objects whose verb the head finds", "宾语→动词的正确率（最好的头）"), "%"),
        "verb_fixed": Label(
            Both("objects whose verb the best fixed distance finds", "宾语→动词的正确率（最佳固定距离）"), "%"
        ),
        "both": Label(Both("the smaller of both shares", "两者中较低的正确率"), "%"),
        "verb_gain": Label(Both("objects, head less fixed distance, lower end", "宾语：头减去固定距离，区间下端"), "%"),
    },
    setting=Both(
        "24 English sentences written for this, with 47 determiners and 26 direct objects marked by hand, not the "
        "reader's text. Between words: sum over a key's pieces, mean over a query's; found: the largest weight of all "
        "words. Head and distance are chosen on one half of the sentences and scored on the other, both ways. Ends: of "
        "the 95 % interval, by drawing the sentences anew. A decoder cannot look ahead from a determiner, so MiniLM "
        "stands in.",
        "专门编写的 24 个英文句子，手工标注了 47 个限定词和 26 个直接宾语，不用读者的文本。词级权重："
        "对键的各个 token 求和，对查询的各个 token 取平均；在所有词中权重最大即为找到。"
        "头和固定距离都在一半句子上选出、在另一半上计分，两个方向都做。上下端：95% 区间，对句子重新抽样。"
        "解码器的限定词看不到后面的名词，"
        "因此用 MiniLM 代替。",
    ),
    because=Both(
        "To guess a hidden word a model gains from knowing what belongs to it, so such heads can grow by themselves. "
        "But the paper shows the best of 144 heads for each relation: no head does syntax as a whole, and where words "
        "stand close together a fixed distance already does well.",
        "要猜出被遮住的词，知道哪些词与它有关是有用的，因此训练中会自发形成这样的头。"
        "但论文给出的是 144 个头中针对每种关系最好的那个：没有哪个头能完成整个句法分析；两个词离得近时，"
        "固定距离本身就很准。",
    ),
    refuted=Both(
        "A trained model in which no head does better than a fixed distance.",
        "如果训练好的模型中没有一个头胜过固定距离，判断就会改变。",
    ),
    formula=r"\arg\max_j A_{ij} = g(i): \quad <noun> \;(<noun_fixed>), \qquad <verb> \;(<verb_fixed>)",
    papers=(CLARK_2019,),
    see=PageLink(""),
    of=READS_BOTH_WAYS,
    published={
        "noun": PublishedNumber(
            "94.3 %",
            Both("of determiners, by head 8-11 of BERT-base", "BERT-base 的 8-11 号头，限定词"),
        ),
        "verb": PublishedNumber(
            "86.8 %",
            Both("of direct objects, by head 8-10 of BERT-base", "BERT-base 的 8-10 号头，直接宾语"),
        ),
    },
)


# --- 134: reference ------------------------------------------------------------------------------------------------


def _reference(subject: Subject) -> Measurement:
    sentences = _references()
    traces = _read(subject.loaded, [sentence.text for sentence in sentences])
    right = []
    for trace, sentence in zip(traces, sentences, strict=True):
        before = _between_words(trace, sentence.words)[:, sentence.pronoun, : sentence.pronoun]
        right.append(before.argmax(axis=-1) == sentence.meant)
    hits = np.array(right)
    half = np.arange(len(sentences)) % 4 < 2  # sentences of a pair stay in one half
    stream = traces[0].streams[0]
    layers, shares = _of_heads(traces[0], stream, hits.mean(axis=0))
    by_nearest = np.array([max(sentence.nouns) == sentence.meant for sentence in sentences])
    nearest, found = float(by_nearest.mean()), _held_out(hits, half)
    picture = Lines(
        (Series(Both("heads", "各头"), layers, [100 * share for share in shares], points=True),),
        x_title=Both("layer", "层"),
        y_title=Both("pronouns whose noun is found, %", "指代正确率，%"),
        mark_y=100 * nearest,
    )
    first = float(np.mean([min(sentence.nouns) == sentence.meant for sentence in sentences]))
    numbers = {
        **interval(found).named("head"),
        "nearest": nearest,
        "gain": interval(found - by_nearest).least,
        "first": first,
    }
    return Measurement(numbers, picture)


REFERENCE_HEAD = Question(
    134,
    reads_text=False,
    asked=Both("Does a head know what a pronoun means?", "有的头知道代词指的是谁吗？"),
    claim=Both(
        "A head follows coreference: from a pronoun it looks at the noun that is meant.",
        "有一个头负责指代消解：它从代词看向代词所指的名词。",
    ),
    parts=(
        ClaimPart(
            Both("A head finds the noun of most pronouns.", "有一个头能为大多数代词找到所指的名词。"),
            (at_least("head_least", 0.5),),
        ),
        ClaimPart(
            Both("The head does better than to take the nearest noun.", "这个头比取最近的名词更准。"),
            (above("gain", 0),),
        ),
    ),
    measure=_reference,
    numbers={
        **interval_labels("head", Both("pronouns whose noun the head finds", "指代正确率（最好的头）"), "%"),
        "nearest": Label(Both("pronouns whose noun is the nearest noun marked", "指代正确率（最近的候选名词）"), "%"),
        "gain": Label(Both("head less nearest noun, lower end", "最好的头减去最近名词，区间下端"), "%"),
        "first": Label(Both("pronouns whose noun is the first noun marked", "指代正确率（第一个候选名词）"), "%"),
    },
    setting=Both(
        "24 English sentences written for this, not the reader's text, with a pronoun and mostly two nouns that it "
        "could mean, told apart by gender, number or sense. Found: the largest weight of all words before the pronoun "
        "(sum over a word's pieces). The head is chosen on one half of the sentences and scored on the other, both "
        "ways. The nearest noun is chosen among the marked ones alone, which is easier. Ends: of the 95 % interval, by "
        "drawing the sentences anew.",
        "专门编写的 24 个英文句子，不用读者的文本；每句有一个代词，多数有两个候选名词，靠性别、单复数或语义区分。"
        "代词之前的所有词中权重最大的即为找到（对一个词的各个 token 求和）。头在一半句子上选出、在另一半上计分，"
        "两个方向都做。最近名词只在标注的候选中选，因此更容易。上下端：95% 区间，对句子重新抽样。",
    ),
    because=Both(
        "Attention is pictured with one sentence in which a pronoun points at its noun, so one believes that it "
        "always does. Many pronouns are settled by gender and number alone, which a query can ask for and a key can "
        "carry; what takes knowledge of the world is harder, and small models lack it.",
        "人们常用一个代词指向名词的例句来展示注意力，便以为总是如此。很多代词只靠性别和单复数就能确定，"
        "查询可以提出这样的条件，键可以带上这样的信息；需要常识的就难得多，小模型做不到。",
    ),
    refuted=Both(
        "A trained model in which no head does better than the nearest noun.",
        "如果训练好的模型中没有一个头胜过取最近名词，判断就会改变。",
    ),
    formula=r"\arg\max_{j < i} A_{ij} = g(i): \quad <head> \qquad (<nearest>)",
    papers=(CLARK_2019,),
    see=PageLink(""),
    of=READS_ENGLISH,
    published={
        "head": PublishedNumber(
            "65.1 %",
            Both("of mentions, by head 5-4 of BERT-base on CoNLL-2012", "BERT-base 的 5-4 号头，CoNLL-2012 数据"),
        ),
        "nearest": PublishedNumber(
            "27 %",
            Both("of mentions, by the nearest other mention", "取最近的其他指称"),
        ),
    },
)


# --- 135: alignment ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TranslatedSentence:
    """A sentence in English and in Chinese: words, characters, and the words each character stands for."""

    words: tuple[str, ...]
    characters: str
    partners: tuple[frozenset[int], ...]


def _translated() -> list[TranslatedSentence]:
    sentences = []
    for line in _lines(TRANSLATED):
        chinese, _, english = line.partition(" | ")
        words = tuple(english.split())
        characters, partners = "", []
        for piece in chinese.split():
            word, _, stands_for = piece.partition("=")
            characters += word
            of = frozenset(words.index(partner) for partner in stands_for.split(",") if partner)
            partners += [of] * len(word)
        sentences.append(TranslatedSentence(words, characters, tuple(partners)))
    return sentences


def _partners(loaded: models.LoadedModel, trace: Trace, sentence: TranslatedSentence) -> list[frozenset[int]]:
    """The places of the English words that each token of the target stands for; special tokens are left out."""
    assert trace.target is not None
    no_chinese = UnanswerableError(
        f"{loaded.card.id} does not write Chinese, into which the sentences are translated here.",
        f"{loaded.card.id} 不写中文，而这里的译文是中文。",
    )
    partners, at = [], 0
    tokens = [token for token, special in zip(trace.target.tokens, trace.target.special, strict=True) if not special]
    for token in tokens:
        piece = token.replace(SPACE, "").removeprefix("##")
        if not sentence.characters.startswith(piece, at):
            raise no_chinese
        partners.append(frozenset().union(*sentence.partners[at : at + len(piece)]))
        at += len(piece)
    if at != len(sentence.characters):
        raise no_chinese
    return partners


def _alignment(subject: Subject) -> Measurement:
    loaded = subject.loaded
    predicting, reading, diagonal, sentences = [], [], [], []
    layers: dict[int, list[bool]] = {}
    for at, sentence in enumerate(_translated()):
        trace = record(loaded, " ".join(sentence.words[:-1]) + sentence.words[-1], target=sentence.characters)
        assert trace.target is not None
        pieces = _by_words(trace.encoding, sentence.words)
        weights = _weights(trace, "cross") @ pieces.T  # [H, Q, W]
        depth = np.array([site.layer for site in trace.sites_of("cross") for _ in range(site.heads)])
        partners = _partners(loaded, trace, sentence)
        begin = trace.target.special.index(False)
        if not begin:
            raise UnanswerableError(
                f"The decoder of {loaded.card.id} has no token to begin with.",
                f"{loaded.card.id} 的解码器没有起始 token。",
            )
        last = len(sentence.words) - 1
        for place, of in enumerate(partners):
            if not of:
                continue
            row = begin + place
            predicting.append([int(word) in of for word in weights[:, row - 1].argmax(axis=-1)])
            reading.append([int(word) in of for word in weights[:, row].argmax(axis=-1)])
            diagonal.append(round(place * last / max(1, len(partners) - 1)) in of)
            sentences.append(at)
            for layer in np.unique(depth):
                mean = weights[depth == layer, row - 1].mean(axis=0)
                layers.setdefault(int(layer), []).append(int(mean.argmax()) in of)
    hits, of_sentence = np.array(predicting), np.array(sentences)
    halves = of_sentence % 2 == 1
    by_layer = {layer: float(np.mean(right)) for layer, right in layers.items()}
    ordered = sorted(by_layer)
    if len(ordered) < 2:
        raise UnanswerableError(
            f"{loaded.card.id} has one layer of cross-attention, and none before the last.",
            f"{loaded.card.id} 只有一层交叉注意力，没有倒数第二层。",
        )
    where, shares = _of_heads(trace, "cross", hits.mean(axis=0))
    picture = Lines(
        (
            Series(Both("heads", "各头"), where, [100 * share for share in shares], points=True),
            Series(
                Both("mean of the layer's heads", "该层各头的平均"),
                ordered,
                [100 * by_layer[layer] for layer in ordered],
            ),
        ),
        x_title=Both("layer", "层"),
        y_title=Both("target tokens aligned, %", "对齐正确的目标 token，%"),
        mark_y=100 * float(np.mean(diagonal)),
    )
    right = _held_out(hits, halves)
    other = max((layer for layer in ordered if layer != ordered[-2]), key=by_layer.__getitem__)
    ahead = np.array(layers[ordered[-2]], dtype=float) - np.array(layers[other], dtype=float)
    numbers = {
        **interval(right, of_sentence).named("head"),
        "diagonal": float(np.mean(diagonal)),
        "gain": interval(right - np.array(diagonal), of_sentence).least,
        "before_last": by_layer[ordered[-2]],
        "other_layer": by_layer[other],
        "ahead": interval(ahead, of_sentence).least,
        "reading": float(_held_out(np.array(reading), halves).mean()),
    }
    return Measurement(numbers, picture)


ALIGNMENT = Question(
    135,
    reads_text=False,
    asked=Both("Is cross-attention a word alignment?", "交叉注意力就是词对齐吗？"),
    claim=Both(
        "When a translator writes a word, it looks at the word that it translates: attention aligns, best in the "
        "layer before the last.",
        "翻译模型写出一个词时，看的正是它所翻译的那个词：注意力就是对齐，倒数第二层对得最好。",
    ),
    parts=(
        ClaimPart(
            Both("Cross-attention aligns words better than their order alone.", "交叉注意力的对齐比单凭词序更准。"),
            (above("gain", 0),),
        ),
        ClaimPart(
            Both("The layer before the last aligns best.", "倒数第二层对齐得最好。"),
            (above("ahead", 0),),
        ),
        ClaimPart(
            Both("One head alone aligns nine words in ten.", "单独一个头就能对齐九成以上的词。"),
            (at_least("head", 0.9),),
        ),
    ),
    measure=_alignment,
    numbers={
        **interval_labels("head", Both("target tokens aligned by the best head", "对齐正确率（最好的头）"), "%"),
        "diagonal": Label(Both("target tokens aligned by the diagonal", "对角线基线的对齐正确率"), "%"),
        "gain": Label(Both("best head less diagonal, lower end", "最好的头减去对角线基线，区间下端"), "%"),
        "before_last": Label(
            Both("target tokens aligned by the layer before the last", "对齐正确率（倒数第二层）"), "%"
        ),
        "other_layer": Label(
            Both("target tokens aligned by the best other layer", "对齐正确率（其余各层中最好的一层）"), "%"
        ),
        "ahead": Label(
            Both("layer before the last less the best other, lower end", "倒数第二层减去其余最好的一层，区间下端"), "%"
        ),
        "reading": Label(
            Both(
                "target tokens aligned by the best head, from the row that reads the token",
                "对齐正确率（最好的头，取读入该 token 的行）",
            ),
            "%",
        ),
    },
    setting=Both(
        "12 short sentences with a Chinese translation and marked words, given to the translator, not the reader's "
        "text. The row that predicts a target token is looked at; right: its largest weight is on an English word "
        "that the token stands for. A token of several words has several. The head is chosen on one half of the "
        "sentences and scored on the other, both ways; a layer is the mean of its heads. Punctuation is left out. "
        "Ends: of the 95 % interval, by drawing the sentences anew; with 40 tokens small differences cannot be told.",
        "12 个短句及其中文译文，手工标注对应的词，作为给定的译文输入翻译模型，不用读者的文本。"
        "取预测目标 token 的那一行，最大权重落在它所对应的英文词上即为正确；一个 token 含多个词时，对应的词也有多个。"
        "头在一半句子上选出、在另一半上计分，两个方向都做；一层取其各头的平均。标点不计。"
        "上下端：95% 区间，对句子重新抽样；只有 40 个 token，小的差别分不出来。",
    ),
    because=Both(
        "Bahdanau's maps of aligned words made attention famous, and they look like a table of translation. But a "
        "model may look wherever it finds what to write next, at a neighbour or at the end of the sentence, for other "
        "layers have already mixed the words. Heads may divide the work, and a layer's mean gathers what they hold. "
        "Garg et al. therefore train a head to align.",
        "Bahdanau 等人的对齐图让注意力出了名，看上去就像一张词语对照表。但模型看的是对写下一个词有用的位置，"
        "可能是相邻的词或句末，因为编码器各层已经把各词的信息混在一起。各个头可能有分工，一层取平均才能把它们合起来。"
        "所以 Garg 等人专门训练一个头来做对齐。",
    ),
    refuted=Both(
        "A trained translator that aligns no better than the diagonal.",
        "如果训练好的翻译模型的对齐并不比对角线更准，判断就会改变。",
    ),
    formula=r"\arg\max_j A_{ij} \in G(i): \quad <head>, \qquad j \propto i: \; <diagonal>",
    papers=(BAHDANAU_2015, GARG_2019),
    see=PageLink(""),
    of=ENCODER_DECODER,
    published={
        "before_last": PublishedNumber(
            "–",
            Both(
                "the alignment error rate of each layer of a German-English model, lowest before the last; the numbers "
                "were not looked up",
                "德英模型各层的对齐错误率，倒数第二层最低；数值没有查到",
            ),
            same=False,
        )
    },
)


# --- 136: rarity ---------------------------------------------------------------------------------------------------


def _pointing(trace: Trace, *, causal: bool) -> tuple[Floats, Floats]:
    """Measure, for each head, the share of the text's tokens whose largest weight is on the rarest token that they see.

    The second array holds, for each token of the text in place of the rarest, the best head's share. Special tokens and
    the rarest token's row are left out; NaN where no row is left.
    """
    real = np.flatnonzero(~np.array(trace.special))
    ids = np.array(trace.encoding.ids)[real]
    top = _weights(trace, trace.streams[0])[:, real][:, :, real].argmax(axis=-1)  # [H, Q]
    seen = np.maximum.accumulate(ids) if causal else np.full(len(ids), ids.max())
    rows = ids != seen
    right = ids[top] == seen
    shares = right[:, rows].mean(axis=1) if rows.any() else np.full(len(top), np.nan)
    return shares, np.array([(ids[top] == token).mean(axis=1).max() for token in np.unique(ids)])


def _rarest(subject: Subject) -> Measurement:
    trace, loaded = subject.trace, subject.loaded
    causal = loaded.shape == "decoder"
    here, any_token = _pointing(trace, causal=causal)
    if len(any_token) < 3 or np.isnan(here).any():
        raise UnanswerableError(
            "The text has too few different tokens for one to be the rarest; write a longer one.",
            "文本中不同的 token 太少，谈不上哪个最罕见；请写长一些。",
        )
    texts = (
        [sentence.text for sentence in _syntax()]
        if _english(loaded)
        else [sentence.characters for sentence in _translated()]
    )
    found = [(here, any_token), *(_pointing(recorded, causal=causal) for recorded in _read(loaded, texts))]
    found = [(shares, others) for shares, others in found if not np.isnan(shares).any() and len(others) > 2]
    if len(found) < 5:
        raise UnanswerableError(
            f"{loaded.card.id} reads nothing of the sentences that are held beside the text.",
            f"{loaded.card.id} 读不懂用来对照的句子。",
        )
    shares = np.array([of_sentence for of_sentence, _ in found])
    own, other = shares.max(axis=1), np.array([others.mean() for _, others in found])
    half = np.arange(len(shares)) % 2 == 1
    best = np.empty(len(shares))
    for side in (False, True):
        best[half == side] = shares[half == side][:, shares[half != side].mean(axis=0).argmax()]
    received = _weights(trace, trace.streams[0])[int(here.argmax())].mean(axis=0)
    real = np.flatnonzero(~np.array(trace.special))
    picture = Lines(
        (
            Series(
                Both("tokens of the text", "文本中的 token"),
                [trace.encoding.ids[at] for at in real],
                [100 * float(received[at]) for at in real],
                points=True,
            ),
        ),
        x_title=Both("number in the vocabulary: rare words stand late", "词表中的编号：越靠后越罕见"),
        y_title=Both("weight from the text's best head, mean, %", "该文本最好的头给它的平均权重，%"),
    )
    numbers = {
        "own": float(own.mean()),
        "any": float(other.mean()),
        "gain": interval(own - other).least,
        **interval(best).named("best"),
    }
    return Measurement(numbers, picture)


RAREST = Question(
    136,
    asked=Both("Is there a head that looks at the rarest token?", "有专门看最罕见 token 的头吗？"),
    claim=Both(
        "One of the few specialised heads looks at the least frequent token of a sentence, whatever it is.",
        "少数专门化的头中，有一个总是看句子里最罕见的 token，不管它是什么。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Some head looks at the rarest token in most sentences.", "有一个头在大多数句子里都看最罕见的 token。"
            ),
            (at_least("best", 0.5),),
        ),
        ClaimPart(
            Both(
                "The rarest token draws some head of its sentence more than other tokens do.",
                "最罕见的 token 比句中其他 token 更能吸引某个头。",
            ),
            (above("gain", 0),),
        ),
        ClaimPart(
            Both(
                "In a single sentence it looks so: some head is mostly on the rarest token, another in each sentence.",
                "只看一句话时看起来如此：总有某个头主要看最罕见的 token，但每句的头都不同。",
            ),
            (at_least("own", 0.5), below("best", "own")),
            role="mechanism",
        ),
    ),
    measure=_rarest,
    numbers={
        "own": Label(
            Both(
                "queries from which the sentence's own best head looks at its rarest token",
                "每句各取最好的头：看该句最罕见 token 的查询",
            ),
            "%",
        ),
        "any": Label(
            Both(
                "queries from which the best head for a token looks at it, mean of all tokens",
                "每个 token 各取最好的头：看该 token 的查询，均值",
            ),
            "%",
        ),
        "gain": Label(Both("rarest less any token, lower end", "最罕见的减去任意 token 的，区间下端"), "%"),
        **interval_labels(
            "best",
            Both(
                "queries from which one head, chosen on other sentences, looks at the rarest token",
                "由其他句子选出的同一个头：看最罕见 token 的查询",
            ),
            "%",
        ),
    },
    setting=Both(
        "Rare: a late number in the vocabulary, for tokenizers number words and merges about as often as they are "
        "met. Counted: queries of the text, special tokens and the rarest token's own row left out, whose largest "
        "weight among the text's tokens is on it (in a decoder: on the rarest so far). Sentences: this text and 24 "
        "English ones, or 12 Chinese ones for a model that reads Chinese. One head: chosen on one half, scored on the "
        "other. Ends: of the 95 % interval, by drawing the sentences anew.",
        "罕见：在词表中编号靠后，因为分词器大致按出现频率给词和合并编号。计数："
        "文本中的查询（不含特殊 token 和最罕见 token 自身的那一行），"
        "看它在文本 token 中的最大权重是否落在最罕见的 token 上（解码器：到目前为止最罕见的）。句子："
        "你的文本和 24 个英文句子，读中文的模型用 12 个中文句子。同一个头：在一半句子上选出，在另一半上计分。"
        "上下端：95% 区间，对句子重新抽样。",
    ),
    because=Both(
        "The paper found such a head in the first layer of its translators' encoders. In one text the finding is "
        "easily seen and proves little: with many heads, and one token that is rare and also full of meaning, some "
        "head will rest on it. Only other sentences tell rarity from that one token.",
        "论文在翻译模型编码器的第一层发现了这样的头。只看一段文本，很容易“看到”它，却说明不了什么：头很多，"
        "而最罕见的 token 往往也最有内容，总会有某个头停在上面。只有换别的句子，才能分清它看的是罕见性还是这个词本身。",
    ),
    refuted=Both(
        "A model in which one head finds the rarest token of most sentences would bear the finding out; one in which "
        "the head changes with the sentence refutes it.",
        "如果同一个头在大多数句子里都看最罕见的 token，说法成立；如果换了句子头就变了，说法就被推翻。",
    ),
    formula=r"\arg\max_j A_{ij} = \arg\max_j r_j: \quad <own> \;(\max_h), \qquad <best> \;(h)",
    papers=(VOITA_2019,),
    see=PageLink(""),
    of=ANY,
    published={
        "best": PublishedNumber(
            "66 %",
            Both(
                "of sentences, one head of the first layer of an English-Russian translator (OpenSubtitles); on one of "
                "the two rarest in 83 %",
                "句子，英俄翻译模型（OpenSubtitles）第一层的一个头；看最罕见的两个之一：83%",
            ),
        )
    },
)


# --- 143: order -----------------------------------------------------------------------------------------------------


_HIDDEN = 16  # words that are hidden, one at a time
_ORDERS = 3  # orders of the other words, for each


def _surprises(subject: Subject) -> Floats:
    """Minus the log-probability of each hidden token with the others in order, shuffled, and hidden too, [N, 3]."""
    loaded, encoding = subject.loaded, subject.trace.encoding
    real = np.flatnonzero(~np.array(encoding.special))
    chosen = real[np.unique(np.linspace(0, len(real) - 1, min(len(real), _HIDDEN)).round().astype(int))]
    ids, mask = np.array(encoding.ids), loaded.tokenizer.mask_token_id
    draw, rows = np.random.default_rng(0), []
    for place in chosen:
        others = real[real != place]
        for _ in range(_ORDERS):
            row = ids.copy()
            row[others] = ids[draw.permutation(others)]
            rows.append(row)
        ordered, nothing = ids.copy(), ids.copy()
        nothing[real] = mask
        rows += [ordered, nothing]
    places = np.repeat(chosen, _ORDERS + 2)
    read = torch.tensor(np.array(rows))
    at = torch.arange(len(rows))
    read[at, torch.tensor(places)] = mask
    assert loaded.predict is not None
    with torch.inference_mode():
        segments = torch.tensor([encoding.segments]).expand_as(read)
        hidden = loaded.run(read, torch.ones_like(read, dtype=torch.bool), segments)
        logits = loaded.predict(hidden[at, torch.tensor(places)][None])[0].double()
        surprises = logits.logsumexp(dim=-1) - logits[at, torch.tensor(ids[places])]
    each = surprises.cpu().numpy().reshape(len(chosen), _ORDERS + 2)
    return np.stack([each[:, -2], each[:, :_ORDERS].mean(axis=1), each[:, -1]], axis=1)


def _guessed_from_shuffled(subject: Subject) -> Measurement:
    loaded, trace = subject.loaded, subject.trace
    shuffled = interventions.reorder(loaded, trace, "shuffle")
    places = list(shuffled.order)
    read, segments = (torch.tensor([row]) for row in (trace.encoding.ids, trace.encoding.segments))
    with torch.inference_mode():
        states = loaded.run(read[:, places], torch.ones_like(read, dtype=torch.bool), segments[:, places])[0]
    texts = (
        [sentence.text for sentence in _syntax()]
        if _english(loaded)
        else [sentence.characters for sentence in _translated()]
    )
    others = record_batch(loaded, [text for text in texts if text != trace.text])
    vectors = np.stack(
        [
            trace.output.mean(axis=0),
            states.cpu().numpy().mean(axis=0),
            *(recorded.output.mean(axis=0) for recorded in others),
        ]
    )
    units = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    ordered, other, blank = subject.once("surprise by order", partial(_surprises, subject)).mean(axis=0)
    picture = Bars(
        (
            Both("other words in their order", "其他词按原来的顺序"),
            Both("other words shuffled", "其他词打乱"),
            Both("no other word", "没有其他词"),
        ),
        [float(ordered), float(other), float(blank)],
        Both("surprise at a hidden token, nats", "被遮住的 token 的负对数概率，nat"),
    )
    numbers = {
        "vector": float(units[0] @ units[1]),
        "other": float((units[2:] @ units[0]).max()),
        "ordered": float(ordered),
        "shuffled": float(other),
        "blank": float(blank),
    }
    return Measurement(numbers, picture)


GUESSED_FROM_SHUFFLED = Question(
    143,
    asked=Both("Can a hidden word be guessed from shuffled words?", "词序打乱之后，还猜得出被遮住的词吗？"),
    claim=Both(
        "Word order matters less than thought: a trained model hardly notices when words are shuffled, for which words "
        "there are tells it nearly all.",
        "词序没有想象的那么重要：训练好的模型对打乱词序并不敏感，有哪些词就已经告诉了它几乎一切。",
    ),
    parts=(
        ClaimPart(
            Both(
                "Shuffled, a sentence stays nearer to itself than any other sentence is.",
                "打乱之后，句向量仍比其他任何句子的更接近原句。",
            ),
            (above("vector", "other"),),
        ),
        ClaimPart(
            Both(
                "Among shuffled words a hidden word is guessed about as well.",
                "词序打乱后，被遮住的词猜得差不多一样好。",
            ),
            (below("shuffled", "ordered", times=1.25),),
        ),
        ClaimPart(
            Both("Shuffled words help to guess it at least more than none.", "打乱的词至少比没有词更有助于猜词。"),
            (below("shuffled", "blank"),),
        ),
    ),
    measure=_guessed_from_shuffled,
    numbers={
        "vector": Label(Both("cosine of the sentence's vector, shuffled and not", "打乱前后句向量的余弦")),
        "other": Label(
            Both("cosine of the sentence's vector with the nearest other sentence", "句向量与最接近的其他句子的余弦")
        ),
        "ordered": Label(
            Both("surprise at a hidden token, in order", "原顺序下被遮住的 token 的负对数概率（surprisal）"),
            Both("nats", "nat"),
        ),
        "shuffled": Label(
            Both("surprise at a hidden token, other words shuffled", "其他词打乱时被遮住的 token 的负对数概率"),
            Both("nats", "nat"),
        ),
        "blank": Label(
            Both("surprise at a hidden token, other words hidden too", "其他词也遮住时被遮住的 token 的负对数概率"),
            Both("nats", "nat"),
        ),
    },
    setting=Both(
        "Shuffled with seed 0, special tokens in their places. Vector: mean of the last states; other sentences: 24 "
        "English or 12 Chinese ones. Surprise: −ln p of a token hidden alone, of at most 16 evenly spaced ones; 3 "
        "orders of the others. It takes a model that guesses hidden tokens: mini-BERT for others.",
        "打乱用种子 0，特殊 token 不动。句向量：最后一层状态的平均；其他句子：24 个英文句或 12 个中文句。负对数概率："
        "单独遮住一个 token 时的 −ln p，最多均匀取 16 个；其他词打乱 3 次。需要能猜被遮住的 token 的模型，"
        "其他模型用 mini-BERT 代替。",
    ),
    because=Both(
        "Both papers measure tasks after fine-tuning, of which most can be solved from the words alone, and Sinha et "
        "al. train the model itself on shuffled text. That says little of a model that has learned from ordered text "
        "alone: to it a shuffled sentence is a thing never seen, and what guesses words leans on the neighbours.",
        "两篇论文测的都是微调之后的任务，其中多数只看有哪些词就能做对；Sinha 等人的模型还是在打乱的文本上预训练的。"
        "这不能推到只见过正常文本的模型上：打乱的句子它从未见过，而猜词主要靠相邻的词。",
    ),
    refuted=Both(
        "A model trained on ordered text that guesses hidden words among shuffled ones about as well.",
        "如果在正常文本上训练的模型，面对打乱的词仍能猜得差不多一样好，说法就成立；反之被推翻。",
    ),
    formula=r"-\ln p(x_i \mid x_{\setminus i}) = <ordered>, \qquad -\ln p(x_i \mid \pi(x_{\setminus i})) = <shuffled>, "
    r"\qquad -\ln p(x_i) = <blank>",
    papers=(SINHA_2021, PHAM_2020),
    see=PageLink("positions", {"section": "Does it matter"}),
    of=FILLS_MASKS,
    published={
        "vector": PublishedNumber(
            "75–90 %",
            Both(
                "of the correct answers of BERT's classifiers on GLUE stay as they are when words are shuffled (Pham "
                "et al. 2020)",
                "BERT 分类器在 GLUE 多个任务上原本答对的，打乱词序后答案不变（Pham 等人，2020）",
            ),
            same=False,
        )
    },
)


THEME = Theme(
    "found_in_words",
    Both("Found in words", "词语中的发现"),
    (
        SINGLE_HEADS,
        REFERENCE_HEAD,
        ALIGNMENT,
        RAREST,
        GUESSED_FROM_SHUFFLED,
    ),
)
