// One head: a heatmap and lines, linked. The token under the pointer lights up in both.
import { Floating, View, clamp, drawing, element, fillToken, unpack } from "../shared.js";
import { makePalette, readTheme } from "../shared.js";
import { Filter } from "./filter.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { Linked } from "./linked.js";
import { Matrix } from "./matrix.js";
import { Toolbar } from "./toolbar.js";

const SIDE_BY_SIDE = 600; // pixels of the container
const MAP_SHARE = 4 / 7; // of the width
const GAP = 16; // pixels between map and lines
const TALLEST = 560; // pixels of the plot
const LEAST_TALL = 300; // the same where the page shows head and grid at once, in a window however low,
const BESIDE = 540; // and what such a page needs for all that stands above and below the plot
const NAMES = 46; // pixels over and under the lines: what the sides are, and how many lines are left out
const ALIGNED = 18; // pixels of a heatmap row from which the lines use the same rows
const PAUSE = 250; // milliseconds without a move before another window is asked for
const CLOSER = 1.5; // of one press of + or -
const SEVERAL = 4; // pinned rows in the panel, at most

const HOW_TO = [
  ...["up and down go to a query", "left and right to a key", "Enter pins the query", "Escape takes pins away"],
  ...["comma and full stop go to the head before and after", "plus and minus zoom, zero shows all again"],
  "Shift and arrows move what is in sight",
];
const MOVES = {
  ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
};

class Head extends View {
  constructor(root, closed) {
    super(root, closed, "hl-head", { tabindex: "0", role: "application" });
    this.title = element("div", "head-title");
    this.toolbar = new Toolbar({
      change: (options) => this.filterBy(options),
      report: (options) => this.header.options && this.emit("options", options),
      step: (by) => this.emit("step", by),
    });
    this.panes = element("div", "panes");
    this.live = element("div", "live", { "aria-live": "polite" });
    this.box.append(this.title, this.toolbar.box, this.panes, this.live);
    this.tip = new Floating(this.box, "tip");
    const pick = (query) => this.toggle(query);
    this.map = new Heatmap(this.panes, {
      hover: (cursor, anchor) => this.look(cursor, anchor),
      pick,
      pan: (queries, keys) => this.pan(queries, keys),
      redraw: () => this.layout(),
    });
    const side = (cursor) => cursor && (cursor.query === undefined ? "keys" : "queries");
    this.lines = new Lines(this.panes, { hover: (cursor, anchor) => this.look(cursor, anchor, side(cursor)), pick });
    this.cursor = null; // { query, key }, or one of the two, or null: the place of the pointer or the keyboard
    this.linkedTokens = null; // { queries, keys }: counterparts of the tokens at the cursor of a linked head
    this.chosen = []; // pinned queries, in order
    this.linked = new Linked((linkedTokens) => this.light(linkedTokens));
    this.listen();
  }

  listen() {
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focusout", () => this.look(null));
  }

