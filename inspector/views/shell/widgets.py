"""Widgets that several pages use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from inspector.export import spreadsheet
from inspector.text import plain
from inspector.views.shell import available_models, downloads, link

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from inspector.maps import Arrangement
    from inspector.plots.theme import Scale
    from inspector.trace import Array, AttentionRecord, AttentionSite, Trace

Option = TypeVar("Option", bound=str)
WRAPPED = 60  # chips that stand in as many rows as they need; more of them in a row that scrolls


def untrained() -> None:
    """Say that the model's weights are random, wherever such a model is shown."""
    st.badge("Untrained", icon=":material/casino:", color="orange", help="Random weights: the maps mean nothing.")


def python(lines: str) -> None:
    """Draw Python lines to copy: wrapped, for what scrolls has no focus, and in one colour, for the blue has 3.7:1.

    Where they load a model whose BatchNorm has the statistics of the sidebar's text, the text is given.
    """
    for id in filter(available_models.takes_statistics, available_models.ids()):
        lines = lines.replace(f"models.load({id!r})", f"models.load({id!r}, batch={list(available_models.batch())!r})")
    st.code(lines, language=None, wrap_lines=True)


def number(
    label: str,
    name: str,
    *,
    default: int,
    last: int,
    first: int = 0,
    step: int = 1,
    width: int = 140,
    help: str | None = None,
) -> int:
    """A number from `first` to `last`, kept in the link as `name`; a link out of range is said, and `default` shown."""
    bind = link.bind_number(name, default=default, last=last, first=first)
    return st.number_input(label, first, max(last, first), default, step, key=name, bind=bind, width=width, help=help)


def layer(
    sites: Sequence[AttentionSite], name: str, *, call: str, default: AttentionSite, width: int = 110
) -> AttentionSite:
    """A choice of one of a stream's attentions, by the model's layer.

    name, call: where the link keeps the layer, and which of the layer's attentions where it has several. A link that
    asks for a layer without attention is told which layers attend, and `default` shown.
    """
    attend = sorted({site.layer for site in sites})
    if attend == list(range(len(attend))):
        chosen = number("Layer", name, default=default.layer, last=attend[-1], width=width)
    else:
        bind = link.bind_layer(name, default=default.layer, attend=attend)
        chosen = st.selectbox("Layer", attend, index=attend.index(default.layer), key=name, bind=bind, width=width)
    calls = [site for site in sites if site.layer == chosen]
    if len(calls) == 1:
        return calls[0]
    first = default.call if default.layer == chosen else 0
    return calls[number("Which attention of the layer", call, default=first, last=len(calls) - 1, width=width)]


def decimal(
    label: str, name: str, *, default: float, first: float, last: float, width: int = 140, help: str | None = None
) -> float:
    """The same for a number with decimals, in steps of 0.05."""
    bind = link.bind_number(name, default=default, last=last, first=first)
    return st.number_input(label, first, last, default, 0.05, key=name, bind=bind, width=width, help=help)


def stream(streams: Iterable[str], *, key: str = "stream") -> str:
    """The stream to look at, of those that something has; a choice where there is more than one."""
    streams = list(dict.fromkeys(streams))
    if len(streams) == 1:
        link.bind_choice(key, default=streams[0], options=streams)
        return streams[0]
    return bar("Stream", streams, key)


def bar(
    label: str,
    options: Sequence[Option],
    name: str,
    *,
    default: Option | None = None,
    words: Callable[[Option], str] = str,
    on_change: Callable[[], None] | None = None,
) -> Option:
    """Draw a bar of options of which one is chosen, the first where no default is given; the link keeps it as `name`.

    label: for those who hear the page. words: an option as the page and the link name it.
    """
    chosen = options[0] if default is None else default
    return st.segmented_control(
        label,
        options,
        default=chosen,
        format_func=words,
        key=name,
        bind=link.bind_choice(name, default=chosen, options=options, label=words),
        required=True,
        label_visibility="collapsed",
        on_change=on_change,
        wrap=True,
    )


def colour_scale(*, long: bool) -> Scale:
    """Let the reader choose linear or square-root colour: long texts, whose weights are small, start with the root."""
    if long:
        linear = st.toggle(
            "Linear colour",
            key="linear",
            bind=link.bind_switch("linear"),
            help="Lets small weights fade; the numbers stay the same.",
        )
        return "linear" if linear else "sqrt"
    root = st.toggle(
        "Square-root colour",
        key="sqrt",
        bind=link.bind_switch("sqrt"),
        help="Makes small weights visible; the numbers stay the same.",
    )
    return "sqrt" if root else "linear"


