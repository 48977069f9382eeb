"""The switch Who wrote it: the open cell's score by its writers, and the way from writer to writer down to tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from inspector.views import sections
from inspector.views.choices import assign
from inspector.views.shell import link, problems, session
from inspector.wording import writers as words

if TYPE_CHECKING:
    from inspector.explain import Explanation
    from inspector.trace import AttentionSite, MixerSite, Trace
    from inspector.views.shell.session import Inspected

TRAIL = "trail"  # in the link: the cells that led here, and the last of them is the open one
OPENED = "wrote_opened"  # in the link, the choice of a writer in the section, which comes when the switch is set
_STREAM = "(encoder|decoder|cross)"
_HEAD = rf"(query|key)\.{_STREAM}(\.\d{{1,6}}){{3}}"
_CELL = rf"{_STREAM}(\.\d{{1,6}}){{5}}(~{_HEAD})?"
_MOST = 12  # cells of a trail


@dataclass(frozen=True)
class Step:
    """A cell of a trail. opened: the head that the reader chose among its writers, as the link has it."""

    stream: str
    layer: int
    call: int
    head: int
    query: int
    key: int
    opened: str = ""

    def __str__(self) -> str:
        """Write the cell as the link has it."""
        cell = ".".join(map(str, (self.stream, self.layer, self.call, self.head, self.query, self.key)))
        return f"{cell}~{self.opened}" if self.opened else cell

    @classmethod
    def read(cls, text: str) -> Step:
        """Read what `str` wrote."""
        cell, _, opened = text.partition("~")
        stream, *numbers = cell.split(".")
        layer, call, head, query, key = map(int, numbers)
        return cls(stream, layer, call, head, query, key, opened)

    def label(self, trace: Trace) -> str | None:
        """Name the cell on a button; None where the text has no such cell."""
        for site in trace.sites_of(self.stream):
            there = (site.layer, site.call) == (self.layer, self.call) and self.head < site.heads
            if there and self.query < len(site.queries) and self.key < len(site.keys):
                query, key = site.queries[self.query], site.keys[self.key]
                return words.opens(layer=self.layer, head=self.head, query=query, key=key)
        return None


def keep_trail(site: AttentionSite | MixerSite, head: int, *, query: int | None, key: int | None) -> None:
    """Forget the trail where it does not end at the open cell, for the reader came here another way."""
    link.text(OPENED, pattern=_HEAD)  # taken here: the address is written anew before the list of heads is drawn
    way = _trail()
    if way and (way[-1].stream, *_numbers(way[-1])) != (site.stream, site.layer, head, query, key):
        link.assign(TRAIL, None)


def draw(inspected: Inspected, cell: Explanation) -> None:
    """Draw the switch, and behind it who wrote the cell's score; a click on a head opens the head's cell."""
    site = cell.site
    here = Step(site.stream, site.layer, site.call, cell.head, cell.query, cell.key)
    if not st.toggle(words.WROTE, key="wrote", bind=link.bind_switch("wrote")):
        return
    from inspector.sections.scores import wrote

    way = _trail() or [here]
    _draw_trail(inspected.trace, way)
    try:
        loaded = inspected.loaded
    except ValueError as error:
        problems.show(str(error))
        return
    subject = replace(session.subject(inspected.trace, loaded), stream=site.stream)
    chosen = {
        "head": (site.layer, cell.head, site.call),
        "wrote_query": cell.query,
        "wrote_key": cell.key,
    }

    def follow(chosen: Mapping[str, Any]) -> None:
        there = Step(
            chosen.get("stream", here.stream),
            chosen["layer"],
            chosen["call"] or 0,
            chosen["head"],
            chosen["wrote_query"],
            chosen["wrote_key"],
        )
        left = replace(way[-1], opened=str(link.held(OPENED) or ""))
        _go([*way[:-1], left, there][-_MOST:], from_stream=here.stream)

    sections.inside(wrote.SECTION, subject, chosen, follow=follow)


def _trail() -> list[Step]:
    trail = link.text(TRAIL, pattern=rf"{_CELL}(-{_CELL}){{0,{_MOST - 1}}}")
    return [Step.read(cell) for cell in trail.split("-")] if trail else []


def _numbers(step: Step) -> tuple[int, int, int, int]:
    return step.layer, step.head, step.query, step.key


def _draw_trail(trace: Trace, way: list[Step]) -> None:
    """Draw a button for each cell that led here, which goes back to it."""
    if len(way) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(words.TRAIL, width="content")
        for number, step in enumerate(way[:-1]):
            if (label := step.label(trace)) is not None:
                st.button(
                    label,
                    key=f"wrote-trail-{number}",
                    on_click=_go,
                    args=(way[: number + 1],),
                    kwargs={"from_stream": way[-1].stream},
                )


def _go(way: list[Step], *, from_stream: str) -> None:
    """Open the last cell of a way, before the run that follows."""
    to = way[-1]
    assign({"layer": to.layer, "call": to.call or None, "head": to.head})
    if to.stream != from_stream:
        assign({"stream": to.stream})
    link.assign("query", (to.query,))
    link.assign("key", to.key)
    link.assign(OPENED, to.opened or None)
    link.assign(TRAIL, "-".join(map(str, way)) if len(way) > 1 else None)
