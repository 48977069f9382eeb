// The lines: queries left, keys right, a line for each weight. Of a long text the strongest, as many as fit.
import { clamp, element, sizeCanvas } from "../shared.js";
import { strongestFirst } from "./matrix.js";
import { fillNamed, spelled } from "./names.js";
import { choose } from "./rows.js";

const ROW = 22; // pixels, unless the heatmap beside it has rows of a legible height
const LOWEST = 17; // pixels of a row where many tokens share the height
const MOST_ROWS = 48; // where the page may grow
const CLEAR = 400; // lines at most that the eye still tells apart by their strength, while no token is looked at
const PER_ROW = 3; // of more lines so many are drawn for each row, the strongest
const INVISIBLE = 0.004; // of the colour scale's top; a line below it could not be seen
const ASIDE = 2; // pixels between the lines of several heads
const NUMBER = 40; // pixels that a printed weight needs

export class Lines {
  constructor(parent, { hover, pick }) {
    this.box = element("div", "lines");
    this.names = element("div", "names");
    this.canvas = element("canvas", "", { role: "img", "aria-label": "lines from queries to keys" });
    this.sheet = element("div", "sheet");
    this.note = element("div", "note");
    this.frame = element("div", "frame");
    this.frame.append(this.canvas, this.sheet);
    for (const text of ["query", "key"]) this.names.append(Object.assign(element("span"), { textContent: text }));
    this.box.append(this.names, this.frame, this.note);
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
    this.sheet.addEventListener("pointermove", (event) => hover(cursorOf(event), anchor(event)));
    this.sheet.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hover(null));
    this.sheet.addEventListener("click", (event) => {
      const cursor = cursorOf(event);
      hover(cursor, anchor(event));
      if (cursor?.query !== undefined) pick(cursor.query);
    });
  }

  update(matrix, filter) {
    this.matrix = matrix;
    this.choose(filter);
  }

  /** Sets the filter that says which lines are drawn. */
  choose(filter) {
    this.filter = filter;
    this.overview = null;
    this.rows = null;
  }

  /** Takes its place; rowHeight: of the heatmap's rows beside, else undefined; height: for the rows, or Infinity. */
  layout({ width, top, rowHeight, height, theme, palette }) {
    const { queries, keys } = this.matrix;
    const count = Math.max(queries.length, keys.length);
    this.palette = palette;
    const css = (colour) => `rgb(${colour.join(" ")})`;
    Object.assign(this, { mode: theme.mode, ink: css(theme.ink), paper: css(theme.paper) });
    this.room = rowHeight ? count : Math.min(Math.max(6, Math.floor(height / LOWEST)), MOST_ROWS);
    this.rowHeight = rowHeight ?? clamp(Math.floor(height / Math.min(count, this.room)), LOWEST, ROW);
    this.height = Math.min(count, this.room) * this.rowHeight;
    this.width = width;
    this.overview = null;
    this.rows = null;
    this.box.style.paddingTop = `${top}px`;
    this.box.style.setProperty("--row", `${this.rowHeight}px`);
    this.sheet.style.height = `${this.height}px`;
    const context = this.canvas.getContext("2d");
    context.font = `13px ${theme.tokenFont}`;
    const { ordinals } = this.matrix;
    const names = (tokens, nth) => tokens.slice(0, 200).map((token, at) => spelled(token, nth[at])); // enough to tell how wide
    const some = [...names(queries, ordinals.queries), ...names(keys, ordinals.keys)];
    const fits = Math.max(...some.map((name) => context.measureText(name).width)) + NUMBER + 14;
    this.side = Math.ceil(clamp(fits, 90, width * 0.37));
    this.box.style.setProperty("--side", `${this.side}px`);
    this.box.style.setProperty("--width", `${this.width}px`);
    sizeCanvas(this.canvas, this.width, this.height);
    this.draw();
  }

  /** Lights up the focus; `under` is the side, "queries" or "keys", whose rows lie under the pointer and stay. */
  show(focus, under) {
    this.focus = focus;
    this.under = under;
    this.draw();
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  draw() {
    if (!this.matrix || !this.rowHeight) return;
    const { query, key, chosen } = this.focus;
    const alone = query !== undefined || key !== undefined;
    const quiet = !alone && !chosen.length;
    const named = quiet ? this.matrix.marked : null;
    const { entries, among } = quiet ? this.strongest() : this.ofFocus();
    const { rows, taken } = this.chooseRows(entries, named);
    this.rows = rows;
    const drawn = entries.slice(0, taken);
    const cell = query !== undefined && key !== undefined && this.cell(drawn, this.focus);
    const marked = named && named.query !== undefined && this.cell(drawn, named);
    const printed = alone ? this.matrix.strongest(drawn) : [];
    for (const entry of [cell, marked]) if (entry && !printed.includes(entry)) printed.push(entry);
    this.drawLines(drawn, quiet, cell, marked);
    this.drawTokens(named, new Map(printed.map((entry) => [query !== undefined ? entry.key : entry.query, entry])));
    this.note.textContent = this.leftOut(taken, among);
  }

  /** The lines of all tokens, or the strongest where they are too many; `among` is how many there are. */
  strongest() {
    this.overview ??= this.matrix.outstanding(this.filter, { all: CLEAR, most: PER_ROW * Math.min(this.room, this.count) });
    return this.overview;
  }

  get count() {
    return Math.max(this.matrix.queries.length, this.matrix.keys.length);
  }

  /** The lines of the token that is looked at, or of the pins, strongest first. */
  ofFocus() {
    const { query, key, chosen } = this.focus;
    const { matrix } = this;
    const candidates =
      query !== undefined ? matrix.row(query) : key !== undefined ? matrix.column(key) : chosen.flatMap((pin) => matrix.row(pin));
    const entries = candidates.filter((entry) => this.filter.keeps(entry));
    entries.sort(strongestFirst);
    return { entries, among: entries.filter(({ value }) => value !== 0).length };
  }

  /** The tokens that stand in the rows: all where they fit, else those of the strongest lines, and of the focus. */
  chooseRows(entries, named) {
    const sizes = { queries: this.matrix.queries.length, keys: this.matrix.keys.length };
    if (this.rows?.whole) return { rows: this.rows, taken: entries.length };
    const { query, key, chosen } = this.focus;
    const known = (...places) => places.filter((place) => place !== undefined);
    const must = { queries: known(query, ...chosen, named?.query), keys: known(key, named?.key) };
    if (this.under && this.rows) must[this.under] = this.rows[this.under];
    return choose(entries, sizes, this.room, must, this.strongest().entries);
  }

  /** Says how many lines are not drawn; "" where none is left out. */
  leftOut(drawn, among) {
    const { query, key } = this.focus;
    if (drawn >= among) return "";
    const what = query !== undefined ? "keys of this query" : key !== undefined ? "queries of this key" : "lines";
    return `the ${drawn} strongest of ${among.toLocaleString("en")} ${what}`;
  }

  /** The entry of the cell that is looked at or named, which is drawn even where the filter leaves it out. */
  cell(entries, { query, key }) {
    const drawn = entries.find((entry) => entry.query === query && entry.key === key);
    if (drawn || Number.isNaN(this.matrix.at(query, key))) return drawn;
    entries.push({ query, key, value: this.matrix.at(query, key) });
    return entries.at(-1);
  }

  drawLines(entries, quiet, cell, marked) {
    const context = this.canvas.getContext("2d");
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.lineCap = "round";
    for (const entry of entries) this.drawEntry(context, entry, quiet || cell ? 0.6 : 1, entry === cell);
    if (marked) this.drawMarked(context, marked);
  }

  /** Draws the line that the page's sentence names: framed, as its cell in the map is. */
  drawMarked(context, entry) {
    const [from, to] = this.ends(entry);
    const width = 1.2 + 3.4 * this.matrix.part(entry.value);
    context.globalAlpha = 1;
    this.stroke(context, from, to, this.ink, width + 5);
    this.stroke(context, from, to, this.paper, width + 2);
    this.drawEntry(context, entry, 1, true);
  }

  /** The heights at which the line of an entry begins and ends. */
  ends({ query, key }) {
    const { rows, rowHeight } = this;
    return [rows.place("queries", query), rows.place("keys", key)].map((row) => (row + 0.5) * rowHeight);
  }

  /** Draws a weight as a line; of several heads, a line for each, side by side in their colours. */
  drawEntry(context, entry, strength, pointedAt) {
    const { query, key, value } = entry;
    const { parts, diverging, keys } = this.matrix;
    const [from, to] = this.ends(entry);
    const draw = (of, colour, aside) => this.drawLine(context, from + aside, to + aside, of, colour, strength, pointedAt);
    if (!parts.length) return draw(value, this.palette.css(diverging ? (value < 0 ? 0.1 : 0.9) : 0.65), 0);
    for (const [at, { colours, values }] of parts.entries()) {
      draw(values[query * keys.length + key], colours[this.mode], (at - (parts.length - 1) / 2) * ASIDE);
    }
  }

  drawLine(context, from, to, value, colour, strength, pointedAt) {
    const part = this.matrix.part(value);
    if (part < INVISIBLE && !pointedAt) return;
    context.globalAlpha = pointedAt ? 1 : strength * (0.1 + 0.9 * part);
    this.stroke(context, from, to, colour, (pointedAt ? 1.2 : 0.6) + 3.4 * part * strength);
  }

  stroke(context, from, to, colour, width) {
    const [left, right] = [this.side + 4, this.width - this.side - 4];
    const middle = (left + right) / 2;
    Object.assign(context, { strokeStyle: colour, lineWidth: width });
    context.beginPath();
    context.moveTo(left, from);
    context.bezierCurveTo(middle, from, middle, to, right, to);
    context.stroke();
  }

  drawTokens(named, printed) {
    while (this.slots.length < this.rows.count) this.slots.push(this.makeSlot());
    this.slots.splice(this.rows.count).forEach(({ query, key }) => (query.remove(), key.remove()));
    this.slots.forEach((slot, row) => this.fillSlot(slot, row, named, printed));
  }

  makeSlot() {
    const item = (side) => {
      const made = element("div", `item ${side}`);
      made.append(element("span", "label"), element("span", "number"));
      this.sheet.append(made);
      return made;
    };
    return { query: item("query"), key: item("key") };
  }

  fillSlot(slot, row, named, printed) {
    const { query, chosen } = this.focus;
    const { queries, keys, ordinals } = this.matrix;
    const side = query !== undefined ? "key" : "query"; // the numbers stand beside the other side's tokens
    for (const [name, plural, tokens] of [["query", "queries", queries], ["key", "keys", keys]]) {
      const item = slot[name];
      const token = this.rows[plural][row];
      item.hidden = token === undefined;
      if (item.hidden) continue;
      const [text, nth] = [tokens[token], ordinals[plural][token]];
      item.style.top = `${row * this.rowHeight}px`;
      item.dataset[`${name}Token`] = token;
      const written = spelled(text, nth);
      if (item.written !== written) fillNamed(item.firstChild, text, nth);
      item.written = written;
      item.classList.toggle("dim", !this.filter.named[plural][token]);
      item.classList.toggle("on", this.focus[plural].includes(token));
      item.classList.toggle("named", named?.[name] === token);
      item.classList.toggle("chosen", name === "query" && chosen.includes(token));
      const entry = name === side ? printed.get(token) : undefined;
      item.lastChild.textContent = entry ? this.matrix.format(entry.value, 3) : "";
      item.classList.toggle("strong", Boolean(entry));
    }
  }
}
