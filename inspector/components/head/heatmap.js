// The heatmap: queries down, keys across, a colour bar below. Pixels lie on one canvas; crosshair and labels are
// elements over it, so that moving the crosshair repaints nothing.
import { clamp, element, fit, paint, plain, sizeCanvas } from "../shared.js";
import { Axis } from "./axis.js";
import { ColourBar } from "./colourbar.js";
import { listenToGestures } from "./gestures.js";
import { Minimap } from "./minimap.js";
import { spelled } from "./names.js";
import { Viewport } from "./viewport.js";

const LABELLED = 10; // pixels a cell needs for its token to be legible beside it
const SLANTED = 18; // pixels a column needs for slanted labels; below, they stand upright
const LARGEST = 40; // pixels of a cell
const DIMMED = 205; // opacity, of 255, of the page's background over a cell that the filter leaves out
const LONGEST = 92; // pixels of a label before it is cut,
const COUNTED = 84; // and of one that stands for several tokens, with its place in the text
const SEEN = 7; // pixels of the frame around a cell, at least

export class Heatmap {
  /** `hover(cursor, anchor)` with a cursor { query, key }, or one of the two, or null; `pick(query)` on a click;
   * `pan(queries, keys)` where the window of a long text has to move; `redraw()` where the viewport changed. */
  constructor(parent, { hover, pick, pan, redraw }) {
    this.box = element("div", "map");
    this.queryTitle = titled("axis-title query", "query (attends)");
    this.keyTitle = titled("axis-title key", "key (attended to)");
    this.left = new Axis("top", "left"); // queries, along the left side
    this.top = new Axis("left", "top"); // keys
    this.plot = element("div", "plot");
    this.canvas = element("canvas", "cells", { role: "img" });
    this.overlay = element("canvas", "overlay", { "aria-hidden": "true" });
    this.pins = element("div", "pins");
    const marks = ["named", "picked", "band", "band", "cursor"].map((name) => element("div", name));
    [this.named, this.picked, this.rowBand, this.colBand, this.cursor] = marks;
    this.plot.append(this.canvas, this.overlay, this.pins, ...marks);
    this.bar = new ColourBar();
    this.minimap = new Minimap((query, key) => this.centre(query, key));
    this.below = element("div", "below");
    this.below.append(this.bar.box, this.minimap.box);
    this.box.append(this.queryTitle, this.keyTitle, this.top.box, this.left.box, this.plot, this.below);
    parent.append(this.box);
    Object.assign(this, { pan, redraw });
    this.listen(hover, pick);
  }

