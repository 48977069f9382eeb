"""A sentence as a vector: [CLS] against the mean of all tokens, on the reader's sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from inspector import sentence_vectors
from inspector.components.matrix import Panel
from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Count, Texts
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Need,
    Note,
    Number,
    Numbers,
    Paragraph,
    Row,
    Section,
    Sentence,
    Table,
)
from inspector.text import cut, plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import models
    from inspector.sections.subject import Subject
    from inspector.sentence_vectors import NearestAverage, Pooling, SentenceVectors

words = wording.vector

CHINESE = "mini-bert-zh"
ENCODERS = ("minilm", "mini-bert", CHINESE, "own-encoder")
LONGEST, MOST = 700, 12  # characters and lines of the field
MOST_TOKENS = 64  # of a sentence
EXAMPLES = {
    words.ENGLISH: "The doctor told him to rest for a week.\nHis physician advised seven days in bed.\n"
    "The bank raised its interest rates.\nBorrowing money became more expensive.\n"
    "The river bank was covered with flowers.\nBlossoms grew all along the water.\n"
    "The noise kept her awake all night.\nShe could not sleep because it was so loud.",
    words.CHINESE: "医生让他休息一个星期。\n大夫叫他在家躺七天。\n今天天气很冷。\n外面冷得让人发抖。\n"
    "她很喜欢喝茶。\n她最爱的就是茶水。\n他买了一本新书。\n他在书店花钱买了书。",
}
SHADES = {"itself": "q", "special": "scores", "text": "out", "own": "residual", "others": "attention"}
PATTERNS = {"itself": 0, "special": 1, "text": 3, "own": 0, "others": 1}


@dataclass(frozen=True)
class Pooled:
    """Both poolings on the reader's sentences.

    sentences: how many have a partner; chance: the mean rank of a guess by chance; cls, mean: of each pooling, None
    without a pair. agreement: the mean cosine of a sentence's [CLS] with its own mean.
    """

    sentences: int
    chance: float
    cls: words.Ranks | None
    mean: words.Ranks | None
    agreement: float


def answer(subject: Subject) -> Iterator[Block]:
    """Yield the part with the field in the model's language."""
    chinese = subject.model.card.id.partition("?")[0] == CHINESE
    field = replace(FIELD, id="sentences_zh", default=EXAMPLES[words.CHINESE]) if chinese else FIELD
    yield replace(READ, answer=lambda subject, **typed: _read(subject, typed[field.id]), picks=(field,))


def _read(subject: Subject, sentences: tuple[str, ...]) -> Iterator[Block]:
    """Yield the cosines of the sentences by both poolings, the ranks of paraphrases, and [CLS] taken apart."""
    loaded = subject.model
    found = _vectors(subject, loaded, sentences[:MOST])
    seen = pooled(found)
    texts = [trace.text for trace in found.traces]
    name = plain(names.name(loaded))
    yield Sentence(said(seen, model=name), words.TERMS)
    code = (
        "import models\nfrom inspector import sentence_vectors\n\n"
        f"loaded = models.load({loaded.card.id!r})\n"
        f"found = sentence_vectors.read(loaded, {texts!r})\n"
    )
    if len(sentences) > MOST:
        yield Note(words.first_lines(len(sentences), MOST))
    yield _cosines(found, code, model=loaded.card.id)
    if found.unknown:
        yield Note(words.unknown(found.unknown, sum(len(trace.tokens) for trace in found.traces)))
    apart = ""
    if seen.cls is not None and seen.mean is not None:
        numbers = words.numbers(
            cls=seen.cls, mean=seen.mean, sentences=seen.sentences, chance=seen.chance, agreement=seen.agreement
        )
        yield Numbers(tuple(Number(*one) for one in numbers))
        apart = words.apart(cls=seen.cls, mean=seen.mean)
    yield Paragraph(f"{apart} {words.training(loaded.card.id)}".strip())
    yield Note(words.POOLED)
    yield replace(BESIDE, answer=partial(_beside, texts=tuple(texts)))
    yield Table("sentence-vectors", table(found), words.EACH, words.RANKS_HEADS)
    which = replace(CHOSEN, last=lambda subject: len(texts) - 1)
    yield replace(TAKEN_APART, answer=partial(_apart, found=found, code=code), picks=(which,))


