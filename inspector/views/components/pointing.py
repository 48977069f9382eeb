"""The page's sentence and its pictures: while the reader points at the sentence, what it names lights up in them.

Components hear of it by an event, see `View` in components/shared.js. Of a chart of plotly the marked point is the one
with an outline, and plotly tells it as it tells a point under the pointer. Nothing is drawn.
"""

from __future__ import annotations

from inspector.views.components import files

_WATCH = """
const SENTENCE = "[data-testid=stMain] [data-testid=stHeading] h2";
const POINT = "headlight-point";
const OUTLINED = 1; // pixels of the outline of a point that is marked, and more

// Where the drag layer of a plot has the point, plotly looks for what is under the pointer.
function light(chart, at) {
  const mark = [...chart.querySelectorAll(".point")].find(({ __data__: point }) => point?.mlw > OUTLINED);
  if (!mark) return;
  const { left, top, width, height } = mark.getBoundingClientRect();
  const [clientX, clientY] = [left + width / 2, top + height / 2];
  const holds = (box) => box.left <= clientX && clientX <= box.right && box.top <= clientY && clientY <= box.bottom;
  const plot = [...chart.querySelectorAll(".nsewdrag")].find((layer) => holds(layer.getBoundingClientRect()));
  plot?.dispatchEvent(new MouseEvent(at ? "mousemove" : "mouseout", { clientX, clientY, bubbles: true }));
}

const mount = () => {
  let pointing = false;
  const point = ({ type, target }) => {
    const at = type !== "focusout" && Boolean(target.closest?.(SENTENCE));
    if (at === pointing) return;
    pointing = at;
    document.dispatchEvent(new CustomEvent(POINT, { detail: at }));
    for (const chart of document.querySelectorAll(".js-plotly-plot")) light(chart, at);
  };
  const kinds = ["pointerover", "focusin", "focusout"];
  for (const kind of kinds) document.addEventListener(kind, point);
  return () => {
    for (const kind of kinds) document.removeEventListener(kind, point);
  };
};
"""

_mount = files.declared("pointing", _WATCH)


def watch() -> None:
    """Follow the pointer and the focus over the sentences of the page."""
    _mount(key="pointing", data={}, height=1)
