"""A stream's heads in a notebook, live: what is clicked comes back to Python, and Python moves what is shown."""

from __future__ import annotations

import base64
import html
from typing import Any, ClassVar
from uuid import uuid4

import anywidget
import traitlets

from inspector import maps
from inspector.components import widget
from inspector.export.stream_messages import StreamMessages, Window
from inspector.plots import matrices
from inspector.trace import AttentionSite, MixerSite
from inspector.trace.counting import counted
from inspector.wording import mixers, notebook

_STILL_COLOURS = 128  # of the picture in a saved notebook


class NoSuchPlaceError(traitlets.TraitError, ValueError):
    """A head or a query that is not there; traitlets takes back all that was set with it."""


class HeadView(anywidget.AnyWidget):
    """All heads of a stream and an open one: the output of a notebook's cell. `inspector.show` makes it.

    ```python
    view = inspector.show(trace)
    view.observe(lambda change: print(change.new), "head")
    view.head = (3, 7)
    ```

    head: layer and head of the open map, each from 0, or from the end where negative; of a layer that attends several
    times `site` tells which is open. query: the position of the query that was pinned last, None without a pin. Both
    can be observed and set; ValueError for what is not there.
    """

    _esm: ClassVar[str] = widget.LOADER.read_text(encoding="utf-8")
    _css: ClassVar[str] = widget.css()

    head = traitlets.TraitType(default_value=()).tag(sync=True)  # None is refused, which Any would let through
    query = traitlets.Any(None).tag(sync=True)

    _row = traitlets.TraitType(default_value=0).tag(sync=True)  # of the grid; a layer may have several
    # Where the window of a long text begins: query, key.
    _corner = traitlets.TraitType(default_value=(0, 0)).tag(sync=True)
    _open = traitlets.Bytes().tag(sync=True)
    _grid = traitlets.Bytes().tag(sync=True)
    _code = traitlets.Bytes().tag(sync=True)
    _rows = traitlets.List().tag(sync=True)
    _unanswered = traitlets.Unicode(notebook.UNANSWERED).tag(sync=True)
    _still = traitlets.Unicode().tag(sync=True)

    def __init__(self, messages: StreamMessages, *, row: int, head: int) -> None:
        """messages: of a stream; row: of its grid, whose head is open."""
        self._messages = messages
        self._drawn: tuple[object, ...] = ()
        sites = messages.sites
        super().__init__(
            head=(sites[row].layer, head),
            _row=row,
            _grid=widget.packed(messages.grid(selected=(row, min(head, sites[row].tiles - 1)))),
            _code=widget.code(),
            _rows=[
                {"layer": site.layer, **({} if messages.has_map(at) else {"refused": mixers.REFUSED})}
                for at, site in enumerate(sites)
            ],
            _still=uuid4().hex,
        )

    @property
    def site(self) -> AttentionSite | MixerSite:
        """The place in the model of the open head."""
        return self._messages.sites[self._row]

    def __repr__(self) -> str:
        """Name the trace and the open head, in a line."""
        layer, head = self.head
        return f"<HeadView of {self._messages.trace!r}: layer {layer}, head {head}>"

    @traitlets.validate("head")
    def _at_head(self, proposal: Any) -> tuple[int, int]:
        layer, head = _pair(proposal.value, "head", "(layer, head)")
        sites = self._messages.sites
        layers = sorted({site.layer for site in sites})
        layer = _counted(layer, "layer", count=layers[-1] + 1)
        if layer not in layers:
            raise NoSuchPlaceError(
                f"layer {layer} is not in this view: it shows the layers {', '.join(map(str, layers))}"
            )
        row = self._row_of(layer)
        head = _counted(head, "head", count=sites[row].heads)
        if not 0 <= head < sites[row].heads:
            last = sites[row].heads - 1
            raise NoSuchPlaceError(f"head {head} is out of range: layer {layer} has heads 0 to {last}")
        if not self._messages.has_map(row):
            raise NoSuchPlaceError(f"layer {layer}: {mixers.REFUSED}")
        return layer, head

    @traitlets.validate("query")
    def _at_query(self, proposal: Any) -> int | None:
        if proposal.value is None:
            return None
        queries = len(self._messages.sites[0].queries)
        query = _counted(proposal.value, "query", count=queries)
        if not 0 <= query < queries:
            raise NoSuchPlaceError(f"query {query} is out of range: the text has {queries} tokens, from 0")
        return query

    @traitlets.validate("_corner")
    def _in_text(self, proposal: Any) -> tuple[int, int]:
        site = self._messages.sites[0]
        query, key = _pair(proposal.value, "window", "(query, key)")
        ends = (len(site.queries) - maps.WINDOW, len(site.keys) - maps.WINDOW)
        return max(0, min(query, ends[0])), max(0, min(key, ends[1]))

    @traitlets.observe("head", "_row", "_corner")
    def _draw(self, _: Any) -> None:
        """Send the head that is open, once for all that changed together."""
        row = self._row_of(self.head[0])
        with self.hold_sync():
            self._row = row
            if (wanted := (row, self.head[1], self._corner)) != self._drawn:
                self._drawn = wanted
                self._open = self._messages.head(row, self.head[1], window=self._window(), pans=True).to_bytes()

    def _row_of(self, layer: int) -> int:
        """Find a layer's row in the grid: the open one where it is the layer's, else the layer's first."""
        rows = [at for at, site in enumerate(self._messages.sites) if site.layer == layer]
        return self._row if self._row in rows else rows[0]

    def _window(self) -> Window | None:
        if not self._messages.whole.is_long:
            return None
        down, across = (
            slice(start, min(start + maps.WINDOW, len(side.members)))
            for start, side in zip(self._corner, (self._messages.whole.queries, self._messages.whole.keys), strict=True)
        )
        return down, across

    def _ipython_display_(self) -> None:
        """Display a picture, which a saved notebook keeps, and the view, which hides the picture once it is drawn."""
        from IPython.display import display  # type: ignore[import-not-found]  # a notebook brings it

        message = self._messages.head(self._row, self.head[1], window=self._window())
        alt = notebook.alt(self._messages.trace.model, message.title)
        drawn = matrices.picture(
            message.weights,
            queries=message.queries,
            keys=message.keys,
            title=f"{self._messages.trace.model}: {message.title}",
            diverging=message.diverging,
            scale=self._messages.scale,
            mode="light",
        )
        data = base64.b64encode(drawn.png(colours=_STILL_COLOURS)).decode()
        names = f'class="headlight-still-{self._still}" alt="{html.escape(alt)}" width="{drawn.width:g}"'
        still = f'<img {names} src="data:image/png;base64,{data}">'
        display({"text/html": still, "text/plain": alt}, raw=True)
        display(*self._repr_mimebundle_(), raw=True)


def _pair(value: object, name: str, form: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise NoSuchPlaceError(f"{name} is {str(value)[:60]!a}: give {form}, two whole numbers")
    return value[0], value[1]


def _counted(value: Any, name: str, *, count: int) -> int:
    try:
        return counted(value, name, count=count)
    except ValueError as error:
        raise NoSuchPlaceError(str(error)) from None
