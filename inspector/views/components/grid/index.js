// Every head of every layer at once, as thumbnails of their attention maps. One canvas holds all pixels; the cells over
// it are plain elements, so that keyboard, screen reader and theme come from the browser.
import { Floating, LEVELS, clamp, element, makePalette, onColourSchemeChange } from "../shared.js";
import { paint, readTheme, sizeCanvas, unpack } from "../shared.js";

const LARGEST = 96; // pixels; larger than its data a thumbnail says no more
const ANSWER = 5000; // milliseconds that the host has to follow a click before its own selection counts again
const WORDS = 48; // pixels that "head 11" needs
const WALKS = {
  ...{ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
  ...{ Home: [0, -Infinity], End: [0, Infinity] },
};

const views = new WeakMap();
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index));

/** Draws the packed grid into `root`, in place if it was drawn there before; emit("open", { layer, head }) on a choice.
 * The view that comes back has select([layer, head]) and follow([layer, head]), for a host that opens a head by other means, and close(). */
export function draw(root, bytes, emit) {
  if (!views.has(root)) views.set(root, new Grid(root));
  const view = views.get(root);
  view.update(bytes, emit);
  return view;
}

class Grid {
  constructor(root) {
    this.root = root;
    this.box = element("div", "hl-grid");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.table = element("div", "table", { role: "grid", "aria-label": "attention of every layer and head" });
    this.box.append(this.canvas, this.table);
    root.append(this.box);
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
    this.resizing = new ResizeObserver(() => this.width !== this.box.clientWidth && this.layout());
    this.resizing.observe(this.box);
    this.ignoreColourScheme = onColourSchemeChange(() => this.layout());
  }

  close() {
    clearTimeout(this.waiting);
    this.resizing.disconnect();
    this.ignoreColourScheme();
    this.preview.hide();
    this.box.remove();
    views.delete(this.root);
  }

  update(bytes, emit) {
    const { header, data } = unpack(bytes);
    const rebuild = this.header?.layers !== header.layers || this.header?.heads !== header.heads;
    Object.assign(this, { header, data, emit });
    this.levels = this.toLevels();
    if (rebuild) this.build();
    this.label();
    this.cross(header.crossed);
    this.follow(header.selected);
    this.layout();
    if (this.hovered) this.hover(this.hovered);
  }

  /** A byte is 255 sqrt(weight): the square-root scale as it is, the linear scale after squaring. */
  toLevels() {
    const step = (byte) => (this.header.scale === "sqrt" ? byte / 255 : (byte / 255) ** 2);
    const table = Uint16Array.from({ length: 256 }, (_, byte) => Math.round(step(byte) * LEVELS));
    return Int16Array.from(this.data, (byte) => table[byte]);
  }

  build() {
    const { layers, heads } = this.header;
    const row = (first, others) => {
      const made = element("div", "row", { role: "row" });
      made.append(first, ...others);
      return made;
    };
    const cell = (layer, head) => element("div", "cell", { role: "gridcell", "data-layer": layer, "data-head": head });
    const side = (layer) => {
      const name = element("span", "side", { role: "rowheader" });
      name.textContent = `layer ${layer}`;
      return name;
    };
    this.cells = times(layers, (layer) => times(heads, (head) => cell(layer, head)));
    const tops = times(heads, () => element("span", "top", { role: "columnheader" }));
    const corner = element("span", "corner", { role: "presentation" });
    this.table.replaceChildren(row(corner, tops), ...this.cells.map((cells, layer) => row(side(layer), cells)));
    this.hovered = null;
    this.selected = undefined;
    this.rove([0, 0]);
  }

  label() {
    for (const cell of this.cells.flat()) {
      cell.setAttribute("aria-label", [this.title(cell), this.note(cell)].filter(Boolean).join(", "));
    }
  }

  title = (cell) => `layer ${cell.dataset.layer}, head ${cell.dataset.head}`;
  note = (cell) => this.header.notes?.[cell.dataset.layer]?.[cell.dataset.head] ?? "";
  place = (cell) => [Number(cell.dataset.layer), Number(cell.dataset.head)];
  cell = ([layer, head]) => this.cells[layer][head];

  // ---- drawing --------------------------------------------------------------------------------------------------

