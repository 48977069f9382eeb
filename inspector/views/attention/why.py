"""The panel Why this weight: one cell of the open head, rebuilt in front of the reader from its query and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.plots import theme
from inspector.views.shell import link, session, site_words, widgets

if TYPE_CHECKING:
    from inspector.explain import Explanation, Step
    from inspector.trace import AttentionSite, Trace
    from inspector.views.shell.session import Inspected

TURNED = "q and k are recorded after RoPE: both are already turned by the angle of their position (Su et al. 2021)."
NOT_SEEN = (
    "This model computes its attention by itself and shows its scores alone, so q and k are not known: only the "
    "softmax can be rebuilt. Its dot products, scale, mask and whatever it adds are all in the score."
)


def draw(inspected: Inspected, *, site: AttentionSite, number: int, query: int | None, key: int | None) -> None:
    """The panel of the cell that the reader chose, where it is open; None: of a query and key worth seeing."""
    shown = st.toggle(
        "Why this weight",
        key="why",
        bind=link.bind_switch("why"),
        help="One cell rebuilt: query and key, their products, scale, bias, mask, softmax.",
    )
    if not shown:
        return
    from inspector.explain import why

    trace, stream = inspected.trace, site.stream
    query = telling_query(trace, stream) if query is None else query
    key = _telling_key(trace, site, number=number, query=query) if key is None else key
    with st.container(border=True):
        _choice(trace, stream=stream, query=query, key=key)
        cell = why(trace, layer=site.layer, head=number, query=query, key=key, stream=stream, call=site.call)
        st.markdown(_equation(cell))
        widgets.cards(_cards(cell), width=158)
        _verdict(cell)
        if len(cell.products):
            _dimensions(cell, turned=_turned(inspected, stream))
        else:
            st.caption(NOT_SEEN)
        where = f"{stream}-{site_words.in_file(site)}-head{number}-cell{query}-{key}"
        _tables(cell, name=f"{trace.model.replace('/', '-')}-{where}")


# --- which cell --------------------------------------------------------------------------------------------------


def telling_query(trace: Trace, stream: str) -> int:
    """The first token that the tokenizer did not add."""
    return next((at for at, special in enumerate(trace.read_by(stream).special) if not special), 0)


def _telling_key(trace: Trace, site: AttentionSite, *, number: int, query: int) -> int:
    """The key with the largest weight of the row that is no special token."""
    keys = trace.encoding if site.stream == "cross" else trace.read_by(site.stream)
    row = trace.window(
        layer=site.layer,
        head=number,
        stream=site.stream,
        call=site.call,
        queries=slice(query, query + 1),
        keys=slice(None),
    )[0]
    return int(np.where(keys.special, -1.0, row).argmax())


def _choice(trace: Trace, *, stream: str, query: int, key: int) -> None:
    site = trace.sites_of(stream)[0]
    st.session_state["why query"], st.session_state["why key"] = query, key

    def choose_query() -> None:
        link.assign("query", (st.session_state["why query"],))
        link.assign("key", None)

    def choose_key() -> None:
        link.assign("key", st.session_state["why key"])

    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, tokens, follow in (("Query", site.queries, choose_query), ("Key", site.keys, choose_key)):
            names = [f"{position} {theme.visible(token)}" for position, token in enumerate(tokens)]
            st.selectbox(
                label,
                range(len(tokens)),
                format_func=names.__getitem__,
                key=f"why {label.lower()}",
                on_change=follow,
                width=170,
            )
        st.toggle("Largest product first", key="why_sorted", bind=link.bind_switch("why_sorted"))


# --- the way from the dot product to the weight -------------------------------------------------------------------


def _equation(cell: Explanation) -> str:
    """The whole way in one line of mathematics, its numbers filled in."""
    numbers = ""
    for step in cell.steps[:-2]:
        operand = "" if step.operand is None else _tex(step.operand)
        match step.name:
            case "dot product":
                numbers = _tex(step.value)
            case "scale" if step.operand != 1:
                numbers = rf"{numbers} \times {operand}"
            case "soft-cap":
                numbers = rf"{operand}\,\tanh\frac{{{numbers}}}{{{operand}}}"
            case "bias":
                numbers = f"{numbers} + {operand}" if step.operand and step.operand >= 0 else f"{numbers} {operand}"
    score = f"$s = {numbers} = {_tex(cell.score)}$" if numbers else f"$s = {_tex(cell.score)}$"
    if cell.hidden is not None:
        score += f" (masked: {cell.hidden})"
    total = r"\log\sum_j e^{s_j}" if cell.sink is None else r"\log(\sum_j e^{s_j} + e^{\mathrm{sink}})"
    less = f"- {_tex(cell.normaliser)}" if cell.normaliser >= 0 else f"+ {_tex(-cell.normaliser)}"
    weight = rf"e^{{\,{_tex(cell.score)} {less}}} = {_tex(cell.weight)}"
    return rf"{score}, $\;A = e^{{\,s - {total}}} = {weight}$"


def _cards(cell: Explanation) -> list[tuple[str, str, str]]:
    return [_card(cell, step) for step in cell.steps if step.name != "mask" or cell.hidden is not None]


def _card(cell: Explanation, step: Step) -> tuple[str, str, str]:
    exact = f"Exactly {step.value:.9g}"
    by = "" if step.operand is None else theme.number(step.operand)
    name, meaning = {
        "dot product": ("q · k", f"The sum of {len(cell.products)} products. {cell.meeting}"),
        "score": ("score s", "What goes into the softmax, as the model made it."),
        "scale": (f"× {by}", "The scale, 1/√d in most models; T5 has none, so it is 1 there."),
        "soft-cap": (f"soft-cap {by}", f"{by} tanh(s / {by}) keeps scores within ±{by} (Gemma 2)."),
        "bias": (f"+ bias {by}", f"{cell.bias}."),
        "mask": ("mask", f"The key is {cell.hidden}."),
        "normaliser": (f"− {by}" if (step.operand or 0) >= 0 else f"+ {by[1:]}", _normaliser(cell)),
        "weight": ("e to that: weight", f"Rank {cell.rank} of {cell.seen} keys that this query sees."),
    }[step.name]
    operand = "" if step.operand is None else f" (by {step.operand:.9g})"
    return name, theme.number(step.value), f"{meaning} {exact}{operand}."


def _normaliser(cell: Explanation) -> str:
    beside = "" if cell.sink is None else f" and {theme.number(cell.sink)} of what is no key of the text (a sink)"
    return f"The log of the row's sum of e to the score, over the {cell.seen} keys that the query sees{beside}."


def _verdict(cell: Explanation) -> None:
    """Say if the rebuilt number equals the recorded number, and give the key's rank in its row."""
    if not cell.holds:
        more = f" It was also given {', '.join(cell.more)}." if cell.more else ""
        session.show_problem(
            f"Rebuilt {cell.weight:.6g}, recorded {cell.recorded:.6g}: this model's attention has more to it than the "
            f"steps above, so they do not explain this weight.{more}",
            what="Not rebuilt",
        )
        return
    st.caption(
        f"Rebuilt from q and k alone: {cell.weight:.7g}; in the map: {cell.recorded:.7g}; they differ by "
        f"{abs(cell.difference):.1g}. Rank {cell.rank} of {cell.seen} in its row."
        if cell.hidden is None
        else f"The query does not see this key: it is {cell.hidden}. The map holds {cell.recorded:.7g}."
    )


