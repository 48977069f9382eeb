// A picture in the page's typeface, which an image could not have, and a button that shows it over the whole screen.
import { View, drawing, element, onScreen, picture } from "../shared.js";

class Slide extends View {
  constructor(root, closed) {
    super(root, closed, "hl-slide");
    this.button = element("button", "", { type: "button" });
    this.button.addEventListener("click", () => onScreen(this.box, this.svg));
    this.sheet = element("div", "sheet", { role: "img" });
    this.box.append(this.button, this.sheet);
  }

  update({ svg, words, alt }) {
    this.svg = svg;
    this.button.textContent = words;
    this.button.hidden = !document.fullscreenEnabled; // as on an iPhone
    this.sheet.setAttribute("aria-label", alt);
    this.sheet.replaceChildren(picture(svg));
  }
}

/** Draws { svg, words, alt } into `root`. */
export const draw = drawing(Slide);
