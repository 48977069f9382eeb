// A matrix as a heatmap, or two of the same make side by side: the cell under the pointer is named in both.
import { Floating, View, clamp, drawing, element, fillToken, fit, makePalette } from "../shared.js";
import { paint, readTheme, sizeCanvas, unpack } from "../shared.js";
import { ColourBar } from "../head/colourbar.js";
import { Matrix } from "../head/matrix.js";
import { fillNamed, ordinals, spelled } from "../head/names.js";
import { LONGEST, brief, columnLabels, rowRoom, rowStep, spell } from "./labels.js";

const BESIDE = 620; // pixels of the container from which two plots stand side by side
const GAP = 28; // pixels between them
const LARGEST = 40; // pixels of a cell
const TALLEST = 520; // pixels of a plot
const BEYOND = 30; // pixels right of a plot, at least
const TITLE = 18; // pixels of the columns' title
const MOVES = {
  ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
  ...{ Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0] },
};
const HOW_TO = "arrow keys walk from cell to cell, Enter keeps a cell's number, Escape lets it go";

/** One plot: its canvas, its labels and the frames over it. */
class Plot {
  constructor(parent) {
    this.box = element("div", "panel");
    const parts = ["title", "axis-title row", "axis-title column", "top", "left", "plot"];
    [this.title, this.rowTitle, this.columnTitle, this.top, this.left, this.plot] = parts.map((part) =>
      element("div", part),
    );
    this.canvas = element("canvas", "cells", { role: "img" });
    this.marks = element("div", "marks");
    const frames = ["named", "band", "band", "cursor", "pinned"].map((name) => element("div", name));
    [this.named, this.rowBand, this.columnBand, this.cursor, this.pinned] = frames;
    this.plot.append(this.canvas, this.marks, ...frames);
    this.box.append(this.title, this.rowTitle, this.columnTitle, this.top, this.left, this.plot);
    parent.append(this.box);
  }

  update(panel, header, data, offset) {
    const [rows, columns] = [spell(panel.rows), spell(panel.columns)];
    const map = { ...header, queries: rows, keys: columns, first: [0, 0], rows: null, segments: null, parts: [] };
    const bytes = new Uint8Array(data.buffer, data.byteOffset + offset, 4 * rows.length * columns.length);
    Object.assign(this, { panel, header, rows, columns, matrix: new Matrix(map, bytes) });
    this.levels = this.matrix.levels();
    this.title.textContent = panel.title;
    this.rowTitle.textContent = header.titles.row;
    this.columnTitle.textContent = header.titles.column;
    const shape = `${rows.length} rows by ${columns.length} columns`;
    const what = [header.quantity, panel.title].filter(Boolean).join(", ");
    this.canvas.setAttribute("aria-label", `${what}: ${shape}${this.tellNamed()}`);
    return offset + bytes.length;
  }

  /** Says which cell the page's sentence names, as text; "" where it names none. */
  tellNamed() {
    const { named } = this.panel;
    if (!named) return "";
    const cell = { row: named[0], column: named[1] };
    const name = this.name(cell).map((part) => part.token ?? part);
    return `, marked, for the sentence names it: ${[...name, " ", this.brief(cell)].join("")}`;
  }

  holds({ row, column }) {
    return row < this.rows.length && column < this.columns.length;
  }

