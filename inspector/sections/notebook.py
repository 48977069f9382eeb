"""A section in a notebook: the same blocks as on the page, with live figures and maps, and no server.

```python
inspector.sections.show("layernorm/change", trace, loaded=loaded)
inspector.sections.show("block/way", trace, loaded=loaded, layer=3, token=2)
```
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.components import standalone
from inspector.plots import matrices
from inspector.plots.slide import points
from inspector.plots.still import still
from inspector.sections import asking
from inspector.sections.section import (
    Ask,
    Block,
    Check,
    Choices,
    Figure,
    Files,
    HeadMaps,
    Link,
    Map,
    Measurement,
    Note,
    Numbers,
    Paragraph,
    Problem,
    Quote,
    Section,
    Sentence,
    Table,
    Thumbnails,
)
from inspector.text import plain

if TYPE_CHECKING:
    from torch import nn

    import models
    from inspector.trace import Trace

MOST_ROWS = 40  # of a table in a cell, those in the middle left out
MAP_HEIGHT = 560  # CSS pixels of a map's frame


@dataclass(frozen=True, eq=False)
class Cell:
    """The output of a notebook cell: blocks, which are displayed one below the other."""

    blocks: tuple[Block, ...]

    def outputs(self) -> Iterator[dict[str, Any]]:
        """Yield what a notebook displays, a bundle of MIME type -> data each."""
        for block in self.blocks:
            yield from _outputs(block)

    def _ipython_display_(self) -> None:
        from IPython.display import display  # type: ignore[import-not-found]  # a notebook brings it

        for bundle in self.outputs():
            if any(bundle.values()):
                display(bundle, raw=True)


def show(
    path: str, trace: Trace | None = None, *, loaded: models.LoadedModel | nn.Module | None = None, **chosen: Any
) -> Cell:
    """Return a section about a recorded text, or a course that needs none, as the output of a notebook cell.

    path: the page's address and the section's id, "block/added". loaded: the trace's model, for sections that run it or
    read its weights. chosen: by the ids of the section's picks, and `stream`. Raises ValueError for what is not there,
    and where a section needs the model and has none, or has one that cannot do what the section shows.
    """
    blocks = asking.ask(path, trace, loaded=loaded, chosen=chosen)
    return Cell(tuple(block for block in blocks if not isinstance(block, Ask | Measurement)))


def _outputs(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case Sentence():
            yield _markdown(f"### {block.text}")
        case Paragraph() | Note():
            yield _markdown(block.text, block.heading)
        case Figure():
            yield _markdown(block.sentence, block.heading)
            yield _chart(block)
            yield _markdown(block.note)
        case Map():
            yield _markdown(block.sentence, block.heading)
            frame = html.escape(standalone.matrix(block.heading or block.alt, block.message().to_bytes()))
            style = f"width: 100%; height: {MAP_HEIGHT}px; border: 0"
            framed = f'<iframe srcdoc="{frame}" title="{html.escape(block.alt, quote=True)}" style="{style}"></iframe>'
            yield {"text/html": framed, "text/plain": block.alt}
            yield _markdown(block.note)
        case Numbers():
            said = " · ".join(f"{number.name} **{number.value}**" for number in block.numbers)
            yield _markdown(f"{said}{block.of}", block.heading)
        case Check():
            yield _markdown(block.text)
        case Table():
            yield _markdown("", block.heading)
            table = block.frame.rename(columns=dict(block.words))
            yield {
                "text/html": table.to_html(index=False, escape=True, max_rows=MOST_ROWS),
                "text/plain": table.to_string(index=False, max_rows=MOST_ROWS),
            }
        case Quote():
            yield _markdown(f"{block.said} {plain(block.text)}")
        case Choices():
            yield _markdown(" · ".join(plain(choice.label) for choice in block.choices))
        case Problem():
            yield _markdown(plain(block.text))
        case Thumbnails():
            yield {"text/html": block.scene("light").svg(), "text/plain": block.alt}
            yield _markdown(block.note)
        case HeadMaps():
            for one in block.maps:
                drawn = matrices.picture(
                    one.weights,
                    queries=block.queries,
                    keys=block.keys,
                    title=one.title,
                    quantity="weight",
                    top=block.top,
                    mode="light",
                )
                yield {"text/html": drawn.svg(), "text/plain": block.alt}
            yield _markdown(block.note)
        case Link() | Files():
            return
        case Section() | Ask() | Measurement() | _:
            raise TypeError(f"{type(block).__name__} is no output of a cell")


def _chart(block: Figure) -> dict[str, Any]:
    """Return a chart that is live where the notebook knows plotly, and a still picture elsewhere."""
    figure = block.draw(mode="light")
    bundle = {"application/vnd.plotly.v1+json": json.loads(str(figure.to_json())), "text/plain": block.alt}
    try:
        return bundle | {"text/html": still(figure, mode="light").svg()}
    except ValueError:  # drawn by hand: its numbers stand in the picture's place
        table = points(figure) if block.table is None else block.table
        return bundle | {"text/html": table.to_html(index=False, escape=True, max_rows=MOST_ROWS)}


def _markdown(text: str, heading: str = "") -> dict[str, Any]:
    written = "\n\n".join(filter(None, (f"#### {heading}" if heading else "", text)))
    return {"text/markdown": written, "text/plain": written}
