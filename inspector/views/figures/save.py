"""The one quiet control under a figure: the figure in large type for a slide, its files, and its Python lines.

```python
save.figure("thumbnails", {"": scene}, table=lambda: frame, python=lines, key="heads")

files = [*save.picture("map", scene), File("map.npz", arrays, "numpy.load() gives values")]
save.menu(files, slides=[save.slide({"": scene}, name="map-slide", key="head")], python=lines, key="head")
```
"""

from __future__ import annotations

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
from inspector.views.shell import appearance, downloads, python_lines
from inspector.wording import shell as words

if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator

Layout = Callable[[Mode], Scene]


@dataclass(frozen=True)
class Labels:
    """The words of the control. matrix: those of `MatrixMessage.words`."""

    slide: str = "Slide"
    slide_help: str = "The figure in large type, on a light or a dark ground"
    save: str = "Save"
    png_help: str = "The figure in large type, 2560 by 1440 pixels"
    svg_help: str = "The figure in large type, sharp at any size"
    csv_help: str = "The numbers of the figure, to the last digit"
    python: str = words.WITHOUT_PAGE
    background: str = "Background"
    modes: Mapping[Mode, str] = field(default_factory=lambda: {"light": "Light", "dark": "Dark"})
    matrix: Mapping[str, str] = field(default_factory=dict)


ENGLISH = Labels()


@dataclass(frozen=True)
class Slide:
    """A button that opens a dialog with a figure in large type. label: the button's words, those of Labels if empty."""

    key: str
    open: Callable[[], None]
    label: str = ""


def menu(
    *rows: Sequence[File],
    slides: Sequence[Slide],
    key: str,
    python: str = "",
    pictures: Callable[[], None] | None = None,
    in_line: bool = False,
    labels: Labels = ENGLISH,
) -> DeltaGenerator:
    """Draw the control, and return the popover with the files, for what else stands in it.

    rows: files whose buttons stand beside each other. python: the lines after which a reader has the same numbers.
    pictures: draws the buttons of pictures that the browser makes. in_line: the control stands behind other buttons,
    not at the right.
    """
    kind = appearance.quiet_button()
    with st.container(
        horizontal=True,
        horizontal_alignment="left" if in_line else "right",
        width="content" if in_line else "stretch",
        gap="small",
    ):
        # Slides beside the popover and not in it: an open popover would lie over the dialog.
        for slide in slides:
            label, id = slide.label or labels.slide, f"{slide.key}-slide"
            if st.button(label, icon=":material/slideshow:", type=kind, key=id, help=labels.slide_help):
                slide.open()
        saved = st.popover(labels.save, icon=":material/download:", type=kind, key=f"{key}-save")
    with saved:
        if pictures is not None:
            pictures()
        for files in rows:
            row(files)
        if python:
            st.caption(labels.python)
            python_lines.show(python)
    return saved


def figure(
    name: str,
    layouts: Mapping[str, Layout],
    *,
    table: Callable[[], pd.DataFrame | bytes],
    key: str,
    python: str = "",
    labels: Labels = ENGLISH,
) -> None:
    """Draw the control of a figure, or of several by their titles, and of their table.

    name: of the files, without an ending; a figure's title follows it.
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
        python=python,
        labels=labels,
    )


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
    with st.container(horizontal=True, gap="small"):
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
    with st.container(horizontal=True, vertical_alignment="center"):
        mode = background(key, labels)
        title = next(iter(layouts))
        if len(layouts) > 1:
            title = st.selectbox("Figure", list(layouts), key=f"{key}-figure", label_visibility="collapsed", width=240)
    scene = layouts[title](mode)
    st.image(scene.svg(), width="stretch", alt="the figure as it is saved")
    row(picture("-".join([name, *title.lower().split()]), lambda _: scene, labels=labels))


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
