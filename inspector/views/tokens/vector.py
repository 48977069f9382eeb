"""The section A sentence as a vector: [CLS] against the mean of all tokens, on the reader's sentences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots.theme import cut, number
from inspector.plots.tokens import vector as draw
from inspector.readings.tokens import vector as read
from inspector.views.figures import chart, matrix
from inspector.views.shell import available_models, link, recording_notes, sentence, session, widgets
from inspector.views.shell.session import Inspected
from inspector.wording.english.tokens import vector as words
from models import failures

if TYPE_CHECKING:
    import models
    from inspector.sentence_vectors import Vectors

STAND_IN, CHINESE = "minilm", "mini-bert-zh"
ENCODERS = (STAND_IN, "mini-bert", CHINESE, "own-encoder")
LONGEST, MOST = 700, 12  # characters and lines of the field
MOST_TOKENS = 64  # of a sentence
EXAMPLES = {
    "English": "The doctor told him to rest for a week.\nHis physician advised seven days in bed.\n"
    "The bank raised its interest rates.\nBorrowing money became more expensive.\n"
    "The river bank was covered with flowers.\nBlossoms grew all along the water.\n"
    "The noise kept her awake all night.\nShe could not sleep because it was so loud.",
    "Chinese": "医生让他休息一个星期。\n大夫叫他在家躺七天。\n今天天气很冷。\n外面冷得让人发抖。\n"
    "她很喜欢喝茶。\n她最爱的就是茶水。\n他买了一本新书。\n他在书店花钱买了书。",
}


def show(inspected: Inspected) -> None:
    """Draw the section."""
    said = st.container()
    left, right = st.columns([1, 3], gap="medium")
    try:
        with failures.told("Reading the sentences", instead="They are kept: change them, or choose another model."):
            loaded = _model(inspected, right)
            with left:
                texts = _field(chinese=loaded.card.id.partition("?")[0] == CHINESE)
            found = _read(loaded, texts)
            name = widgets.plain(available_models.name(loaded.card.id))
            with said:
                sentence.show(words.pooled(read.pooled(found), model=name), words.TERMS)
            with right:
                _maps(loaded, found)
            _ranks(loaded, found)
            _cls(loaded, found)
    except ValueError as error:
        with right:
            session.show_problem(f"{str(error)[0].upper()}{str(error)[1:]}.".replace("..", "."))


def _field(*, chinese: bool) -> tuple[str, ...]:
    """Take the reader's sentences, a line each; the model that reads Chinese has a field of its own."""
    key, first = ("sentences_zh", EXAMPLES["Chinese"]) if chinese else ("sentences", EXAMPLES["English"])
    typed = widgets.text_with_examples(
        "Sentences, one a line",
        key,
        examples=EXAMPLES,
        default=first,
        most=LONGEST,
        height=300,
        help="Lines 0 and 1 say the same thing, 2 and 3, and so on: each is searched among all others. "
        f"{MOST} lines and {LONGEST} characters at most.",
    )
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) > MOST:
        st.caption(f"{len(lines)} lines: the first {MOST} are read.")
    return tuple(lines[:MOST])


def _model(inspected: Inspected, place: st.delta_generator.DeltaGenerator) -> models.LoadedModel:
    """The sidebar's encoder, or MiniLM in its place, which is said."""
    from inspector import sentence_vectors

    if inspected.model is not None:
        loaded = session.load(inspected.model)
        if sentence_vectors.starts_with_cls(loaded, loaded.encode("a")):
            return loaded
    with place:
        title = widgets.plain(available_models.title(inspected.trace.model))
        st.caption(f"{title} is no encoder that begins a text with [CLS], so you see MiniLM.")
    return session.load(STAND_IN)


def _read(loaded: models.LoadedModel, texts: tuple[str, ...]) -> Vectors:
    from inspector import sentence_vectors

    def make() -> Vectors:
        lengths = [len(loaded.encode(text)) for text in texts]
        if max(lengths, default=0) > MOST_TOKENS:
            raise ValueError(f"a sentence has {max(lengths)} tokens, and {MOST_TOKENS} are read at most: shorten it")
        with st.spinner("Reading the sentences"):
            return sentence_vectors.read(loaded, texts)

    return session.cached(("sentence_vectors", *_key(loaded), texts), make)


def _key(loaded: models.LoadedModel) -> tuple[str, str]:
    return loaded.card.id, available_models.version(loaded.card.id)


def _python(loaded: models.LoadedModel, found: Vectors) -> str:
    return (
        "import models\nfrom inspector import sentence_vectors\n\n"
        f"loaded = models.load({loaded.card.id!r})\n"
        f"found = sentence_vectors.read(loaded, {[trace.text for trace in found.traces]!r})\n"
    )


def _maps(loaded: models.LoadedModel, found: Vectors) -> None:
    """Draw both tables of cosines side by side."""
    from inspector import sentence_vectors

    names = [f"{at} {cut(trace.text)}" for at, trace in enumerate(found.traces)]
    matrix.show(
        *(
            matrix.Panel(found.cosines(pooling), rows=names, columns=range(len(names)), title=words.POOLINGS[pooling])
            for pooling in sentence_vectors.POOLINGS
        ),
        row_title="sentence",
        column_title="sentence",
        quantity="cosine",
        numbered="columns",
        top=1.0,
        diverging=True,
        name=f"sentences-{loaded.card.id}",
        key="sentence-cosines",
        python=f'{_python(loaded, found)}found.cosines("cls"), found.cosines("mean")',
    )
    recording_notes.badge(loaded.card.id)
    if found.unknown:
        total = sum(len(trace.tokens) for trace in found.traces)
        st.caption(recording_notes.unknown_in_words(found.unknown, of=total) + " mini-BERT for Chinese knows 中文.")


