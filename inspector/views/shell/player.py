"""A panel that plays by itself: steps from the first to the last, each seen for a while, without running the page.

Nothing is computed as it plays: all steps are there, and only the panel, a fragment, is drawn again.

    player = Player("replay", interval=1.5)
    player.load(name)                        # on the page; another name stops it
    player.panel(draw)(replay)

    player.advance(last, at=at, go=go)       # in the panel, first: one step on where the clock says so
    player.follow()
    player.button(last, at=at, go=go, key="play")
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic
from typing import Any

import streamlit as st

from inspector.views.shell import appearance, boundary

_SOON = 0.6  # of the interval: the browser's clock is not exact, and a run that another widget caused comes earlier


@dataclass(frozen=True)
class Player:
    """A player, whose state the session keeps under `name`; interval: the seconds for which a step is shown."""

    name: str
    interval: float
    first: int = 0

    @property
    def playing(self) -> bool:
        """True while the player is playing."""
        return bool(st.session_state.get(f"{self.name}.playing", False))

    def load(self, of: Hashable) -> bool:
        """Take what is to be played; it stops, and the answer is True, where something else was played before."""
        state, key = st.session_state, f"{self.name}.of"
        if state.setdefault(key, of) == of:
            return False
        state[key] = of
        self.stop()
        return True

    def panel(self, draw: Callable[..., Any]) -> Callable[..., Any]:
        """Return `draw` as a fragment, which runs again every `interval` seconds while it plays."""
        playing = st.session_state[f"{self.name}.ticking"] = self.playing
        fragment: Callable[..., Any] = st.fragment(boundary.part(draw), run_every=self.interval if playing else None)
        return fragment

    def follow(self) -> None:
        """Run the whole page where playing began or ended: a fragment cannot change its own clock."""
        if self.playing != st.session_state[f"{self.name}.ticking"]:
            st.rerun()

    def advance(self, last: int, *, at: Callable[[], int], go: Callable[[int], None]) -> None:
        """Go one step on where the clock says so; playing ends at the last step."""
        state = st.session_state
        if not self.playing:
            return
        if monotonic() - state[f"{self.name}.stepped"] >= _SOON * self.interval:
            state[f"{self.name}.stepped"] = monotonic()
            go(min(at() + 1, last))
        if at() >= last:
            self.stop()

    def stop(self) -> None:
        """Stop playing at the step that is seen."""
        st.session_state[f"{self.name}.playing"] = False

    def button(
        self,
        last: int,
        *,
        at: Callable[[], int],
        go: Callable[[int], None],
        key: str,
        pause: Callable[[], None] | None = None,
    ) -> None:
        """Draw the button that plays, from the first step where the last one is seen, or pauses.

        at, go: the step that is seen, and how another one is. pause: what a pause does beside stopping.
        """

        def press() -> None:
            if self.playing:
                self.stop()
                if pause is not None:
                    pause()
            else:
                st.session_state[f"{self.name}.playing"] = True
                st.session_state[f"{self.name}.stepped"] = monotonic()
                go(self.first if at() >= last else at())

        st.button(
            "Pause" if self.playing else "Play",
            icon=":material/pause:" if self.playing else ":material/play_arrow:",
            type=appearance.main_button(),
            key=key,
            on_click=press,
            shortcut="P",
        )