  layout() {
    this.width = this.box.clientWidth;
    if (!this.width) return; // not shown yet; the ResizeObserver calls again
    const { layers, heads } = this.header;
    const side = Math.ceil(this.table.querySelector(".side").getBoundingClientRect().width) || 44;
    const room = (this.width - side) / heads;
    const gap = room > 22 ? 4 : room > 12 ? 2 : 1;
    const size = Math.max(4, Math.min(LARGEST, Math.floor(room - gap)));
    this.box.style.setProperty("--size", `${size}px`);
    this.box.style.setProperty("--gap", `${gap}px`);
    this.nameHeads(size);
    const origin = this.cell([0, 0]);
    Object.assign(this.canvas.style, { left: `${origin.offsetLeft}px`, top: `${origin.offsetTop}px` });
    this.draw(size, gap, layers, heads);
  }

  /** "head 7" where it fits, else the number alone under one "head", every so many where even numbers do not fit. */
  nameHeads(size) {
    const words = size >= WORDS;
    const every = size >= 14 ? 1 : size >= 8 ? 2 : 4;
    this.table.querySelector(".corner").textContent = words ? "" : "head";
    this.table.querySelectorAll(".top").forEach((name, head) => {
      name.textContent = words ? `head ${head}` : head % every ? "" : head;
      name.setAttribute("aria-label", `head ${head}`);
    });
  }

  draw(size, gap, layers, heads) {
    const { rows, cols, colours } = this.header;
    const theme = readTheme(this.box);
    this.palette = makePalette(colours[theme.mode], theme);
    const pitch = size + gap;
    const shape = sizeCanvas(this.canvas, heads * pitch - gap, layers * pitch - gap);
    const image = new ImageData(shape.width, shape.height);
    const device = (length) => Math.round(length * devicePixelRatio);
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        const [x, y] = [device(head * pitch), device(layer * pitch)];
        const [width, height] = [Math.min(device(size), shape.width - x), Math.min(device(size), shape.height - y)];
        const box = { x, y, width, height };
        paint(image, box, this.levels, (layer * heads + head) * rows * cols, rows, cols, this.palette);
      }
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** Which heads are crossed out; null where a click opens instead. */
  cross(places) {
    if (!places) return;
    this.table.setAttribute("aria-multiselectable", "true");
    const crossed = new Set(places.map(String));
    for (const cell of this.cells.flat()) cell.setAttribute("aria-selected", crossed.has(String(this.place(cell))));
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

  rove(place) {
    if (this.roving?.isConnected) this.roving.tabIndex = -1;
    else for (const cell of this.cells.flat()) cell.tabIndex = -1;
    this.roving = this.cell(place);
    this.roving.tabIndex = 0;
  }

  settle() {
    clearTimeout(this.waiting);
    this.waiting = null;
  }

  /** What the host says is open; a click that it has not answered yet comes before. */
  follow(place) {
    if (this.header.crossed) return;
    if (place && !this.cells[place[0]]?.[place[1]]) return; // the open head of another page, whose model is larger
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
    const [layer, head] = this.place(event.target);
    const [down, across] = WALKS[event.key] ?? [];
    const step = { "[": -1, PageUp: -1, "]": 1, PageDown: 1 }[event.key];
    if (event.key in WALKS) this.focus([clamp(layer + down, 0, layers - 1), clamp(head + across, 0, heads - 1)]);
    else if (step && !this.header.crossed) this.step(step);
    else if (event.key === "Enter" || event.key === " ") this.open([layer, head]);
    else if (event.key === "Escape") this.hover(null);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
  }

  focus(place) {
    this.rove(place);
    this.roving.focus();
  }

  step(by) {
    const { layers, heads } = this.header;
    const [layer, head] = this.selected ?? this.place(this.roving);
    const next = layer * heads + head + by;
    if (next < 0 || next >= layers * heads) return;
    const place = [Math.floor(next / heads), next % heads];
    this.focus(place);
    this.open(place);
  }
}

/** The enlarged thumbnail that floats beside the one under the pointer. */
class Preview extends Floating {
  constructor(parent) {
    super(parent, "preview");
    this.canvas = element("canvas");
    this.title = element("div", "title");
    this.note = element("div", "note");
    this.panel.append(this.canvas, this.title, this.note);
  }

  show(anchor, title, note, { levels, offset, rows, cols, palette }) {
    const side = clamp(anchor.width * 4, 144, 2 * LARGEST);
    const { width, height } = sizeCanvas(this.canvas, side, side);
    const image = new ImageData(width, height);
    paint(image, { x: 0, y: 0, width, height }, levels, offset, rows, cols, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.title.textContent = title;
    this.note.textContent = note;
    super.show(anchor);
  }
}
