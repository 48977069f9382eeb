// One head's numbers, and the sentences that describe them.
import { LEVELS, MASKED, clamp } from "../shared.js";
import { inWords, ordinals } from "./names.js";

const PRINTED = 5; // weights printed beside their tokens, at most
const DIGITS = 3; // of a number at first sight; all digits follow in a separate line
const WORTH_PRINTING = 0.05; // of the colour scale's top
const FULL = 2 ** -126; // smaller float32 numbers have fewer digits, and so have their logarithms

export class Matrix {
  constructor(header, data) {
    const { queries, keys, vmax, diverging, scale, first, quantity, rows, segments, parts, whole, beside, marked, picked } = header;
    this.first = { query: first[0], key: first[1] }; // the first cell's place in the whole text
    Object.assign(this, { queries, keys, vmax, diverging, scale, quantity, segments, beside });
    // Of a window of a long text the host says it: the tokens before the window count.
    this.ordinals = header.ordinals ?? { queries: ordinals(queries), keys: ordinals(keys) };
    this.size = queries.length * keys.length;
    let end = 0; // of the bytes that are read
    const next = (count) => new Float32Array(data.buffer, data.byteOffset + (end += 4 * count) - 4 * count, count);
    this.values = next(this.size);
    this.parts = parts.map((part) => ({ ...part, values: next(this.size) })); // the heads whose mean `values` is
    this.rows = rows && { ...rows, entropy: next(queries.length), offset: next(queries.length) };
    const place = (cell) => (cell ? { query: cell[0] ?? undefined, key: cell[1] } : null);
    this.marked = place(marked); // what the page's sentence names, cell or column,
    this.picked = place(picked); // and the cell that the reader chose
    this.whole = whole && { ...whole, picture: data.subarray(end) };
  }

  at(query, key) {
    return this.values[query * this.keys.length + key];
  }

  /** The distance of a value from zero on the colour scale, 0 to 1. */
  part(value) {
    const part = clamp(Math.abs(value) / this.vmax, 0, 1);
    return this.scale === "sqrt" ? Math.sqrt(part) : part;
  }

  /** The step of each cell on the colour scale. */
  levels() {
    const { values, diverging } = this;
    const middle = diverging ? LEVELS / 2 : 0;
    const level = (value) => {
      if (Number.isNaN(value)) return MASKED;
      if (!diverging && value <= 0) return 0;
      return middle + Math.sign(value) * Math.round(this.part(value) * (LEVELS - middle));
    };
    const levels = new Int16Array(values.length);
    // Ten times faster than Int16Array.from.
    for (let cell = 0; cell < levels.length; cell++) levels[cell] = level(values[cell]);
    return levels;
  }

  /** A query's weights on its keys, without masked ones, as { query, key, value }. */
  row(query) {
    return this.keys.map((_, key) => ({ query, key, value: this.at(query, key) })).filter(isNumber);
  }

  /** A key's weights from all queries, without masked ones, as { query, key, value }. */
  column(key) {
    return this.queries.map((_, query) => ({ query, key, value: this.at(query, key) })).filter(isNumber);
  }

  all() {
    return this.queries.flatMap((_, query) => this.row(query));
  }

  /** What a filter keeps and is not zero: `among`, how many entries there are, and all of them, or where they are over
   * `all` the `most` farthest from zero, strongest first. */
  outstanding(filter, { all, most }) {
    const { values, vmax } = this;
    const levelOf = (at) => Math.ceil((LEVELS * Math.min(Math.abs(values[at]), vmax)) / vmax) || 0; // 0 where masked
    const counts = new Uint32Array(LEVELS + 1);
    for (let at = 0; at < values.length; at++) if (filter.keepsAt(at)) counts[levelOf(at)]++;
    const among = counts.subarray(1).reduce((sum, count) => sum + count, 0);
    let least = 1;
    if (among > all) for (let sum = counts[(least = LEVELS)]; sum < most && least > 1; sum += counts[--least]);
    const entries = [];
    for (let at = 0; at < values.length; at++) {
      if (levelOf(at) < least || !filter.keepsAt(at)) continue;
      const key = at % this.keys.length;
      entries.push({ query: (at - key) / this.keys.length, key, value: values[at] });
    }
    entries.sort(strongestFirst);
    return { entries: among > all ? entries.slice(0, most) : entries, among };
  }

  /** The few entries whose numbers are printed, strongest first. */
  strongest(entries) {
    const worth = entries.filter(({ value }) => Math.abs(value) >= WORTH_PRINTING * this.vmax);
    return worth.sort(strongestFirst).slice(0, PRINTED);
  }

  format(value, digits) {
    return this.signed(value, (size) => size.toPrecision(digits));
  }

  /** Prints all the digits of a float32, and no more. */
  exact(value) {
    return this.signed(value, shortest);
  }

