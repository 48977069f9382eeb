// How far apart every two heads are: one canvas, heads by heads, from which a pair is opened.
import { Floating, LEVELS, View, clamp, drawing, element, makePalette } from "../shared.js";
import { paint, readTheme, sizeCanvas, unpack } from "../shared.js";

const LARGEST = 10; // pixels of a cell
const SIDE = 54; // pixels left of the plot, for "layer 11"
const WALKS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const HOW_TO = "arrow keys walk, Enter opens the pair";

const CALLS = ["", " (2nd attention)", " (3rd attention)", " (4th attention)"]; // of a layer that attends more than once

const name = ([layer, head, call]) => `layer ${layer}${CALLS[call ?? 0]}, head ${head}`;
const sameLayer = (one, other) => one[0] === other?.[0] && one[2] === other?.[2];

class Pairs extends View {
  constructor(root, closed) {
    super(root, closed, "hl-pairs", { tabindex: "0", role: "application" });
    this.top = element("div", "top");
    this.left = element("div", "left");
    this.plot = element("div", "plot");
    this.canvas = element("canvas", "cells", { role: "img", "aria-label": "matrix of distances between heads" });
    [this.open, this.row, this.column] = ["open", "band", "band"].map((kind) => element("div", kind));
    this.plot.append(this.canvas, this.open, this.row, this.column);
    this.bar = element("div", "bar");
    this.scale = element("canvas", "", { "aria-hidden": "true" });
    this.ticks = element("div", "ticks");
    this.bar.append(this.scale, this.ticks);
    this.live = element("div", "live", { "aria-live": "polite" });
    this.box.append(this.top, this.left, this.plot, this.bar, this.live);
    this.tip = new Floating(this.box, "tip");
    this.cursor = null; // [row, column] of the pointer or the keyboard
    this.listen();
  }

  listen() {
    this.plot.addEventListener("pointermove", (event) => this.look(this.at(event), pointer(event)));
    this.plot.addEventListener("pointerleave", () => this.look(null));
    this.plot.addEventListener("click", (event) => this.choose(this.at(event)));
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focusout", () => this.look(null));
  }

  close() {
    this.tip.hide();
    super.close();
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    const values = new Float32Array(data.buffer, data.byteOffset, data.byteLength / 4);
    Object.assign(this, { header, emit, values, heads: header.heads, count: header.heads.length });
    this.levels = Int16Array.from(values, (value) => Math.round(clamp(value / header.vmax, 0, 1) * LEVELS));
    this.box.setAttribute("aria-label", `distances between ${this.count} heads, ${HOW_TO}`);
    this.cursor = null;
    this.layout();
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const theme = readTheme(this.box);
    const palette = makePalette(this.header.colours[theme.mode], theme);
    const fits = Math.min(LARGEST, (this.width - SIDE - 2) / this.count);
    this.cell = fits > 3 ? Math.floor(fits) : fits;
    const side = this.cell * this.count;
    Object.assign(this.plot.style, { width: `${side}px`, height: `${side}px` });
    const { width, height } = sizeCanvas(this.canvas, side, side);
    const image = new ImageData(width, height);
    paint(image, { x: 0, y: 0, width, height }, this.levels, 0, this.count, this.count, palette);
    const context = this.canvas.getContext("2d");
    context.putImageData(image, 0, 0);
    this.drawLayers(context, theme.ink);
    this.drawBar(palette);
    this.show();
  }

  /** Where layers begin: a line, and the layer's name beside it. */
  drawLayers(context, ink) {
    const begins = this.heads.flatMap((head, place) => (sameLayer(head, this.heads[place - 1]) ? [] : [place]));
    const room = ((begins[1] ?? this.count) - begins[0]) * this.cell;
    context.fillStyle = `rgb(${ink.join(" ")} / 0.22)`;
    const marks = { top: [], left: [] };
    begins.forEach((place, index) => {
      const pixel = Math.round(place * this.cell * devicePixelRatio);
      if (place) context.fillRect(pixel, 0, 1, this.canvas.height);
      if (place) context.fillRect(0, pixel, this.canvas.width, 1);
      if (index % Math.ceil(13 / room)) return;
      const [layer] = this.heads[place];
      marks.left.push(label(`layer ${layer}`, "top", place * this.cell + room / 2));
      marks.top.push(label(room > 44 ? `layer ${layer}` : layer, "left", place * this.cell + room / 2));
    });
    this.left.replaceChildren(...marks.left);
    this.top.replaceChildren(...marks.top);
  }

