// All heads of a view: what of each head's message is the head's alone, and its map. Where the maps are too many bytes to
// be sent together, the map of a head is fetched when it opens.
import { unpack } from "./shared.js";

const MOST = 16; // fetched maps that are kept

export class Heads {
  constructor(bytes) {
    const { header, data } = unpack(bytes);
    const { view, heads, path = null } = header;
    Object.assign(this, { view, heads, path, order: heads.map(({ layer, head }) => String([layer, head])) });
    const size = data.length / heads.length;
    const sent = (alone, at) => [this.order[at], { alone, data: data.subarray(at * size, (at + 1) * size) }];
    this.entries = new Map(path ? [] : heads.map(sent)); // place -> { alone, data }, the last one fetched last
  }

  /** Takes over what was fetched for the same view before. */
  after(before) {
    if (this.path && before?.view === this.view && before.path === this.path) this.entries = before.entries;
    return this;
  }

  lists(place) {
    return this.order.includes(String(place));
  }

  /** A head's { alone, data }, or null where its map is not at hand. */
  at(place) {
    return this.entries.get(String(place)) ?? null;
  }

  /** Fetches the map of a head that is listed. */
  async fetch(place) {
    const answer = await fetch(new URL(`./${this.path}${place.join("/")}`, document.baseURI));
    if (!answer.ok) throw new Error(`the map of head ${place} is not there: ${answer.status}`);
    const { header, data } = unpack(new Uint8Array(await answer.arrayBuffer()));
    this.entries.delete(String(place));
    this.entries.set(String(place), { alone: header, data });
    if (this.entries.size > MOST) this.entries.delete(this.entries.keys().next().value);
  }

  /** The place of the head `by` further, over the ends; null for a place that is not there. */
  neighbour(place, by) {
    const { length } = this.order;
    const at = this.order.indexOf(String(place));
    if (at < 0) return null;
    const { layer, head } = this.heads[(at + by + length) % length];
    return [layer, head];
  }
}

/** The message of another head of the same view. Nothing in it is marked: that comes with the head's sentence. */
export const another = (header, { alone, data }) => ({ header: { ...header, ...alone, marked: null }, data });

/** The place `by` further than another in a grid, by the grid's header; over the ends. */
export function beside({ layers, heads, widths }, place, by) {
  const row = (layer) => Array.from({ length: widths?.[layer] ?? heads }, (_, head) => [layer, head]);
  const places = Array.from({ length: layers }, (_, layer) => row(layer)).flat();
  const at = places.findIndex((other) => String(other) === String(place));
  return places[(at + by + places.length) % places.length];
}
