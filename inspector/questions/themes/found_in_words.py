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
from inspector.questions.record.picture import Bars, Heatmap, Lines, Series
from inspector.questions.record.question import (
    Measure,
    Measurement,
)
from inspector.questions.record.subject import Subject
from inspector.questions.themes.several_texts import interval
from inspector.trace import Trace
from models.tokenizers import SPACE, Encoding

Floats = NDArray[np.float64]
Hits = NDArray[np.bool_]


def _english(loaded: models.LoadedModel) -> bool:
    return examples.reads(loaded.card.id, examples.FIRST)


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
        y_title=Both("weight from the text's best head, mean, %", "这段文本最好的头给它的平均权重，%"),
    )
    numbers = {
        "own": float(own.mean()),
        "any": float(other.mean()),
        "gain": interval(own - other).least,
        **interval(best).named("best"),
    }
    return Measurement(numbers, picture)


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


MEASURES: dict[int, Measure] = {
    133: _single_heads,
    134: _reference,
    135: _alignment,
    136: _rarest,
    143: _guessed_from_shuffled,
}