  drawBar(palette) {
    const { width, height } = sizeCanvas(this.scale, 200, 8);
    const image = new ImageData(width, height);
    const levels = Int16Array.from({ length: width }, (_, x) => Math.round((x / (width - 1)) * LEVELS));
    paint(image, { x: 0, y: 0, width, height }, levels, 0, 1, width, palette);
    this.scale.getContext("2d").putImageData(image, 0, 0);
    const ends = ["0", `${Number(this.header.vmax.toPrecision(3))} nats`];
    this.ticks.replaceChildren(...ends.map((text) => Object.assign(element("span"), { textContent: text })));
  }

  show() {
    const { cell, cursor, count } = this;
    const side = count * cell;
    place(this.open, this.header.selected && this.frame(this.header.selected));
    place(this.row, cursor && { left: 0, top: cursor[0] * cell, width: side, height: cell });
    place(this.column, cursor && { left: cursor[1] * cell, top: 0, width: cell, height: side });
  }

  /** A square around a cell that can be seen however small the cell is. */
  frame([row, column]) {
    const size = Math.max(this.cell, 7);
    const middle = (index) => (index + 0.5) * this.cell - size / 2;
    return { left: middle(column), top: middle(row), width: size, height: size };
  }

  // ---- looking and choosing ---------------------------------------------------------------------------------------

  at(event) {
    const { left, top, width, height } = this.plot.getBoundingClientRect();
    const index = (length, whole) => clamp(Math.floor((length / whole) * this.count), 0, this.count - 1);
    return [index(event.clientY - top, height), index(event.clientX - left, width)];
  }

  look(cursor, anchor) {
    this.cursor = cursor;
    this.show();
    if (!cursor) return this.tip.hide();
    const [a, b] = cursor.map((index) => name(this.heads[index]));
    const value = this.values[cursor[0] * this.count + cursor[1]];
    this.tip.panel.textContent = a === b ? `${a}: itself` : `${a} and ${b}: ${value.toPrecision(3)} nats`;
    this.live.textContent = this.tip.panel.textContent;
    this.tip.show(anchor);
  }

  choose([row, column]) {
    if (row !== column) this.emit("open", { row, column });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in WALKS) {
      const [down, across] = WALKS[event.key];
      const [row, column] = this.cursor ?? this.header.selected ?? [0, 0];
      const cursor = [clamp(row + down, 0, this.count - 1), clamp(column + across, 0, this.count - 1)];
      const { left, top } = this.plot.getBoundingClientRect();
      const frame = this.frame(cursor);
      const [x, y] = [left + frame.left, top + frame.top];
      this.look(cursor, { left: x, right: x + frame.width, top: y, bottom: y + frame.height });
    } else if (event.key === "Enter" && this.cursor) this.choose(this.cursor);
    else if (event.key === "Escape" && this.cursor) this.look(null);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }
}

const pointer = ({ clientX: x, clientY: y }) => ({ left: x, right: x, top: y - 6, bottom: y + 10 });

function label(text, edge, at) {
  const made = element("div", "label");
  made.textContent = text;
  made.style[edge] = `${at}px`;
  return made;
}

function place(mark, where) {
  mark.hidden = !where;
  for (const [side, length] of Object.entries(where || {})) mark.style[side] = `${length}px`;
}

/** Draws the packed distances into `root`, in place if they were drawn there before; emit("open", { row, column }) on a
 * choice, the places of two heads. The view that comes back has close(). */
export const draw = drawing(Pairs);
