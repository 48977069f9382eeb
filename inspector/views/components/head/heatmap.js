// The heatmap: queries down, keys across, a colour bar below. Pixels lie on one canvas; crosshair and labels are
// elements over it, so that moving the crosshair repaints nothing.
import { clamp, element, fillToken, paint, plain, sizeCanvas } from "../shared.js";

const LABELLED = 11; // pixels a cell needs for its token to be legible beside it
const SLANTED = 18; // pixels a column needs for slanted labels; below, they stand upright
const LARGEST = 40; // pixels of a cell
const TALLEST = 560; // pixels of the plot
const LONGEST = 92; // pixels of a label before it is cut
const NARROW = 170; // pixels of the colour bar; on less its numbers would touch

export class Heatmap {
  /** `hover(spot, anchor)` with spot { query, key }, one of them or null; `pick(query)` on a click. */
  constructor(parent, { hover, pick }) {
    this.box = element("div", "map");
    this.queryTitle = titled("axis-title query", "query (attends)");
    this.keyTitle = titled("axis-title key", "key (attended to)");
    this.top = element("div", "top");
    this.left = element("div", "left");
    this.plot = element("div", "plot");
    this.canvas = element("canvas", "cells", { role: "img" });
    const marks = ["pinned", "band", "band", "spot"].map((name) => element("div", name));
    [this.pinned, this.rowBand, this.colBand, this.spot] = marks;
    this.plot.append(this.canvas, ...marks);
    this.crossMarks = { top: element("div", "tick cross"), left: element("div", "tick cross") };
    this.bar = new ColourBar();
    this.box.append(this.queryTitle, this.keyTitle, this.top, this.left, this.plot, this.bar.box);
    parent.append(this.box);
    this.listen(hover, pick);
  }

