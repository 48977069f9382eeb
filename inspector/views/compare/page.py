"""Compare: two to four maps beside each other, what differs, and which heads of two models are alike."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from inspector import alignment
from inspector.text import number
from inspector.views.compare import difference, downloads, further, panels
from inspector.views.figures import map_options
from inspector.views.shell import link, sentence, session
from inspector.wording import compare as wording
from inspector.wording import mixers as mixer_words

link.parameters("panels", *(panels.key(name, "model") for name in panels.NAMES))
inspected = session.inspected(notes_weights=False)
opened = panels.opened_elsewhere(inspected)
names = panels.names()

above = st.container()
bar, controls, maps = panels.places(names)
with bar:
    panels.presets(inspected, names, opened=opened)
    options = map_options.choose(scales=True)
    files = st.container()

shown = []
for name, place in zip(names, controls, strict=False):
    with place:
        panel = panels.choose(name, names, inspected, opened=opened, options=options)
        if panel is not None:
            shown.append(panel)
link.publish()
if len(shown) < len(names):
    st.stop()

with controls[-1]:
    subtracted = difference.choice(names)
numbers = list(
    zip(
        alignment.numbers([panel.axes[0] for panel in shown]),
        alignment.numbers([panel.axes[1] for panel in shown]),
        strict=True,
    )
)
a, b = (shown[names.index(name)] for name in subtracted)
pair = difference.subtract(a, b)
if isinstance(pair, difference.PanelDifference):
    with above:
        sentence.show(pair.sentence, ("attention", "query", "key") if pair.a.attends else ())
of_panels, of_difference = panels.beside(
    shown, pair.pairing.shown[0] if isinstance(pair, difference.PanelDifference) else None
)
attending = [panel for panel in shown if panel.attends]
top = max((panel.top for panel in attending), default=1.0)
for panel, linked, place in zip(shown, numbers, maps, strict=False):
    with place:
        own_top = panel.top if options.own_scale else top
        named = pair.named_in(panel) if isinstance(pair, difference.PanelDifference) else None
        panels.draw(panel, top=own_top, options=options, numbers=linked, beside=of_panels, named=named)
with maps[-1]:
    difference.draw(pair, numbers=numbers[shown.index(a)], lines=options.lines, beside=of_difference)

difference.explain(pair)
reach = wording.reach(own_scale=options.own_scale or len(attending) < len(shown), top=number(top))
st.caption(wording.panels_read(formula=panels.formula(shown), reach=reach))
if any(panel.is_long for panel in shown):
    st.caption(panels.LONG)
with files:
    downloads.draw(shown, pair, options=options)

if len(attending) > 1:
    further.section(attending, scale=options.scale)
    if any(panel.trace.mixers for panel in attending):
        st.caption(mixer_words.SOFTMAX_ALONE)
else:
    st.caption(mixer_words.FURTHER)
st.page_link(
    Path(__file__).parents[1] / "what_if" / "page.py",
    label=wording.SEE_WHAT_IF,
    icon=":material/alt_route:",
)
