// The text written so far: as it reads, and token by token. A click on a token goes to the step that wrote it.
import { View, clamp, drawing, element, fillToken } from "../shared.js";

const WALKS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

class Written extends View {
  constructor(root, closed) {
    super(root, closed, "hl-written");
    this.text = element("div", "text", { dir: "auto" });
    this.list = element("div", "tokens", { role: "toolbar", "aria-label": "tokens, a step each" });
    this.box.append(this.text, this.list);
    this.list.addEventListener("click", (event) => this.choose(event.target.closest("button")));
    this.list.addEventListener("keydown", (event) => this.press(event));
  }

  update(data, emit) {
    Object.assign(this, { data, emit });
    this.text.textContent = data.text;
    this.box.style.setProperty("--newest", data.colour);
    const hadFocus = this.list.contains(this.root.getRootNode().activeElement);
    const begun = data.before.map((token) => this.chip("span", token, "begun"));
    if (data.hidden) begun.unshift(this.chip("span", `… ${data.hidden} more`, "begun"));
    this.buttons = data.tokens.map((token, index) => {
      const button = this.chip("button", token, "");
      button.title = data.notes[index];
      button.tabIndex = -1;
      return button;
    });
    this.buttons.at(-1).tabIndex = 0; // one stop for Tab; arrow keys walk
    this.buttons.at(-1).setAttribute("aria-current", "step");
    this.list.replaceChildren(...begun, ...this.buttons);
    if (hadFocus) this.buttons.at(-1).focus();
  }

  chip(tag, token, className) {
    const made = element(tag, className);
    fillToken(made, token);
    return made;
  }

  choose(button) {
    const index = this.buttons.indexOf(button);
    if (index >= 0) this.emit("step", index + 1);
  }

  press(event) {
    if (!(event.key in WALKS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.emit("step", clamp(this.buttons.length + WALKS[event.key], 1, this.data.last));
  }
}

/** Draws { text, before, hidden, tokens, notes, last, colour } into `root`, in place if it was drawn there before;
 * emit("step", n) on a choice. before: tokens that the model began from, `hidden` more stand before them; tokens: written up to now, a
 * step each, counted from 1; notes: a line for each; last: how many steps there are; colour: of the newest token. */
export const draw = drawing(Written);