  signed(value, print) {
    if (Number.isNaN(value)) return "masked";
    if (value === 0) return "0";
    const sign = value < 0 ? "−" : this.diverging ? "+" : "";
    return sign + print(Math.abs(value));
  }

  // ---- sentences: lines, each a list of text, { token } and { value } --------------------------------------------

  describe({ query, key }) {
    if (key === undefined) return this.describeRow(query);
    if (query === undefined) return this.describeColumn(key);
    const value = this.at(query, key);
    const names = [...this.query(query), " → ", ...this.key(key)];
    if (Number.isNaN(value)) return [names, [`${this.quantity}: `, { value: "masked" }]];
    const told = [`${this.quantity} `, { value: this.brief(value) }, `, ${this.rank(query, value)}`];
    const exactly = { aside: `exactly ${[this.exact(value), ...this.exactRow(query, value)].join(" · ")}` };
    return [names, told, ...this.ofParts(query, key), ...this.aboutRow(query, value), [exactly]];
  }

  /** Says what is marked, as text; "" where nothing is. */
  describeMarked() {
    const told = [["marked, for the sentence names it", this.marked], ["chosen", this.picked]];
    return told.filter(([, cell]) => cell).map(([why, cell]) => `${why}: ${this.describePlace(cell)}`).join(", ");
  }

  describePlace({ query, key }) {
    const weight = `, ${this.quantity} ${this.brief(this.at(query, key))}`;
    const cell = query === undefined ? this.key(key) : [...this.query(query), " → ", ...this.key(key), weight];
    const written = (part) => (part.token === undefined ? part : `‘${part.token}’`);
    return cell.map(written).join("");
  }

  /** Three significant digits, as every number at first sight. */
  brief(value) {
    return this.format(value, DIGITS);
  }

  ofParts(query, key) {
    const place = query * this.keys.length + key;
    return this.parts.map(({ name, values }) => [`${name} `, { value: this.brief(values[place]) }]);
  }

  /** The softmax's input behind a weight, and the entropy of the whole row. */
  aboutRow(query, value) {
    if (!this.rows) return [];
    const spread = this.entropy(query);
    if (!this.hasScore(query)) return [spread];
    if (value === 0) return [["masked, or its score is too low for a weight"], spread];
    return [["score ", { value: number(this.score(query, value), DIGITS) }, " before softmax"], spread];
  }

  exactRow(query, value) {
    if (!this.rows) return [];
    const entropy = `entropy ${number(this.rows.entropy[query], 4)}`;
    if (!this.hasScore(query) || value === 0) return [entropy];
    return [`score ${number(this.score(query, value), value < FULL ? 2 : 5)}`, entropy];
  }

  hasScore(query) {
    return !Number.isNaN(this.rows.offset[query]);
  }

  /** A weight's score: ln(weight) + offset of its row. */
  score(query, value) {
    return Math.log(value) + this.rows.offset[query];
  }

  entropy(query) {
    return [`entropy of the row ${number(this.rows.entropy[query], DIGITS)} nats`];
  }

  query(at) {
    return named(`query ${this.first.query + at} `, this.queries[at], this.ordinals.queries[at]);
  }

  key(at) {
    return named(`key ${this.first.key + at} `, this.keys[at], this.ordinals.keys[at]);
  }

  describeRow(query) {
    const name = [...this.query(query), ": "];
    const best = strongestOf(this.row(query));
    if (!best) return [name, ["all masked"]];
    const most = ["attends most to ", ...this.key(best.key), ", "];
    const spread = this.rows ? [this.entropy(query)] : [];
    return [name, [...most, { value: this.brief(best.value) }], ...spread];
  }

  describeColumn(key) {
    const name = [...this.key(key), ": "];
    const best = strongestOf(this.column(key));
    if (!best) return [name, ["all masked"]];
    const value = { value: this.brief(best.value) };
    return [name, ["gets most from ", ...this.query(best.query), ", ", value]];
  }

  rank(query, value) {
    const row = this.row(query);
    const stronger = row.filter((other) => Math.abs(other.value) > Math.abs(value)).length;
    const whole = !this.rows || this.rows.keys === this.keys.length;
    return `rank ${stronger + 1} of ${row.length} ${whole ? "in its row" : "in sight"}`;
  }
}

export const strongestFirst = (a, b) => Math.abs(b.value) - Math.abs(a.value);
const named = (place, token, ordinal) => [place, { token }, ...(ordinal ? [` (${inWords(ordinal)})`] : [])];
const isNumber = ({ value }) => !Number.isNaN(value);
const strongestOf = (entries) => entries.reduce((a, b) => (Math.abs(b.value) > Math.abs(a.value) ? b : a), entries[0]);
const number = (value, digits) => value.toPrecision(digits).replace("-", "−");

/** The fewest digits that read back as the same float32. */
function shortest(value) {
  for (let digits = 1; digits < 9; digits++) {
    if (Math.fround(Number(value.toPrecision(digits))) === value) return value.toPrecision(digits);
  }
  return value.toPrecision(9);
}