def _vectors(subject: Subject, loaded: models.LoadedModel, texts: tuple[str, ...]) -> SentenceVectors:
    """Read the sentences, once; ValueError in a sentence where that fails."""

    def make() -> SentenceVectors:
        longest = max((len(loaded.encode(text)) for text in texts), default=0)
        if longest > MOST_TOKENS:
            raise ValueError(words.too_long(longest, MOST_TOKENS))
        return sentence_vectors.read(loaded, texts)

    with names.told(words.READING, instead=words.READING_INSTEAD):
        return subject.of_all(("sentence vectors", loaded.card.id, subject.version, texts), make)


def _cosines(found: SentenceVectors, code: str, *, model: str) -> Map:
    """Draw both tables of cosines side by side."""
    rows = [f"{at} {cut(trace.text)}" for at, trace in enumerate(found.traces)]
    return Map(
        "sentence-cosines",
        "",
        tuple(
            Panel(found.cosines(pooling), rows=rows, columns=range(len(rows)), title=words.POOLINGS[pooling])
            for pooling in sentence_vectors.POOLINGS
        ),
        row_title=words.SENTENCE,
        column_title=words.SENTENCE,
        alt=words.COSINES_ALT,
        quantity=words.COSINE,
        numbered="columns",
        top=1.0,
        diverging=True,
        code=f'{code}table = {{pooling: found.cosines(pooling) for pooling in ("cls", "mean")}}',
        name=f"sentences-{model}",
    )


def _beside(subject: Subject, *, texts: tuple[str, ...] = ()) -> Iterator[Block]:
    """Yield the model beside Headlight's other encoders on the same sentences."""
    rows = []
    for id in dict.fromkeys((subject.model.card.id, *filter(subject.at_hand, ENCODERS))):
        one = subject.model if id == subject.model.card.id else subject.load(id)
        seen = pooled(_vectors(subject, one, texts))
        if seen.cls is not None and seen.mean is not None:
            row = (names.name(one), words.trained_for(one.card), seen.cls.mean, seen.mean.mean, seen.agreement)
            rows.append(row)
    yield Note(words.OTHERS)
    columns = ["model", "trained", "cls_rank", "mean_rank", "agreement"]
    yield Table("sentence-encoders", pd.DataFrame(rows, columns=columns), words=words.BESIDE_HEADS, folded=False)


def _apart(subject: Subject, *, cls_sentence: int, found: SentenceVectors, code: str) -> Iterator[Block]:
    """Yield [CLS] of one sentence taken apart."""
    loaded, trace = subject.model, found.traces[cls_sentence]
    key = (loaded.card.id, subject.version, trace.key)
    attention = sentence_vectors.cls_attention(trace)
    try:
        parts = subject.of_all(("cls parts", *key), lambda: sentence_vectors.cls_parts(loaded, trace))
    except ValueError as error:
        yield Note(plain(words.not_apart(str(error))))
        parts = None
    nearest = subject.of_all(
        ("nearest averages", *key),
        lambda: [sentence_vectors.nearest_average(trace.output, token=token) for token in range(len(trace.tokens))],
    )
    yield Paragraph(mixture(attention, parts, nearest))
    code += f"trace = found.traces[{cls_sentence}]\n"
    takes = _bars(attention, words.TAKEN, words.TAKES, words.WEIGHT)
    pictures = [
        Figure(
            "cls-attention",
            "",
            replace(takes, stacked=True, y_range=(0, 1)),
            words.TAKES_ALT,
            f"{code}table = sentence_vectors.cls_attention(trace)",
            attention,
        )
    ]
    if parts is not None:
        code += "table = sentence_vectors.cls_parts(loaded, trace)"
        made = replace(_bars(parts, words.PARTS, words.MADE, words.LENGTH), hover={"mixing": words.SHARE})
        pictures.append(Figure("cls-parts", "", made, words.MADE_ALT, code, parts))
    yield Row(tuple(pictures))
    yield Note(words.MIXED)


