// The colour bar: what the colours of the heatmap measure.
import { element, paint, sizeCanvas } from "../shared.js";

const NARROW = 170; // pixels of the colour bar; on less its numbers would touch

export class ColourBar {
  constructor() {
    this.box = element("div", "bar");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.ticks = element("div", "ticks");
    this.caption = element("div", "caption");
    this.box.append(this.canvas, this.ticks, this.caption);
  }

  draw({ vmax, diverging, scale, quantity }, palette, length) {
    const { width, height } = sizeCanvas(this.canvas, length, 8);
    const image = new ImageData(width, height);
    const top = palette.colours.length - 1;
    const levels = Int16Array.from({ length: width }, (_, x) => Math.round((x / (width - 1)) * top));
    paint(image, { x: 0, y: 0, width, height }, levels, 0, 1, width, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    const place = (part) => (scale === "sqrt" ? Math.sqrt(part) : part);
    const parts = scale === "sqrt" ? [0, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
    const signed = [-1, -0.5, 0, 0.5, 1].map((part) => [part, (1 + Math.sign(part) * place(Math.abs(part))) / 2]);
    const all = diverging ? signed : parts.map((part) => [part, place(part)]);
    const marks = length < NARROW ? all.filter(([part]) => Number.isInteger(part)) : all; // the ends, and zero
    this.ticks.style.width = `${length}px`;
    this.ticks.replaceChildren(
      ...marks.map(([part, at]) => {
        const tick = element("div");
        tick.textContent = String(Number((part * vmax).toPrecision(3))).replace("-", "−");
        tick.style.left = `${at * 100}%`;
        return tick;
      }),
    );
    this.caption.textContent = `${quantity}, ${scale === "sqrt" ? "square-root" : "linear"} scale`;
  }
}
