// Saves a chart that plotly drew on this page: as SVG, and as PNG of that SVG. Nothing leaves the browser.
import { View, drawing, element } from "../shared.js";
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
  }

  update(data) {
    this.data = data;
  }

  async save(ending) {
    const chart = document.querySelector(`.${classOf(this.data.chart)} .js-plotly-plot`);
    if (!chart) return;
    const picture = await join(chart);
    const blob = ending === "svg" ? new Blob([picture.text], { type: "image/svg+xml" }) : await toPng(picture);
    save(blob, `${this.data.name}.${ending}`);
  }
}

/** Draws the buttons for { chart, name } into `root`: the key of the chart's element on the page, the files' name. */
export const draw = drawing(Snapshot);
