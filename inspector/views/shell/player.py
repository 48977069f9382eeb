"""A panel that plays by itself: steps from the first to the last, each seen for a while, without running the page.

Nothing is computed as it plays: all steps are there, and only the panel, a fragment, is drawn again.

    player = Player("replay", step="moment", interval=1.5, first=0, last=9, opens=4)
    player.load(text)                        # on the page; another text stops it
    player.panel(draw)(player)

    step = player.seen()                     # in the panel, first: one step on where the clock says so
    player.buttons()
    player.slider(step, label="Step", key="moment")
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import streamlit as st

from inspector.views.shell import appearance, boundary, link
from inspector.wording import pages as words

_SOON = 0.6  # of the interval: the browser's clock is not exact, and a run that another widget caused comes earlier


@dataclass(frozen=True)
class Player:
    """A player of the steps `first` to `last`, whose state the session keeps under `name`.

    step: the name in the link of the step that is seen. interval: the seconds for which a step is shown. opens: the
    step that is seen until the reader chooses one. names: those of the steps, where the link has them by name.
    from_first: Play begins with the first step as long as the reader has chosen none. round: Next leads from the last
    step to the first.
    """

    name: str
    step: str
    interval: float
    first: int
    last: int
    opens: int
    names: Sequence[str] = ()
    from_first: bool = False
    round: bool = True

    @property
    def playing(self) -> bool:
        """True while the player is playing."""
        return bool(st.session_state.get(f"{self.name}.playing", False))

    def load(self, of: Hashable) -> None:
        """Take what is to be played; where something else was played before, it stops and opens at its first view."""
        state, key = st.session_state, f"{self.name}.of"
        if state.setdefault(key, of) != of:
            state[key] = of
            self.stop()
            if not self.names:  # a name may be a step of what is played now, too
                link.assign(self.step, None)
        if self.playing:
            self.go(self.at())  # the link waits until it stops

    def panel(self, draw: Callable[..., Any]) -> Callable[..., Any]:
        """Return `draw` as a fragment, which runs again every `interval` seconds while it plays."""
        playing = st.session_state[f"{self.name}.ticking"] = self.playing
        fragment: Callable[..., Any] = st.fragment(boundary.part(draw), run_every=self.interval if playing else None)
        return fragment

    def seen(self) -> int:
        """Return the step to draw, one step on where the clock says so; playing ends at the last step."""
        self._advance()
        if self.names:
            opens = self.names[self.opens - self.first]
            step = self.first + self.names.index(link.choice(self.step, default=opens, options=self.names))
        else:
            step = link.number(self.step, default=self.opens, first=self.first, last=self.last) or self.first
        if not self.playing:  # as it plays the link stays, or the browser's Back would go through every step
            link.publish()
        if self.playing != st.session_state[f"{self.name}.ticking"]:
            st.rerun()  # the whole page: a fragment cannot change its own clock
        return step

    def _advance(self) -> None:
        state = st.session_state
        if not self.playing:
            return
        if monotonic() - state[f"{self.name}.stepped"] >= _SOON * self.interval:
            state[f"{self.name}.stepped"] = monotonic()
            self.go(self.at() + 1)
        if self.at() >= self.last:
            self.stop()

    def at(self) -> int:
        """Return the step that is seen."""
        return self._chosen(otherwise=self.opens)

    def _chosen(self, *, otherwise: int) -> int:
        step = link.remembered(self.step, otherwise)
        if self.names:
            return self.first + self.names.index(str(step)) if str(step) in self.names else otherwise
        return step

    def go(self, step: int) -> None:
        """Go to a step, or to the end that is nearest to it."""
        step = min(max(step, self.first), self.last)
        link.assign(self.step, self.names[step - self.first] if self.names else step)

    def stop(self) -> None:
        """Stop playing at the step that is seen."""
        st.session_state[f"{self.name}.playing"] = False

    def stop_at(self, step: int) -> None:
        """Go to a step, and stop there."""
        self.stop()
        self.go(step)
        link.publish()  # at once, so that a run of the whole page finds it there

    def buttons(self) -> None:
        """Draw the buttons that play and pause, and that go a step back and on."""
        playing = self.playing
        label, icon = ("Pause", ":material/pause:") if playing else ("Play", ":material/play_arrow:")
        label, drawn = appearance.on_accent(label, icon)
        st.button(
            label,
            icon=drawn,
            type="primary",
            key="play",
            on_click=self._press,
        )
        st.button(words.BACK, icon=":material/skip_previous:", on_click=self._walk, args=(-1,), shortcut="B")
        st.button(words.NEXT, icon=":material/skip_next:", on_click=self._walk, args=(1,), shortcut="N")

    def _press(self) -> None:
        """Pause, or play: from the first step where the last one is seen."""
        if self.playing:
            self.stop()
            link.publish()
            return
        st.session_state[f"{self.name}.playing"] = True
        st.session_state[f"{self.name}.stepped"] = monotonic()
        step = self._chosen(otherwise=self.last if self.from_first else self.opens)
        self.go(self.first if step >= self.last else step)

    def _walk(self, by: int) -> None:
        begins_anew = self.round and by > 0 and self.at() == self.last
        self.stop_at(self.first if begins_anew else self.at() + by)

    def slider(self, step: int, *, label: str, key: str) -> None:
        """Draw a slider over the steps.

        A slider that something else has moved is a new one: what the browser still sends of the old one counts no more.
        """
        state, number_key, step_key = st.session_state, f"{key}.slider", f"{key}.slider_at"
        number: int = state.get(number_key, 0) + (state.get(step_key, step) != step)
        state[number_key], state[step_key] = number, step
        element = f"{number_key} {number}"

        def moved() -> None:
            if number == state[number_key]:
                state[step_key] = state[element]
                self.stop_at(state[step_key])

        if self.names:
            steps = range(self.first, self.last + 1)
            st.select_slider(label, steps, step, lambda at: self.names[at - self.first], key=element, on_change=moved)
        else:
            st.slider(label, self.first, self.last, step, key=element, on_change=moved, label_visibility="collapsed")
