"""The one quiet control under a figure: its files, its Python lines, and the figure in large type for a slide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import get_args

import streamlit as st

from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.views.shell import downloads, session, widgets


@dataclass(frozen=True)
class Labels:
    """The words of the control. matrix: those of `MatrixMessage.words`."""

    slide: str = "Slide"
    slide_help: str = "The figure in large type, on a light or a dark ground"
    save: str = "Save"
    png_help: str = "The figure in large type, 2560 by 1440 pixels"
    svg_help: str = "The figure in large type, sharp at any size"
    csv_help: str = "The numbers of the figure, to the last digit"
    python: str = "The same numbers without the page:"
    background: str = "Background"
    modes: Mapping[Mode, str] = field(default_factory=lambda: {"light": "Light", "dark": "Dark"})
    matrix: Mapping[str, str] = field(default_factory=dict)


ENGLISH = Labels()


def draw(
    name: str,
    *,
    key: str,
    pictures: Callable[[], None],
    csv: Callable[[], bytes],
    slide: Callable[[], None],
    python: str = "",
    labels: Labels = ENGLISH,
) -> None:
    """Draw the control.

    name: of the files, without an ending. pictures: draws the buttons PNG and SVG. csv: makes the table. slide: opens
    the dialog Slide. python: the lines after which a reader has the same numbers; no lines where it is empty.
    """
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        # Beside the popover and not in it: an open popover would lie over the dialog.
        kind = widgets.quiet_button()
        if st.button(labels.slide, icon=":material/slideshow:", type=kind, key=f"{key}-slide", help=labels.slide_help):
            slide()
        with st.popover(labels.save, icon=":material/download:", type=kind, key=f"{key}-save"):
            pictures()
            downloads.button(f"{name}.csv", csv, labels.csv_help)
            if python:
                st.caption(labels.python)
                widgets.python(python)


def files(
    name: str,
    picture: Callable[[Mode], Scene],
    *,
    of: str = "",
    labels: Labels = ENGLISH,
    csv: Callable[[], bytes] | None = None,
) -> None:
    """Draw the buttons PNG and SVG of a picture, which is laid out when the reader asks for it, and CSV of its table.

    The picture is as light or dark as the page, which only a run of the script can tell: it is asked here. of: the
    picture's name on the buttons, where there are several.
    """
    mode = session.mode()
    png, svg, table = (f"{of}, {ending}" if of else "" for ending in ("PNG", "SVG", "CSV"))
    with st.container(horizontal=True, gap="small"):
        downloads.button(f"{name}.png", lambda: picture(mode).png(), labels.png_help, label=png)
        downloads.button(
            f"{name}.svg",
            lambda: picture(mode).svg().encode(),
            labels.svg_help,
            label=svg,
        )
        if csv is not None:
            downloads.button(f"{name}.csv", csv, labels.csv_help, label=table)


def slide_button(label: str, picture: Callable[[Mode], Scene], *, name: str, key: str) -> None:
    """Draw a button that opens the slide of a picture, where a page has files of its own."""
    kind = widgets.quiet_button()
    if st.button(label, icon=":material/slideshow:", type=kind, key=f"{key}-slide", help=ENGLISH.slide_help):
        slide(picture, name=f"{name}-slide", key=key)


def slide(picture: Callable[[Mode], Scene], *, name: str, key: str, labels: Labels = ENGLISH) -> None:
    """Open the dialog with one picture."""
    slides({"": picture}, name=name, key=key, labels=labels)


def slides(pictures: Mapping[str, Callable[[Mode], Scene]], *, name: str, key: str, labels: Labels = ENGLISH) -> None:
    """Open a dialog with one of the pictures in the mode that the reader chooses, and the buttons that save it so."""
    st.dialog(labels.slide, width="large")(_slides)(pictures, name=name, key=key, labels=labels)


def _slides(pictures: Mapping[str, Callable[[Mode], Scene]], *, name: str, key: str, labels: Labels) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        mode = background(key, labels)
        shown = next(iter(pictures))
        if len(pictures) > 1:
            shown = st.selectbox("Figure", list(pictures), key=f"{key}-figure", label_visibility="collapsed", width=240)
    drawn = pictures[shown](mode)
    st.image(drawn.svg(), width="stretch", alt="the figure as it is saved")
    files("-".join([name, *shown.lower().split()]), lambda _: drawn, labels=labels)


def background(key: str, labels: Labels = ENGLISH) -> Mode:
    """Draw the choice of a slide's background; first the page's."""
    modes: tuple[Mode, ...] = get_args(Mode)
    chosen: Mode = st.segmented_control(
        labels.background,
        modes,
        default=session.mode(),
        format_func=labels.modes.__getitem__,
        key=f"{key}-background",
        label_visibility="collapsed",
        required=True,
    )
    return chosen
