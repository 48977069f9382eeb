// Gestures on the heatmap: a drag moves the viewport, the wheel zooms with Ctrl and moves with Shift.

const STILL = 4; // pixels that a pointer may move in a click
const CLOSER = 1.25; // the zoom of one notch of the wheel
const NOTCH = 60; // pixels of the wheel's turn

/** Calls `move(queries, keys)` in whole cells, `zoom(times, at)` and `reset()`; `size()` is a cell's [width, height]. */
export function listenToGestures(plot, { size, cellAt, canMove, move, zoom, reset }) {
  let held = null;
  let turned = 0;
  plot.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType !== "touch" && canMove()) held = { x: event.clientX, y: event.clientY };
  });
  plot.addEventListener("pointermove", (event) => {
    if (!held) return;
    const far = Math.hypot(event.clientX - held.x, event.clientY - held.y) > STILL;
    if (far && !held.dragging) {
      held.dragging = true;
      plot.setPointerCapture(event.pointerId);
      plot.classList.add("dragging");
    }
    if (!held.dragging) return;
    event.stopPropagation(); // no tooltip on the way
    const [width, height] = size();
    const keys = Math.trunc((held.x - event.clientX) / width);
    const queries = Math.trunc((held.y - event.clientY) / height);
    if (!keys && !queries) return;
    held.x -= keys * width;
    held.y -= queries * height;
    move(queries, keys);
  });
  const release = () => {
    const dragged = held?.dragging;
    held = null;
    plot.classList.remove("dragging");
    // The click that ends a drag pins nothing. Where no click follows the drag, the next click pins again.
    if (dragged) addEventListener("click", stop, { capture: true, once: true });
    if (dragged) setTimeout(() => removeEventListener("click", stop, { capture: true }));
  };
  const stop = (event) => event.stopPropagation();
  plot.addEventListener("pointerup", release);
  plot.addEventListener("pointercancel", release);
  plot.addEventListener("dblclick", reset);
  plot.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !(event.shiftKey && canMove())) return; // the page scrolls
      event.preventDefault();
      if (event.ctrlKey) return zoom(event.deltaY < 0 ? CLOSER : 1 / CLOSER, cellAt(event));
      const [width] = size();
      turned += (event.deltaX || event.deltaY) / Math.max(width, NOTCH / 8);
      const keys = Math.trunc(turned);
      turned -= keys;
      if (keys) move(0, keys);
    },
    { passive: false },
  );
}
