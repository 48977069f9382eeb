// Why a weight is what it is: the steps of one cell, and below them what each step makes of every key of its row.
import { View, drawing, element, fillToken } from "../shared.js";
import { barsOf } from "./bars.js";

const SEEN = 1600; // milliseconds for which a step is seen as it plays
const WALKS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

class Steps extends View {
  constructor(root, closed) {
    super(root, closed, "hl-steps");
    this.play = element("button", "play", { type: "button" });
    this.list = element("div", "way", { role: "toolbar", "aria-label": "steps from the vectors to the weight" });
    this.meaning = element("p", "meaning", { "aria-live": "polite" });
    this.rows = element("div", "rows", { role: "img" });
    this.note = element("p", "note");
    this.box.append(this.list, this.play, this.meaning, this.rows, this.note);
    this.play.addEventListener("click", () => (this.playing ? this.stop() : this.start()));
    this.list.addEventListener("click", (event) => this.choose(event.target.closest("button")));
    this.list.addEventListener("keydown", (event) => this.press(event));
  }

  close() {
    this.stop();
    super.close();
  }

  update(data) {
    const same = this.data && JSON.stringify(this.data) === JSON.stringify(data);
    this.data = data;
    if (same) return;
    this.stop();
    this.buttons = data.steps.map(({ formula, value }) => {
      const button = element("button", "step", { type: "button", tabindex: "-1" });
      const [name, number] = [element("span", "formula"), element("span", "number")];
      Object.assign(name, { textContent: formula });
      Object.assign(number, { textContent: value });
      button.append(name, number);
      return button;
    });
    this.list.replaceChildren(...this.buttons);
    this.bars = data.keys.map((token, at) => this.row(token, at));
    this.rows.replaceChildren(...this.bars.map(({ box }) => box));
    this.note.textContent = data.note;
    this.show(data.steps.length - 1);
  }

  row(token, at) {
    const box = element("div", at === this.data.chosen ? "key chosen" : "key");
    const [label, track, bar, number] = ["label", "track", "bar", "number"].map((part) => element("div", part));
    fillToken(label, token);
    label.title = `key ${this.data.positions[at]}`;
    track.append(bar);
    box.append(label, track, number);
    return { box, track, bar, number };
  }

  /** Shows the state after a step; the steps that follow recede while it plays. */
  show(at) {
    this.at = at;
    const step = this.data.steps[at];
    this.buttons.forEach((button, index) => {
      button.classList.toggle("ahead", this.playing !== undefined && index > at);
      button.tabIndex = index === at ? 0 : -1; // one stop for Tab; arrow keys walk
      if (index === at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.meaning.textContent = step.meaning;
    const { zero, bars } = barsOf(step.numbers);
    this.bars.forEach(({ box, track, bar, number }, index) => {
      const drawn = bars[index];
      track.style.setProperty("--zero", `${100 * zero}%`);
      box.classList.toggle("masked", drawn === null);
      Object.assign(bar.style, { left: `${100 * (drawn?.left ?? zero)}%`, width: `${100 * (drawn?.width ?? 0)}%` });
      number.textContent = step.told[index];
    });
    this.rows.setAttribute("aria-label", `${step.formula} for ${this.data.keys.length} keys of this query`);
    this.play.textContent = this.playing === undefined ? "Play the steps" : "Pause";
  }

  start() {
    this.playing = setInterval(() => this.next(), SEEN);
    this.show(this.at === this.data.steps.length - 1 ? 0 : this.at);
  }

  next() {
    if (this.at + 1 === this.data.steps.length - 1) this.stop();
    this.show(this.at + 1);
  }

  stop() {
    if (this.playing === undefined) return;
    clearInterval(this.playing);
    this.playing = undefined;
    this.show(this.at);
  }

  choose(button) {
    const at = this.buttons.indexOf(button);
    if (at < 0) return;
    this.stop();
    this.show(at);
  }

  press(event) {
    if (!(event.key in WALKS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // the page has shortcuts of its own
    this.stop();
    this.show(Math.min(Math.max(this.at + WALKS[event.key], 0), this.buttons.length - 1));
    this.buttons[this.at].focus();
  }
}

/** Draws { steps, keys, positions, chosen, note } into `root`, in place if it was drawn there before. A step: { formula,
 * value, meaning, numbers, told }, numbers and their text for each key. The view that comes back has close(). */
export const draw = drawing(Steps);