def text_with_examples(
    label: str,
    name: str,
    *,
    examples: Mapping[str, str],
    default: str,
    most: int,
    height: int,
    help: str | None = None,
) -> str:
    """Draw a field for a text of up to `most` characters, and its examples as buttons; the link keeps it as `name`."""

    def take(text: str) -> None:
        st.session_state[name] = text

    typed = st.text_area(
        label,
        default,
        max_chars=most,
        key=name,
        bind=link.bind_words(name, default=default, most=most),
        persist_state="session",
        help=help,
        height=height,
    )
    with st.container(horizontal=True, gap="small"):
        for example, text in examples.items():
            st.button(example, key=f"{name}-{example}", on_click=take, args=(text,), type="tertiary")
    return typed or ""


def token_chips(
    tokens: Mapping[int, str], *, key: str, on_change: Callable[[], None], label: str = "Tokens"
) -> list[int]:
    """A row of tokens by position to click or to reach with Tab, any number of them chosen; their positions.

    The marks of word pieces are dimmed, and a small number, the position, tells tokens that repeat apart.
    """

    def name(position: int) -> str:
        token = visible(tokens[position])
        shown = cut(token)
        mark = next((mark for mark in ("##", "▁", "Ġ") if shown.startswith(mark) and shown != mark), "")
        dimmed = f":gray[{plain(mark)}]" if mark else ""
        return f"{dimmed}{plain(shown.removeprefix(mark))} :gray[:small[{position}]]"

    from inspector.text import cut, visible

    chosen: list[int] = st.pills(
        label,
        list(tokens),
        format_func=name,
        selection_mode="multi",
        key=key,
        on_change=on_change,
        wrap=len(tokens) <= WRAPPED,
    )
    return chosen


def chart(figure: go.Figure, *, alt: str, key: str) -> None:
    """A figure as wide as its place, without files (see views/figures/chart.py); `alt` is read aloud."""
    config = {"displayModeBar": False, "responsive": True}
    st.plotly_chart(figure, width="stretch", theme=None, key=key, alt=alt, config=config)


def cards(numbers: Iterable[tuple[str, str, str]], *, width: int = 134) -> None:
    """A row of (name, number with its unit, what it means), `width` pixels each, wrapping where the page is narrow."""
    with st.container(horizontal=True, gap="small"):
        for name, number, meaning in numbers:
            st.metric(name, number, help=meaning, border=True, width=width)


def numbers(found: Iterable[tuple[str, str, str]], *, of: str = "", about: str = "") -> None:
    """One line of (name, number with its unit, what it means); the meanings open with the mark at its end.

    of: what the numbers describe, behind them; about: the paragraph before the meanings.
    """
    found = list(found)
    said = " · ".join(f"{_within_a_line(name)} **{number}**" for name, number, _ in found)
    meanings = "\n".join(f"- **{name}**: {meaning}" for name, _, meaning in found)
    st.markdown(said + of, help=about + meanings, width="content")


def _within_a_line(name: str) -> str:
    """Begin a name with a small letter, unless its first word has capitals inside: "entropy", but "RoPE's product"."""
    first, _, _ = name.partition(" ")
    return name if any(letter.isupper() for letter in first[1:]) else f"{name[0].lower()}{name[1:]}"


def table(frame: pd.DataFrame, *, name: str, height: int | None = None, words: Mapping[str, str] | None = None) -> None:
    """A table with numbers to three significant digits, or whole, and its download with all digits.

    words: the heads of columns as the page calls them; the download has the columns' own names.
    """
    heads = words or {}
    numbers: dict[str, Any] = {column: st.column_config.Column(head) for column, head in heads.items()}
    numbers |= {
        column: st.column_config.NumberColumn(heads.get(column), format="%.3g")
        for column in frame.select_dtypes("float").columns
    }
    numbers |= {
        column: st.column_config.NumberColumn(heads.get(column), format="localized")
        for column in frame.select_dtypes("integer").columns
    }
    st.dataframe(frame, hide_index=True, column_config=numbers, height=height or "auto", placeholder="–")
    downloads.button(f"{name}.csv", lambda: spreadsheet.csv(frame), label="Table as CSV")


