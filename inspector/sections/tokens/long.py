"""Long texts: truncation, windows and hierarchy, and what each loses against full attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from inspector.components.matrix import Panel
from inspector.long_texts import MOST, NAMES, PAGES, Name, compare, padded
from inspector.plots.chart import Chart
from inspector.sections import names
from inspector.sections.picks import Count, Option
from inspector.sections.section import (
    Block,
    Figure,
    Map,
    Mark,
    Note,
    Number,
    Numbers,
    Paragraph,
    Section,
    Sentence,
    Table,
)
from inspector.sections.subject import given
from inspector.text import plain
from inspector.wording import tokens as wording

if TYPE_CHECKING:
    from inspector.long_texts import BookPage, ReadingComparison
    from inspector.sections.subject import Subject
    from inspector.trace import Trace

words = wording.long

OWN = "own"
SMOOTH = 9  # tokens whose mean is drawn, so that the lines can be told apart
FEWEST = 8  # tokens of a piece, special ones included
TOLD = ["way", "reach", "dropped", "times", "cosine", "cut"]  # columns of the table that stands open
WHOLE: tuple[Name, ...] = ("windows", "chunks")  # ways that read a text of any length


def answer(subject: Subject, *, page: str) -> Iterator[Block]:
    """Yield the part with the length of a piece, for the chosen text."""
    read = subject
    if page != OWN and subject.model.shape != "encoder-decoder":  # which would write to it; `compare` says why not
        read = subject.in_model(subject.trace.model, _book_page(page).text)
    at_once, most = len(read.trace.encoding), subject.model.max_tokens
    piece = replace(
        PIECE,
        default=lambda subject: min(max(FEWEST, at_once // 4), most),
        first_value=min(FEWEST, most),
        last=lambda subject: most,
    )
    yield replace(PIECES, answer=partial(_pieces, read=read, page=page), picks=(piece,))


def _pieces(subject: Subject, *, piece: int, read: Subject, page: str) -> Iterator[Block]:
    """Yield the part with what two windows share, for the chosen piece."""
    room = piece - sum(read.trace.encoding.special)
    overlap = replace(OVERLAP, default=lambda subject: max(room // 2, 0), last=lambda subject: max(room - 1, 0))
    yield replace(WAYS, answer=partial(_ways, read=read, page=page, piece=piece), picks=(overlap, WAY))


def _ways(subject: Subject, *, overlap: int, way: Name, read: Subject, page: str, piece: int) -> Iterator[Block]:
    """Yield what each way keeps, token by token, its numbers, the weight cut off, and padding."""
    loaded, trace = read.model, read.trace

    def make() -> ReadingComparison:
        with (
            names.told(words.READING, instead=words.READING_INSTEAD, loaded=loaded),
            subject.progress(words.READING, unit=words.PASS) as on_progress,
        ):
            return compare(loaded, trace, budget=piece, overlap=overlap, on_progress=on_progress)

    found = read.of_text(("long texts", piece, overlap), make)
    lengths = words.Lengths(len(trace.encoding), whole_length(trace), loaded.max_tokens, piece)
    name = plain(names.name(loaded))
    said = losing(found.table, way, lengths, model=name, text=_named(page))
    yield Sentence(said, words.TERMS, (Mark("long-cosines", {"way": way}),))
    code = _code(trace, page, piece=piece, overlap=overlap)
    yield Figure(
        "long-cosines",
        "",
        cosines(found.cosines, tokens=found.tokens, chosen=way),
        words.COSINES_ALT,
        f"import pandas as pd\n\n{code}table = pd.DataFrame(found.cosines)"
        '.melt(ignore_index=False, var_name="way", value_name="cosine").rename_axis("position").reset_index()',
        pd.DataFrame(found.cosines)
        .melt(ignore_index=False, var_name="way", value_name="cosine")
        .rename_axis("position")
        .reset_index(),
        note="" if page == OWN else words.source(_book_page(page)),
    )
    numbers = words.numbers(**kept(found.table, way))
    yield Numbers(tuple(Number(*one) for one in numbers), words.of_way(way))
    shown = lines(found, whole=lengths.whole, names=words.WAYS)
    yield Table("long-texts", shown[TOLD], words=words.COLUMNS, folded=False)
    yield Table("long-texts-all", shown, words.EVERY_NUMBER, words.COLUMNS)
    passes = found.table.set_index("way")["passes"]
    chunks = int(passes["chunks"])
    counted = words.windows(
        tokens=len(found.tokens),
        room=piece - found.specials,
        overlap=overlap,
        passes=int(passes["windows"]),
        chunks=chunks,
    )
    how = (Paragraph(counted), Note(words.ways(chunks=chunks, plain=found.plain, hidden=found.guessed or None)))
    yield replace(HOW, answer=lambda subject: iter(how))
    yield _cut(found, trace, way, code)
    yield _padding(read, piece=piece)


def cosines(values: Mapping[Name, NDArray[np.float64]], *, tokens: Sequence[str], chosen: Name) -> Chart:
    """Draw the chosen way's cosine with full attention by position, the mean of SMOOTH tokens, the others in grey.

    values: [n] for each way, NaN where a token is dropped, which leaves a gap.
    """
    series = [
        pd.DataFrame({"position": range(len(found)), "token": tokens, "way": way, "cosine": smoothed(found)}).assign(
            named=words.WAYS[way], opacity=1.0 if way == chosen else 0.5
        )
        for way, found in sorted(values.items(), key=lambda item: item[0] == chosen)  # the chosen one above the others
    ]
    others = [way for way in values if way != chosen]
    listed = dict.fromkeys(others, "") | dict.fromkeys(others[:1], words.OTHER_WAYS)
    return Chart(
        pd.concat(series),
        "position",
        "cosine",
        "curves",
        by="way",
        names={**words.WAYS, **listed},
        parts={**dict.fromkeys(values, "muted"), chosen: "attention"},
        sizes={**dict.fromkeys(values, 1.2), chosen: 3.5},
        opacity="opacity",
        hover={"token": "", "named": ""},
        x_title=words.TOKEN,
        y_title=words.smoothed(SMOOTH),
        title=words.COSINES,
        x_range=(-1, len(tokens)),
        y_format=".2~f",
        height=380,
    )


def smoothed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average each value with its neighbours, SMOOTH in all, over what is there; NaN stays NaN."""
    there = ~np.isnan(values)
    ones = np.ones(SMOOTH)
    sums, counts = (np.convolve(one, ones, mode="full") for one in (np.where(there, values, 0.0), there.astype(float)))
    inside = slice(SMOOTH // 2, SMOOTH // 2 + len(values))
    return np.where(there, sums[inside] / np.maximum(counts[inside], 1), np.nan)


def _cut(found: ReadingComparison, trace: Trace, way: Name, code: str) -> Map:
    """Draw the share of full attention's weight that a way cuts off, head by head."""
    shares = found.cut[way]
    panel = Panel(
        shares.astype(np.float32),
        rows=[site.name.capitalize() for site in trace.sites],
        columns=[words.head(head) for head in range(shares.shape[1])],
    )
    return Map(
        "long-cut",
        words.CUT_OFF,
        (panel,),
        row_title=words.LAYER,
        column_title=words.HEAD,
        alt=words.CUT_ALT,
        quantity=words.SHARE,
        numbered="neither",
        top=1.0,
        code=f"{code}table = found.cut[{way!r}]",
        note=cut(shares, way, layers=[site.name for site in trace.sites]),
        name=f"cut-{way}",
    )


def _padding(read: Subject, *, piece: int) -> Paragraph | Note:
    """Say what padding costs and changes."""
    columns = min(read.model.max_tokens, MOST)
    try:
        found = read.of_text(
            ("padded", piece, columns), lambda: padded(read.model, read.trace, budget=piece, columns=columns)
        )
    except ValueError as error:
        return Note(plain(words.not_counted(str(error))), words.PADDING)
    return Paragraph(words.padding(found), words.PADDING)


def losing(table: pd.DataFrame, way: Name, lengths: words.Lengths, *, model: str, text: str) -> str:
    """Say what a way keeps, and how far the model reads at once; table: of `compare`."""
    row = table.set_index("way").loc[way]
    cosine, dropped = float(row["cosine"]), float(row["dropped"])
    return words.losing(way, lengths, cosine=cosine, dropped=dropped, model=model, text=text)


def kept(table: pd.DataFrame, way: Name) -> dict[str, float]:
    """Read one way's numbers; table: of `compare`. times: its FLOPs divided by full attention's."""
    rows = table.set_index("way")
    shown = ("dropped", "cosine", "vector", "cut", "loss", "loss_full")
    times = float(rows["flops"][way]) / float(rows["flops"]["full"])
    return {name: float(rows[name][way]) for name in shown} | {"times": times}


def whole_length(trace: Trace) -> int:
    """Count the tokens of the text before it was cut to what the model reads, special ones included."""
    cut = trace.cut
    return cut.total if cut is not None and cut.unit == "tokens" else len(trace.encoding)


def lines(found: ReadingComparison, *, whole: int, names: Mapping[Name, str]) -> pd.DataFrame:
    """Lay out the table as the page shows it: shares in percent, FLOPs beside full attention's.

    reach: share of the whole text, beyond what the model reads at once, that the way gives a state.
    """
    table = found.table
    tokens = whole - found.specials
    reach = [
        100.0 if name in WHOLE else 100 * kept / tokens for name, kept in zip(table.way, table.tokens, strict=True)
    ]
    shown = pd.DataFrame(
        {
            "way": [names[name] for name in table["way"]],
            "reach": reach,
            "dropped": 100 * table["dropped"],
            "passes": table["passes"],
            "runs": table["runs"],
            "times": table["flops"] / float(table["flops"].iloc[0]),
            **{name: table[name] for name in ("cosine", "worst", "vector")},
            "cut": 100 * table["cut"],
        }
    )
    if not found.guessed:
        return shown
    return shown.assign(
        loss=table["loss"],
        loss_full=table["loss_full"],
        accuracy=100 * table["accuracy"],
        accuracy_full=100 * table["accuracy_full"],
    )


def cut(shares: np.ndarray, way: Name, *, layers: list[str]) -> str:
    """Say how much of full attention's weight a way cuts off, and in which head most; shares: [L, H], NaN for none."""
    layer, head = np.unravel_index(np.nanargmax(shares), shares.shape)
    most = (float(shares[layer, head]), layers[int(layer)], int(head))
    return words.cut(way, mean=float(np.nanmean(shares)), most=most)


def _named(page: str) -> str:
    return words.YOURS if page == OWN else words.page(_book_page(page))


def _book_page(page: str) -> BookPage:
    return next(found for name, found in PAGES.items() if name == page)


def _first_page(subject: Subject) -> str:
    return "home" if subject.trace.model.partition("?")[0] == "mini-bert-zh" else "pride"


def _code(trace: Trace, page: str, *, piece: int, overlap: int) -> str:
    text = given(trace) if page == OWN else f"PAGES[{page!r}].text"
    return (
        "import inspector, models\nfrom inspector.long_texts import *\n\n"
        f"loaded = models.load({trace.model!r})\ntrace = inspector.record(loaded, {text})\n"
        f"found = compare(loaded, trace, budget={piece}, overlap={overlap})\n"
    )


PIECE = Count(
    "piece", words.PIECE, lambda subject: subject.model.max_tokens, lambda subject: FEWEST, help=words.PIECE_HELP
)
OVERLAP = Count("overlap", words.OVERLAP, lambda subject: 0, lambda subject: 0, width=160)
WAY = Option(
    "way",
    words.WAY,
    lambda subject: {name: words.WAYS[name] for name in NAMES},
    lambda subject: "windows",
    look="list",
    width=190,
)
HOW = Section("long_how", words.HOW, lambda subject: iter(()), folded=True)
PIECES = Section("pieces", "", _pieces, (PIECE,))
WAYS = Section("ways", "", _ways, (OVERLAP, WAY))
SECTION = Section(
    "long",
    words.LONG,
    answer,
    (Option("page", words.TEXT, lambda subject: words.TEXTS, _first_page, look="list", width=200),),
    needs_model=True,
    long=True,
    parts=(PIECES, WAYS, HOW),
)