  /** Draws at a size that both plots share: { side, above, cell: [width, height], labels, room for the columns }. */
  layout({ side, above, cell, labels, titled, room }, palette) {
    this.cell = cell;
    const [width, height] = [cell[0] * this.columns.length, cell[1] * this.rows.length];
    this.size = { width, height };
    this.box.style.cssText = `padding: ${above}px 0 0 ${side}px`;
    this.box.style.setProperty("--side", `${side}px`);
    this.box.style.setProperty("--above", `${above}px`);
    this.title.hidden = !titled;
    Object.assign(this.plot.style, { width: `${width}px`, height: `${height}px` });
    const size = sizeCanvas(this.canvas, width, height);
    const image = new ImageData(size.width, size.height);
    paint(image, { x: 0, y: 0, ...size }, this.levels, 0, this.rows.length, this.columns.length, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.left.replaceChildren(...this.label(this.rows, rowStep(cell[1]), cell[1], "top", () => side - 8));
    const { step, turns } = labels;
    const slant = turns.includes(-45) ? Math.SQRT1_2 : 1;
    const longest = (at) => Math.min(LONGEST, step > 1 || slant < 1 ? (room - at) / slant : LONGEST); // within the page
    this.top.replaceChildren(...this.label(this.columns, step, cell[0], "left", longest, turns));
    this.marks.replaceChildren(
      ...this.panel.marked.map((row) => {
        const mark = element("div", "mark");
        place(mark, { left: 0, top: row * cell[1], width, height: Math.max(cell[1], 2) });
        return mark;
      }),
      ...(this.panel.borders ?? []).map((column) => {
        const border = element("div", "border");
        place(border, { left: column * cell[0] - 1, top: 0, width: 2, height });
        return border;
      }),
    );
  }

  label(labels, step, cell, edge, longest, turns = []) {
    const nth = ordinals(labels);
    return labels.flatMap((label, index) => {
      if (index % step) return [];
      const made = element("div", "label");
      fillNamed(made, label, nth[index]);
      made.dataset.index = index;
      const at = (index + 0.5) * cell;
      made.style[edge] = `${at}px`;
      made.style.maxWidth = `${longest(at)}px`;
      if (turns[index]) made.classList.add(turns[index] === -45 ? "slanted" : "turned");
      // A label over several columns begins at the first of them: none lies over the rows' title.
      else if (edge === "left" && step > 1) made.classList.add("leading");
      return [made];
    });
  }

  cellAt({ clientX, clientY }) {
    const { left, top, width, height } = this.plot.getBoundingClientRect();
    const index = (part, whole, count) => clamp(Math.floor((part / whole) * count), 0, count - 1);
    const row = index(clientY - top, height, this.rows.length);
    return { row, column: index(clientX - left, width, this.columns.length) };
  }

  anchor({ row, column }) {
    const { left, top } = this.plot.getBoundingClientRect();
    const [x, y] = [left + column * this.cell[0], top + row * this.cell[1]];
    return { left: x, right: x + this.cell[0], top: y, bottom: y + this.cell[1] };
  }

  show(cursor, pinned) {
    const { size, cell } = this;
    const frame = (at) => at && this.holds(at) && this.frame(at);
    const at = cursor && this.holds(cursor) && cursor;
    place(this.rowBand, at && { left: 0, top: at.row * cell[1], width: size.width, height: Math.max(cell[1], 1) });
    place(this.columnBand, at && { left: at.column * cell[0], top: 0, width: Math.max(cell[0], 1), height: size.height });
    const [row, column] = this.panel.named ?? [];
    place(this.named, this.panel.named && this.frame({ row, column }));
    place(this.cursor, frame(cursor));
    place(this.pinned, frame(pinned));
    const lit = (box, index) => {
      for (const label of box.children) label.classList.toggle("on", Number(label.dataset.index) === index);
    };
    lit(this.left, at ? at.row : -1);
    lit(this.top, at ? at.column : -1);
  }

  /** A frame around a cell that can be seen however small the cell is. */
  frame({ row, column }) {
    const [width, height] = this.cell.map((length) => Math.max(length, 7));
    const middle = (index, length, size) => (index + 0.5) * length - size / 2;
    return { left: middle(column, this.cell[0], width), top: middle(row, this.cell[1], height), width, height };
  }

  /** A cell's name, as [text or token] parts: "query 3 ‘sat’ → key 5 ‘mat’", of numbers alone "layer 2, head 7". */
  name({ row, column }) {
    const between = [this.panel.rows, this.panel.columns].some(Array.isArray) ? " → " : ", ";
    return [...this.side("row", this.rows, row), between, ...this.side("column", this.columns, column)];
  }

  side(axis, labels, index) {
    const counted = !Array.isArray(this.panel[`${axis}s`]);
    if (counted) return [`${this.header.titles[axis]} ${labels[index]}`];
    const token = { token: labels[index] };
    return this.header.numbered[axis] ? [`${this.header.titles[axis]} ${index} ‘`, token, "’"] : [token];
  }

  brief(cell) {
    const value = this.matrix.at(cell.row, cell.column);
    return Number.isNaN(value) ? "masked" : (this.header.kinds?.[value] ?? brief(value, this.header.diverging));
  }

  exact(cell) {
    const value = this.matrix.at(cell.row, cell.column);
    return this.header.kinds?.[value] ?? this.matrix.exact(value);
  }
}

class MatrixView extends View {
  constructor(root, closed) {
    super(root, closed, "hl-matrix", { tabindex: "0", role: "application" });
    this.panels = element("div", "panels");
    this.bar = new ColourBar();
    this.pinnedCell = element("div", "kept", { "aria-live": "polite" });
    this.live = element("div", "live", { "aria-live": "polite" });
    this.below = element("div", "below");
    this.below.append(this.bar.box, this.pinnedCell);
    this.box.append(this.panels, this.below, this.live);
    this.plots = [];
    this.tip = new Floating(this.box, "tip");
    this.cursor = this.pinned = null; // { panel, row, column }
    this.listen();
  }

