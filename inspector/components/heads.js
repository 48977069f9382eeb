// All heads of a view: what of each head's message is the head's alone, and its map.
import { unpack } from "./shared.js";

export class Heads {
  constructor(bytes) {
    const { header, data } = unpack(bytes);
    this.view = header.view;
    this.order = header.heads.map(({ layer, head }) => String([layer, head]));
    const size = data.length / header.heads.length;
    this.entries = header.heads.map((alone, at) => ({ alone, data: data.subarray(at * size, (at + 1) * size) }));
  }

  /** A head's { alone, data }, or null. */
  at(place) {
    return this.entries[this.order.indexOf(String(place))] ?? null;
  }

  /** The place of the head `by` further, over the ends; null for a place that is not there. */
  neighbour(place, by) {
    const { length } = this.order;
    const at = this.order.indexOf(String(place));
    if (at < 0) return null;
    const { layer, head } = this.entries[(at + by + length) % length].alone;
    return [layer, head];
  }
}

/** The message of another head of the same view. Nothing in it is marked: that comes with the head's sentence. */
export const another = (header, { alone, data }) => ({ header: { ...header, ...alone, marked: null }, data });
