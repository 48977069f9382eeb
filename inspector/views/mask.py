"""Mask: a token is hidden from the model; what it guesses there, and how its attention changes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from inspector import compare, interventions, maps
from inspector.interventions import Masked
from inspector.plots import attention as draw_attention
from inspector.plots import masking as draw
from inspector.plots import packing, theme
from inspector.trace import Array
from inspector.views import downloads, link, parts, session
from inspector.views.components.grid import grid
from inspector.views.components.head import Choice, Step, head

GUESSES = "mini-bert"  # the model of the catalogue that guesses hidden tokens
APART = "After minus before"
SHOWN = 6  # guesses drawn at most

st.title("Mask")
inspected = session.inspected()
trace, loaded = inspected.trace, inspected.loaded
mode = session.mode()


def switch() -> None:
    """To the model that guesses; the text stays."""
    st.session_state["model"] = GUESSES


if loaded is None:
    session.show_problem(
        f"The model {trace.model!r} of this saved trace is not at hand, so it cannot guess. Remove the file in the "
        f"sidebar and choose {GUESSES} to mask a text."
    )
    st.stop()
if loaded.predict is None:
    st.subheader("This model does not guess words")
    st.write(
        f"{loaded.card.id} turns a text into vectors, and has no last layer that turns a vector into a word. A masked "
        "language model has one: it was trained to guess words that were hidden from it."
    )
    st.button(
        "Switch to mini-BERT, keep the text",
        type="primary",
        icon=":material/visibility_off:",
        on_click=switch,
        disabled=st.session_state.get("file") is not None,
        help="Remove the saved trace in the sidebar first." if st.session_state.get("file") is not None else None,
    )
    st.stop()

encoding = trace.encoding
choices = interventions.maskable(encoding)
telling = interventions.most_telling(encoding, mask_token=loaded.tokenizer.mask_token)
stream = trace.sites[0].stream
last_layer, last_head = len(trace.sites) - 1, trace.sites[0].heads - 1


def choose(positions: tuple[int, ...] | None) -> None:
    """Mask these tokens; the head that this changes most is opened."""
    link.choose("token", positions)
    open_head(None, None)


def open_head(layer: int | None, number: int | None) -> None:
    """Called before the run that follows a click, so that this run draws the answer."""
    link.choose("mask_layer", layer)
    link.choose("mask_head", number)


def click(masked: tuple[int, ...], *, whole: bool, several: bool) -> None:
    """A chip was clicked: it is masked alone or with the others, or shown again, with its word; one stays masked."""
    now = set(st.session_state["chips"])
    added, removed = now - set(masked), set(masked) - now
    if added:
        choose(tuple(sorted(now if several else added)))
    else:
        shown = set(interventions.whole_words(encoding, removed)) if whole else removed
        choose(tuple(sorted(set(masked) - shown)) or masked)


def step(event: Choice | Step, opened: tuple[int, int]) -> None:
    """The keys [ and ] in a map open the head before or after, over the ends of the layers."""
    if isinstance(event, Step):
        heads, layers = last_head + 1, last_layer + 1
        open_head(*divmod((opened[0] * heads + opened[1] + event.by) % (layers * heads), heads))


if st.session_state.setdefault("masked_in", trace.text) != trace.text:
    choose(None)  # another text, other tokens
st.session_state["masked_in"] = trace.text


def chosen_tokens() -> tuple[int, ...]:
    """The chips and their switches; the positions to mask."""
    with st.container(horizontal=True):
        whole = st.toggle(
            "Whole word",
            True,
            key="whole",
            bind="query-params",
            help="Mask all pieces of a word: one gives away others.",
        )
        several = st.toggle(
            "Several at once", key="several", bind="query-params", help="A click adds to what is masked."
        )
    clicked = link.chosen_several("token", default=telling, allowed=choices)
    masked = interventions.whole_words(encoding, clicked) if whole else clicked
    if st.session_state.get("chips") != list(masked):
        st.session_state["chips"] = list(masked)
    parts.token_chips(encoding, choices, key="chips", on_change=partial(click, masked, whole=whole, several=several))
    return masked


def draw_guess(guess: interventions.Guess) -> None:
    """The likeliest tokens at one position."""
    parts.chart(
        draw.guesses(guess, mode=mode),
        alt=f"probability of the likeliest tokens at position {guess.position}; the true one has rank {guess.rank} and "
        f"probability {theme.number(guess.probability)}",
        key=f"guesses-{guess.position}",
    )


def show_guesses(masked: Masked) -> None:
    """The gap, the likeliest tokens for it, and where the true one stands."""
    st.subheader("What stands in the gap?")
    st.text(masked.gapped)
    first = masked.guesses[0]
    if len(masked.guesses) == 1:
        left, right = st.columns([3, 2], gap="medium", vertical_alignment="center")
        with left:
            draw_guess(first)
        with right:
            parts.cards(parts.guess_numbers(first, masked.unmasked[0]), width=170)
    else:
        st.caption("Several at once are guessed independently: the model does not know what it guessed in another gap.")
        for start in range(0, min(len(masked.guesses), SHOWN), 2):
            for column, guess in zip(st.columns(2), masked.guesses[start : start + 2], strict=False):
                with column:
                    draw_guess(guess)
    if loaded.tokenizer.mask_token in [guess.token for guess in masked.guesses]:
        st.caption("The text has the mask token there itself: no true token is known, and after is as before.")
    st.caption(
        rf"$p = \mathrm{{softmax}}(z)$ over the {first.vocabulary:,} tokens of the vocabulary, $z$ the logits of the "
        f"last hidden state at position {first.position}; no unit. The five likeliest have "
        f"{theme.number(sum(share for _, share in first.top))} of the probability together. "
        "The text's own token is solid and named *true*."
    )
    if len(masked.guesses) > SHOWN:
        st.caption(f"Drawn are the first {SHOWN} of {len(masked.guesses)}; all are in the table below.")


def draw_map(name: str, weights: Array, labels: maps.Arrangement, opened: tuple[int, int], *, top: float) -> None:
    """One of the three maps; the difference, which has a sign, on the diverging scale."""
    diverging = name == APART
    data = packing.head_bytes(
        weights,
        queries=labels.queries.labels,
        keys=labels.keys.labels,
        colours=theme.DIVERGING if diverging else theme.SEQUENTIAL,
        layer=opened[0],
        head=opened[1],
        title=f"{name}: {draw_attention.title(*opened).lower()}",
        scale="sqrt" if st.session_state["sqrt"] and not diverging else "linear",
        vmax=top,
        diverging=diverging,
    )
    head(data, key=f"masked-{name}", on_event=partial(step, opened=opened))


def show_attention(masked: Masked) -> None:
    """Every head by how much it changed, and one head before, after and in between."""
    st.subheader("Where does the model look now?")
    changed = session.cached_table(
        (masked.after.key, "changed heads"),
        lambda: compare.changed_heads(masked.before, masked.after, queries=masked.positions),
    )
    most = changed.iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        hide = st.toggle("Hide special tokens", key="hide", bind="query-params", help="Rows then sum to what is left.")
        words = st.toggle("Merge word pieces", key="words", bind="query-params")
        st.toggle("Square-root colour", key="sqrt", bind="query-params", help="Shows small weights.")
    layer = link.chosen("mask_layer", default=int(most["layer"]), last=last_layer)
    number = link.chosen("mask_head", default=int(most["head"]), last=last_head)
    opened = (layer or 0, number or 0)
    before, after = (
        maps.arrange(side, stream=stream, hide_special=hide, merge_words=words)
        for side in (masked.before, masked.after)
    )

    left, right = st.columns(2, gap="medium")
    with left:
        pictures, largest = session.cached(
            ("changes", masked.after.key, before, after),
            lambda: draw.changes(
                [
                    (
                        before.apply(masked.before.attention(layer=site.layer, stream=stream)),
                        after.apply(masked.after.attention(layer=site.layer, stream=stream)),
                    )
                    for site in masked.before.sites
                ]
            ),
            size=lambda made: made[0].nbytes,
        )
        grid(
            packing.grid_bytes(
                pictures,
                tokens=len(before.keys.labels),
                colours=theme.SEQUENTIAL,
                scale="sqrt",
                selected=opened,
                notes=parts.change_notes(changed),
            ),
            key="masked-grid",
            on_open=open_head,
        )
        st.caption(
            f"Rows are layers, columns heads: |after − before| of each cell, up to {theme.number(largest)} (the last "
            "colour; square-root scale). Click a head to open it."
        )
    with right:
        st.dataframe(
            changed.head(SHOWN + 2)[["layer", "head", "jensen_shannon", "total_variation"]],
            hide_index=True,
            column_config={
                "jensen_shannon": st.column_config.NumberColumn("divergence, nats", format="%.3g"),
                "total_variation": st.column_config.NumberColumn("weight moved, share", format="%.3g"),
            },
        )
        st.caption(
            "The heads whose row of the masked token changed most. Jensen-Shannon divergence of the row before and "
            r"after, 0 to ln 2 = 0.693 nats; weight moved $\frac{1}{2}\sum_j |A'_{ij} - A_{ij}|$, 0 to 1."
        )

    a = before.apply(masked.before.attention(layer=opened[0], head=opened[1], stream=stream))
    b = after.apply(masked.after.attention(layer=opened[0], head=opened[1], stream=stream))
    apart = compare.difference(b, a, queries=(before.queries.labels,) * 2, keys=(before.keys.labels,) * 2)
    top = max(float(a.max()), float(b.max())) or 1.0
    for column, (name, weights, labels) in zip(
        st.columns(2, gap="medium"), (("Before", a, before), ("After", b, after)), strict=True
    ):
        with column:
            draw_map(name, weights, labels, opened, top=top)
    left, right = st.columns(2, gap="medium")
    with left:
        draw_map(APART, apart.values, before, opened, top=apart.largest or 1.0)
        st.caption(
            rf"$A' - A$, weight after minus before, no unit, at most {theme.number(apart.largest)}: indigo where the "
            "head looks more now, amber where less. Before and after share one scale, from 0 to "
            f"{theme.number(top)}. Row = query, column = key."
        )
    with right:
        turned = compare.moved(masked.before, masked.after)
        parts.chart(
            draw.moved(turned, tokens=masked.before.tokens, masked=masked.positions, mode=mode),
            alt="1 - cosine of each token's last hidden state before and after",
            key="moved",
        )
        st.caption(
            r"$1 - \cos(h_i, h'_i)$ of each token's last hidden state before and after: 0 where both point the same "
            "way, 1 at a right angle."
        )
    downloads.masking(
        interventions.predictions(masked),
        {"before": a, "after": b, "difference": apart.values},
        before.keys.labels,
        name=f"{masked.before.model.replace('/', '-')}-mask-{'-'.join(map(str, masked.positions[:8]))}",
    )


@st.fragment
def explorer() -> None:
    """What a click changes, and nothing else."""
    try:
        masked = session.masked(inspected, chosen_tokens())
        link.keep()
        show_guesses(masked)
        show_attention(masked)
    except ValueError as error:
        session.show_problem(str(error))
        return
    with st.expander("All guesses, in numbers"):
        parts.table(interventions.predictions(masked), name="guesses", height=320)


st.caption(
    "Click a token: it is hidden behind the model's mask token, the text is read again, and the model guesses what "
    "stood there from the words on both sides, as it was trained to (Devlin et al. 2019, 3.1)."
)
explorer()
