// One edge of the heatmap: tokens where they are legible, else indices at round steps, and the crosshair's own index.
import { clamp, element, fillToken } from "../shared.js";

const ROOM = { top: 28, left: 44 }; // pixels from one index to the next, at least

export class Axis {
  /** `edge` is where a place along the axis is measured from: "top" for queries, "left" for keys. */
  constructor(edge, className) {
    this.edge = edge;
    this.box = element("div", className);
    this.crossMark = element("div", "tick cross");
  }

  /** Tokens of `cell` pixels each, counted from `start` in the map and `first` in the text; cut at `longest` pixels,
   * indices where that is 0. */
  label(tokens, { start, first, cell, longest }) {
    this.first = first;
    const step = longest ? 1 : roundStep(tokens.length, (cell * tokens.length) / ROOM[this.edge]);
    const marks = tokens.flatMap((token, index) => {
      if (index % step) return [];
      const mark = element("div", longest ? "label" : "tick");
      mark.style[this.edge] = `${(index + 0.5) * cell}px`;
      if (!longest) return [Object.assign(mark, { textContent: first + start + index })];
      fillToken(mark, token);
      mark.dataset.index = start + index;
      mark.style.maxWidth = `${longest}px`;
      return [mark];
    });
    this.box.style.setProperty("--label", `${clamp(cell - 1, 10, 13)}px`);
    this.box.replaceChildren(...marks, this.crossMark);
    this.box.classList.toggle("labelled", longest > 0);
  }

  /** Dims the labels whose token is not among the `named`. */
  dim(named) {
    for (const label of this.box.querySelectorAll(".label")) label.classList.toggle("dim", !named[label.dataset.index]);
  }

  light(on, chosen) {
    for (const label of this.box.querySelectorAll(".on, .chosen")) label.classList.remove("on", "chosen");
    const mark = (name) => (index) => this.box.querySelector(`[data-index="${index}"]`)?.classList.add(name);
    on.forEach(mark("on"));
    chosen.forEach(mark("chosen"));
  }

  /** The crosshair's index at `place` pixels; false for none. */
  cross(index, place) {
    this.crossMark.hidden = place === false || this.box.classList.contains("labelled");
    if (this.crossMark.hidden) return;
    this.crossMark.textContent = this.first + index;
    this.crossMark.style[this.edge] = `${place}px`;
  }
}

/** The smallest of 1, 2, 5, 10, 20, ... that leaves at most `most` ticks on `count` cells. */
function roundStep(count, most) {
  for (let step = 1; ; step *= 10) {
    for (const times of [1, 2, 5]) if (count / (step * times) <= Math.max(1, most)) return step * times;
  }
}
