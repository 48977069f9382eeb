// The colour bar: what the colours of the heatmap measure.
import { element, paint, sizeCanvas } from "../shared.js";

const NARROW = 170; // pixels of the colour bar; on less its numbers would touch

export class ColourBar {
  constructor() {
    this.box = element("div", "bar");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.ticks = element("div", "ticks");
    this.caption = element("div", "caption");
    this.swatches = element("div", "swatches");
    this.box.append(this.swatches, this.canvas, this.ticks, this.caption);
  }

  draw({ vmax, diverging, scale, quantity, words, kinds }, palette, length) {
    const listed = kinds?.length > 0;
    for (const part of [this.canvas, this.ticks, this.caption]) part.hidden = listed;
    const colour = (at) => palette.colours[Math.round((at / vmax) * (palette.colours.length - 1))];
    this.swatches.replaceChildren(...(listed ? kinds.map((kind, at) => swatch(kind, colour(at))) : []));
    if (listed) return;
    const { width, height } = sizeCanvas(this.canvas, length, 8);
    const image = new ImageData(width, height);
    const top = palette.colours.length - 1;
    const levels = Int16Array.from({ length: width }, (_, x) => Math.round((x / (width - 1)) * top));
    paint(image, { x: 0, y: 0, width, height }, levels, 0, 1, width, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    const place = (part) => (scale === "sqrt" ? Math.sqrt(part) : part);
    const up = scale === "sqrt" ? (diverging ? [0, 0.25, 1] : [0, 0.1, 0.25, 0.5, 1]) : roundParts(vmax, diverging || length < NARROW ? 2 : 4);
    const parts = length < NARROW && scale === "sqrt" ? [0, 1] : up;
    const signed = [...parts.slice(1).map((part) => -part).reverse(), ...parts];
    const all = diverging ? signed.map((part) => [part, (1 + Math.sign(part) * place(Math.abs(part))) / 2]) : null;
    const marks = all ?? parts.map((part) => [part, place(part)]);
    this.ticks.style.width = `${length}px`;
    this.ticks.replaceChildren(
      ...marks.map(([part, at]) => {
        const tick = element("div");
        tick.textContent = String(Number((part * vmax).toPrecision(3))).replace("-", "−");
        tick.style.left = `${at * 100}%`;
        return tick;
      }),
    );
    this.caption.textContent = quantity + (words?.[scale] ?? `, ${scale === "sqrt" ? "square-root" : "linear"} scale`);
  }
}

/** A kind of cell by its colour: cells of whole numbers that stand for kinds have no scale. */
function swatch(kind, pixel) {
  const made = element("span", "swatch");
  const box = element("span", "colour");
  box.style.background = `rgb(${[0, 8, 16].map((shift) => (pixel >> shift) & 255).join(" ")})`;
  made.append(box, kind);
  return made;
}

/** The parts of a scale from 0 to `vmax` at which its numbers are round: `most` even parts of an end that is 1, 2 or 5
 * times a power of ten; of another end about `most` such steps, and not the end. */
export function roundParts(vmax, most) {
  const power = 10 ** Math.floor(Math.log10(vmax / most) + 1e-9);
  const steps = [1, 2, 5, 10].map((times) => times * power);
  const end = 10 ** Math.floor(Math.log10(vmax) + 1e-9);
  const even = [1, 2, 5].some((times) => Math.abs(vmax / (times * end) - 1) < 1e-9);
  const step = even ? vmax / most : steps.find((size) => vmax / size <= most + 1e-9);
  return Array.from({ length: Math.floor(vmax / step + 1e-9) + 1 }, (_, index) => (index * step) / vmax);
}