  listen() {
    const cell = (event) => {
      const panel = this.plots.findIndex(({ plot }) => plot.contains(event.target));
      return panel < 0 ? null : { panel, ...this.plots[panel].cellAt(event) };
    };
    this.panels.addEventListener("pointermove", (event) => this.look(cell(event), pointer(event)));
    this.panels.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.look(null));
    this.panels.addEventListener("click", (event) => {
      const at = cell(event);
      this.look(at, pointer(event));
      if (at) this.pin(at);
    });
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focusout", () => this.look(null));
  }

  close() {
    this.tip.hide();
    super.close();
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    const labels = ({ panels }) => JSON.stringify(panels.map(({ rows, columns }) => [rows, columns]));
    if (!this.header || labels(this.header) !== labels(header)) this.cursor = this.pinned = null;
    Object.assign(this, { header, emit });
    while (this.plots.length > header.panels.length) this.plots.pop().box.remove();
    while (this.plots.length < header.panels.length) this.plots.push(new Plot(this.panels));
    let offset = 0;
    header.panels.forEach((panel, at) => (offset = this.plots[at].update(panel, header, data, offset)));
    const { row, column } = header.titles;
    this.box.setAttribute("aria-label", `${header.quantity} by ${row} and ${column}, ${header.words?.how_to ?? HOW_TO}`);
    this.layout();
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const theme = readTheme(this.box);
    this.palette = makePalette(this.header.colours[theme.mode], theme, this.header.diverging);
    const beside = this.plots.length > 1 && this.width >= BESIDE;
    this.panels.classList.toggle("beside", beside);
    const frame = this.frame(beside ? (this.width - GAP) / 2 : this.width, theme.tokenFont);
    for (const plot of this.plots) plot.layout({ ...frame, labels: frame.labels.get(plot) }, this.palette);
    const widest = Math.max(...this.plots.map(({ size }) => size.width));
    this.below.style.paddingLeft = `${frame.side}px`;
    this.bar.draw(this.header, this.palette, clamp(widest, 120, 240));
    this.show();
  }

  /** The size of all plots: labels' room and cells are those of the plot that needs most. */
  frame(width, font) {
    const context = (this.measure ??= document.createElement("canvas").getContext("2d"));
    context.font = `12px ${font}`;
    const widths = (labels) => {
      const nth = ordinals(labels);
      return labels.map((label, index) => context.measureText(spelled(label, nth[index])).width);
    };
    const side = Math.max(34, ...this.plots.map(({ rows }) => rowRoom(widths(rows), width)));
    const fitted = (beyond) => {
      const cells = this.plots.map(({ rows, columns }) =>
        fit({ rows: rows.length, columns: columns.length }, { width: width - side - beyond, height: TALLEST, largest: LARGEST }),
      );
      const cell = [0, 1].map((axis) => Math.min(...cells.map((size) => size[axis])));
      return { cell, labels: new Map(this.plots.map((plot) => [plot, columnLabels(widths(plot.columns), cell[0])])) };
    };
    const over = Math.max(...[...fitted(BEYOND).labels.values()].map((labels) => labels.over));
    const { cell, labels } = fitted(clamp(over, BEYOND, width / 6));
    const titled = this.plots.some(({ panel }) => panel.title);
    const above = TITLE + Math.max(...[...labels.values()].map(({ height }) => height)) + (titled ? 24 : 0);
    return { side, above, cell, labels, titled, room: width - side };
  }