# --- the dimensions ----------------------------------------------------------------------------------------------


def _dimensions(cell: Explanation, *, turned: str) -> None:
    from inspector.plots import explain as draw_cell

    figure = draw_cell.vectors(cell, largest_first=st.session_state["why_sorted"], mode=session.mode())
    widgets.chart(figure, alt=f"q, k and their products over {len(cell.products)} dimensions", key="why-vectors")
    above, below = cell.products[cell.products > 0].sum(), cell.products[cell.products < 0].sum()
    enough = cell.carriers()
    named = ", ".join(str(dimension) for dimension in enough[:5])
    sentences = [
        cell.meeting,
        f"Products above zero add up to {theme.number(above)}, those below to {theme.number(below)}.",
        f"{len(enough)} of {len(cell.products)} dimensions make 80 % of the dot product, the largest first: {named}"
        f"{' …' if len(enough) > 5 else ''}.",
        turned,
    ]
    st.caption(" ".join(sentence for sentence in sentences if sentence))


def _turned(inspected: Inspected, stream: str) -> str:
    """Write the sentence on RoPE, "" for a model without RoPE."""
    from inspector.positional import rotates

    if stream == "cross":
        return ""
    try:
        loaded = inspected.loaded
    except ValueError:
        loaded = None
    if loaded is None:
        return "In a model with RoPE, q and k are already turned by the angle of their position."
    return TURNED if rotates(loaded.config) else ""


def _tables(cell: Explanation, *, name: str) -> None:
    from inspector import explain

    with st.expander("This cell as tables"):
        widgets.table(explain.way(cell), name=f"{name}-steps")
        if len(cell.products):
            widgets.table(explain.dimensions(cell), name=f"{name}-dimensions", height=240)


def _tex(value: float) -> str:
    """A number as mathematics is set: 1.23e-07 as a power of ten, and what is masked as minus infinity."""
    if np.isinf(value):
        return r"-\infty"
    digits, _, power = theme.number(value).partition("e")
    digits = digits.replace(",", r"{,}")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits
