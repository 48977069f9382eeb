"""LayerNorm: what each norm does to each token of the text, and what it has learned."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from inspector import normalization
from inspector.plots import normalization as draw
from inspector.views.shell import link, session, widgets

VALUES: dict[draw.Value, str] = {
    "std_before": "deviation before",
    "mean_before": "mean before",
    "std_after": "deviation after",
    "mean_after": "mean after",
}

PLACEMENTS = (
    "Of the norms in the layers. post: after the residual sum; pre: before a sublayer; output: on a sublayer's output, "
    "before the sum; inside: within a sublayer."
)

st.title("LayerNorm")
trace = session.inspected().trace
mode = session.mode()
left_out = sorted((one for one in trace.refused if one.what == "norm"), key=lambda one: one.reason)
for reason, alike in groupby(left_out, key=lambda one: one.reason):
    paths = [one.name for one in alike]
    verb = "norm is" if len(paths) == 1 else "norms are"
    st.caption(widgets.plain(f"{len(paths)} {verb} not shown (the first is {paths[0]}): {reason}."))
if not trace.norms:
    st.caption("No norm of this model can be shown.")
    st.stop()
stream = widgets.stream((norm.stream for norm in trace.norms), key="norm_stream")
norms = [norm for norm in trace.norms if norm.stream == stream]
statistics = session.cached((trace.key, "norms"), lambda: normalization.statistics(trace))
statistics = statistics[statistics["stream"] == stream]
learned = session.cached((trace.key, "gamma and beta"), lambda: normalization.parameters(trace))
learned = learned[learned["stream"] == stream]
names = dict(zip(learned["norm"].unique(), draw.labels(learned), strict=True))
tokens = trace.read_by(stream).tokens

for count, norm in normalization.kinds(norms):
    over = r"$\mu$ and $\sigma$ are taken" if norm.kind == "layer" else "the mean of the squares is taken"
    st.caption(
        rf"{count} of {len(norms)} norms: {normalization.in_words(norm)}. Of one token's vector $x$ each "
        rf"gives ${normalization.formula(norm)}$, where {over} over its {len(norm.gamma)} dimensions and $\epsilon$ = "
        rf"{norm.epsilon:.0e}. {len(tokens)} tokens, no unit."
    )

before, after = statistics["std_before"], statistics["std_after"]
widgets.cards(
    [
        ("Deviation before", f"{before.min():.3g} to {before.max():.3g}", "Smallest and largest over norms and tokens"),
        (
            "Deviation after",
            f"{after.min():.3g} to {after.max():.3g}",
            "Not 1 where gamma and beta act after the division",
        ),
        (
            "Placement",
            ", ".join(dict.fromkeys(norm.placement for norm in norms if norm.layer is not None)) or "not in layers",
            PLACEMENTS,
        ),
        ("Outliers", str(int(learned["outlier"].sum())), "gamma or beta beyond 3 σ of its norm, all norms"),
    ],
    width=170,
)

with st.container(horizontal=True, vertical_alignment="bottom"):
    value = st.segmented_control(
        "Statistic",
        list(VALUES),
        default="std_before",
        format_func=VALUES.__getitem__,
        key="statistic",
        bind=link.bind_choice("statistic", default="std_before", options=list(VALUES), label=VALUES.__getitem__),
        required=True,
    )
    root = st.toggle(
        "Square-root colour",
        True,
        key="norm_sqrt",
        bind=link.bind_switch("norm_sqrt", default=True),
        help="One token can outshine the rest.",
    )
widgets.chart(
    draw.heatmap(statistics, value=value, mode=mode, scale="sqrt" if root else "linear"),
    alt=f"{VALUES[value]} of every norm and token, as a heatmap",
    key="norms",
)

st.subheader("One token through all norms")
position = widgets.number("Token", "token", default=min(1, len(tokens) - 1), last=len(tokens) - 1)
widgets.chart(
    draw.by_token(statistics, position=position, mode=mode),
    alt=f"mean and standard deviation of token {position} before and after each norm",
    key="one-token",
)

st.subheader("What a norm has learned")
place = widgets.number("Norm, in the order in which they run", "norm", default=0, last=len(names) - 1, width=280)
number = list(names)[place]
chosen = trace.norms[number]
st.caption(
    rf"{names[number]}: {normalization.in_words(chosen)}, ${normalization.formula(chosen)}$ with $\epsilon$ = "
    rf"{chosen.epsilon:.0e}; placement: {chosen.placement}."
)
if chosen.learned:
    widgets.chart(
        draw.parameters(learned, norm=number, mode=mode),
        alt=f"{' and '.join(chosen.learned)} of {names[number]} by dimension",
        key="gamma-beta",
    )
else:
    st.caption("It has neither gamma nor beta, so there is nothing to draw.")

with st.expander("All numbers"):
    widgets.table(statistics.drop(columns="name"), name="layernorm", height=320)
