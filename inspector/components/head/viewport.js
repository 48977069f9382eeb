// The viewport: the part of a map that is drawn, its first query and key and its size, in whole cells.
import { clamp } from "../shared.js";

const LEAST = 6; // cells in the viewport, in either direction, at the strongest zoom

export class Viewport {
  /** Starts with the whole map of rows x cols. */
  constructor(rows, cols) {
    Object.assign(this, { all: { rows, cols } });
    this.reset();
  }

  reset() {
    Object.assign(this, { query: 0, key: 0, ...this.all });
  }

  isOf(rows, cols) {
    return rows === this.all.rows && cols === this.all.cols;
  }

  get isWhole() {
    return this.rows === this.all.rows && this.cols === this.all.cols;
  }

  /** Zooms in `times` (below 1: out), so that the cell `at` stays in its place. */
  zoom(times, at = {}) {
    const resize = (start, length, all, fixed) => {
      const wanted = Math.round(length / times);
      const now = clamp(wanted === length ? length - Math.sign(times - 1) : wanted, Math.min(LEAST, all), all);
      const part = (fixed - start) / length;
      return [clamp(Math.round(fixed - part * now), 0, all - now), now];
    };
    const { query = this.query + this.rows / 2, key = this.key + this.cols / 2 } = at;
    [this.query, this.rows] = resize(this.query, this.rows, this.all.rows, query);
    [this.key, this.cols] = resize(this.key, this.cols, this.all.cols, key);
  }

  /** Moves by whole cells; returns the part of the move that lies beyond the map's edges. */
  move(queries, keys) {
    const query = clamp(this.query + queries, 0, this.all.rows - this.rows);
    const key = clamp(this.key + keys, 0, this.all.cols - this.cols);
    const beyond = { queries: this.query + queries - query, keys: this.key + keys - key };
    Object.assign(this, { query, key });
    return beyond;
  }

  holds({ query = this.query, key = this.key }) {
    const down = query >= this.query && query < this.query + this.rows;
    return down && key >= this.key && key < this.key + this.cols;
  }

  /** Makes the smallest move after which the viewport holds the cell. */
  reveal({ query = this.query, key = this.key }) {
    const step = (at, start, length) => Math.min(0, at - start) + Math.max(0, at - (start + length - 1));
    this.move(step(query, this.query, this.rows), step(key, this.key, this.cols));
  }
}
