// One head: a heatmap and lines, linked. What is looked at in one is looked at in the other.
import { Floating, clamp, element, fillToken, unpack } from "../shared.js";
import { makePalette, onColourSchemeChange, readTheme } from "../shared.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { Linked } from "./linked.js";
import { Matrix } from "./matrix.js";

const SIDE_BY_SIDE = 720; // pixels of the container
const MAP_SHARE = 0.53; // of the width, as in style.css
const ALIGNED = 18; // pixels of a heatmap row from which the lines use the same rows
const PAUSE = 200; // milliseconds without a key press before a row chosen by keyboard is reported

const HOW_TO = ["up and down choose a query", "left and right a key", "comma and full stop the head before and after"];
const MOVES = {
  ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
};

const views = new WeakMap();

/** Draws a packed head into `root`, in place if it was drawn there before. emit("choose", { query }) on a pin, with null
 * when it is taken away; emit("step", -1 | 1) for the head before or after. The view that comes back has close(). */
export function draw(root, bytes, emit) {
  if (!views.has(root)) views.set(root, new Head(root));
  const view = views.get(root);
  view.update(bytes, emit);
  return view;
}

class Head {
  constructor(root) {
    this.root = root;
    this.box = element("div", "hl-head", { tabindex: "0", role: "application" });
    this.title = element("div", "head-title");
    this.panes = element("div", "panes");
    this.live = element("div", "live", { "aria-live": "polite" });
    this.box.append(this.title, this.panes, this.live);
    root.append(this.box);
    this.tip = new Floating(this.box, "tip");
    const pick = (query) => this.choose(query === this.chosen ? null : query);
    this.map = new Heatmap(this.panes, { hover: (spot, anchor) => this.look(spot, anchor, true), pick });
    this.lines = new Lines(this.panes, { hover: (spot, anchor) => this.look(spot, anchor, false), pick });
    this.spot = null; // { query, key }, one of them or null: what the pointer or the keyboard is at
    this.echo = null; // { queries, keys } that a linked head is looked at
    this.chosen = null;
    this.linked = new Linked((echo) => this.light(echo));
    this.listen();
  }

  listen() {
    this.box.addEventListener("keydown", (event) => this.press(event));
    this.box.addEventListener("focusout", () => this.look(null));
    this.resizing = new ResizeObserver(() => this.width !== this.box.clientWidth && this.layout());
    this.resizing.observe(this.box);
    this.ignoreColourScheme = onColourSchemeChange(() => this.layout());
  }

  close() {
    clearTimeout(this.reporting);
    this.resizing.disconnect();
    this.ignoreColourScheme();
    this.linked.close();
    this.tip.hide();
    this.box.remove();
    views.delete(this.root);
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    const before = this.header;
    Object.assign(this, { header, emit, matrix: new Matrix(header, data) });
    const fresh = String([before?.queries, before?.keys]) !== String([header.queries, header.keys]);
    if (fresh) this.spot = this.cursor = this.echo = null;
    this.linked.update(header.linked);
    // A host that does not follow the pin sends the same `chosen` again: then the pin outlives a step to another head.
    if (fresh || before.chosen !== header.chosen) this.chosen = header.chosen;
    const name = header.title || (header.layer == null ? "" : `layer ${header.layer}, head ${header.head}`);
    this.box.setAttribute("aria-label", [name || "attention", ...HOW_TO].join(", "));
    this.title.textContent = header.title;
    this.map.update(this.matrix, name);
    this.lines.update(this.matrix, fresh);
    this.reveal = fresh;
    this.layout();
  }

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const wide = this.width >= SIDE_BY_SIDE;
    this.panes.classList.toggle("wide", wide);
    const theme = readTheme(this.box);
    const { colours, diverging } = this.header;
    const palette = makePalette(colours[theme.mode], theme, diverging);
    const mapWidth = wide ? Math.floor(this.width * MAP_SHARE) : this.width;
    this.map.layout(mapWidth, theme, palette);
    const { plotTop, plotHeight, cellHeight } = this.map;
    const aligned = wide && cellHeight >= ALIGNED;
    const place = { width: wide ? this.width - mapWidth - 20 : this.width, top: wide ? plotTop - 22 : 0 };
    this.lines.layout({ ...place, rowHeight: aligned ? cellHeight : undefined, height: plotHeight, theme, palette });
    this.show();
  }

  // ---- looking and choosing ---------------------------------------------------------------------------------------

  look(spot, anchor, reveal = false) {
    this.spot = spot;
    this.anchor = anchor;
    if (spot?.query !== undefined && spot.key !== undefined) this.cursor = spot;
    this.reveal = reveal;
    this.drawSoon();
  }

  /** A linked head is looked at, or no longer. */
  light(echo) {
    this.echo = echo;
    this.reveal = echo !== null;
    this.drawSoon();
  }

  /** Many moves, one drawing a frame. */
  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.show());
  }

  show() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.linked.tell(this.spot);
    const focus = this.focus();
    this.map.show(focus);
    this.lines.show(focus, this.reveal);
    const pair = this.spot?.key !== undefined && this.chosen !== null;
    if (this.spot) this.say(pair ? { query: this.chosen, ...this.spot } : this.spot);
    else this.tip.hide();
  }

  /** What is drawn as looked at: here, else in a linked head, else the pin. `queries` and `keys` are all that light up. */
  focus() {
    const { chosen } = this;
    if (!this.spot && this.echo) {
      const { queries, keys } = this.echo;
      return { query: queries[0], key: keys[0], queries, keys, chosen };
    }
    const { query, key } = this.spot ?? { query: chosen ?? undefined };
    const only = (place) => (place === undefined ? [] : [place]);
    return { query, key, queries: only(query), keys: only(key), chosen };
  }

  say(spot) {
    const lines = this.matrix.describe(spot).map((parts) => {
      const line = element("span", "line");
      line.append(...parts.flatMap(written));
      return line;
    });
    this.tip.panel.replaceChildren(...lines);
    if (this.live.textContent !== this.tip.panel.textContent) this.live.textContent = this.tip.panel.textContent;
    if (this.anchor) this.tip.show(this.anchor);
    else this.tip.hide();
  }

  /** Pins a query, null to unpin. Shown at once, reported after `pause` milliseconds without another choice. */
  choose(query, pause = 0) {
    if (query === this.chosen) return;
    this.chosen = query;
    this.show();
    clearTimeout(this.reporting);
    const report = () => this.emit("choose", { query });
    if (pause) this.reporting = setTimeout(report, pause);
    else report();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ",": -1, "[": -1, ".": 1, "]": 1 }[event.key];
    if (event.key in MOVES) this.move(...MOVES[event.key]);
    else if (step) this.emit("step", step);
    else if (event.key === "Escape" && (this.spot || this.chosen !== null)) this.escape();
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }

  move(rows, cols) {
    const { queries, keys } = this.matrix;
    const { query, key } = this.cursor ?? { query: this.chosen ?? -1, key: -1 };
    const spot = { query: clamp(query + rows, 0, queries.length - 1), key: clamp(key + cols, 0, keys.length - 1) };
    this.look(spot, this.map.anchor(spot), true);
    if (rows) this.choose(spot.query, PAUSE);
  }

  escape() {
    this.look(null);
    this.choose(null);
  }
}

/** A part of a sentence as nodes. */
function written(part) {
  if (typeof part === "string") return [part];
  const holder = element("span", part.value === undefined ? "" : "value");
  if (part.value !== undefined) holder.textContent = part.value;
  else fillToken(holder, part.token);
  return part.value === undefined ? ["‘", holder, "’"] : [holder];
}
