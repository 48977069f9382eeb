"""The section Masking: the 80/10/10 rule on the reader's text, and what a model guesses at each rate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from inspector.plots.tokens import masking as draw
from inspector.readings.tokens import masking as read
from inspector.views.components.width import is_narrow, is_stacked
from inspector.views.figures import chart
from inspector.views.server import queue
from inspector.views.shell import available_models, progress, sentence, session, stand_in, widgets
from inspector.wording.english.tokens import masking as words
from models import failures

if TYPE_CHECKING:
    import pandas as pd

    from inspector.masked_lm import Drawn
    from inspector.views.shell.session import Inspected
    from inspector.views.shell.stand_in import Shown

MODELS = ("mini-bert", "mini-bert-zh")
AT_ONCE = 7e10  # FLOPs of the guesses at all rates that no button is asked for: about two seconds
LAST_SEED = 9999
_INSTEAD = "Change the text, or choose another model."


def show(inspected: Inspected) -> None:
    """Draw the section."""
    shown = stand_in.beside(inspected, "guesses no hidden words", can=lambda loaded: loaded.fills_masks, instead=MODELS)
    said = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rate = widgets.number("Chosen, %", "mask_rate", default=15, first=5, last=50, step=5, width=120) / 100
        seed = widgets.number("Seed", "mask_seed", default=0, last=LAST_SEED, width=120)
        st.button("Draw again", icon=":material/casino:", on_click=_again, key="mask-again")
    try:
        with failures.told("Masking the text", instead=_INSTEAD):
            _draw(shown, said=said, rate=rate, seed=seed)
            _rates(shown, seed=seed)
    except ValueError as error:
        session.show_problem(str(error))


def _again() -> None:
    st.session_state["mask_seed"] = (st.session_state["mask_seed"] + 1) % (LAST_SEED + 1)


def _key(shown: Shown) -> tuple[object, ...]:
    return "masked_lm", available_models.version(shown.loaded.card.id), shown.trace.key


def _python(shown: Shown) -> str:
    text, pair = shown.trace.text, shown.trace.text_pair
    given = repr(text) + ("" if pair is None else f", text_pair={pair!r}")
    return (
        "import models\nfrom inspector import masked_lm, record\n\n"
        f"loaded = models.load({shown.loaded.card.id!r})\ntrace = record(loaded, {given})\n"
    )


def _draw(shown: Shown, *, said: st.delta_generator.DeltaGenerator, rate: float, seed: int) -> None:
    """Draw one draw on the text, and count many."""
    from inspector import masked_lm

    loaded, trace = shown.loaded, shown.trace
    drawn = session.cached(
        (*_key(shown), "draw", rate, seed), lambda: masked_lm.draw(loaded, trace, rate=rate, seed=seed)
    )
    counted = session.cached(
        (*_key(shown), "shares", rate, seed), lambda: masked_lm.shares(loaded, trace.encoding, rate=rate, seed=seed)
    )
    found = read.masking(drawn, counted, draws=masked_lm.DRAWS)
    with said:
        sentence.show(words.masking(found), words.TERMS)
    across = 4 if is_narrow() else 8 if is_stacked() else 14
    chart.show(
        partial(draw.draw, drawn, across=across),
        alt=words.masking(found).replace("`", ""),
        key="mask-draw",
        name=f"masking-{loaded.card.id}",
        python=f"{_python(shown)}drawn = masked_lm.draw(loaded, trace, rate={rate}, seed={seed})",
        table=_table(drawn),
    )
    if len(drawn.tokens) > draw.MOST:
        st.caption(f"The first {draw.MOST} of {len(drawn.tokens)} tokens are drawn; the CSV under Save has all.")
    st.markdown(words.shares(found))
    st.caption(
        f"The rule of Devlin et al. 2019 (3.1): each token is chosen with r = {rate:.0%}; of the chosen 80 % are read "
        f"as [MASK], 10 % as a random token, 10 % as they are: 0.8 · {100 * rate:g} = {80 * rate:.3g} %, 0.1 · "
        f"{100 * rate:g} = {10 * rate:.3g} % and {10 * rate:.3g} % of all tokens. The text's own tokens are drawn over "
        f"and over, {masked_lm.DRAWS:,} of them with seed {seed}, by the function that masked the texts when mini-bert "
        "was trained; where chance chooses no token of a text, it takes the first. Filled: read as "
        "[MASK]; dashed: as a random token; plain frame: as it is."
    )


def _table(drawn: Drawn) -> pd.DataFrame:
    import pandas as pd

    columns = ["position", "token", "fate", "read", "guess", "guess_probability", "true_rank", "true_probability"]
    rows = [
        (one.position, one.token, one.fate, one.read, *one.guess.top[0], one.guess.rank, one.guess.probability)
        for one in drawn.chosen
    ]
    return pd.DataFrame(rows, columns=columns)


def _rates(shown: Shown, *, seed: int) -> None:
    """Draw accuracy and loss by rate."""
    from inspector import masked_lm

    st.subheader("From 5 to 50 %", anchor=False)
    if not _asked(shown):
        return
    table = session.cached((*_key(shown), "rates", seed), lambda: _measured(shown, seed=seed))
    trained = masked_lm.trained_rate(shown.loaded)
    found = read.rated(table, trained=trained)
    name = available_models.name(shown.loaded.card.id)
    st.markdown(words.rated(found, model=widgets.plain(name)))
    python = f"{_python(shown)}table = masked_lm.by_rate(loaded, trace.encoding, seed={seed})"
    left, right = st.columns(2, gap="medium")
    for place, figure, alt, key in (
        (left, draw.accuracy, "share of chosen tokens guessed right by rate", "mask-accuracy"),
        (right, draw.loss, "loss of chosen tokens by rate", "mask-loss"),
    ):
        with place:
            chart.show(partial(figure, table, trained=trained), alt=alt, key=key, python=python, table=table)
    st.markdown(words.fates(found))
    every = table[table["fate"] == "all"]
    st.caption(
        f"All chosen tokens of {int(every['draws'].min())} to {int(every['draws'].max())} draws at each rate, together "
        f"{int(every['count'].sum()):,} tokens, under the 80/10/10 rule; bars: two standard errors over draws, on this "
        "one text. Another text gives another curve, and a text that the model learned from is easier than any other. "
        "Loss: mean of −ln p of the true token."
    )
    with st.expander("By what is read there"):
        widgets.table(
            table.assign(fate=table["fate"].map({"all": "all chosen", **words.FATES})),
            name="masking-by-rate",
            height=320,
        )


def _asked(shown: Shown) -> bool:
    """Return True for a short text and a small model, else once the button was pressed, which is drawn until then."""
    from inspector import masked_lm

    asked: set[object] = st.session_state.setdefault("masking.asked", set())
    flops = masked_lm.work(shown.loaded, shown.trace.encoding)
    if flops <= AT_ONCE or _key(shown) in asked:
        return True
    st.caption(
        "The text is read some hundred times with other tokens hidden, which takes some "
        "seconds, and a large model longer."
    )
    st.button(
        "Guess at every rate", icon=":material/play_arrow:", key="mask-rates", on_click=asked.add, args=(_key(shown),)
    )
    return False


def _measured(shown: Shown, *, seed: int) -> pd.DataFrame:
    """Guess at every rate, with a bar and a Stop where that is long."""
    from inspector import masked_lm

    place = st.empty()
    bar = progress.Bar(place, at_once=False, stop="mask-rates-stop")
    with queue.turn("Guessing hidden tokens"):
        table = masked_lm.by_rate(
            shown.loaded,
            shown.trace.encoding,
            seed=seed,
            on_progress=lambda done, total: bar.draw(done, total, f"{done} of {total} draws guessed"),
        )
    place.empty()
    return table
