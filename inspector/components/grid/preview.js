// The enlarged thumbnail that floats beside the small one: at 4 pixels a head its pattern cannot be seen.
import { Floating, clamp, element, paint, sizeCanvas } from "../shared.js";

export const LARGEST = 96; // pixels; larger than its data a thumbnail says no more

export class Preview extends Floating {
  constructor(parent) {
    super(parent, "preview");
    this.canvas = element("canvas");
    this.title = element("div", "title");
    this.note = element("div", "note");
    this.panel.append(this.canvas, this.title, this.note);
  }

  show(anchor, title, note, { levels, offset, rows, cols, palette }) {
    const side = clamp(anchor.width * 4, 144, 2 * LARGEST);
    const { width, height } = sizeCanvas(this.canvas, side, side);
    const image = new ImageData(width, height);
    paint(image, { x: 0, y: 0, width, height }, levels, offset, rows, cols, palette);
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.title.textContent = title;
    this.note.textContent = note;
    super.show(anchor);
  }
}