  listen(hover, pick) {
    const index = (event) => event.target.closest("[data-index]")?.dataset.index;
    const spotOf = (event) => {
      if (this.plot.contains(event.target)) return this.spotAt(event);
      if (index(event) === undefined) return null;
      return this.left.contains(event.target) ? { query: Number(index(event)) } : { key: Number(index(event)) };
    };
    this.box.addEventListener("pointermove", (event) => hover(spotOf(event), pointer(event)));
    this.box.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hover(null));
    this.box.addEventListener("click", (event) => {
      const spot = spotOf(event);
      hover(spot, pointer(event));
      if (spot?.query !== undefined) pick(spot.query);
    });
  }

  spotAt(event) {
    const { left, top, width, height } = this.plot.getBoundingClientRect();
    const { queries, keys } = this.matrix;
    return {
      query: clamp(Math.floor(((event.clientY - top) / height) * queries.length), 0, queries.length - 1),
      key: clamp(Math.floor(((event.clientX - left) / width) * keys.length), 0, keys.length - 1),
    };
  }

  /** Where a cell lies in the window. */
  anchor({ query = 0, key = 0 }) {
    const plot = this.plot.getBoundingClientRect();
    const [x, y] = [plot.left + key * this.cellWidth, plot.top + query * this.cellHeight];
    return { left: x, right: x + this.cellWidth, top: y, bottom: y + this.cellHeight };
  }

  update(matrix, name) {
    Object.assign(this, { matrix, levels: matrix.levels() });
    const shape = `${matrix.queries.length} queries by ${matrix.keys.length} keys`;
    this.canvas.setAttribute("aria-label", `heatmap of attention weights${name && `, ${name}`}, ${shape}`);
  }

  // ---- layout ---------------------------------------------------------------------------------------------------

  /** Fits the plot into `width`. Afterwards plotTop, plotHeight and cellHeight say where its rows lie. */
  layout(width, theme, palette) {
    const { queries, keys } = this.matrix;
    const fits = ({ cell, least }) => cell.every((length, axis) => length >= least[axis]);
    const frame = this.frames(width, theme.tokenFont).find(fits);
    const [cellWidth, cellHeight] = frame.cell;
    const [labelledKeys, labelledQueries] = frame.least;
    const slanted = labelledKeys === SLANTED;
    const plotWidth = cellWidth * keys.length;
    Object.assign(this, { cellWidth, cellHeight, plotTop: frame.above + 20, plotHeight: cellHeight * queries.length });
    this.box.style.cssText = `padding: ${this.plotTop}px 0 0 ${frame.side}px`;
    this.box.style.setProperty("--side", `${frame.side}px`);
    this.box.style.setProperty("--above", `${frame.above}px`);
    this.box.classList.toggle("slanted", slanted);
    this.box.classList.toggle("indexed", !labelledQueries);
    Object.assign(this.plot.style, { width: `${plotWidth}px`, height: `${this.plotHeight}px` });
    this.labelAxis(this.left, queries, cellHeight, "top", labelledQueries && frame.side - 8);
    this.labelAxis(this.top, keys, cellWidth, "left", labelledKeys && (slanted ? LONGEST : frame.above - 6));
    this.drawCells(plotWidth, palette);
    this.bar.draw(this.matrix, palette, clamp(plotWidth, 120, 240));
  }

  /** The ways to label the axes, best first: the room each takes and the least [width, height] of a cell it needs. */
  frames(width, font) {
    const context = this.canvas.getContext("2d");
    context.font = `13px ${font}`;
    const longest = (tokens) => {
      if (tokens.length > Math.max(width, TALLEST) / LABELLED) return 0; // then no label is shown
      return Math.min(LONGEST, Math.max(...tokens.map((token) => context.measureText(plain(token)).width)));
    };
    const key = longest(this.matrix.keys);
    const side = clamp(longest(this.matrix.queries) + 10, 62, Math.max(62, width * 0.28));
    const across = [
      { above: Math.max(key * 0.71 + 16, 34), overhang: key * 0.71, least: SLANTED },
      { above: Math.max(key + 8, 34), overhang: 0, least: LABELLED },
      { above: 34, overhang: 0, least: 0 },
    ];
    const down = [{ side, least: LABELLED }, { side: 50, least: 0 }];
    return down.flatMap((left) =>
      across.map((top) => {
        const frame = { side: Math.ceil(left.side), above: Math.ceil(top.above), least: [top.least, left.least] };
        return { ...frame, cell: this.fit(width - frame.side - top.overhang - 1) };
      }),
    );
  }

  /** The largest cell that fits, in whole pixels or a fraction of one; square unless the texts' lengths differ much. */
  fit(width) {
    const { queries, keys } = this.matrix;
    const across = Math.min(LARGEST, width / keys.length);
    const down = Math.min(LARGEST, TALLEST / queries.length);
    const alike = Math.max(across, down) < 3 * Math.min(across, down);
    const whole = (length) => (length >= 4 ? Math.floor(length) : length);
    return alike ? Array(2).fill(whole(Math.min(across, down))) : [whole(across), whole(down)];
  }

  /** Tokens cut at `longest` pixels; where that is 0, indices at round steps. */
  labelAxis(axis, tokens, cell, edge, longest) {
    const step = longest ? 1 : roundStep(tokens.length, (cell * tokens.length) / (edge === "top" ? 28 : 44));
    const marks = tokens.flatMap((token, index) => {
      if (index % step) return [];
      const mark = element("div", longest ? "label" : "tick");
      mark.style[edge] = `${(index + 0.5) * cell}px`;
      if (!longest) return [Object.assign(mark, { textContent: this.matrix.first[edge] + index })];
      fillToken(mark, token);
      mark.dataset.index = index;
      mark.style.maxWidth = `${longest}px`;
      return [mark];
    });
    axis.style.setProperty("--label", `${clamp(cell - 1, 10, 13)}px`);
    axis.replaceChildren(...marks, this.crossMarks[edge]);
    axis.classList.toggle("labelled", longest > 0);
  }

  drawCells(plotWidth, palette) {
    const { width, height } = sizeCanvas(this.canvas, plotWidth, this.plotHeight);
    const image = new ImageData(width, height);
    const { queries, keys } = this.matrix;
    paint(image, { x: 0, y: 0, width, height }, this.levels, 0, queries.length, keys.length, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // ---- crosshair ------------------------------------------------------------------------------------------------

  show({ query, key, queries, keys, chosen }) {
    const { cellWidth, cellHeight } = this;
    const across = { left: 0, width: this.matrix.keys.length * cellWidth };
    const down = { top: 0, height: this.matrix.queries.length * cellHeight };
    const row = query !== undefined && { top: query * cellHeight, height: Math.max(cellHeight, 1) };
    const col = key !== undefined && { left: key * cellWidth, width: Math.max(cellWidth, 1) };
    position(this.pinned, chosen !== null && { ...across, top: chosen * cellHeight, height: Math.max(cellHeight, 2) });
    position(this.rowBand, row && { ...across, ...row });
    position(this.colBand, col && { ...down, ...col });
    position(this.spot, row && col && { ...row, ...col });
    light(this.left, queries, chosen);
    light(this.top, keys, null);
    this.crossMark("top", query, cellHeight);
    this.crossMark("left", key, cellWidth);
  }

  crossMark(edge, index, cell) {
    const mark = this.crossMarks[edge];
    mark.hidden = index === undefined || mark.parentElement.classList.contains("labelled");
    mark.textContent = index ?? "";
    mark.style[edge] = `${((index ?? 0) + 0.5) * cell}px`;
  }
}

class ColourBar {
  constructor() {
    this.box = element("div", "bar");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.ticks = element("div", "ticks");
    this.caption = element("div", "caption");
    this.box.append(this.canvas, this.ticks, this.caption);
  }

  draw({ vmax, diverging, scale }, palette, length) {
    const { width, height } = sizeCanvas(this.canvas, length, 8);
    const image = new ImageData(width, height);
    const top = palette.colours.length - 1;
    const levels = Int16Array.from({ length: width }, (_, x) => Math.round((x / (width - 1)) * top));
    paint(image, { x: 0, y: 0, width, height }, levels, 0, 1, width, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    const place = (part) => (scale === "sqrt" ? Math.sqrt(part) : part);
    const parts = scale === "sqrt" ? [0, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
    const signed = [-1, -0.5, 0, 0.5, 1].map((part) => [part, (1 + Math.sign(part) * place(Math.abs(part))) / 2]);
    const all = diverging ? signed : parts.map((part) => [part, place(part)]);
    const marks = length < NARROW ? all.filter(([part]) => Number.isInteger(part)) : all; // the ends, and zero
    this.ticks.style.width = `${length}px`;
    this.ticks.replaceChildren(
      ...marks.map(([part, at]) => {
        const tick = titled("", String(Number((part * vmax).toPrecision(3))).replace("-", "−"));
        tick.style.left = `${at * 100}%`;
        return tick;
      }),
    );
    const what = diverging ? "difference of weights" : "weight";
    this.caption.textContent = `${what}, ${scale === "sqrt" ? "square-root" : "linear"} scale`;
  }
}

const pointer = ({ clientX: x, clientY: y }) => ({ left: x, right: x, top: y - 6, bottom: y + 10 });

function titled(className, text) {
  const made = element("div", className);
  made.textContent = text;
  return made;
}

function position(band, place) {
  band.hidden = !place;
  for (const [side, length] of Object.entries(place || {})) band.style[side] = `${length}px`;
}

function light(axis, on, chosen) {
  for (const label of axis.querySelectorAll(".on, .chosen")) label.classList.remove("on", "chosen");
  for (const index of on) axis.querySelector(`[data-index="${index}"]`)?.classList.add("on");
  axis.querySelector(`[data-index="${chosen}"]`)?.classList.add("chosen");
}

/** The smallest of 1, 2, 5, 10, 20, ... that leaves at most `most` ticks on `count` cells. */
function roundStep(count, most) {
  for (let step = 1; ; step *= 10) {
    for (const times of [1, 2, 5]) if (count / (step * times) <= Math.max(1, most)) return step * times;
  }
}
