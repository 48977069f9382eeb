"""Compare: two maps side by side on one colour scale, their difference, and one head position in every layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from inspector import compare, heads, maps
from inspector.plots import attention as draw
from inspector.plots import comparison, packing, theme
from inspector.trace import Array, Trace
from inspector.views import chosen_models, downloads, link, parts, session
from inspector.views.components.head import Choice, Step, head

st.title("Compare")
inspected = session.inspected()
telling = heads.most_telling(session.measures(inspected.trace))
opened = link.kept("layer", telling[0]), link.kept("head", telling[1])  # what the Attention page shows


@dataclass(frozen=True)
class Panel:
    """One side: the trace, what of it is shown, and the chosen map [Q, T]."""

    name: str
    trace: Trace
    shown: maps.Arrangement
    weights: Array
    stream: str
    layer: int
    head: int | None

    @property
    def title(self) -> str:
        """What the side shows, in words."""
        several = len({site.stream for site in self.trace.sites}) > 1
        return f"{self.name}: {draw.title(self.layer, self.head, self.stream if several else None).lower()}"

    @property
    def tokens(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of queries and keys."""
        return self.shown.queries.labels, self.shown.keys.labels


def panel(name: str, *, layer: int, hide: bool, words: bool) -> Panel | None:
    """The controls of one side; None, with the reason in the page, where its text cannot be read."""
    key = name.lower()
    known = chosen_models.ids()
    current = inspected.trace.model if inspected.trace.model in known else known[0]
    model = st.selectbox(f"Model {name}", known, index=known.index(current), key=f"{key}_model", bind="query-params")
    if not chosen_models.trained(model):
        parts.untrained()
    text = st.text_area(
        f"Text {name}", key=f"{key}_text", height=68, placeholder="The sidebar's text", persist_state="session"
    )
    try:
        trace = session.panel_trace(inspected, model=model, text=text)
        stream = parts.stream((site.stream for site in trace.sites), key=f"{key}_stream")
        shown = maps.arrange(trace, stream=stream, hide_special=hide, merge_words=words)
    except ValueError as error:
        session.show_problem(str(error))
        return None
    if text.strip() and trace.cut is not None:
        st.warning(str(trace.cut), icon=":material/content_cut:")
    sites = [site for site in trace.sites if site.stream == stream]
    last_layer, last_head = len(sites) - 1, sites[0].heads - 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = parts.number(f"Layer {name}", f"{key}_layer", default=min(layer, last_layer), last=last_layer)
        number = parts.number(f"Head {name}", f"{key}_head", default=min(opened[1], last_head), last=last_head)
        mean = st.toggle("Mean over heads", key=f"{key}_mean", bind="query-params")
    chosen = None if mean else number
    weights, _, _ = draw.chosen(trace, layer=layer, head=chosen, stream=stream)
    return Panel(name, trace, shown, shown.apply(weights), stream, layer, chosen)


def step(side: Panel, event: Choice | Step) -> None:
    """The keys [ and ] take a side to the head before or after."""
    if isinstance(event, Step) and side.head is not None:
        heads_there = side.trace.sites[0].heads
        st.session_state[f"{side.name.lower()}_head"] = (side.head + event.by) % heads_there


def draw_head(side: Panel, *, top: float, scale: theme.Scale) -> None:
    """The map of one side, on the colour scale of both."""
    data = packing.head_bytes(
        side.weights,
        queries=side.shown.queries.labels,
        keys=side.shown.keys.labels,
        colours=theme.SEQUENTIAL,
        layer=side.layer,
        head=side.head,
        title=side.title,
        scale=scale,
        vmax=top,
    )
    head(data, key=f"map-{side.name}", on_event=partial(step, side))


st.caption(
    "Two maps on one colour scale, from 0 to the larger of their largest weights; no unit. Row = query, column = key."
)
with st.container(horizontal=True):
    hide = st.toggle("Hide special tokens", key="hide", bind="query-params", help="Rows then sum to what is left.")
    words = st.toggle("Merge word pieces", key="words", bind="query-params")
    scale: theme.Scale = "sqrt" if st.toggle("Square-root colour", key="sqrt", bind="query-params") else "linear"

left, right = st.columns(2, gap="medium")
with left:
    a = panel("A", layer=opened[0], hide=hide, words=words)
with right:
    b = panel("B", layer=opened[0] + 1, hide=hide, words=words)
if a is None or b is None:
    st.stop()

top = max(float(a.weights.max()), float(b.weights.max())) or 1.0
for column, side in ((left, a), (right, b)):
    with column:
        draw_head(side, top=top, scale=scale)

st.subheader("What differs: A minus B")
try:
    apart = compare.difference(
        a.weights, b.weights, queries=(a.tokens[0], b.tokens[0]), keys=(a.tokens[1], b.tokens[1])
    )
except ValueError as error:
    session.show_problem(str(error))
else:
    parts.cards(
        [
            ("Shared tokens", f"{len(apart.keys)}", f"Keys, of {len(a.tokens[1])} in A and {len(b.tokens[1])} in B"),
            ("Divergence", f"{apart.jensen_shannon:.3g} nats", "Jensen-Shannon, mean over queries; 0 to ln 2 = 0.693"),
            ("Largest", f"{apart.largest:.3g}", "Largest difference of two weights, without its sign"),
        ],
        width=170,
    )
    data = packing.head_bytes(
        apart.values,
        queries=apart.queries,
        keys=apart.keys,
        colours=theme.DIVERGING,
        title="A minus B",
        vmax=apart.largest or 1.0,
        diverging=True,
        quantity="difference of weights",
    )
    head(data, key="difference")
    st.caption("Indigo where A attends more, amber where B does, drawn between the tokens that both texts have.")
    downloads.comparison(
        {
            "A": (a.weights, *a.tokens),
            "B": (b.weights, *b.tokens),
            "A minus B": (apart.values, apart.queries, apart.keys),
        }
    )

st.subheader("One head position in every layer" if a.head is not None else "The mean over heads in every layer")
layers = [site.layer for site in a.trace.sites if site.stream == a.stream]
row = [a.shown.apply(draw.chosen(a.trace, layer=layer, head=a.head, stream=a.stream)[0]) for layer in layers]
st.image(
    comparison.strip(row, labels=[f"layer {layer}" for layer in layers], mode=session.mode(), scale=scale),
    width="stretch",
)
st.caption("Panel A's text. A head's number means nothing across layers: training does not align heads.")
