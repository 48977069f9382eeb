"""The title line of a figure, and the one quiet menu at its right end: slides, files and Python lines.

```python
save.figure("thumbnails", {"": scene}, table=lambda: frame, python=lines, key="heads", heading="Every head")

files = [*save.picture("map", scene), File("map.npz", arrays, "numpy.load() gives values")]
save.menu(files, slides=[save.slide({"": scene}, name="map-slide", key="head")], python=lines, key="head")
```
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import streamlit as st

from inspector.export import spreadsheet
from inspector.plots.scene import Scene
from inspector.plots.theme import Mode
from inspector.sections.section import File
from inspector.text import quoted
from inspector.views.components import slide as component
from inspector.views.shell import appearance, boundary, downloads, python_lines
from inspector.wording import maps as words

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

Layout = Callable[[Mode], Scene]


SLIDE = 1100  # pixels of a slide: with all over it, it fits in a window of 1440 by 900
WIDE = 46  # pixels of the menu's button: its mark and its arrow, no words


@dataclass(frozen=True)
class Labels:
    """The words of the menu, `menu` and `menu_of` those of its button. matrix: those of `MatrixMessage.words`."""

    slide: str = "Slide"
    slide_help: str = "The figure in large type, on a light or a dark ground"
    menu: str = "Slide and files"
    menu_of: str = "Slide and files of {}"
    png_help: str = "The figure in large type, 2560 by 1440 pixels"
    svg_help: str = "The figure in large type, sharp at any size"
    csv_help: str = "The numbers of the figure, to the last digit"
    python: str = words.WITHOUT_PAGE
    background: str = "Background"
    full_screen: str = "Full screen"
    modes: Mapping[Mode, str] = field(default_factory=lambda: {"light": "Light", "dark": "Dark"})
    matrix: Mapping[str, str] = field(default_factory=dict)


ENGLISH = Labels()


@dataclass(frozen=True)
class Slide:
    """A button that opens a dialog with a figure in large type. label: the button's words, those of Labels if empty."""

    key: str
    open: Callable[[], None]
    label: str = ""


@st.fragment
@boundary.part
def menu(
    *rows: Sequence[File],
    slides: Sequence[Slide],
    key: str,
    heading: str = "",
    sentence: str = "",
    about: str = "",
    python: str = "",
    pictures: Callable[[], None] | None = None,
    labels: Labels = ENGLISH,
) -> None:
    """Draw a figure's title line, its menu at the right end; what is in the menu is made when the reader opens it.

    rows: files whose buttons stand beside each other. heading, sentence: of the figure; where both are empty the line
    is the menu alone. about: names the figure in its button where it has no heading. python: the lines after which a
    reader has the same numbers. pictures: draws the buttons of pictures that the browser makes.
    """
    named = heading or about
    with st.container(horizontal=True, horizontal_alignment="right", wrap=False, gap="small"):
        if heading or sentence:
            with st.container(gap=None):
                st.space(1 if heading else 7)  # its first line meets the button's middle, however many lines follow
                st.subheader(heading, anchor=False) if heading else st.markdown(sentence)
        opened = st.popover(
            labels.menu_of.format(named) if named else labels.menu,
            icon=":material/more_horiz:",
            key=f"{key}-menu",
            width=WIDE,
            on_change="rerun",
        )
    if heading and sentence:
        st.markdown(sentence)
    if opened.open:
        with opened:
            with st.container(horizontal=True, gap="small"):
                for slide in slides:
                    st.button(
                        slide.label or labels.slide,
                        icon=":material/slideshow:",
                        key=f"{slide.key}-slide",
                        help=labels.slide_help,
                        on_click=_turn_to,
                        args=(slide.key, key),
                    )
            if pictures is not None:
                pictures()
            for files in rows:
                row(files)
            if python:
                st.caption(labels.python)
                python_lines.show(python)
    for slide in slides:
        if st.session_state.pop(f"{slide.key}-slide-asked", False):
            slide.open()


def _turn_to(slide: str, key: str) -> None:
    """Close the menu, which would lie over the dialog, before the run that opens the slide."""
    st.session_state[f"{key}-menu"] = False
    st.session_state[f"{slide}-slide-asked"] = True


