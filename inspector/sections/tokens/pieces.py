"""One text, many vocabularies: one text as characters, words, WordPiece, BPE and unigram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

import pandas as pd

import models
from inspector import examples, vocabularies
from inspector.costs import clock
from inspector.plots.tokens import chips
from inspector.sections import names
from inspector.sections.section import Block, Figure, Mark, Note, Section, Sentence, Table
from inspector.sections.tokens import corpus as corpora
from inspector.text import plain
from inspector.vocabularies import Corpus, CutText
from inspector.wording import tokens as wording
from models.config_facts import first_number, text_config
from models.transformer.config import TransformerConfig

if TYPE_CHECKING:
    from inspector.costs.clock import LayerShape
    from inspector.sections.subject import Subject

words = wording.pieces

CHARACTERS = "characters"  # a way that needs no vocabulary
CHINESE = "mini-bert-zh"  # which cuts any other text into its characters, a row that is drawn already
OTHERS = ("minilm", "mini-bert", "mini-gpt", "translator", CHINESE)
"""The models whose vocabularies stand beside the sidebar's, but for those that share its vocabulary."""


def answer(subject: Subject, *, corpus: tuple[str, ...], pieces: int) -> Iterator[Block]:
    """Yield the text in every vocabulary, and what each costs."""
    learned = Corpus.of("\n".join(corpus))
    text, loaded = subject.trace.text, subject.model
    read = vocabularies.checked(text[: vocabularies.MOST_READ], what="text")
    others = [id for id in _others(subject) if id != CHINESE or examples.reads(id, read)]
    ids = {short(id): id for id in (loaded.card.id, *others)}
    with names.told(words.CUTTING, instead=words.CUTTING_INSTEAD):
        ways = _ways(subject, read, learned, pieces=pieces, ids=ids)
    mine, blanks = short(loaded.card.id), " " in read.strip()
    compared = (CHARACTERS, mine)
    marks = tuple(Mark("ways", {"vocabulary": name}) for name in compared)
    named = words.KINDS | {
        name: words.shortened(names.base_name(loaded) if id == loaded.card.id else names.named(id))
        for name, id in ids.items()
    }
    model = plain(names.base_name(loaded))
    yield Sentence(cutting(ways, mine, model=model), words.TERMS, marks)
    width = chips.NARROW if subject.narrow else chips.WIDE
    titles = {name: words.row(named[name], len(way)) for name, way in ways.items()}
    rows = {titles[name]: way for name, way in ways.items()}
    yield Figure(
        "ways",
        "",
        partial(chips.ways, rows, framed=[titles[name] for name in compared], width=width),
        words.WAYS_ALT,
        _code(read, learned, pieces=pieces, ids=ids),
        vocabularies.tokens(ways),
        note=words.READ_SO,
        name="vocabularies",
    )
    if len(text) > len(read):
        yield Note(words.cut_of(len(read), len(text)))
    if (shown := chips.drawn(read, width=width)) < len(read):
        yield Note(words.drawn_of(shown, len(read)))
    with names.told(words.CUTTING, instead=words.CUTTING_INSTEAD):
        table = _costs(subject, ways)
    told = table.assign(way=[named[way] for way in table["way"]], unknown_share=100 * table["unknown_share"])
    yield Table(
        "tokens-by-vocabulary",
        told.drop(columns="unknown"),
        words=words.COLUMNS,
        folded=False,
        height=35 * (len(table) + 1) + 3,
    )
    yield Note(words.explained(model=model, pieces=pieces, blanks=blanks))
    own = table.set_index("way").loc[mine]
    yield Note(
        words.trade_off(
            model=model,
            width=_width(loaded),
            tokens=int(own["tokens"]),
            shortest=int(table["tokens"].min()),
            vocabulary=int(own["vocabulary"]),
            flops=int(own["flops"]) if "flops" in table else None,
            encoder=loaded.shape == "encoder-decoder",
        )
    )


