"""The panel Why this weight: one cell of the open head, rebuilt in front of the reader from its query and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from inspector.export import python
from inspector.text import number, signed, token_name
from inspector.views.attention import reading, wrote
from inspector.views.components import proof
from inspector.views.components.steps import Shown, steps
from inspector.views.figures import chart, save
from inspector.views.shell import link, problems, readings, site_words
from inspector.wording import attention as said

if TYPE_CHECKING:
    from inspector.explain import Explanation, WeightStep
    from inspector.plots.scene import Scene
    from inspector.plots.theme import Mode
    from inspector.trace import AttentionSite, Trace
    from inspector.views.shell.session import Inspected

_PROVEN = "why.proven"  # in the session
MOST_KEYS = 24  # keys whose steps are drawn
TURNED = said.TURNED
NOT_SEEN = said.NOT_SEEN


def draw(
    inspected: Inspected,
    *,
    site: AttentionSite,
    number: int,
    query: int | None,
    key: int | None,
    told: tuple[int, int] | None,
) -> None:
    """Draw the panel of the cell that the reader chose, where it is open; else of the cell that the page tells.

    query, key: chosen by the reader; told: the query and key of a sentence on the head. Where neither names them, the
    cell in which the head does most what the page says of it.

    It wants to stand right below the open head's map, as wide as the map or wider, so that a pinned query is explained
    where it was pinned. Everything in it wraps; its least width is a phone's.
    """
    shown = st.toggle(
        "Why this weight",
        key=proof.SWITCH,
        bind=link.bind_switch(proof.SWITCH),
    )
    if not shown:
        return
    from inspector.explain import why

    trace, stream = inspected.trace, site.stream
    told = told or reading.telling_cell(trace, site, number)
    if query is None:
        query = telling_query(trace, stream) if told is None else told[0]
    if key is None:
        named = told is not None and told[0] == query
        key = told[1] if told and named else _telling_key(trace, site, number=number, query=query)
    with st.container(border=True):
        st.caption(said.WHY_HELP)
        cell = why(trace, layer=site.layer, head=number, query=query, key=key, stream=stream, call=site.call)
        name = f"{trace.model.replace('/', '-')}-{stream}-{site_words.in_file(site)}-head{number}-cell{query}-{key}"
        with st.container(key=proof.PLACE):
            choose_cell(trace, stream=stream, query=query, key=key)
            st.markdown(_equation(cell))
            if cell.holds:
                _files(trace, cell, name=name)
            _steps(cell)
        _verdict(cell)
        if len(cell.products):
            _dimensions(cell, turned=_turned(inspected, stream))
        else:
            st.caption(NOT_SEEN)
        _tables(cell, name=name)
        wrote.draw(inspected, cell)


def prove(cell: tuple[int, int] | None) -> None:
    """Open the panel on the cell of the page's sentence, before the run that follows.

    cell: query and key of a sentence on a pinned token; None for the head's sentence, whose cell is the panel's first
    where nothing is pinned.
    """
    link.assign("query", None if cell is None else (cell[0],))
    link.assign("key", None if cell is None else cell[1])
    st.session_state[proof.SWITCH] = True
    st.session_state[_PROVEN] = proven() + 1


def proven() -> int:
    """Return how often the reader asked for the proof of a sentence."""
    return int(st.session_state.get(_PROVEN, 0))


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


def choose_cell(trace: Trace, *, stream: str, query: int, key: int, sorts: bool = True) -> None:
    """Draw the choice of a query and a key; sorts: their products can be sorted."""
    site = trace.mixing_sites_of(stream)[0]
    st.session_state["why query"], st.session_state["why key"] = query, key

    def choose_query() -> None:
        link.assign("query", (st.session_state["why query"],))
        link.assign("key", None)

    def choose_key() -> None:
        link.assign("key", st.session_state["why key"])

    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, tokens, follow in (("Query", site.queries, choose_query), ("Key", site.keys, choose_key)):
            names = [f"{position} {token_name(token)}" for position, token in enumerate(tokens)]
            st.selectbox(
                label,
                range(len(tokens)),
                format_func=names.__getitem__,
                key=f"why {label.lower()}",
                on_change=follow,
                width=170,
            )
        if sorts:
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
    both = (
        rf"e^{{\,{_tex(cell.score)} {less}}} = e^{{\,{_tex(cell.score - cell.normaliser)}}}"  # whose digits tell more
    )
    weight = rf"{both} = {_tex(cell.weight)}"
    return rf"{score}, $\;A = e^{{\,s - {total}}} = {weight}$"


def _steps(cell: Explanation) -> None:
    """Draw the steps of the cell, to be played one by one, beside those of the query's other keys."""
    from inspector.plots import explain as draw_cell

    keys = draw_cell.seen_keys(cell, most=MOST_KEYS)
    count = len(cell.row[-1])
    left_out = said.keys_shown(shown=len(keys), count=count) if len(keys) < count else ""
    way: list[Shown] = []
    for at in draw_cell.seen_steps(cell):
        step, numbers = cell.steps[at], cell.row[at][keys]
        way.append(
            {
                "formula": draw_cell.formula(cell, step),
                "value": signed(step.value),
                "meaning": _meaning(cell, step),
                "numbers": [float(number) if np.isfinite(number) else None for number in numbers],
                "told": ["masked" if np.isneginf(number) else signed(float(number)) for number in numbers],
            }
        )
    site = cell.site
    tokens = [site.keys[key] for key in keys]
    steps(way, keys=tokens, positions=keys, chosen=keys.index(cell.key), note=left_out, key="why-steps")