def head_numbers(row: pd.Series, *, tokens: int) -> list[tuple[str, str, str]]:
    """The open head's measures as cards; `row` of heads.measure with its label."""
    from inspector.components.grid.roles import MEANINGS

    cards = [
        (
            "Mostly",
            row["label"],
            MEANINGS.get(
                row["label"],
                "It reaches the threshold of no role; point at a role above the grid to read its threshold.",
            ),
        ),
        (
            "Entropy",
            f"{row['entropy']:.3g} nats",
            f"-Σ A ln A, mean over queries; at most ln {tokens} = "
            f"{math.log(tokens):.3g}, so {row['relative_entropy']:.0%} of it (Clark et al. 2019)",
        ),
        ("Distance", f"{row['distance']:.3g} tok.", "Tokens: Σ A |i - j|, mean over queries (Vig & Belinkov 2019)"),
        (
            "Confidence",
            f"{row['confidence']:.3g}",
            "Largest weight of a row, mean over queries, the end token left out (Voita et al. 2019)",
        ),
        ("To [CLS]", f"{row['cls']:.3g}", "Weight on [CLS], mean over queries (Clark et al. 2019)"),
        ("To [SEP]", f"{row['sep']:.3g}", "Weight on [SEP], mean over queries (Clark et al. 2019)"),
    ]
    return [card for card in cards if not card[1].startswith("nan")]  # without [CLS], or between two texts


def softmax(record: AttentionRecord) -> str:
    """The formula of a call's weights as LaTeX with its own numbers: "A = softmax(QK^T / sqrt(d_k)) with d_k = 32".

    A sigmoid is written as such, and linear attention as the quotient that it is.
    """
    from inspector.explain import formula
    from models.attention.functions import ComposedAttention
    from models.attention.scores import LinearScore

    function, width = record.function, record.query.shape[-1]  # 0 where the scores were seen and no query
    with_width = f" with $d_k$ = {width}" if width else ""
    if isinstance(function, ComposedAttention) and function.score == LinearScore():
        return (
            r"$A_{ij} = \phi(q_i) \cdot \phi(k_j) \,/\, \sum_t \phi(q_i) \cdot \phi(k_t)$, "
            rf"$\phi = \mathrm{{elu}} + 1${with_width}"
        )
    if not function.normalised:
        return rf"$A = \sigma({formula(record)})$, $n$ the keys that a query sees{with_width and ','}{with_width}"
    return rf"$A = \mathrm{{softmax}}({formula(record)})$" + with_width


def what_is_drawn(trace: Trace, shown: Arrangement, weights: Array, *, site: AttentionSite) -> str:
    """Write the paragraph under a map: the formula with its numbers, and what was hidden or merged."""
    stream = site.stream
    keys = trace.encoding if stream == "cross" else trace.read_by(stream)
    record = trace.record_of(site.layer, stream, call=site.call)
    sentences = [f"{softmax(record)}: row = query, column = key, no unit."]
    if stream != "encoder":
        sentences.append("A row is named by the token read and the token predicted (→).")
    if stream == "cross":
        sentences.append("Keys and values are the source text.")
    if len(shown.keys.positions) < len(keys):
        sums = weights.sum(axis=-1)
        again = " again" if record.function.normalised else ", which a sigmoid's rows need not"
        left = f"{sums.min():.3g} to {sums.max():.3g}"
        sentences.append(
            f"Special tokens are hidden and each row is divided by what is left, so it sums to 1{again}."
            if shown.renormalise
            else f"Special tokens are hidden with their weight: rows sum to {left}."
        )
    elif record.function.sinks:
        sums = weights.sum(axis=-1)
        sentences.append(
            f"A part of each row goes to what is no key of the text (a learned sink, or keys beside it): rows sum to "
            f"{sums.min():.3g} to {sums.max():.3g}."
        )
    elif not record.function.normalised:
        sums = weights.sum(axis=-1)
        sentences.append(
            f"Each weight is made by itself, so rows need not sum to 1: here to {sums.min():.3g} to {sums.max():.3g}."
        )
    else:
        sentences.append("Each row sums to 1.")
    if max(shown.keys.sizes.max(), shown.queries.sizes.max()) > 1:
        sentences.append("To a word: the sum over its pieces; from a word: the mean (Clark et al. 2019, 4.1).")
    return " ".join(sentences)
