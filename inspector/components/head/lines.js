// The lines: queries left, keys right, a line for each weight. Long texts scroll inside; only visible rows are drawn.
import { clamp, element, fillToken, plain, sizeCanvas } from "../shared.js";

const ROW = 22; // pixels, unless the heatmap beside it has rows of a legible height
const ALL_AT_ONCE = 64 * 64; // lines at most that are drawn while no token is looked at
const INVISIBLE = 0.004; // of the colour scale's top; a line below it could not be seen
const ASIDE = 2; // pixels between the lines of several heads
const NUMBER = 40; // pixels that a printed weight needs
const SHORTEST = 440; // pixels of height that a long text gets at least

export class Lines {
  constructor(parent, { hover, pick }) {
    this.box = element("div", "lines");
    this.names = element("div", "names");
    this.canvas = element("canvas", "", { role: "img", "aria-label": "lines from queries to keys" });
    this.view = element("div", "view", { tabindex: "-1" }); // without it a browser may make a scrolling box a tab stop
    this.sheet = element("div", "sheet");
    this.hint = element("div", "hint");
    this.hint.textContent = "hover or click a token";
    this.edges = { above: element("div", "edge above"), below: element("div", "edge below") };
    this.view.append(this.sheet);
    this.frame = element("div", "frame");
    this.frame.append(this.canvas, this.view, this.hint, ...Object.values(this.edges));
    for (const text of ["query", "key"]) this.names.append(Object.assign(element("span"), { textContent: text }));
    this.box.append(this.names, this.frame);
    parent.append(this.box);
    this.slots = [];
    this.focus = { queries: [], keys: [], chosen: [] };
    this.listen(hover, pick);
  }