def cutting(ways: Mapping[str, CutText], mine: str, *, model: str) -> str:
    """Say how long the text is in characters and in a model's pieces; mine: its way among the others."""
    as_words, as_pieces = ways["words"], ways[mine]
    lengths = (len(ways[CHARACTERS]), len(as_pieces))
    return words.cutting(
        characters=lengths[0],
        pieces=lengths[1],
        unknown=(as_words.unknown / len(as_words), as_pieces.unknown / len(as_pieces)),
        times=(max(lengths) / min(lengths)) ** 2,
        model=model,
    )


def short(id: str) -> str:
    """Name a model in a row: its id without switches and folders."""
    return id.partition("?")[0].rstrip("/").rpartition("/")[2][:24]


def _ways(subject: Subject, text: str, corpus: Corpus, *, pieces: int, ids: Mapping[str, str]) -> dict[str, CutText]:
    """Cut the text in every vocabulary, once: those of the corpus, then the model's, then the others'."""

    def learned() -> dict[str, CutText]:
        return {
            kind: vocabularies.by_library(
                vocabularies.train(kind, corpus, pieces=pieces, least=corpora.LEAST),
                text,
            )
            for kind in vocabularies.KINDS
        }

    ways = dict(subject.of_all(("vocabularies", text, corpus.text, pieces), learned))
    for name, id in ids.items():
        tokenizer = subject.model.tokenizer if id == subject.model.card.id else _tokenizer(id)
        ways[name] = subject.of_model(("vocabulary", id, text), partial(vocabularies.by_model, tokenizer, text))
    return ways


_tokenizer = cache(models.load_tokenizer)  # of five models, without their weights


def _others(subject: Subject) -> list[str]:
    """List the models at hand that read with another vocabulary than the sidebar's."""

    def make() -> list[str]:
        own, found = subject.model.tokenizer.get_vocab(), []
        for id in OTHERS:
            try:
                if _tokenizer(id).get_vocab() != own:
                    found.append(id)
            except ValueError:  # not at hand: the others stand without it
                continue
        return found

    return subject.of_model("other vocabularies", make)


def _costs(subject: Subject, ways: Mapping[str, CutText]) -> pd.DataFrame:
    """Count the costs; of an encoder-decoder, those of the encoder, which reads the text."""
    sites = subject.trace.sites
    layers = len([site for site in sites if site.stream == sites[0].stream])
    layer = subject.of_model("layer shape", partial(_layer, subject.model))
    return vocabularies.costs(ways, width=_width(subject.model), layer=layer, layers=layers)


def _layer(loaded: models.LoadedModel) -> LayerShape | None:
    """Return the shape of the model's layers; None where they have other parts than scores and mix to count."""
    try:
        return clock.layer_shape(loaded.config)
    except ValueError:  # the table is drawn without the column then
        return None


def _width(loaded: models.LoadedModel) -> int:
    """Return the width of the model's embedding."""
    if isinstance(loaded.config, TransformerConfig):
        return loaded.config.width
    sizes = ("embedding_size", "word_embed_proj_dim", "hidden_size", "d_model", "n_embd")
    return first_number(text_config(loaded.config), *sizes)


def _code(text: str, corpus: Corpus, *, pieces: int, ids: Mapping[str, str]) -> str:
    return (
        "import models\nfrom inspector import vocabularies\n\n"
        f"text = {text!r}\ncorpus = vocabularies.Corpus.of({corpus.text!r})\nways = {{}}\n"
        "for kind in vocabularies.KINDS:\n"
        f"    trained = vocabularies.train(kind, corpus, pieces={pieces}, least={corpora.LEAST})\n"
        "    ways[kind] = vocabularies.by_library(trained, text)\n"
        f"for name, id in {dict(ids)!r}.items():\n"
        "    ways[name] = vocabularies.by_model(models.load(id).tokenizer, text)\n"
        "table = vocabularies.tokens(ways)"
    )


SECTION = Section(
    "pieces", words.PIECES, answer, (corpora.CORPUS, corpora.PIECES), needs_model=True, behind=words.CORPUS
)