  show() {
    for (const plot of this.plots) plot.show(this.cursor, this.pinned);
    this.pinnedCell.replaceChildren(...(this.pinned ? this.told(this.pinned, true) : []));
  }

  /** Looks at the cell that the page's sentence names, while the reader points at the sentence. */
  point(at) {
    const panel = this.plots.findIndex(({ panel: { named } }) => named);
    if (panel < 0) return;
    const [row, column] = this.plots[panel].panel.named;
    this.look(at ? { panel, row, column } : null);
  }

  // ---- looking and keeping ----------------------------------------------------------------------------------------

  look(cursor, anchor) {
    this.cursor = cursor;
    this.show();
    if (!cursor) return this.tip.hide();
    this.tip.panel.replaceChildren(...this.told(cursor, false));
    this.live.textContent = this.tip.panel.textContent;
    if (anchor) this.tip.show(anchor);
  }

  /** Lines about a cell: its name, and its number in each plot that has the cell. */
  told(cell, exact) {
    const name = element("div", "line");
    name.append(...this.plots[cell.panel].name(cell).map(written));
    const lines = this.plots.flatMap((plot, at) => {
      if (!plot.holds(cell)) return [];
      const line = element("div", "line");
      const value = Object.assign(element("span", "value"), { textContent: plot.brief(cell) });
      const { title } = plot.panel;
      line.append(this.plots.length > 1 ? `${title || `map ${at + 1}`}: ` : `${this.header.quantity} `, value);
      if (exact && plot.exact(cell) !== plot.brief(cell)) line.append((this.header.words?.exactly ?? ", exactly ") + plot.exact(cell));
      return [line];
    });
    return [name, ...lines];
  }

  pin(cell) {
    const same = this.pinned && this.pinned.row === cell.row && this.pinned.column === cell.column;
    this.pinned = same ? null : cell;
    this.show();
    if (this.pinned && this.header.picks) this.emit("pick", this.pinned);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key in MOVES) this.walk(...MOVES[event.key]);
    else if (["Enter", " "].includes(event.key) && this.cursor) this.pin(this.cursor);
    else if (event.key === "Escape" && (this.cursor || this.pinned)) {
      this.pinned = null;
      this.look(null);
    } else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }

  /** Walks to another cell; over the right edge of a plot to the next one. */
  walk(down, across) {
    let { panel, row, column } = this.cursor ?? this.pinned ?? { panel: 0, row: 0, column: 0 };
    const begin = !this.cursor && !this.pinned;
    const { rows, columns } = this.plots[panel];
    row = clamp(row + (begin ? 0 : down), 0, rows.length - 1);
    column += begin ? 0 : across;
    const next = column >= columns.length && across === 1 ? 1 : column < 0 && across === -1 ? -1 : 0;
    if (this.plots[panel + next] && next) {
      panel += next;
      column = next > 0 ? 0 : Infinity;
    }
    const plot = this.plots[panel];
    const cell = { panel, row: Math.min(row, plot.rows.length - 1), column: clamp(column, 0, plot.columns.length - 1) };
    this.look(cell, plot.anchor(cell));
  }
}

const pointer = ({ clientX: x, clientY: y }) => ({ left: x, right: x, top: y - 6, bottom: y + 10 });

function written(part) {
  if (typeof part === "string") return part;
  const holder = element("span");
  fillToken(holder, part.token);
  return holder;
}

function place(mark, where) {
  mark.hidden = !where;
  for (const [side, length] of Object.entries(where || {})) mark.style[side] = `${length}px`;
}

/** Draws a packed matrix, or two, into `root`, in place if it was drawn there before. emit("pick", { panel, row, column })
 * when the reader keeps a cell, of a header that `picks`. The view that comes back has close(). */
export const draw = drawing(MatrixView);