def _bars(table: pd.DataFrame, named: dict[str, str], title: str, quantity: str) -> Chart:
    """Lay out some columns of a table as bars by layer."""
    kept = [column for column in table if column not in named]
    long = table.melt(kept, list(named), "part", "value")
    return Chart(
        long,
        "layer",
        "value",
        "bars",
        by="part",
        names=named,
        parts=SHADES,
        styles=PATTERNS,
        x_title=words.LAYER,
        y_title=quantity,
        title=title,
        height=320,
    )


def said(seen: Pooled, *, model: str) -> str:
    """Say which pooling finds the paraphrases better, or how alike both are for a single sentence."""
    if seen.cls is None or seen.mean is None:
        return words.alone(agreement=seen.agreement, model=model)
    return words.pooled(cls=seen.cls, mean=seen.mean, sentences=seen.sentences, model=model)


def pooled(found: SentenceVectors) -> Pooled:
    """Read both poolings; sentences 0 and 1 are a pair, 2 and 3, and so on."""
    count = len(found.traces)
    pairs = count // 2 * 2
    return Pooled(
        sentences=pairs,
        chance=count / 2,  # of ranks 1 to N - 1
        cls=_ranked(found, "cls") if pairs else None,
        mean=_ranked(found, "mean") if pairs else None,
        agreement=float(found.agreement.mean()),
    )


def table(found: SentenceVectors) -> pd.DataFrame:
    """Give a row per sentence: sentence, cls_rank and mean_rank of its paraphrase (NaN for none), agreement."""
    count = len(found.traces)
    pairs = count // 2 * 2
    ranks: dict[str, NDArray[np.float64]] = {}
    for pooling in sentence_vectors.POOLINGS:
        row = np.full(count, np.nan)
        if pairs:
            row[:pairs] = sentence_vectors.partner_ranks(found.cosines(pooling))
        ranks[f"{pooling}_rank"] = row
    columns = {"sentence": [trace.text for trace in found.traces], **ranks, "agreement": found.agreement}
    return pd.DataFrame(columns)


def mixture(attention: pd.DataFrame, parts: pd.DataFrame | None, nearest: Sequence[NearestAverage]) -> str:
    """Say what one sentence's [CLS] is made of.

    attention: of `cls_attention`, parts: of `cls_parts`, nearest: the nearest average of each token, [CLS] first.
    """
    largest = attention.loc[attention["itself"].idxmax()]
    first, *others = nearest
    return words.mixture(
        itself=float(attention["itself"].mean()),
        text=float(attention["text"].mean()),
        layer=int(largest["layer"]),
        most=float(largest["itself"]),
        own_share=None if parts is None else float(1 - parts["mixing"].mean()),
        miss=first.miss,
        cosine=first.cosine,
        others=float(np.mean([one.miss for one in others])),
    )


def _ranked(found: SentenceVectors, pooling: Pooling) -> words.Ranks:
    cosines = found.cosines(pooling)
    ranks = sentence_vectors.partner_ranks(cosines)
    at = np.arange(len(ranks))
    pair = np.zeros_like(cosines, dtype=bool)
    pair[at, at ^ 1] = True
    rest = ~pair & ~np.eye(len(cosines), dtype=bool)
    apart = float(cosines[rest].mean()) if rest.any() else float("nan")
    return words.Ranks(float(ranks.mean()), int((ranks == 1).sum()), apart, float(cosines[pair].mean()))


FIELD = Texts(
    "sentences",
    words.SENTENCES,
    EXAMPLES[words.ENGLISH],
    LONGEST,
    EXAMPLES,
    height=300,
    help=words.sentences_help(MOST, LONGEST),
)
CHOSEN = Count("cls_sentence", words.CHOOSE, lambda subject: 0, lambda subject: 0, width=120)
READ = Section("read", "", lambda subject, **typed: iter(()), (FIELD,))
BESIDE = Section("encoders", "", _beside, starts=words.BESIDE)
TAKEN_APART = Section("cls", words.AVERAGE, _apart, (CHOSEN,))
SECTION = Section(
    "vector",
    words.VECTOR,
    answer,
    about="model",
    needs_model=True,
    parts=(READ, BESIDE, TAKEN_APART),
    need=Need(
        words.CANNOT,
        lambda loaded: sentence_vectors.starts_with_cls(loaded, loaded.encode("a")),
        ("minilm", "mini-bert"),
        reads=False,
    ),
    aside=True,
)