  listen(hover, pick) {
    const cursorOf = (event) => {
      const { queryToken, keyToken } = event.target.closest(".item")?.dataset ?? {};
      if (queryToken !== undefined) return { query: Number(queryToken) };
      return keyToken !== undefined ? { key: Number(keyToken) } : null;
    };
    // A panel hides lines, so it appears only where it says more than the printed label.
    const anchor = (event) => {
      const item = event.target.closest(".item");
      const label = item?.querySelector(".label");
      const cut = label?.scrollWidth > label?.clientWidth;
      const pair = item?.matches(".key") && this.focus.chosen.length > 0;
      return cut || pair ? label.getBoundingClientRect() : undefined;
    };
    this.view.addEventListener("pointermove", (event) => hover(cursorOf(event), anchor(event)));
    this.view.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hover(null));
    this.view.addEventListener("click", (event) => {
      const cursor = cursorOf(event);
      hover(cursor, anchor(event));
      if (cursor?.query !== undefined) pick(cursor.query);
    });
    this.view.addEventListener("scroll", () => this.draw(), { passive: true });
    for (const edge of Object.values(this.edges)) {
      edge.addEventListener("click", () => this.reveal(Number(edge.dataset.row)));
    }
  }

  update(matrix, filter, fresh) {
    this.matrix = matrix;
    this.choose(filter);
    this.count = Math.max(matrix.queries.length, matrix.keys.length);
    for (const slot of this.slots) slot.row = null; // the place may hold another token now
    if (fresh) this.view.scrollTop = 0;
  }

  /** Sets the filter that says which lines are drawn. */
  choose(filter) {
    this.filter = filter;
    this.every = null;
  }

  layout({ width, top, rowHeight, height, theme, palette }) {
    this.palette = palette;
    this.mode = theme.mode;
    this.rowHeight = rowHeight ?? ROW;
    this.height = Math.min(this.count * this.rowHeight, Math.max(height, SHORTEST));
    this.box.style.paddingTop = `${top}px`;
    this.box.style.setProperty("--row", `${this.rowHeight}px`);
    this.view.style.height = `${this.height}px`;
    this.sheet.style.height = `${this.count * this.rowHeight}px`;
    this.width = this.view.clientWidth; // less than `width` where a scroll bar takes some
    const context = this.canvas.getContext("2d");
    context.font = `13px ${theme.tokenFont}`;
    const { queries, keys } = this.matrix;
    const some = [...queries.slice(0, 200), ...keys.slice(0, 200)]; // enough to tell how wide tokens are
    const fits = Math.max(...some.map((token) => context.measureText(plain(token)).width)) + NUMBER + 14;
    this.side = Math.ceil(clamp(fits, 90, width * 0.37));
    this.box.style.setProperty("--side", `${this.side}px`);
    this.box.style.setProperty("--width", `${this.width}px`);
    sizeCanvas(this.canvas, this.width, this.height);
    this.draw();
  }

  show(focus, reveal) {
    this.focus = focus;
    if (reveal && focus.query !== undefined) this.reveal(focus.query);
    else if (reveal && focus.key !== undefined) this.reveal(focus.key);
    this.draw();
  }

  /** Scrolls until a row is visible. A visible row stays where it is. */
  reveal(row) {
    const y = row * this.rowHeight;
    const { scrollTop } = this.view;
    if (y < scrollTop || y + this.rowHeight > scrollTop + this.height) this.view.scrollTop = y - this.height / 2;
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  draw() {
    if (!this.matrix || !this.rowHeight) return;
    const { query, key, chosen } = this.focus;
    const alone = query !== undefined || key !== undefined;
    const quiet = !alone && !chosen.length;
    const tooMany = quiet && this.filter.count > ALL_AT_ONCE;
    const entries = tooMany ? [] : this.entries();
    const printed = alone ? this.matrix.strongest(entries) : [];
    const cell = query !== undefined && key !== undefined && this.cell(entries);
    if (cell && !printed.includes(cell)) printed.push(cell);
    this.hint.hidden = !tooMany;
    this.drawLines(entries, quiet, cell);
    this.drawTokens(new Map(printed.map((entry) => [query !== undefined ? entry.key : entry.query, entry])));
    this.drawEdges(printed);
  }

  entries() {
    const { query, key, chosen } = this.focus;
    if (query !== undefined) return this.kept(this.matrix.row(query));
    if (key !== undefined) return this.kept(this.matrix.column(key));
    if (chosen.length) return chosen.flatMap((pin) => this.kept(this.matrix.row(pin)));
    this.every ??= this.kept(this.matrix.all());
    return this.every;
  }

  /** The entry at the cursor, which is drawn even where the filter leaves it out. */
  cell(entries) {
    const { query, key } = this.focus;
    const found = entries.find((entry) => entry.key === key);
    if (found || Number.isNaN(this.matrix.at(query, key))) return found;
    entries.push({ query, key, value: this.matrix.at(query, key) });
    return entries.at(-1);
  }

  kept(entries) {
    return entries.filter((entry) => this.filter.keeps(entry));
  }

  drawLines(entries, quiet, cell) {
    const context = this.canvas.getContext("2d");
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.lineCap = "round";
    for (const entry of entries) this.drawEntry(context, entry, quiet || cell ? 0.6 : 1, entry === cell);
  }

  /** Draws a weight as a line; of several heads, a line for each, side by side in their colours. */
  drawEntry(context, { query, key, value }, strength, pointedAt) {
    const { parts, diverging, keys } = this.matrix;
    const from = (query + 0.5) * this.rowHeight - this.view.scrollTop;
    const to = (key + 0.5) * this.rowHeight - this.view.scrollTop;
    if (Math.max(from, to) < 0 || Math.min(from, to) > this.height) return;
    const draw = (of, colour, aside) => this.drawLine(context, from + aside, to + aside, of, colour, strength, pointedAt);
    if (!parts.length) return draw(value, this.palette.css(diverging ? (value < 0 ? 0.1 : 0.9) : 0.65), 0);
    for (const [at, { colours, values }] of parts.entries()) {
      draw(values[query * keys.length + key], colours[this.mode], (at - (parts.length - 1) / 2) * ASIDE);
    }
  }

  drawLine(context, from, to, value, colour, strength, pointedAt) {
    const part = this.matrix.part(value);
    if (part < INVISIBLE && !pointedAt) return;
    const [left, right] = [this.side + 4, this.width - this.side - 4];
    const middle = (left + right) / 2;
    context.strokeStyle = colour;
    context.globalAlpha = pointedAt ? 1 : strength * (0.1 + 0.9 * part);
    context.lineWidth = (pointedAt ? 1.2 : 0.6) + 3.4 * part * strength;
    context.beginPath();
    context.moveTo(left, from);
    context.bezierCurveTo(middle, from, middle, to, right, to);
    context.stroke();
  }

  /** Fills slots with the visible rows; a slot is filled again as the reader scrolls. */
  drawTokens(printed) {
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.rowHeight) - 2);
    const visible = Math.min(this.count, Math.ceil(this.height / this.rowHeight) + 5);
    while (this.slots.length < visible) this.slots.push(this.makeSlot());
    this.slots.splice(visible).forEach(({ query, key }) => (query.remove(), key.remove()));
    for (let row = first; row < Math.min(first + visible, this.count); row++) {
      this.fillSlot(this.slots[row % visible], row, printed.get(row));
    }
  }

  makeSlot() {
    const item = (side) => {
      const made = element("div", `item ${side}`);
      made.append(element("span", "label"), element("span", "number"));
      this.sheet.append(made);
      return made;
    };
    return { query: item("query"), key: item("key"), row: null };
  }

  fillSlot(slot, row, entry) {
    const { query, chosen } = this.focus;
    const { queries, keys } = this.matrix;
    const side = query !== undefined ? "key" : "query"; // the numbers stand beside the other side's tokens
    for (const [name, tokens, on] of [["query", queries, this.focus.queries], ["key", keys, this.focus.keys]]) {
      const item = slot[name];
      if (slot.row !== row) {
        item.hidden = row >= tokens.length;
        item.style.top = `${row * this.rowHeight}px`;
        item.dataset[`${name}Token`] = row;
        if (!item.hidden) fillToken(item.firstChild, tokens[row]);
      }
      item.classList.toggle("dim", this.filter.named[{ query: "queries", key: "keys" }[name]][row] === false);
      item.classList.toggle("on", on.includes(row));
      item.classList.toggle("chosen", name === "query" && chosen.includes(row));
      item.lastChild.textContent = entry && name === side ? this.matrix.format(entry.value, 3) : "";
      item.classList.toggle("strong", Boolean(entry) && name === side);
    }
    slot.row = row;
  }

  /** Names the printed tokens that are not visible, at the edge behind which they lie. */
  drawEdges(printed) {
    const rowOf = ({ query, key }) => (this.focus.query !== undefined ? key : query);
    const tokens = this.focus.query !== undefined ? this.matrix.keys : this.matrix.queries;
    const { scrollTop } = this.view;
    const away = { above: (y) => y < scrollTop, below: (y) => y > scrollTop + this.height };
    for (const [name, edge] of Object.entries(this.edges)) {
      const hidden = printed.filter((entry) => away[name]((rowOf(entry) + 0.5) * this.rowHeight));
      edge.hidden = !hidden.length;
      edge.classList.toggle("right", this.focus.query !== undefined);
      const items = hidden.slice(0, 2).map((entry) => this.edgeItem(entry, tokens[rowOf(entry)]));
      edge.replaceChildren(name === "above" ? "↑" : "↓", ...items);
      if (hidden.length) edge.dataset.row = rowOf(hidden[0]);
    }
  }

  edgeItem({ value }, token) {
    const item = element("span", "edge-item");
    const label = element("span", "label");
    fillToken(label, token);
    item.append(label, ` ${this.matrix.format(value, 3)}`);
    return item;
  }
}