def figure(
    name: str,
    layouts: Mapping[str, Layout],
    *,
    table: Callable[[], pd.DataFrame | bytes],
    key: str,
    heading: str = "",
    sentence: str = "",
    about: str = "",
    python: str = "",
    labels: Labels = ENGLISH,
) -> None:
    """Draw the title line of a figure, or of several by their titles, with the menu that also holds their table.

    name: of the files, without an ending; a figure's title follows it. The rest as `menu` takes it.
    """
    rows = [
        picture("-".join([name, *title.lower().split()]), layout, of=title, labels=labels)
        for title, layout in layouts.items()
    ]
    csv = File(f"{name}.csv", lambda _: table(), labels.csv_help)
    menu(
        *rows,
        [csv],
        slides=[slide(layouts, name=f"{name}-slide", key=key, labels=labels)],
        key=key,
        heading=heading,
        sentence=sentence,
        about=about,
        python=python,
        labels=labels,
    )


def title_of(*, heading: str, sentence: str) -> str:
    """Return the title of a slide as the line over its figure has it: the heading, or the bold words of the sentence.

    Both are Markdown: tokens are put in quotation marks. "" where neither is a title.
    """
    shown = heading or next(iter(re.findall(r"^\*\*(.+?)\*\*", sentence)), "")
    return quoted(html.unescape(shown))


def picture(name: str, layout: Layout, *, of: str = "", labels: Labels = ENGLISH) -> list[File]:
    """List a picture as PNG and as SVG; of: its title on the buttons, where there are several."""
    before = f"{of}, " if of else ""
    return [
        File(f"{name}.png", layout, labels.png_help, f"{before}PNG"),
        File(f"{name}.svg", layout, labels.svg_help, f"{before}SVG"),
    ]


def row(files: Iterable[File]) -> None:
    """Draw the buttons of files beside each other.

    A picture is as light or dark as the page, which only a run of the script can tell: it is asked here.
    """
    mode = appearance.mode()
    with st.container(horizontal=True, width="content", gap="small"):
        for file in files:
            downloads.button(file.name, partial(_written, file, mode), file.meaning, label=file.label)


def _written(file: File, mode: Mode) -> bytes:
    """Write a file as its ending says."""
    content, ending = file.make(mode), Path(file.name).suffix
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, Scene):
        return content.png() if ending == ".png" else content.svg().encode()
    return content.to_parquet(index=False) if ending == ".parquet" else spreadsheet.csv(content)


def slide(layouts: Mapping[str, Layout], *, name: str, key: str, label: str = "", labels: Labels = ENGLISH) -> Slide:
    """Return the slide of one of the figures, by their titles: the reader chooses which, and its background."""
    dialog = st.dialog(labels.slide, width="large")(_slide)
    return Slide(key, partial(dialog, layouts, name=name, key=key, labels=labels), label)


def _slide(layouts: Mapping[str, Layout], *, name: str, key: str, labels: Labels) -> None:
    with bar():
        mode = background(key, labels)
        title = next(iter(layouts))
        if len(layouts) > 1:
            title = st.selectbox("Figure", list(layouts), key=f"{key}-figure", label_visibility="collapsed", width=240)
        scene = layouts[title](mode)
        row(picture("-".join([name, *title.lower().split()]), lambda _: scene, labels=labels))
    with st.container(width=SLIDE):
        component.slide(scene.svg(), words=labels.full_screen, alt=labels.slide, key=f"{key}-large-slide")


def bar() -> DeltaGenerator:
    """Return the row over a slide for all that a reader does with it, so that nothing lies below the window's edge."""
    return st.container(horizontal=True, vertical_alignment="center", gap="small")


def background(key: str, labels: Labels = ENGLISH) -> Mode:
    """Draw the choice of a slide's background; first the page's."""
    modes: tuple[Mode, ...] = get_args(Mode)
    chosen: Mode = st.segmented_control(
        labels.background,
        modes,
        default=appearance.mode(),
        format_func=labels.modes.__getitem__,
        key=f"{key}-background",
        label_visibility="collapsed",
        required=True,
    )
    return chosen
