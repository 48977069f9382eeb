"""LayerNorm: what each norm does to each token of the text, and what it has learned."""

from __future__ import annotations

import streamlit as st

from inspector import normalization
from inspector.plots import normalization as draw
from inspector.views import link, parts, session

VALUES: dict[draw.Value, str] = {
    "std_before": "deviation before",
    "mean_before": "mean before",
    "std_after": "deviation after",
    "mean_after": "mean after",
}

st.title("LayerNorm")
trace = session.inspected().trace
mode = session.mode()
if not trace.norms:
    st.caption("This model has no norm that could be recorded.")
    st.stop()
stream = parts.stream((norm.stream for norm in trace.norms), key="norm_stream")
norms = [norm for norm in trace.norms if norm.stream == stream]
statistics = session.cached((trace.key, "norms"), lambda: normalization.statistics(trace))
statistics = statistics[statistics["stream"] == stream]
learned = session.cached((trace.key, "gamma and beta"), lambda: normalization.parameters(trace))
learned = learned[learned["stream"] == stream]
names = dict(zip(learned["norm"].unique(), draw.labels(learned), strict=True))
tokens = trace.read_by(stream).tokens

first = norms[0]
st.caption(
    r"Each norm takes one token's vector $x$ at a time and gives "
    r"$\gamma\,\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta$ (Ba et al. 2016), with $\mu$ and $\sigma$ over its "
    rf"{len(first.gamma)} dimensions and $\epsilon$ = {first.epsilon:.0e}. {len(norms)} norms, "
    f"{len(tokens)} tokens, no unit."
)

before, after = statistics["std_before"], statistics["std_after"]
parts.cards(
    [
        ("Deviation before", f"{before.min():.3g} to {before.max():.3g}", "Smallest and largest over norms and tokens"),
        ("Deviation after", f"{after.min():.3g} to {after.max():.3g}", "Not 1: gamma and beta act after the division"),
        (
            "Placement",
            norms[-1].placement,
            "post: after the residual sum; pre: before a sublayer; output: on its output",
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
        bind=link.choice("statistic", default="std_before", options=list(VALUES), label=VALUES.__getitem__),
        required=True,
    )
    root = st.toggle(
        "Square-root colour",
        True,
        key="norm_sqrt",
        bind=link.switch("norm_sqrt", default=True),
        help="One token can outshine the rest.",
    )
parts.chart(
    draw.heatmap(statistics, value=value, mode=mode, scale="sqrt" if root else "linear"),
    alt=f"{VALUES[value]} of every norm and token, as a heatmap",
    key="norms",
)

st.subheader("One token through all norms")
position = parts.number("Token", "token", default=min(1, len(tokens) - 1), last=len(tokens) - 1)
parts.chart(
    draw.by_token(statistics, position=position, mode=mode),
    alt=f"mean and standard deviation of token {position} before and after each norm",
    key="one-token",
)

st.subheader("What a norm has learned")
place = parts.number("Norm, in the order in which they run", "norm", default=0, last=len(names) - 1, width=280)
norm = list(names)[place]
parts.chart(
    draw.parameters(learned, norm=norm, mode=mode),
    alt=f"gamma and beta of {names[norm]} by dimension",
    key="gamma-beta",
)

with st.expander("All numbers"):
    parts.table(statistics.drop(columns="name"), name="layernorm", height=320)
