"""The panel Why this weight: one cell of the open head, rebuilt in front of the reader from its query and its key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.export import python, spreadsheet
from inspector.plots import theme
from inspector.views.components.steps import Shown, steps
from inspector.views.figures import chart, menu
from inspector.views.shell import link, session, site_words, widgets

if TYPE_CHECKING:
    from inspector.explain import Explanation, Step
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode
    from inspector.trace import AttentionSite, Trace
    from inspector.views.shell.session import Inspected

MOST_KEYS = 24  # keys whose steps are drawn
TURNED = "q and k are recorded after RoPE: both are already turned by the angle of their position (Su et al. 2021)."
NOT_SEEN = (
    "This model computes its attention by itself and shows its scores alone, so q and k are not known: only the "
    "softmax can be rebuilt. Its dot products, scale, mask and whatever it adds are all in the score."
)


def draw(inspected: Inspected, *, site: AttentionSite, number: int, query: int | None, key: int | None) -> None:
    """Draw the panel of the cell that the reader chose, where it is open; None: of a query and key worth seeing.

    It wants to stand right below the open head's map, as wide as the map or wider, so that a pinned query is explained
    where it was pinned. Everything in it wraps; its least width is a phone's.
    """
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
        _steps(cell)
        name = f"{trace.model.replace('/', '-')}-{stream}-{site_words.in_file(site)}-head{number}-cell{query}-{key}"
        if cell.holds:
            _files(trace, cell, name=name)
        _verdict(cell)
        if len(cell.products):
            _dimensions(cell, turned=_turned(inspected, stream))
        else:
            st.caption(NOT_SEEN)
        _tables(cell, name=name)


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
            case "logarithm":
                numbers = rf"\ln {numbers}"
            case "scale" if cell.divides:
                numbers = rf"{numbers} \times \tfrac{{1}}{{\sqrt{{{len(cell.products)}}}}}"
            case "scale" if step.operand != 1:
                numbers = rf"{numbers} \times {operand}"
            case "soft-cap":
                numbers = rf"{operand}\,\tanh\frac{{{numbers}}}{{{operand}}}"
            case "bias" | "keys":
                numbers = f"{numbers} + {operand}" if step.operand and step.operand >= 0 else f"{numbers} {operand}"
    score = f"$s = {numbers} = {_tex(cell.score)}$" if numbers else f"$s = {_tex(cell.score)}$"
    if cell.hidden is not None:
        score += f" (masked: {cell.hidden})"
    if not cell.normalised:
        weight = rf"\sigma({_tex(cell.score)}) = {_tex(cell.weight)}"
        return rf"{score}, $\;A = \sigma(s) = \frac{{1}}{{1 + e^{{-s}}}} = {weight}$"
    total = r"\log\sum_j e^{s_j}" if cell.sink is None else r"\log(\sum_j e^{s_j} + e^{\mathrm{sink}})"
    less = f"- {_tex(cell.normaliser)}" if cell.normaliser >= 0 else f"+ {_tex(-cell.normaliser)}"
    weight = rf"e^{{\,{_tex(cell.score)} {less}}} = {_tex(cell.weight)}"
    return rf"{score}, $\;A = e^{{\,s - {total}}} = {weight}$"


def _steps(cell: Explanation) -> None:
    """Draw the steps of the cell, to be played one by one, beside those of the query's other keys."""
    from inspector.plots import explain as draw_cell

    keys = draw_cell.seen_keys(cell, most=MOST_KEYS)
    count = len(cell.row[-1])
    left_out = f"The {len(keys)} of {count} keys with the largest weights are shown." if len(keys) < count else ""
    way: list[Shown] = []
    for at in draw_cell.seen_steps(cell):
        step, numbers = cell.steps[at], cell.row[at][keys]
        way.append(
            {
                "formula": draw_cell.formula(cell, step),
                "value": theme.signed(step.value),
                "meaning": _meaning(cell, step),
                "numbers": [float(number) if np.isfinite(number) else None for number in numbers],
                "told": ["masked" if np.isneginf(number) else theme.signed(float(number)) for number in numbers],
            }
        )
    site = cell.site
    tokens = [site.keys[key] for key in keys]
    steps(way, keys=tokens, positions=keys, chosen=keys.index(cell.key), note=left_out, key="why-steps")


def _files(trace: Trace, cell: Explanation, *, name: str) -> None:
    """Draw Save and Slide under the steps."""
    from inspector import explain
    from inspector.plots import explain as draw_cell

    def picture(mode: Mode) -> Scene:
        return draw_cell.slide(cell, mode=mode)

    menu.draw(
        name,
        key="why",
        pictures=lambda: menu.files(name, picture),
        csv=lambda: spreadsheet.csv(explain.way(cell)),
        slide=lambda: menu.slide(picture, name=f"{name}-slide", key="why"),
        python=python.cell(trace, cell),
    )


def _meaning(cell: Explanation, step: Step) -> str:
    """Say what a step does, with its exact number."""
    by = "" if step.operand is None else theme.signed(step.operand)
    width = len(cell.products)
    share = "the share of the query's attention" if cell.normalised else "the weight, which is no share of a row"
    scale = f"Divided by the root of the width, d_k = {width}: else the scores of wide vectors grow and the softmax "
    meaning = {
        "dot product": f"How well query and key match: the sum of {width} products. {cell.note}",
        "score": "What goes into the softmax, as the model made it.",
        "scale": f"{scale}takes one key alone." if cell.divides else "The scale of this model's scores.",
        "soft-cap": f"{by} tanh(s / {by}) keeps scores within ±{by} (Gemma 2).",
        "bias": f"{cell.bias}.",
        "logarithm": "Linear attention divides this product by the row's sum; the softmax of its logarithm is that.",
        "keys": f"Less the log of n, the {cell.seen} keys that the query sees: weights then start near 1 / n "
        "(Ramapuram et al. 2024).",
        "mask": f"The key is {cell.hidden}.",
        "normaliser": _normaliser(cell),
        "weight": f"e to that: {share}. Rank {cell.rank} of {cell.seen} keys that it sees.",
    }[step.name]
    exact = f"{step.value:.9g}".replace("-", "−")
    return f"{meaning.strip()} Exactly {exact}."


def _normaliser(cell: Explanation) -> str:
    if not cell.normalised:
        return "Less the log of 1 + e to the score: a sigmoid, of this key alone, so the weights of a row need no sum."
    beside = "" if cell.sink is None else f" and {theme.signed(cell.sink)} of what is no key of the text (a sink)"
    return (
        f"Less the log of the sum of e to the score over the {cell.seen} keys that the query sees{beside}: with it "
        "the weights of the row add up to 1."
    )


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
    from inspector import explain
    from inspector.plots import explain as draw_cell

    chart.show(
        partial(draw_cell.vectors, cell, largest_first=st.session_state["why_sorted"]),
        alt=f"q, k and their products over {len(cell.products)} dimensions",
        key="why-vectors",
        table=explain.dimensions(cell),
    )
    above, below = cell.products[cell.products > 0].sum(), cell.products[cell.products < 0].sum()
    enough = cell.carriers()
    named = ", ".join(str(dimension) for dimension in enough[:5])
    sentences = [
        cell.note,
        f"Products above zero add up to {theme.signed(above)}, those below to {theme.signed(below)}.",
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