  listen(hover, pick) {
    const index = (event) => event.target.closest("[data-index]")?.dataset.index;
    const cursorOf = (event) => {
      if (this.plot.contains(event.target)) return this.cellAt(event);
      if (index(event) === undefined) return null;
      return this.left.box.contains(event.target) ? { query: Number(index(event)) } : { key: Number(index(event)) };
    };
    this.box.addEventListener("pointermove", (event) => hover(cursorOf(event), pointer(event)));
    this.box.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hover(null));
    this.box.addEventListener("click", (event) => {
      const cursor = cursorOf(event);
      hover(cursor, pointer(event));
      if (cursor?.query !== undefined) pick(cursor.query);
    });
    listenToGestures(this.plot, {
      size: () => [this.cellWidth, this.cellHeight],
      cellAt: (event) => this.cellAt(event),
      canMove: () => !this.viewport.isWhole || Boolean(this.matrix.whole),
      move: (queries, keys) => this.move(queries, keys),
      zoom: (times, at) => this.zoom(times, at),
      reset: () => this.reset(),
    });
  }

  cellAt(event) {
    const { left, top, width, height } = this.plot.getBoundingClientRect();
    const { query, key, rows, cols } = this.viewport;
    return {
      query: query + clamp(Math.floor(((event.clientY - top) / height) * rows), 0, rows - 1),
      key: key + clamp(Math.floor(((event.clientX - left) / width) * cols), 0, cols - 1),
    };
  }

  /** The rectangle of a cell in the browser's window. */
  anchor({ query, key }) {
    const plot = this.plot.getBoundingClientRect();
    const [x, y] = [plot.left + this.across(key), plot.top + this.down(query)];
    return { left: x, right: x + this.cellWidth, top: y, bottom: y + this.cellHeight };
  }

  /** Pixels from the plot's edge to a query or a key. */
  down(query) {
    return (query - this.viewport.query) * this.cellHeight;
  }

  across(key) {
    return (key - this.viewport.key) * this.cellWidth;
  }

  update(matrix, name) {
    const before = this.matrix?.first;
    const [rows, cols] = [matrix.queries.length, matrix.keys.length];
    Object.assign(this, { matrix, levels: matrix.levels() });
    // Where the window of a long text moved, the viewport stays at the same cells.
    const { first } = matrix;
    if (this.viewport?.isOf(rows, cols)) this.viewport.move(before.query - first.query, before.key - first.key);
    else this.viewport = new Viewport(rows, cols);
    const shape = `${matrix.queries.length} queries by ${matrix.keys.length} keys`;
    const told = [`heatmap, ${matrix.quantity}`, name, shape, matrix.describeMarked()].filter(Boolean);
    this.canvas.setAttribute("aria-label", told.join(", "));
  }

  // ---- layout ---------------------------------------------------------------------------------------------------

  /** The tokens in the viewport. */
  tokens() {
    const { query, key, rows, cols } = this.viewport;
    return { queries: this.matrix.queries.slice(query, query + rows), keys: this.matrix.keys.slice(key, key + cols) };
  }

  /** The tokens in the viewport as they are written. */
  names() {
    const { query, key, rows, cols } = this.viewport;
    const { ordinals, queries, keys } = this.matrix;
    const names = (tokens, nth, start, count) =>
      tokens.slice(start, start + count).map((token, at) => spelled(token, nth[start + at]));
    return { queries: names(queries, ordinals.queries, query, rows), keys: names(keys, ordinals.keys, key, cols) };
  }

  /** Fits the plot into `width` and `tallest`; slanted labels may reach over what lies `beside` it, so many pixels.
   * Afterwards plotTop, plotHeight and cellHeight say where its rows lie, and height how tall all is. */
  layout(width, { tallest, beside, theme, palette }) {
    const { queries, keys } = this.tokens();
    Object.assign(this, { tallest, beside });
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
    this.box.classList.toggle("thinned", !labelledQueries);
    Object.assign(this.plot.style, { width: `${plotWidth}px`, height: `${this.plotHeight}px` });
    const { viewport } = this;
    const { first } = this.matrix;
    const side = (name) => ({ tokens: this.matrix[name], ordinals: this.matrix.ordinals[name] });
    const down = { start: viewport.query, count: queries.length, first: first.query, cell: cellHeight };
    this.left.label(side("queries"), { ...down, longest: frame.side - 8, all: labelledQueries > 0 });
    const across = { start: viewport.key, count: keys.length, first: first.key, cell: cellWidth };
    this.top.label(side("keys"), { ...across, longest: slanted ? LONGEST : frame.above - 6, all: labelledKeys > 0 });
    this.drawCells(plotWidth, palette);
    this.paper = theme.paper;
    this.drawOverlay();
    this.bar.draw(this.matrix, palette, clamp(plotWidth, 120, 240));
    this.minimap.draw(this.matrix.whole, palette);
    this.frameViewport();
    this.height = this.box.offsetHeight;
  }

  /** The ways to label the axes, best first: the room each takes and the least [width, height] of a cell it needs. */
  frames(width, font) {
    const context = this.canvas.getContext("2d");
    context.font = `13px ${font}`;
    const longest = (names) => {
      if (names.length > Math.max(width, this.tallest) / LABELLED) return 0; // then not all labels are shown
      return Math.min(LONGEST, Math.max(...names.map((name) => context.measureText(name).width)));
    };
    const { queries, keys } = this.names();
    const { beside } = this.matrix; // heads that are aligned with this one need the room of each other's labels
    const room = (names, others) => (longest(names) ? Math.max(longest(names), longest(others.map(plain))) : 0);
    const key = room(keys, beside?.keys ?? []);
    const side = clamp(room(queries, beside?.queries ?? []) + 10, 62, Math.max(62, width * 0.28));
    const [slanted, upright] = [key * 0.71 + 16, key + 8];
    const aligned = beside ? Math.max(slanted, upright) : 0; // such maps begin at one height, however labels stand
    const across = [
      { above: Math.max(slanted, aligned, 34), overhang: key * 0.71, least: SLANTED },
      { above: Math.max(upright, aligned, 34), overhang: 0, least: LABELLED },
      { above: COUNTED + 6, overhang: 0, least: 0 },
    ];
    const down = [{ side, least: LABELLED }, { side: COUNTED + 8, least: 0 }];
    return down.flatMap((left) =>
      across.map((top) => {
        const frame = { side: Math.ceil(left.side), above: Math.ceil(top.above), least: [top.least, left.least] };
        return { ...frame, cell: this.fit(width - frame.side - Math.max(0, top.overhang - this.beside) - 1) };
      }),
    );
  }

  /** The [width, height] of a cell; where heads are aligned, that of the larger of them. */
  fit(width) {
    const { beside } = this.matrix;
    const aligned = beside?.rows && this.viewport.isWhole;
    const counts = aligned ? beside : { rows: this.viewport.rows, columns: this.viewport.cols };
    return fit(counts, { width, height: this.tallest, largest: LARGEST });
  }

  drawCells(plotWidth, palette) {
    const { width, height } = sizeCanvas(this.canvas, plotWidth, this.plotHeight);
    const image = new ImageData(width, height);
    const { rows, cols } = this.viewport;
    paint(image, { x: 0, y: 0, width, height }, this.inViewport(this.levels), 0, rows, cols, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** Lets the cells that the filter leaves out recede into the page's background. */
  fade(filter) {
    this.filter = filter;
    this.left.dim(filter.named.queries);
    this.top.dim(filter.named.keys);
    this.drawOverlay();
  }

  /** Draws the overlay, a pixel for each cell; CSS stretches it over the plot. */
  drawOverlay() {
    const bright = this.filter?.bright;
    this.overlay.hidden = !bright;
    if (!bright || !this.paper) return;
    const { rows, cols } = this.viewport;
    Object.assign(this.overlay, { width: cols, height: rows });
    const image = new ImageData(cols, rows);
    const colour = [...this.paper, DIMMED];
    this.inViewport(bright).forEach((is, at) => is || image.data.set(colour, 4 * at));
    this.overlay.getContext("2d").putImageData(image, 0, 0);
  }

  /** Cuts the viewport's cells out of an array with an entry for each cell. */
  inViewport(cells) {
    const { query, key, rows, cols, isWhole } = this.viewport;
    if (isWhole) return cells;
    const seen = new cells.constructor(rows * cols);
    for (let row = 0; row < rows; row++) {
      const start = (query + row) * this.matrix.keys.length + key;
      seen.set(cells.subarray(start, start + cols), row * cols);
    }
    return seen;
  }

  // ---- viewport -------------------------------------------------------------------------------------------------

  /** Moves the viewport, and asks for another window where the viewport would leave this window. */
  move(queries, keys) {
    const { query, key } = this.viewport;
    const beyond = this.viewport.move(queries, keys);
    if (this.viewport.query !== query || this.viewport.key !== key) this.redraw();
    if (this.matrix.whole && (beyond.queries || beyond.keys)) this.pan(beyond.queries, beyond.keys);
  }

  zoom(times, at) {
    this.viewport.zoom(times, at);
    this.redraw();
  }

  reset() {
    if (this.viewport.isWhole) return;
    this.viewport.reset();
    this.redraw();
  }

  /** Moves the viewport until the keyboard's cell is in it. */
  reveal(cursor) {
    if (this.viewport.holds(cursor)) return;
    this.viewport.reveal(cursor);
    this.redraw();
  }

  /** Brings a query and a key of the whole text to the middle of the viewport. */
  centre(query, key) {
    const { first, whole } = this.matrix;
    const { rows, cols } = this.viewport;
    const start = (at, length, all) => clamp(at - Math.floor(length / 2), 0, all - length);
    const to = { query: start(query, rows, whole.queries), key: start(key, cols, whole.keys) };
    this.move(to.query - first.query - this.viewport.query, to.key - first.key - this.viewport.key);
  }

  /** Frames the viewport in the small picture; `ahead` is the way to a window that was asked for and has not come. */
  frameViewport(ahead = { queries: 0, keys: 0 }) {
    const { first } = this.matrix;
    const { query, key, rows, cols } = this.viewport;
    const [down, across] = [first.query + query + ahead.queries, first.key + key + ahead.keys];
    this.minimap.show({ query: down, key: across, rows, cols });
  }

  /** The frame of a cell or a column, in sight however small a cell is; null where it is out of sight. */
  frame(place) {
    if (!place || !this.viewport.holds(place)) return null;
    const across = frameOf(this.across(place.key), this.cellWidth);
    const whole = { start: 0, length: this.viewport.rows * this.cellHeight };
    const down = place.query === undefined ? whole : frameOf(this.down(place.query), this.cellHeight);
    return { left: across.start, width: across.length, top: down.start, height: down.length };
  }

  // ---- crosshair ------------------------------------------------------------------------------------------------

  show({ query, key, queries, keys, chosen }) {
    const { cellWidth, cellHeight, viewport } = this;
    const across = { left: 0, width: viewport.cols * cellWidth };
    const down = { top: 0, height: viewport.rows * cellHeight };
    const inRow = query !== undefined && viewport.holds({ query });
    const inCol = key !== undefined && viewport.holds({ key });
    const row = inRow && { top: this.down(query), height: Math.max(cellHeight, 1) };
    const col = inCol && { left: this.across(key), width: Math.max(cellWidth, 1) };
    while (this.pins.children.length < chosen.length) this.pins.append(element("div", "pinned"));
    for (const [at, pin] of [...this.pins.children].entries()) {
      const height = Math.max(cellHeight, 2);
      const seen = at < chosen.length && viewport.holds({ query: chosen[at] });
      position(pin, seen && { ...across, top: this.down(chosen[at]), height });
    }
    position(this.named, this.frame(this.matrix.marked));
    position(this.picked, this.frame(this.matrix.picked));
    position(this.rowBand, row && { ...across, ...row });
    position(this.colBand, col && { ...down, ...col });
    position(this.cursor, row && col && { ...row, ...col });
    this.left.light(queries, chosen);
    this.top.light(keys, []);
    this.left.cross(query, row && row.top + cellHeight / 2);
    this.top.cross(key, col && col.left + cellWidth / 2);
  }
}

const frameOf = (start, length) => ({ start: start + (length - Math.max(length, SEEN)) / 2, length: Math.max(length, SEEN) });
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
