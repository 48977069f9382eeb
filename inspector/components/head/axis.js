// One edge of the heatmap: every token where they are legible, else a token with its place at round steps, and the
// crosshair's own token.
import { clamp, element } from "../shared.js";
import { fillNamed } from "./names.js";

const PITCH = 15; // pixels from one of several named tokens to the next, at least

export class Axis {
  /** `edge` is where a place along the axis is measured from: "top" for queries, "left" for keys. */
  constructor(edge, className) {
    this.edge = edge;
    this.box = element("div", className);
    this.crossMark = element("div", "crossed");
  }

  /** The tokens [start, start + count) of the map, of `cell` pixels each, cut at `longest` pixels; `all` of them, or some
   * with their place in the text, of which `first` is that of the map's first token. */
  label({ tokens, ordinals }, { start, count, first, cell, longest, all }) {
    Object.assign(this, { tokens, ordinals, first });
    const step = all ? 1 : roundStep(count, (cell * count) / PITCH);
    const marks = [];
    for (let index = start; index < start + count; index++) {
      if ((all ? 0 : first + index) % step) continue;
      const mark = element("div", "label");
      mark.style[this.edge] = `${(index - start + 0.5) * cell}px`;
      mark.style.maxWidth = `${longest}px`;
      mark.dataset.index = index;
      this.name(mark, index, !all);
      marks.push(mark);
    }
    this.crossMark.style.maxWidth = `${longest}px`;
    this.box.style.setProperty("--label", `${clamp(cell - 1, all ? 9 : 10, 13)}px`);
    this.box.replaceChildren(...marks, this.crossMark);
    this.box.classList.toggle("labelled", all);
  }

  name(mark, index, counted) {
    fillNamed(mark, this.tokens[index], this.ordinals[index], counted ? this.first + index : undefined);
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

  /** The crosshair's token at `place` pixels; false for none. */
  cross(index, place) {
    this.crossMark.hidden = place === false || this.box.classList.contains("labelled");
    if (this.crossMark.hidden) return;
    this.name(this.crossMark, index, true);
    this.crossMark.style[this.edge] = `${place}px`;
  }
}

/** The smallest of 1, 2, 5, 10, 20, ... that leaves at most `most` labels on `count` cells. */
function roundStep(count, most) {
  for (let step = 1; ; step *= 10) {
    for (const times of [1, 2, 5]) if (count / (step * times) <= Math.max(1, most)) return step * times;
  }
}
