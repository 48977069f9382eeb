// One head's numbers and what there is to say about them.
import { LEVELS, MASKED, clamp } from "../shared.js";

const PRINTED = 5; // weights printed beside their tokens, at most
const WORTH_PRINTING = 0.05; // of the colour scale's top

export class Matrix {
  constructor(header, data) {
    const { queries, keys, vmax, diverging, scale, first } = header;
    this.first = { top: first[0], left: first[1] }; // the query and the key of the first cell, in a window
    Object.assign(this, { queries, keys, vmax, diverging, scale });
    this.values = new Float32Array(data.buffer, data.byteOffset, data.byteLength / 4);
  }

  at(query, key) {
    return this.values[query * this.keys.length + key];
  }

  /** How far from zero a value lies on the colour scale, 0 to 1. */
  part(value) {
    const part = clamp(Math.abs(value) / this.vmax, 0, 1);
    return this.scale === "sqrt" ? Math.sqrt(part) : part;
  }

  levels() {
    const level = (value) => {
      if (Number.isNaN(value)) return MASKED;
      if (!this.diverging) return value > 0 ? Math.round(this.part(value) * LEVELS) : 0;
      return LEVELS / 2 + Math.sign(value) * Math.round((this.part(value) * LEVELS) / 2);
    };
    return Int16Array.from(this.values, level);
  }

  /** A query's weights on its keys, without masked ones, as { query, key, value }. */
  row(query) {
    return this.keys.map((_, key) => ({ query, key, value: this.at(query, key) })).filter(isNumber);
  }

  /** What a key gets from its queries, likewise. */
  column(key) {
    return this.queries.map((_, query) => ({ query, key, value: this.at(query, key) })).filter(isNumber);
  }

  all() {
    return this.queries.flatMap((_, query) => this.row(query));
  }

  /** The few entries whose numbers are printed, strongest first. */
  strongest(entries) {
    const worth = entries.filter(({ value }) => Math.abs(value) >= WORTH_PRINTING * this.vmax);
    return worth.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, PRINTED);
  }

  format(value, digits) {
    if (Number.isNaN(value)) return "masked";
    if (value === 0) return "0";
    const sign = value < 0 ? "−" : this.diverging ? "+" : "";
    return sign + Math.abs(value).toPrecision(digits);
  }

  // ---- sentences: two lines, each a list of text, { token } and { value } ----------------------------------------

  describe({ query, key }) {
    if (key === undefined) return this.describeRow(query);
    if (query === undefined) return this.describeColumn(key);
    const value = this.at(query, key);
    const [from, to] = [{ token: this.queries[query] }, { token: this.keys[key] }];
    const names = [`query ${query} `, from, ` → key ${key} `, to, ": "];
    return [names, [{ value: this.format(value, 4) }, Number.isNaN(value) ? "" : ` (${this.rank(query, value)})`]];
  }

  describeRow(query) {
    const name = [`query ${query} `, { token: this.queries[query] }, ": "];
    const best = strongestOf(this.row(query));
    if (!best) return [name, ["all masked"]];
    const value = { value: this.format(best.value, 4) };
    return [name, [`attends most to key ${best.key} `, { token: this.keys[best.key] }, ", ", value]];
  }

  describeColumn(key) {
    const name = [`key ${key} `, { token: this.keys[key] }, ": "];
    const best = strongestOf(this.column(key));
    if (!best) return [name, ["all masked"]];
    const value = { value: this.format(best.value, 4) };
    return [name, [`gets most from query ${best.query} `, { token: this.queries[best.query] }, ", ", value]];
  }

  rank(query, value) {
    const row = this.row(query);
    const stronger = row.filter((other) => Math.abs(other.value) > Math.abs(value)).length;
    return `rank ${stronger + 1} of ${row.length} in its row`;
  }
}

const isNumber = ({ value }) => !Number.isNaN(value);
const strongestOf = (entries) => entries.reduce((a, b) => (Math.abs(b.value) > Math.abs(a.value) ? b : a), entries[0]);
