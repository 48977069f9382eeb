// A row of quiet controls over heatmap and lines: what of the head is drawn. Works by itself, without a host.
import { element, rove } from "../shared.js";
import { PLAIN, readLines } from "./filter.js";

const LEAST = 1e-3; // of the colour scale's top: the smallest threshold
const STEPS = 60; // of the threshold's slider, on a logarithmic scale
const PAUSE = 300; // milliseconds without another change before one is reported
const MOST = 10; // lines for each query

const KINDS = { "": "strongest that fit", top: "strongest of each query", above: "above a threshold" };
const DIRECTIONS = {
  "": "all",
  ab: "first to second",
  ba: "second to first",
  a: "within the first",
  b: "within the second",
};

export class Toolbar {
  /** `change(options)` at once on every change, `report(options)` when they have settled; step(-1 | 1) for the head
   * before or after. */
  constructor({ change, report, step }) {
    Object.assign(this, { change, report, options: PLAIN });
    this.box = element("div", "tools", { role: "group", "aria-label": "what is drawn" });
    this.kind = select("Lines", KINDS);
    this.top = element("input", "many", { type: "number", min: 1, max: MOST, "aria-label": "lines for each query" });
    this.above = element("input", "slider", { type: "range", min: 0, max: STEPS, "aria-label": "threshold of the lines" });
    this.threshold = element("output");
    this.between = select("Texts", DIRECTIONS);
    this.only = element("input", "only", { type: "search", placeholder: "only tokens with …", maxlength: 40 });
    this.only.setAttribute("aria-label", "only tokens that contain this text");
    this.legend = element("div", "legend");
    this.steps = element("div", "steps", { role: "group", "aria-label": "other heads" });
    this.name = element("span"); // what stands on the page around the view follows half a second later
    const [before, after] = [button("Previous head", "[", "‹", () => step(-1)), button("Next head", "]", "›", () => step(1))];
    this.steps.append(before, after, this.name);
    rove(this.steps)();
    this.box.append(this.steps, this.kind.box, this.top, this.above, this.threshold, this.between.box, this.only, this.legend);
    this.box.addEventListener("input", (event) => this.read(event.target));
    this.box.addEventListener("keydown", (event) => event.stopPropagation()); // arrows and letters are its own
  }

  close() {
    clearTimeout(this.settling);
  }

  /** `options` of the host, unless the reader is just changing them; the matrix says where thresholds lie; name: of the
   * head, where the page has others. */
  update(options, matrix, name) {
    this.vmax = matrix.vmax;
    this.between.box.hidden = !matrix.segments;
    this.steps.hidden = !name;
    this.name.textContent = name;
    if (!this.settling && options) this.options = { ...PLAIN, ...options };
    this.show();
  }

  /** The colours of several heads. */
  explain(parts, mode) {
    const items = parts.map(({ name, colours }) => {
      const item = element("span");
      const swatch = element("span", "swatch");
      swatch.style.background = colours[mode];
      item.append(swatch, name);
      return item;
    });
    this.legend.replaceChildren(...items);
  }

  show() {
    const { lines, between, tokens } = this.options;
    const { top, above } = readLines(lines);
    this.kind.input.value = top !== undefined ? "top" : above !== undefined ? "above" : "";
    this.top.hidden = top === undefined;
    this.above.hidden = this.threshold.hidden = above === undefined;
    if (top !== undefined && this.top !== this.top.getRootNode().activeElement) this.top.value = top;
    if (above !== undefined) {
      this.above.value = Math.round(STEPS * (1 - Math.log(above / this.vmax) / Math.log(LEAST)));
      this.threshold.textContent = above;
    }
    this.between.input.value = between;
    if (this.only.value !== tokens) this.only.value = tokens;
  }

  read(input) {
    const kind = this.kind.input.value;
    const fresh = input === this.kind.input;
    const top = fresh ? 3 : Math.min(Math.max(Math.round(Number(this.top.value)) || 1, 1), MOST);
    const threshold = fresh ? 0.1 * this.vmax : this.vmax * LEAST ** (1 - Number(this.above.value) / STEPS);
    const lines = { "": "", top: `top${top}`, above: `above${Number(threshold.toPrecision(2))}` }[kind];
    this.options = { lines, between: this.between.input.value, tokens: this.only.value };
    this.show();
    this.change(this.options);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      this.settling = null;
      this.report(this.options);
    }, PAUSE);
  }
}

function button(name, key, sign, press) {
  const made = element("button", "", { type: "button", "aria-label": name, title: `${name}, key ${key}` });
  made.textContent = sign;
  made.addEventListener("click", press);
  return made;
}

function select(name, choices) {
  const box = element("label");
  const input = element("select", "", { "aria-label": name });
  for (const [value, text] of Object.entries(choices)) {
    input.append(Object.assign(element("option"), { value, textContent: text }));
  }
  box.append(`${name} `, input);
  return { box, input };
}