  close() {
    this.toolbar.close();
    clearTimeout(this.panning);
    this.linked.close();
    this.tip.hide();
    super.close();
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    header.keys ??= header.queries;
    const before = this.header;
    Object.assign(this, { header, emit, matrix: new Matrix(header, data) });
    this.ahead = { queries: 0, keys: 0 }; // cells between this window and the next, which was asked for
    const fresh = String([before?.queries, before?.keys]) !== String([header.queries, header.keys]);
    if (fresh) this.cursor = this.lastCell = this.linkedTokens = null;
    this.linked.update(header.linked);
    // A host that keeps neither pins nor options sends the same again; both then outlive a step to another head.
    const same = (name) => JSON.stringify(before?.[name]) === JSON.stringify(header[name]);
    if (fresh || !same("chosen")) this.chosen = header.chosen;
    this.toolbar.update(same("options") ? null : header.options, this.matrix, header.compact ? header.title : "");
    this.filter = new Filter(this.matrix, this.toolbar.options);
    const name = header.title || (header.layer == null ? "" : `layer ${header.layer}, head ${header.head}`);
    this.box.setAttribute("aria-label", [name || "attention", ...HOW_TO].join(", "));
    this.title.textContent = header.compact ? "" : header.title;
    this.map.update(this.matrix, name);
    this.lines.update(this.matrix, this.filter);
    this.layout();
  }

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const { colours, diverging, compact, alone } = this.header;
    const wide = !alone && this.width >= SIDE_BY_SIDE;
    this.box.classList.toggle("alone", Boolean(alone));
    this.panes.classList.toggle("wide", wide);
    this.box.classList.toggle("compact", Boolean(compact));
    const theme = readTheme(this.box);
    const palette = makePalette(colours[theme.mode], theme, diverging);
    const mapWidth = wide ? Math.floor((this.width - GAP) * MAP_SHARE) : this.width;
    const linesWidth = wide ? this.width - mapWidth - GAP : this.width;
    this.box.style.setProperty("--map", `${mapWidth}px`);
    this.toolbar.explain(this.matrix.parts, theme.mode);
    const tallest = compact ? Math.max(LEAST_TALL, innerHeight - BESIDE) : TALLEST;
    this.map.layout(mapWidth, { tallest, beside: wide ? linesWidth : 0, theme, palette });
    this.map.fade(this.filter);
    const { plotTop, plotHeight, cellHeight } = this.map;
    const aligned = wide && cellHeight >= ALIGNED && this.map.viewport.isWhole;
    const place = { width: linesWidth, top: aligned ? plotTop - 22 : 0 };
    const height = wide ? this.map.height - NAMES : Infinity;
    this.lines.layout({ ...place, rowHeight: aligned ? cellHeight : undefined, height, theme, palette });
    this.show();
  }

  /** Looks at what the page's sentence names, while the reader points at the sentence; else looks away. */
  point(at) {
    if (this.matrix.marked) this.look(at ? this.matrix.marked : null);
  }

  // ---- looking and choosing ---------------------------------------------------------------------------------------

  /** `under` is the side of the lines, "queries" or "keys", over which the pointer is; their rows stay where they are. */
  look(cursor, anchor, under) {
    Object.assign(this, { cursor, anchor, under });
    if (cursor?.query !== undefined && cursor.key !== undefined) this.lastCell = cursor;
    this.drawSoon();
  }

  /** Lights up the tokens that the reader looks at in a linked head; null where the reader has left it. */
  light(linkedTokens) {
    this.linkedTokens = linkedTokens;
    this.drawSoon();
  }

  /** Draws once a frame, however many moves there are. */
  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.show());
  }

  show() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.linked.tell(this.cursor);
    const focus = this.focus();
    this.map.show(focus);
    this.lines.show(focus, this.under);
    if (this.cursor) this.say();
    else this.tip.hide();
  }

  /** The focus: the cursor, else the linked tokens, else a single pin. All of its `queries` and `keys` light up. */
  focus() {
    const { chosen } = this;
    if (!this.cursor && this.linkedTokens) {
      const { queries, keys } = this.linkedTokens;
      return { query: queries[0], key: keys[0], queries, keys, chosen };
    }
    const { query, key } = this.cursor ?? (chosen.length === 1 ? { query: chosen[0] } : {});
    const only = (place) => (place === undefined ? [] : [place]);
    return { query, key, queries: only(query), keys: only(key), chosen };
  }

  /** Fills the panel; for a key without a query, with the weights that the pinned queries give the key. */
  say() {
    const pins = this.cursor.query === undefined ? this.chosen : [];
    const cursors = pins.length ? pins.slice(0, SEVERAL).map((query) => ({ ...this.cursor, query })) : [this.cursor];
    const told = cursors.flatMap((cursor) => this.matrix.describe(cursor).slice(0, cursors.length > 1 ? 2 : undefined));
    const lines = told.map((parts) => {
      const line = element("span", "line");
      line.append(...parts.flatMap(written));
      return line;
    });
    this.tip.panel.replaceChildren(...lines);
    if (this.live.textContent !== this.tip.panel.textContent) this.live.textContent = this.tip.panel.textContent;
    if (this.anchor) this.tip.show(this.anchor);
    else this.tip.hide();
  }

  /** Pins a query, or unpins it. */
  toggle(query) {
    const others = this.chosen.filter((other) => other !== query);
    this.choose(others.length < this.chosen.length ? others : [...others, query].sort((a, b) => a - b));
  }

  choose(queries) {
    this.chosen = queries;
    this.show();
    this.emit("choose", { queries });
  }

  filterBy(options) {
    this.filter = new Filter(this.matrix, options);
    this.lines.choose(this.filter);
    this.map.fade(this.filter);
    this.show();
  }

  /** Asks for a window of a long text, `queries` and `keys` cells further, within the text. */
  pan(queries, keys) {
    const { first, whole } = this.matrix;
    const further = (start, by, length, all) => clamp(start + by, 0, all - length) - start;
    const { ahead } = this;
    ahead.queries = further(first.query, ahead.queries + queries, this.matrix.queries.length, whole.queries);
    ahead.keys = further(first.key, ahead.keys + keys, this.matrix.keys.length, whole.keys);
    this.map.frameViewport(ahead);
    clearTimeout(this.panning);
    const report = () => this.emit("pan", { query: first.query + ahead.queries, key: first.key + ahead.keys });
    if (ahead.queries || ahead.keys) this.panning = setTimeout(report, PAUSE);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ",": -1, "[": -1, ".": 1, "]": 1 }[event.key];
    const times = { "+": CLOSER, "=": CLOSER, "-": 1 / CLOSER }[event.key];
    if (event.shiftKey && event.key in MOVES) this.shift(...MOVES[event.key]);
    else if (times) this.map.zoom(times, this.cursor ?? undefined);
    else if (event.key === "0") this.map.reset();
    else if (event.key in MOVES) this.move(...MOVES[event.key]);
    else if (step) this.emit("step", step);
    else if (["Enter", " "].includes(event.key) && this.cursor?.query !== undefined) this.toggle(this.cursor.query);
    else if (event.key === "Escape" && (this.cursor || this.chosen.length)) this.escape();
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }

  move(rows, cols) {
    const { queries, keys } = this.matrix;
    const { query, key } = this.lastCell ?? { query: this.chosen[0] ?? -1, key: -1 };
    const cursor = { query: clamp(query + rows, 0, queries.length - 1), key: clamp(key + cols, 0, keys.length - 1) };
    this.map.reveal(cursor);
    this.look(cursor, this.map.anchor(cursor));
  }

  /** Moves the viewport by a quarter of its size, and to the ends with Home and End. */
  shift(rows, cols) {
    const { viewport } = this.map;
    const { queries, keys } = this.matrix.whole ?? { queries: viewport.all.rows, keys: viewport.all.cols };
    const by = (steps, length, all) => clamp(steps * Math.max(1, Math.round(length / 4)), -all, all);
    this.map.move(by(rows, viewport.rows, queries), by(cols, viewport.cols, keys));
  }

  escape() {
    this.look(null);
    if (this.chosen.length) this.choose([]);
  }
}

/** Turns a part of a sentence into nodes. */
function written(part) {
  if (typeof part === "string") return [part];
  if (part.token !== undefined) {
    const holder = element("span");
    fillToken(holder, part.token);
    return ["‘", holder, "’"];
  }
  const [[kind, text]] = Object.entries(part); // a value, or what is said aside
  return [Object.assign(element("span", kind), { textContent: text })];
}

/** Draws a packed head into `root`, in place if it was drawn there before. emit("choose", { queries }) when a pin comes
 * or goes, with all that are there; emit("step", -1 | 1) for the head before or after; emit("options", { lines, between,
 * tokens }) when the reader changed what is drawn; emit("pan", { query, key }) for the window of a long text that begins
 * there. The view that comes back has close(). */
export const draw = drawing(Head);
