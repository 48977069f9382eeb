// Saves a chart that plotly drew on this page: as SVG, and as PNG of that SVG. Nothing leaves the browser.
import { View, drawing, element, onScreen } from "../shared.js";
import { classOf, join, toPng } from "./picture.js";

function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

class Snapshot extends View {
  constructor(root, closed) {
    super(root, closed, "hl-snapshot", { role: "group", "aria-label": "save the chart as a picture" });
    for (const ending of ["png", "svg"]) {
      const button = element("button", "", { type: "button" });
      button.textContent = ending.toUpperCase();
      button.addEventListener("click", () => this.save(ending));
      this.box.append(button);
    }
    this.screen = element("button", "", { type: "button" });
    this.screen.addEventListener("click", async () => this.chart && onScreen(this.box, (await join(this.chart)).text));
    this.box.append(this.screen);
  }

  get chart() {
    return document.querySelector(`.${classOf(this.data.chart)} .js-plotly-plot`);
  }

  update(data) {
    this.data = data;
    this.screen.textContent = data.screen;
    this.screen.hidden = !data.screen || !document.fullscreenEnabled;
  }

  async save(ending) {
    if (!this.chart) return;
    const picture = await join(this.chart);
    const blob = ending === "svg" ? new Blob([picture.text], { type: "image/svg+xml" }) : await toPng(picture);
    save(blob, `${this.data.name}.${ending}`);
  }
}

/** Draws the buttons for { chart, name, screen } into `root`: the key of the chart's element on the page, the files' name,
 * and the words of the button for the full screen, "" for none. */
export const draw = drawing(Snapshot);
