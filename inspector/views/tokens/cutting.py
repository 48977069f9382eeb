"""One word cut: WordPiece's longest match, and unigram's likeliest row of pieces with what pruning would take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from inspector.plots.tokens import merges as draw
from inspector.readings.tokens import merges as read
from inspector.views.figures import chart
from inspector.views.shell import link, session, widgets
from inspector.views.tokens import corpus as corpora
from inspector.wording.english.tokens import merges as words
from models import failures

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from inspector.vocabularies import Corpus

LONGEST = 40  # characters of the word
NEXT = 10  # pieces that are drawn of those to be pruned
RUNNERS_UP = 5
WORDPIECE = "minilm"  # the model with BERT's own vocabulary


@dataclass(frozen=True)
class Trained:
    """Three tokenizers of one corpus, unigram's scores, and what the corpus loses without each of its pieces."""

    wordpiece: Tokenizer
    bpe: Tokenizer
    scores: dict[str, float]
    losses: pd.DataFrame


def show(corpus: Corpus, *, pieces: int) -> None:
    """Draw both ways through a word of the reader's."""
    st.subheader("One word, cut", anchor=False)
    with failures.told("Learning pieces from this corpus", instead="Choose another corpus."):
        trained = session.cached(("cutting", corpus.text, pieces), partial(_train, corpus, pieces))
    word = _word(corpus)
    try:
        _matched(word, trained)
        _likeliest(word, trained, corpus, pieces)
    except ValueError as error:
        session.show_problem(str(error))


def _train(corpus: Corpus, pieces: int) -> Trained:
    from inspector import vocabularies

    train = partial(vocabularies.train, corpus=corpus, pieces=pieces, least=corpora.LEAST)
    scores = vocabularies.scores(train("unigram"))
    return Trained(train("wordpiece"), train("bpe"), scores, vocabularies.losses(corpus.marked, scores))


def _word(corpus: Corpus) -> str:
    """Let the reader write a word; a long and rare word of the corpus stands there first."""
    first = max(reversed(corpus.split), key=len)[:LONGEST]
    typed = st.text_input(
        "Word",
        first,
        max_chars=LONGEST,
        key="word",
        bind=link.bind_words("word", default=first, most=LONGEST),
        width=320,
        help="Blanks are left out: each way cuts one word at a time.",
    )
    return "".join((typed or "").split()) or first


def _matched(word: str, trained: Trained) -> None:
    from inspector import vocabularies

    vocabularies.checked(word, what="word")
    pieces = vocabularies.longest_match(word, trained.wordpiece.get_vocab())
    bpe = [token.value for token in trained.bpe.model.tokenize(f"▁{word}")]
    tokenizer = session.load(WORDPIECE).tokenizer
    st.markdown(
        words.matched(word, pieces=pieces, bpe=bpe, model=WORDPIECE, by_model=tokenizer.tokenize(word) or ["[UNK]"])
    )
    if "[UNK]" not in pieces:
        widgets.table(
            read.matching(word, pieces, prefix="##"),
            name="longest-match",
            words={"rest": "rest of the word", "tried": "longer, not in the vocabulary", "taken": "taken"},
        )


def _likeliest(word: str, trained: Trained, corpus: Corpus, pieces: int) -> None:
    from inspector import vocabularies

    found = vocabularies.segmentations(f"▁{word}", trained.scores, most=RUNNERS_UP)
    st.markdown(words.likeliest(f"▁{word}", found, trained.scores))
    losses = trained.losses
    left, right = st.columns([3, 2], gap="medium")
    with left:
        widgets.table(
            pd.DataFrame([(" ".join(way.pieces), way.log_probability) for way in found], columns=["pieces", "log_p"]),
            name="segmentations",
            words={"pieces": "ways to cut it, the best first", "log_p": "log P (nats)"},
        )
        used = losses[losses["loss"] > 0]
        st.markdown(
            words.pruned(
                next_to_go=losses["piece"].head(3).tolist(),
                last_to_go=used["piece"].tail(3).tolist()[::-1],
                pieces=len(losses),
            )
        )
        st.caption(words.UNIGRAM)
    if losses.empty:
        return
    with right:
        st.markdown("**The next pieces to be pruned**")
        chart.show(
            partial(draw.losses, losses, top=NEXT),
            alt="log-likelihood that the corpus loses without each piece",
            key="losses",
            name="unigram-losses",
            python="from inspector import vocabularies\n\n"
            f"corpus = vocabularies.Corpus.of({corpus.text!r})\n"
            f"scores = vocabularies.scores(vocabularies.train('unigram', corpus, pieces={pieces}))\n"
            "table = vocabularies.losses(corpus.marked, scores)",
            table=losses,
        )