def _files(trace: Trace, cell: Explanation, *, name: str) -> None:
    """Draw the menu of the steps."""
    from inspector import explain
    from inspector.plots import explain as draw_cell

    def picture(mode: Mode) -> Scene:
        return draw_cell.slide(cell, mode=mode)

    lines = python.cell(trace, cell)
    save.figure(name, {"": picture}, table=lambda: explain.way(cell), key="why", about="Why this weight", python=lines)


def _meaning(cell: Explanation, step: WeightStep) -> str:
    """Say what a step does, with its exact number."""
    by = "" if step.operand is None else signed(step.operand)
    width = len(cell.products)
    share = said.SHARE if cell.normalised else said.NO_SHARE
    scale = said.divided(width=width)
    meaning = {
        "dot product": said.dot_product(width=width, note=cell.note),
        "score": said.AS_MADE,
        "scale": f"{scale}takes one key alone." if cell.divides else said.OWN_SCALE,
        "soft-cap": said.soft_cap(by=by),
        "bias": f"{cell.bias}.",
        "logarithm": said.LINEAR,
        "keys": said.log_of_keys(keys=cell.seen),
        "mask": said.masked_key(why=cell.hidden),
        "normaliser": _normaliser(cell),
        "weight": said.weight_of(share=share, rank=cell.rank, seen=cell.seen),
    }[step.name]
    exact = f"{step.value:.9g}".replace("-", "−")
    return f"{meaning.strip()} Exactly {exact}."


def _normaliser(cell: Explanation) -> str:
    if not cell.normalised:
        return said.SIGMOID_NORMALISER
    beside = "" if cell.sink is None else f" and {signed(cell.sink)} of what is no key of the text (a sink)"
    return said.normaliser(keys=cell.seen, beside=beside)


def _verdict(cell: Explanation) -> None:
    """Say if the rebuilt number equals the recorded number, and give the key's rank in its row."""
    if not cell.holds:
        more = said.also_given(more=", ".join(cell.more)) if cell.more else ""
        problems.show(
            said.not_rebuilt(rebuilt=cell.weight, recorded=cell.recorded, more=more),
            what=said.NOT_REBUILT,
        )
        return
    st.caption(
        said.rebuilt(
            weight=cell.weight, recorded=cell.recorded, apart=abs(cell.difference), rank=cell.rank, seen=cell.seen
        )
        if cell.hidden is None
        else said.unseen(why=cell.hidden, recorded=cell.recorded)
    )


# --- the dimensions ----------------------------------------------------------------------------------------------


def _dimensions(cell: Explanation, *, turned: str) -> None:
    from inspector import explain
    from inspector.plots import explain as draw_cell

    chart.show(
        draw_cell.vectors(cell, largest_first=st.session_state["why_sorted"]),
        alt=f"q, k and their products over {len(cell.products)} dimensions",
        key="why-vectors",
        table=explain.dimensions(cell),
    )
    above, below = cell.products[cell.products > 0].sum(), cell.products[cell.products < 0].sum()
    enough = cell.carriers()
    named = ", ".join(str(dimension) for dimension in enough[:5])
    sentences = [
        cell.note,
        said.products(above=signed(above), below=signed(below)),
        said.carriers(of=len(cell.products), count=len(enough), named=named),
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
        return said.IN_ROPE
    return TURNED if rotates(loaded.config) else ""


def _tables(cell: Explanation, *, name: str) -> None:
    from inspector import explain

    with st.expander(said.CELL_TABLES):
        readings.table(explain.way(cell), name=f"{name}-steps")
        if len(cell.products):
            readings.table(explain.dimensions(cell), name=f"{name}-dimensions", height=240)


def _tex(value: float) -> str:
    """A number as mathematics is set: 1.23e-07 as a power of ten, and what is masked as minus infinity."""
    if np.isinf(value):
        return r"-\infty"
    digits, _, power = number(value).partition("e")
    digits = digits.replace(",", r"{,}")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits
