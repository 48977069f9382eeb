"""One head's card: what it does over all texts, in a sentence, in figures and in texts."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from inspector.atlas import Atlas, measures
from inspector.atlas.distribution import distribution
from inspector.atlas.head_relations import better_than_offsets
from inspector.atlas.opened import WITH_EXAMPLES
from inspector.export import atlas_card, spreadsheet
from inspector.plots.atlas import distribution as draw_distribution
from inspector.plots.atlas import offsets as draw_offsets
from inspector.plots.atlas import relations as draw_relations
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.readings import atlas_head as read
from inspector.views.atlas import examples
from inspector.views.figures import chart, menu
from inspector.views.shell import downloads, session, widgets
from inspector.wording.english import atlas_card as said
from models import LoadedModel

FIGURES = ("All texts", "By offset", "Relations")


def show(atlas: Atlas, place: int, *, measure: str) -> None:
    """Draw the head's sentence and its figures, one at a time."""
    found = read.read(atlas, place)
    st.markdown(said.head(found))
    relations = session.cached(("atlas better", atlas.manifest.key, place), lambda: better_than_offsets(atlas, place))
    missing = {"Relations": relations.empty, "By offset": bool(np.isnan(atlas.offsets(place)).all())}
    figures = [one for one in FIGURES if not missing.get(one)]
    name = f"{atlas.manifest.model}-{said.name(found)}".replace(" ", "-").replace(",", "")
    chosen = widgets.bar("A head's figures", figures, "figure", words=str)
    own = measures.find(measure)
    if chosen == "By offset":
        chart.show(
            partial(draw_offsets.bars, atlas.offsets(place), title=""),
            alt=f"mean weight of {said.name(found)} by offset from the query",
            key="atlas_offsets",
            name=f"{name}-offsets",
        )
    elif chosen == "Relations":
        st.caption(said.CHOSEN)
        chart.show(
            partial(draw_relations.beside_offsets, relations, title=""),
            alt=f"relations that {said.name(found)} finds more often than the best fixed offset",
            key="atlas_relations",
            name=f"{name}-relations",
            table=relations,
        )
    elif (spread := distribution(atlas, measure, place)).texts:
        st.markdown(f"**{said.chart(own)}**: {said.summary(spread)}")
        chart.show(
            partial(draw_distribution.histogram, spread, title=""),
            alt=f"{said.chart(own)}: a histogram over {spread.texts:,} texts",
            key="atlas_distribution",
            name=f"{name}-{measure}",
        )
    else:
        st.info("No text has this number for this head: choose another one.")


def more(atlas: Atlas, place: int, *, measure: str, loaded: LoadedModel) -> None:
    """Draw what stands under the figures: texts, heads like it, downloads."""
    shown = measure if measure in WITH_EXAMPLES else "previous"
    examples.show(atlas, place, measure=shown, loaded=loaded)
    name = f"{atlas.manifest.model}-{said.name(read.read(atlas, place))}".replace(" ", "-").replace(",", "")
    with st.expander("Take the card away", icon=":material/download:", key="atlas_take", on_change="rerun") as taken:
        if taken.open:
            menu.files(name, partial(_picture, atlas, place, measure))
            with st.container(horizontal=True):
                downloads.button(
                    f"{name}.html",
                    lambda: atlas_card.page(atlas, place, measure=shown, spans_of=examples.spans_of(loaded)).encode(),
                    "the card as one offline page",
                )
                downloads.button(f"{name}.parquet", lambda: atlas_card.parquet(atlas, place), "every measure")
                downloads.button(f"{name}.csv", lambda: spreadsheet.csv(atlas_card.numbers(atlas, place)), "the same")


def _picture(atlas: Atlas, place: int, measure: str, mode: Mode) -> Scene:
    return atlas_card.picture(atlas, place, measure=measure, mode=mode)
