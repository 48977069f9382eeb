// Every head of every layer at once, as thumbnails of their attention maps. One canvas holds all pixels; the cells over
// it are plain elements, so that keyboard, screen reader and theme come from the browser.
import { LEVELS, View, clamp, drawing, element, makePalette } from "../shared.js";
import { paint, readTheme, sizeCanvas, unpack } from "../shared.js";
import { LARGEST, Preview } from "./preview.js";
import { Toolbar } from "./toolbar.js";

const ANSWER = 5000; // milliseconds that the host has to follow a click before its own selection counts again
const WORDS = 48; // pixels that "head 11" needs
const REACHED = 24; // pixels from one head to the next that a finger needs; for those, rows give up the word "layer"
// "layer 3 local" is "3" under a small picture, and "layer 3 (2nd)" is "3 2nd".
const short = (name) => name.replace(/^layer (\d+)(?: \((\w+)\))?.*$/, (_, layer, call) => (call ? `${layer} ${call}` : layer));
const TAG = 13; // pixels of the name under a picture, where rows are not layers
const WALKS = {
  ...{ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
};

const times = (count, make) => Array.from({ length: count }, (_, index) => make(index));

class Grid extends View {
  constructor(root, closed) {
    super(root, closed, "hl-grid");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.table = element("div", "table", { role: "grid", "aria-label": "attention of every layer and head" });
    this.axes = Object.assign(element("div", "axes", { "aria-hidden": "true" }), { hidden: true });
    this.field = element("div", "field");
    this.field.append(this.canvas, this.table);
    this.box.append(this.axes, this.field);
    this.toolbar = new Toolbar(this.box, (options) => this.choose(options));
    this.preview = new Preview(this.box);
    this.listen();
  }

  listen() {
    const cellOf = (event) => event.target.closest?.("[role=gridcell]");
    this.table.addEventListener("keydown", (event) => this.press(event));
    this.table.addEventListener("click", (event) => cellOf(event) && this.open(this.place(cellOf(event))));
    this.table.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.hover(cellOf(event)));
    this.table.addEventListener("pointerleave", () => this.hover(null));
    this.table.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && this.hover(target));
    this.table.addEventListener("focusout", () => this.hover(null));
  }

  close() {
    clearTimeout(this.waiting);
    this.preview.hide();
    super.close();
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    const given = JSON.stringify(header.options);
    if (given !== JSON.stringify(this.header?.options)) this.options = header.options; // else what was chosen here
    Object.assign(this, { header, data, emit });
    this.levels = this.toLevels();
    this.arrange();
    this.cross(header.crossed);
    this.follow(header.selected);
    if (this.hovered) this.hover(this.hovered);
  }

  /** The reader's order is drawn at once: the host may be busy for seconds. */
  choose(options) {
    this.options = options;
    this.arrange();
    this.emit("options", options);
  }

  /** Cells are built again only where their order or names changed, so that focus and frame stay where they are. */
  arrange() {
    const order = this.sorted();
    const { names, columns, labels, widths } = this.header;
    const built = String([order, names, columns, labels, widths]);
    if (built !== this.built) {
      Object.assign(this, { order, built });
      this.build();
      this.select(this.selected && this.cells[this.selected[0]]?.[this.selected[1]] ? this.selected : null);
    }
    this.label();
    this.layout();
  }

  /** The places of all heads: by layer, or by a measure, those without a value last. */
  sorted() {
    const { layers, heads, measures } = this.header;
    const places = times(layers * heads, (index) => [Math.floor(index / heads), index % heads]);
    const values = measures?.[this.options.sort];
    if (!values) return places;
    const sign = this.options.rising ? 1 : -1;
    const known = places.filter(([layer, head]) => values[layer][head] !== null);
    known.sort((a, b) => sign * (values[a[0]][a[1]] - values[b[0]][b[1]])); // stable: equals as in the model
    const unknown = places.filter(([layer, head]) => values[layer][head] === null);
    return [...known, ...unknown.filter(this.exists), ...unknown.filter((place) => !this.exists(place))];
  }

  /** Rows may have different numbers of heads: the places behind a row's last head are empty. */
  exists = ([layer, head]) => !this.header.widths || head < this.header.widths[layer];

  /** The number that put a head in its place, where its note does not hold it. */
  sortedBy(cell) {
    const { measures, notes } = this.header;
    const { layer, head } = cell.dataset;
    const value = measures?.[this.options.sort]?.[layer][head];
    if (value === undefined || value === null || notes?.[layer]?.[head]?.includes(this.options.sort)) return "";
    return `${this.options.sort} ${value.toPrecision(3)}`;
  }

  get byLayer() {
    return !this.header.measures?.[this.options.sort];
  }

  /** A byte is 255 sqrt(weight): the square-root scale as it is, the linear scale after squaring. */
  toLevels() {
    const step = (byte) => (this.header.scale === "sqrt" ? byte / 255 : (byte / 255) ** 2);
    const table = Uint16Array.from({ length: 256 }, (_, byte) => Math.round(step(byte) * LEVELS));
    const levels = new Int16Array(this.data.length);
    for (let cell = 0; cell < levels.length; cell++) levels[cell] = table[this.data[cell]];
    return levels;
  }

  build() {
    const { layers, heads, names } = this.header;
    const row = (first, others) => {
      const made = element("div", "row", { role: "row" });
      made.append(first, ...others);
      return made;
    };
    const cell = (layer, head) =>
      this.exists([layer, head])
        ? element("div", "cell", { role: "gridcell", "data-layer": layer, "data-head": head })
        : element("div", "cell", { role: "presentation", "data-layer": layer, "data-head": head, hidden: "" });
    const side = (name) => element("span", "side", { role: "rowheader", "aria-label": name });
    this.cells = times(layers, () => []);
    for (const [layer, head] of this.order) this.cells[layer][head] = cell(layer, head);
    const tops = times(heads, () => element("span", "top", { role: this.byLayer ? "columnheader" : "presentation" }));
    const corner = element("span", "corner", { role: "presentation" });
    const rows = times(layers, (index) => {
      const places = this.order.slice(index * heads, (index + 1) * heads);
      return row(side(this.byLayer ? names[index] : `rank ${index * heads + 1}`), places.map(this.cell));
    });
    this.table.replaceChildren(row(corner, tops), ...rows);
    this.box.classList.toggle("ranked", !this.byLayer);
    this.hovered = null;
    this.rove(this.order[0]);
  }

  label() {
    const colours = this.header.roles?.colours[readTheme(this.box).mode] ?? {};
    for (const cell of this.cells.flat()) {
      const role = this.role(cell);
      const isNamed = String(this.place(cell)) === String(this.header.named);
      const told = isNamed ? "marked, for the sentence names it" : "";
      cell.setAttribute("aria-label", [this.title(cell), this.note(cell), told].filter(Boolean).join(", "));
      cell.classList.toggle("named", isNamed);
      cell.style.setProperty("--role", colours[role] ?? "");
      cell.classList.toggle("framed", role in colours);
      cell.classList.toggle("dim", this.options.only.length > 0 && !this.options.only.includes(role));
      cell.dataset.tag = `${short(this.header.names[cell.dataset.layer])}.${this.column(cell.dataset.head)}`;
    }
    this.toolbar.update(this.header, this.options, colours);
  }

  role = (cell) => this.header.roles?.names[cell.dataset.layer]?.[cell.dataset.head];
  title = ({ dataset: { layer, head } }) => `${this.header.names[layer]}, ${this.header.joined?.[layer] ?? this.top(head)}`;
  column = (head) => this.header.labels?.[head] ?? head;

  /** A column's name: "head 7", or what each row of a grid without heads is a picture of. */
  top(head) {
    const { columns, joined, layers } = this.header;
    return Object.keys(joined ?? {}).length === layers ? joined[0] : `${columns} ${this.column(head)}`;
  }

  note = (cell) => [this.header.notes?.[cell.dataset.layer]?.[cell.dataset.head], this.sortedBy(cell)].filter(Boolean).join(", ");
  place = (cell) => [Number(cell.dataset.layer), Number(cell.dataset.head)];
  cell = ([layer, head]) => this.cells[layer][head];

  // ---- drawing --------------------------------------------------------------------------------------------------

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const { layers, heads } = this.header;
    const room = (this.width - this.nameRows()) / heads;
    const gap = room > 22 ? 4 : room > 12 ? 2 : 1;
    const size = Math.max(4, Math.min(LARGEST, Math.floor(room - gap)));
    this.box.style.setProperty("--size", `${size}px`);
    this.box.style.setProperty("--gap", `${gap}px`);
    this.nameHeads(size);
    const tagged = this.byLayer ? 0 : TAG;
    this.box.style.setProperty("--tag", `${tagged}px`);
    const origin = this.cell(this.order[0]);
    Object.assign(this.canvas.style, { left: `${origin.offsetLeft}px`, top: `${origin.offsetTop}px` });
    this.draw(size, gap, tagged);
  }

  /** Writes the rows' names, or where heads would be too small to reach their numbers alone; returns their width. */
  nameRows() {
    const sides = [...this.table.querySelectorAll(".side")];
    const names = sides.map((side) => side.getAttribute("aria-label"));
    const brief = names.map(short);
    const width = (texts, least, letter) => Math.max(least, letter * Math.max(...texts.map((text) => text.length)));
    const full = width(names, 46, 6);
    const isShort = this.byLayer && (this.width - full) / this.header.heads < REACHED;
    const room = isShort ? width(brief, 20, 7) : full;
    sides.forEach((side, row) => (side.textContent = (isShort ? brief : names)[row]));
    this.axes.textContent = isShort ? `rows are layers, columns ${this.header.columns}s, both from 0` : "";
    this.axes.hidden = !isShort;
    this.box.style.setProperty("--side", `${room}px`);
    this.box.classList.toggle("short", isShort);
    return room;
  }

  /** "head 7" where it fits, else the number alone under one "head", every so many where even numbers do not fit. */
  nameHeads(size) {
    const words = size >= WORDS;
    const every = size >= 14 ? 1 : size >= 8 ? 2 : 4;
    const isShort = this.box.classList.contains("short");
    const corner = !this.byLayer ? "layer.head" : words || isShort ? "" : this.header.columns;
    this.table.querySelector(".corner").textContent = corner;
    this.table.querySelectorAll(".top").forEach((name, head) => {
      name.textContent = !this.byLayer ? "" : words ? this.top(head) : head % every ? "" : this.column(head);
      if (this.byLayer) name.setAttribute("aria-label", this.top(head));
    });
  }

  draw(size, gap, tagged) {
    const { layers, heads, rows, cols, colours, diverging } = this.header;
    const theme = readTheme(this.box);
    this.palette = makePalette(colours[theme.mode], theme, diverging);
    const [across, down] = [size + gap, size + gap + tagged];
    const shape = sizeCanvas(this.canvas, heads * across - gap, layers * down - gap);
    const image = new ImageData(shape.width, shape.height);
    const device = (length) => Math.round(length * devicePixelRatio); // on whole pixels no thumbnail is blurred
    this.order.forEach(([layer, head], rank) => {
      if (!this.exists([layer, head])) return;
      const [x, y] = [device((rank % heads) * across), device(Math.floor(rank / heads) * down)];
      const [width, height] = [Math.min(device(size), shape.width - x), Math.min(device(size), shape.height - y)];
      paint(image, { x, y, width, height }, this.levels, (layer * heads + head) * rows * cols, rows, cols, this.palette);
    });
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** Which heads are crossed out; null where a click opens instead. */
  cross(places) {
    if (!places) return;
    this.table.setAttribute("aria-multiselectable", "true");
    const crossed = new Set(places.map(String));
    for (const cell of this.cells.flat()) cell.setAttribute("aria-selected", crossed.has(String(this.place(cell))));
  }

  /** Lights the head that the page's sentence names, while the reader points at the sentence. */
  point(at) {
    for (const cell of this.cells.flat()) cell.classList.toggle("lit", at && cell.classList.contains("named"));
  }

  // ---- choosing -------------------------------------------------------------------------------------------------

  hover(cell) {
    this.hovered = cell;
    if (!cell) return this.preview.hide();
    const { rows, cols, heads } = this.header;
    const [layer, head] = this.place(cell);
    const { levels, palette } = this;
    const map = { levels, offset: (layer * heads + head) * rows * cols, rows, cols, palette };
    this.preview.show(cell.getBoundingClientRect(), this.title(cell), this.note(cell), map);
  }

  /** One cell alone is in the tab order (a roving tabindex), so that Tab leaves the grid instead of walking it. */
  rove(place) {
    if (this.roving?.isConnected) this.roving.tabIndex = -1;
    else for (const cell of this.cells.flat()) cell.tabIndex = -1;
    this.roving = this.cell(place);
    this.roving.tabIndex = 0;
  }

  /** The click was answered, or another took its place. */
  settle() {
    clearTimeout(this.waiting);
    this.waiting = null;
  }

  /** What the host says is open; a click that it has not answered yet comes before. */
  follow(place) {
    if (this.header.crossed) return;
    if (place && !(this.cells[place[0]]?.[place[1]] && this.exists(place))) return; // the open head of another page, whose model is larger
    this.header.selected = place;
    if (String(place) === String(this.selected)) this.settle();
    else if (!this.waiting) this.select(place);
  }

  /** Shows which head is open; null for none. */
  select(place) {
    this.settle();
    this.table.querySelector("[aria-selected=true]")?.removeAttribute("aria-selected");
    this.selected = place;
    if (!place) return;
    this.cell(place).setAttribute("aria-selected", "true");
    if (!this.table.contains(this.table.getRootNode().activeElement)) this.rove(place);
  }

  /** The frame moves at once; should the host not follow in time, it moves back to what the host says. */
  open(place) {
    this.rove(place);
    if (!this.header.crossed) {
      this.select(place);
      this.waiting = setTimeout(() => this.select(this.header.selected), ANSWER);
    }
    const [layer, head] = place;
    this.emit("open", { layer, head });
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.matches("[role=gridcell]")) return;
    const { layers, heads } = this.header;
    const at = this.rank(this.place(event.target));
    const [row, column] = [Math.floor(at / heads), at % heads];
    const [down, across] = WALKS[event.key] ?? [];
    const walk = () => {
      const first = clamp(row + down, 0, layers - 1) * heads;
      let rank = first + clamp(column + across, 0, heads - 1);
      while (rank > first && !this.exists(this.order[rank])) rank -= 1;
      return this.order[this.exists(this.order[rank]) ? rank : at];
    };
    const step = { "[": -1, PageUp: -1, "]": 1, PageDown: 1 }[event.key];
    if (event.key in WALKS) this.focus(walk());
    else if (step && !this.header.crossed) this.step(step);
    else if (event.key === "Enter" || event.key === " ") this.open(this.order[at]);
    else if (event.key === "Escape") this.hover(null);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }

  focus(place) {
    this.rove(place);
    this.roving.focus();
  }

  rank = ([layer, head]) => this.order.findIndex((place) => place[0] === layer && place[1] === head);

  step(by) {
    let rank = this.rank(this.selected ?? this.place(this.roving)) + by;
    while (this.order[rank] && !this.exists(this.order[rank])) rank += by;
    const place = this.order[rank];
    if (!place) return;
    this.focus(place);
    this.open(place);
  }
}

/** Draws the packed grid into `root`, in place if it was drawn there before; emit("open", { layer, head }) on a choice,
 * emit("options", { sort, rising, only }) when heads are sorted by a measure or only some shown. The view that comes
 * back has select([layer, head]) and follow([layer, head]), for a host that opens a head by other means, and close(). */
export const draw = drawing(Grid);