def _ranks(loaded: models.LoadedModel, found: Vectors) -> None:
    """Say how near paraphrases are, in numbers."""
    seen = read.pooled(found)
    if seen.cls is not None and seen.mean is not None:
        widgets.numbers(
            [
                (
                    "Mean rank by [CLS]",
                    number(seen.cls.mean),
                    "Of each sentence's paraphrase among all others; 1 is best.",
                ),
                ("Mean rank by the mean", number(seen.mean.mean), "The same by the mean of all tokens."),
                ("By chance", number(seen.chance), "The mean of the ranks 1 to N − 1."),
                (
                    "[CLS] with its own mean",
                    number(seen.agreement),
                    "Cosine of both vectors of a sentence, on average.",
                ),
            ]
        )
    st.markdown(f"{words.apart(seen)} {words.training(loaded.card.id)}")
    st.caption(
        r"$\cos(u, v) = u \cdot v \,/\, (\|u\| \|v\|)$ with u = $h_0$, the last hidden state of [CLS], or u = "
        r"$\frac{1}{T} \sum_i h_i$ over all T tokens, [CLS] and [SEP] included, as sentence-transformers pools. A few "
        "sentences are an example and no benchmark."
    )
    _others(loaded, found)
    with st.expander("Each sentence in numbers"):
        widgets.table(
            read.table(found),
            name="sentence-vectors",
            words={"cls_rank": "rank by [CLS]", "mean_rank": "rank by the mean", "agreement": "cos([CLS], mean)"},
        )


def _others(loaded: models.LoadedModel, found: Vectors) -> None:
    """Hold the model beside Headlight's other encoders on the same sentences, once that is asked for."""
    if not st.toggle(
        "Beside other encoders",
        key="encoders",
        bind=link.bind_switch("encoders"),
        help="The same ranks in encoders that were trained for sentences, trained to guess words, and not trained.",
    ):
        return
    import pandas as pd

    texts = tuple(trace.text for trace in found.traces)
    rows = []
    for model in dict.fromkeys((loaded.card.id, *ENCODERS)):
        one = loaded if model == loaded.card.id else session.load(model)
        seen = read.pooled(_read(one, texts))
        if seen.cls is not None and seen.mean is not None:
            row = (available_models.name(model), words.trained_for(one.card), seen.cls.mean, seen.mean.mean)
            rows.append((*row, seen.agreement))
    names = ["model", "trained", "cls_rank", "mean_rank", "agreement"]
    widgets.table(
        pd.DataFrame(rows, columns=names),
        name="sentence-encoders",
        words={"cls_rank": "mean rank by [CLS]", "mean_rank": "mean rank by the mean", "agreement": "cos([CLS], mean)"},
    )


def _cls(loaded: models.LoadedModel, found: Vectors) -> None:
    """Take [CLS] of one sentence apart."""
    from inspector import sentence_vectors

    st.subheader("Is [CLS] a weighted average of the others?", anchor=False)
    last = len(found.traces) - 1
    at = widgets.number("Sentence", "cls_sentence", default=0, last=last, width=120)
    trace = found.traces[at]
    attention = sentence_vectors.cls_attention(trace)
    key = (*_key(loaded), trace.key)
    try:
        parts = session.cached(("cls_parts", *key), lambda: sentence_vectors.cls_parts(loaded, trace))
    except ValueError as error:
        st.caption(f"What is its own is not told apart: {error}.")
        parts = None
    every = session.cached(
        ("nearest_averages", *key),
        lambda: [sentence_vectors.nearest_average(trace.output, token=token) for token in range(len(trace.tokens))],
    )
    seen = read.mixture(attention, parts, every[0], every[1:])
    st.markdown(words.mixture(seen))
    python = f"{_python(loaded, found)}trace = found.traces[{at}]\n"
    columns = st.columns(2, gap="medium")
    with columns[0]:
        chart.show(
            partial(draw.attention, attention),
            alt="what [CLS] takes from itself, other special tokens and the text, by layer",
            key="cls-attention",
            python=f"{python}table = sentence_vectors.cls_attention(trace)",
            table=attention,
        )
    if parts is not None:
        with columns[1]:
            chart.show(
                partial(draw.parts, parts),
                alt="lengths of what is its own and what others gave in the state of [CLS], by layer",
                key="cls-parts",
                python=f"{python}table = sentence_vectors.cls_parts(loaded, trace)",
                table=parts,
            )
    st.caption(
        r"Left: weights of the query [CLS], mean over heads. Right: after each attention, before the norm, "
        r"$\sum_h \sum_{j>0} \alpha_{h,0j} f_h(x_j)$ from others, with $f_h(x) = v_h W_O^h$, and all else its own: "
        r"$x_0 + \sum_h \alpha_{h,00} f_h(x_0) + b_O$ (Kobayashi et al. 2021). [CLS] also began as an embedding of its "
        "own, and FFN and norms follow, which average nothing. The nearest average minimises "
        r"$\|h_0 - \sum_{j>0} w_j h_j\|$ over $w \geq 0$, $\sum w = 1$."
    )
