"""LayerNorm: what each norm does to each token of the text, and what it has learned."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import streamlit as st

from inspector import normalization
from inspector.plots import norm_change
from inspector.plots import normalization as draw
from inspector.readings import norms as read
from inspector.views.figures import chart, matrix
from inspector.views.layernorm import depth, more, other
from inspector.views.shell import by_name, link, sentence, session, widgets
from inspector.wording.english import norms as words

if TYPE_CHECKING:
    from inspector.trace import Trace

VALUES: dict[draw.Value, str] = {
    "std_before": "deviation before",
    "rms_before": "root mean square before",
    "mean_before": "mean before",
    "std_after": "deviation after",
    "rms_after": "root mean square after",
    "mean_after": "mean after",
}
MEANS = r"$\mu$ and $\sigma$ are the mean and the standard deviation of"
SQUARES = "the mean of the squares is taken over"
KEPT = "$m$ and $v$ are what training kept as the mean and the variance of each of"
TAKEN = {"layer": MEANS, "rms": SQUARES, "batch": KEPT}
SECTIONS = {
    "learned": "Gamma and beta",
    "change": "What each step changes",
    "outliers": "Outlier dimensions",
    "other": "Another norm",
    "depth": "Pre-norm or post-norm",
    "numbers": "All numbers",
}
FORMS: dict[Literal["dimension", "sorted", "histogram"], str] = {
    "dimension": "by dimension",
    "sorted": "sorted",
    "histogram": "histogram",
}


def python(trace: Trace, *, table: str = "statistics") -> str:
    """Python lines after which `table` holds the numbers."""
    return "\n".join(
        (
            "import inspector, models",
            "",
            f"trace = inspector.record(models.load({trace.model!r}), {trace.text!r})",
            f"table = inspector.normalization.{table}(trace)",
        )
    )


link.parameters("token", "norm")
inspected = session.inspected()
trace = inspected.trace
left_out = sorted((one for one in trace.refused if one.what == "norm"), key=lambda one: one.reason)
for reason, alike in groupby(left_out, key=lambda one: one.reason):
    paths = [one.name for one in alike]
    verb = "norm is" if len(paths) == 1 else "norms are"
    st.caption(widgets.plain(f"{len(paths)} {verb} not shown (the first is {paths[0]}): {reason}."))
if not trace.norms:
    st.caption("No norm of this model can be shown.")
    st.stop()
place = st.empty()
with st.container(horizontal=True, vertical_alignment="bottom"):
    stream = widgets.stream((norm.stream for norm in trace.norms), key="norm_stream")
    norms = {index: norm for index, norm in enumerate(trace.norms) if norm.stream == stream}
    places = {index: read.place(norm) for index, norm in norms.items()}
    size = read.size(list(norms.values()))
    first: draw.Value = "rms_before" if size == "rms" else "std_before"
    value = st.selectbox(
        "Statistic",
        list(VALUES),
        list(VALUES).index(first),
        format_func=VALUES.__getitem__,
        key="statistic",
        bind=link.bind_choice("statistic", default=first, options=list(VALUES), label=VALUES.__getitem__),
        width=260,
    )
    root = st.toggle(
        "Square-root colour",
        True,
        key="norm_sqrt",
        bind=link.bind_switch("norm_sqrt", default=True),
        help="One token can outshine the rest.",
    )
statistics = session.cached((trace.key, "norms"), lambda: normalization.statistics(trace))
statistics = statistics[statistics["stream"] == stream]
learned = session.cached((trace.key, "gamma and beta"), lambda: normalization.parameters(trace))
learned = learned[learned["stream"] == stream]
tokens = trace.read_by(stream).tokens
kinds = read.kinds(list(norms.values()))
with place.container():
    said = f"{words.widest(read.widest(statistics, places, size=size))} {words.kinds(kinds)}"
    sentence.show(said, words.terms(kinds, size=size))

labels = [words.title(where) for where in places.values()]


def open_cell(pick: matrix.Pick) -> None:
    """Open the token and the norm of a cell that the reader keeps."""
    link.assign("token", pick.column)
    link.assign("norm", pick.row)


picture, through = st.columns([3, 2], gap="medium")
with picture:
    matrix.show(
        matrix.Panel(
            statistics.pivot_table(index="norm", columns="position", values=value).to_numpy(),
            rows=[words.brief(where) for where in places.values()],
            columns=tokens,
        ),
        row_title="norm",
        column_title="token",
        quantity=VALUES[value],
        numbered="columns",
        diverging=value.startswith("mean"),
        scale="sqrt" if root else "linear",
        name=f"layernorm-{value}",
        key="norms",
        python=python(trace),
        on_pick=open_cell,
    )
    st.caption(
        "Over the dimensions of each token. A row is a norm, named by its layer and sublayer. Click a cell to open its "
        "token and its norm."
    )
with through:
    st.subheader("One token through all norms", anchor=False)
    position = by_name.token("Token", tokens, name="token", default=1)
    st.caption(words.way(read.way(statistics, places, position=position, size=size)))
    chart.show(
        partial(draw.by_token, statistics, position=position, size=size),
        alt=f"size and mean of the vector of token {position} before and after each norm",
        key="one-token",
        name=f"layernorm-token{position}",
        python=python(trace),
    )
for count, norm in normalization.kinds(norms.values()):
    st.caption(
        rf"{count} of {len(norms)} norms: {normalization.in_words(norm)}. Of one token's vector $x$ each "
        rf"gives ${normalization.formula(norm)}$, where {TAKEN[norm.kind]} its "
        rf"{len(norm.gamma)} dimensions and $\epsilon$ = {norm.epsilon:.0e}. No unit."
    )


def show_learned(number: int) -> None:
    """Draw gamma and beta of a norm: by dimension, in the order of their size, or counted."""
    st.subheader("What a norm has learned", anchor=False)
    chosen = norms[number]
    st.caption(
        rf"{normalization.in_words(chosen)}, ${normalization.formula(chosen)}$ with $\epsilon$ = {chosen.epsilon:.0e}. "
        f"{words.learned(read.learned(learned, norm=number))}"
    )
    if not chosen.learned:
        return
    form = widgets.bar("Form", list(FORMS), "form", words=FORMS.__getitem__)
    title = words.title(places[number])
    drawn = partial(draw.parameters, learned, norm=number, title=title)
    if form != "dimension":
        drawn = partial(norm_change.learned, learned, norm=number, form=form, title=title)
    chart.show(
        drawn,
        alt=f"{' and '.join(chosen.learned)} of the norm {words.name(places[number])}, {FORMS[form]}",
        key="gamma-beta",
        name=f"layernorm-norm{number}",
        python=python(trace, table="parameters"),
    )


section = widgets.bar("More about these norms", list(SECTIONS), "section", words=SECTIONS.__getitem__)
if section in ("learned", "other"):
    number = list(norms)[by_name.one("Norm, in the order in which they run", labels, name="norm", default=0)]
match section:
    case "learned":
        show_learned(number)
    case "change":
        more.change(trace, statistics, places)
    case "outliers":
        more.outliers(trace, statistics, places, stream=stream, size=size)
    case "other":
        if stream != trace.norms[0].stream or trace.target is not None:
            st.caption("An encoder-decoder reads a target for each text, so its texts are recorded one by one.")
        else:
            loaded = session.at_hand(inspected, so="no other sentences can be read with it")
            other.show(trace, loaded, norm=number, name=words.name(places[number]))
    case "depth":
        depth.show()
    case _:
        widgets.table(statistics.drop(columns="name"), name="layernorm", height=320)
link.publish()
