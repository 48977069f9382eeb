"""The section One text, many vocabularies: one text as characters, words, WordPiece, BPE and unigram."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.plots.tokens import chips
from inspector.readings.tokens import pieces as read
from inspector.views.components.width import is_narrow
from inspector.views.figures import chart
from inspector.views.shell import available_models, sentence, session, widgets
from inspector.views.tokens import corpus as corpora
from inspector.wording.english.tokens import pieces as words
from models import failures

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    import models
    from inspector.costs.clock import LayerShape
    from inspector.trace import AttentionSite, Trace
    from inspector.vocabularies import Corpus, Way

OTHERS = ("minilm", "mini-bert", "mini-gpt", "translator", "mini-bert-zh")
"""The models whose vocabularies stand beside the sidebar's, but for those that share its vocabulary."""


def show(inspected: session.Inspected) -> None:
    """Draw the section."""
    loaded = session.at_hand(inspected, so="its vocabulary is not either")
    said = st.container()
    left, right = st.columns([1, 3], gap="medium")
    try:
        with left:
            corpus, pieces = corpora.chosen(inspected.trace.text)
        _draw(loaded, inspected.trace, corpus, pieces=pieces, said=said, right=right)
    except ValueError as error:
        with right:
            session.show_problem(str(error))


def _draw(
    loaded: models.LoadedModel,
    trace: Trace,
    corpus: Corpus,
    *,
    pieces: int,
    said: DeltaGenerator,
    right: DeltaGenerator,
) -> None:
    from inspector import vocabularies

    text = trace.text
    read_text = vocabularies.checked(text[: vocabularies.MOST_READ], what="text")
    with failures.told("Cutting the text", instead="Choose another text or another corpus."):
        ways = _ways(loaded, read_text, corpus, pieces=pieces)
    mine = _short(loaded.card.id)
    found = read.cutting(ways, model=mine)
    named = {words.KINDS.get(name, name): way for name, way in ways.items()}
    table = _table(loaded, named, trace.sites)
    with said:
        sentence.show(words.cutting(found, model=mine), words.TERMS)
    with right:
        width = chips.NARROW if is_narrow() else chips.WIDE
        chart.show(
            partial(chips.ways, {f"{name} · {len(way)}": way for name, way in named.items()}, width=width),
            alt="the text cut by each vocabulary, a row of tokens each",
            key="ways",
            name="vocabularies",
            python=_python(loaded, read_text, corpus, pieces=pieces),
            table=_rows(named),
        )
        if len(text) > len(read_text):
            st.caption(f"The first {len(read_text):,} of {len(text):,} characters are cut and counted.")
        if (shown := chips.drawn(read_text, width=width)) < len(read_text):
            st.caption(f"The first {shown:,} of {len(read_text):,} characters are drawn; the table counts all.")
        st.caption(words.explained(model=mine, pieces=pieces, blanks=found.blanks))
    shown_table = table.assign(unknown_share=100 * table["unknown_share"]).drop(columns="unknown")
    widgets.table(shown_table, name="tokens-by-vocabulary", words=words.COLUMNS, height=35 * (len(table) + 1) + 3)
    own = table.set_index("way").loc[mine]
    st.caption(
        words.trade_off(
            model=mine,
            width=_width(loaded),
            tokens=found.pieces,
            shortest=int(table["tokens"].min()),
            vocabulary=found.vocabulary,
            flops=int(own["flops"]) if "flops" in table else None,
            encoder=loaded.shape == "encoder-decoder",
        )
    )


def _ways(loaded: models.LoadedModel, text: str, corpus: Corpus, *, pieces: int) -> dict[str, Way]:
    """Cut the text in every vocabulary, once: those of the corpus, then the sidebar's model's, then the others'."""
    from inspector import vocabularies

    def learned() -> dict[str, Way]:
        return {
            kind: vocabularies.by_library(
                vocabularies.train(kind, corpus, pieces=pieces, least=corpora.LEAST),
                text,
            )
            for kind in vocabularies.KINDS
        }

    ways = dict(session.cached(("vocabularies", text, corpus.text, pieces), learned))
    for id in (loaded.card.id, *_others(loaded)):
        tokenizer = loaded.tokenizer if id == loaded.card.id else session.load(id).tokenizer
        key = ("vocabulary", id, available_models.version(id), text)
        ways[_short(id)] = session.cached(key, partial(vocabularies.by_model, tokenizer, text))
    return ways


def _others(loaded: models.LoadedModel) -> list[str]:
    """List the models that read with another vocabulary than the sidebar's."""
    id = loaded.card.id
    listed = [other for other in OTHERS if other in available_models.ids()]

    def make() -> list[str]:
        own = loaded.tokenizer.get_vocab()
        return [other for other in listed if session.load(other).tokenizer.get_vocab() != own]

    return session.cached(("other vocabularies", id, available_models.version(id), *listed), make)


def _short(id: str) -> str:
    """Name a model in a row: its id without switches and folders."""
    return id.partition("?")[0].rstrip("/").rpartition("/")[2][:24]


def _width(loaded: models.LoadedModel) -> int:
    """Return the width of the model's embedding."""
    from models.config_facts import first_number, text_config
    from models.transformer.config import TransformerConfig

    if isinstance(loaded.config, TransformerConfig):
        return loaded.config.width
    names = ("embedding_size", "word_embed_proj_dim", "hidden_size", "d_model", "n_embd")
    return first_number(text_config(loaded.config), *names)


def _table(loaded: models.LoadedModel, ways: dict[str, Way], sites: Sequence[AttentionSite]) -> pd.DataFrame:
    """Count the costs; of an encoder-decoder, those of the encoder, which reads the text."""
    from inspector import vocabularies

    layers = len([site for site in sites if site.stream == sites[0].stream])
    return vocabularies.costs(ways, width=_width(loaded), layer=_layer(loaded), layers=layers)


def _layer(loaded: models.LoadedModel) -> LayerShape | None:
    """Return the shape of the model's layers; None where they have other parts than scores and mix to count."""
    from inspector.costs import clock

    def make() -> LayerShape | None:
        try:
            return clock.layer_shape(loaded.config)
        except ValueError:  # the table is drawn without the column then
            return None

    id = loaded.card.id
    return session.cached(("layer shape", id, available_models.version(id)), make)


def _rows(ways: dict[str, Way]) -> pd.DataFrame:
    rows = [
        (name, at, token, *span, known)
        for name, way in ways.items()
        for at, (token, span, known) in enumerate(zip(way.tokens, way.spans, way.known, strict=True))
    ]
    return pd.DataFrame(rows, columns=["vocabulary", "position", "token", "first", "end", "known"])


def _python(loaded: models.LoadedModel, text: str, corpus: Corpus, *, pieces: int) -> str:
    return (
        "import models\nfrom inspector import vocabularies\n\n"
        f"text = {text!r}\ncorpus = vocabularies.Corpus.of({corpus.text!r})\n"
        "for kind in vocabularies.KINDS:\n"
        f"    trained = vocabularies.train(kind, corpus, pieces={pieces}, least={corpora.LEAST})\n"
        "    print(kind, vocabularies.by_library(trained, text).tokens)\n"
        f"print(vocabularies.by_model(models.load({loaded.card.id!r}).tokenizer, text).tokens)"
    )
