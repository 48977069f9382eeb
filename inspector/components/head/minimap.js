// The whole map of a long text, small, with a frame around the viewport.
import { LEVELS, clamp, element, paint, sizeCanvas } from "../shared.js";

const SIDE = 96; // pixels of its longer side

export class Minimap {
  /** `go(query, key)` asks for the clicked place in the middle of the viewport. */
  constructor(go) {
    this.box = element("div", "minimap", { hidden: "" });
    this.canvas = element("canvas", "", { role: "img", "aria-label": "the whole map; a click moves the window" });
    this.frame = element("div", "viewport");
    this.box.append(this.canvas, this.frame);
    this.box.title = "the whole map; click to move the window";
    this.box.addEventListener("click", ({ clientX, clientY }) => {
      const { left, top, width, height } = this.canvas.getBoundingClientRect();
      const { queries, keys } = this.whole;
      go(Math.floor(((clientY - top) / height) * queries), Math.floor(((clientX - left) / width) * keys));
    });
  }

  /** `whole` of the header with its picture, a byte a cell on a square-root scale; null where all is drawn large. */
  draw(whole, palette) {
    this.whole = whole;
    this.box.hidden = !whole;
    if (!whole) return;
    const { queries, keys, rows, cols, picture } = whole;
    const longest = Math.max(queries, keys);
    this.size = [Math.max(8, (SIDE * keys) / longest), Math.max(8, (SIDE * queries) / longest)].map(Math.round);
    const { width, height } = sizeCanvas(this.canvas, ...this.size);
    const levels = Int16Array.from(picture, (byte) => Math.round((byte / 255) * LEVELS));
    const image = new ImageData(width, height);
    paint(image, { x: 0, y: 0, width, height }, levels, 0, rows, cols, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** Frames `rows` by `cols` cells that begin at a query and a key. */
  show({ query, key, rows, cols }) {
    if (!this.whole) return;
    const { queries, keys } = this.whole;
    const [width, height] = this.size;
    const part = (start, length, all, size) => [
      clamp(start / all, 0, 1) * size,
      Math.max(3, Math.min(length / all, 1) * size),
    ];
    const [left, wide] = part(key, cols, keys, width);
    const [top, tall] = part(query, rows, queries, height);
    Object.assign(this.frame.style, { left: `${left}px`, top: `${top}px`, width: `${wide}px`, height: `${tall}px` });
  }
}
