// A text that is written: as it reads, or token by token. A click on a token goes to the step that wrote it.
import { View, clamp, drawing, element, fillToken } from "../shared.js";

const WALKS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

class WrittenText extends View {
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
    this.box.classList.toggle("playing", Boolean(data.playing));
    this.text.hidden = !("text" in data);
    this.list.hidden = !("tokens" in data);
    if (this.list.hidden) {
      const part = (name, text) => Object.assign(element("span", name), { textContent: text });
      this.text.replaceChildren(part("given", data.given), data.text, part("rest", data.rest));
    } else this.fillTokens(data);
  }

  fillTokens(data) {
    this.box.style.setProperty("--newest", data.colour);
    const hadFocus = this.list.contains(this.root.getRootNode().activeElement);
    const begun = data.before.flatMap((token, at) => {
      const role = element("span", "role");
      role.textContent = data.roles[at];
      return data.roles[at] ? [role, this.chip("span", token, "begun")] : [this.chip("span", token, "begun")];
    });
    if (data.hidden) begun.unshift(this.chip("span", `… ${data.hidden} more`, "begun"));
    this.buttons = data.tokens.map((token, index) => {
      const button = this.chip("button", token, index < data.step ? "" : "rest");
      button.title = data.notes[index];
      button.tabIndex = -1;
      return button;
    });
    const newest = this.buttons[data.step - 1];
    newest.tabIndex = 0; // one stop for Tab; arrow keys walk
    newest.setAttribute("aria-current", "step");
    this.list.replaceChildren(...begun, ...this.buttons);
    if (hadFocus) newest.focus();
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
    this.emit("step", clamp(this.data.step + WALKS[event.key], 1, this.buttons.length));
  }
}

/** Draws { given, text, rest } or { before, roles, hidden, tokens, notes, step, playing, colour } into `root`, in place if it
 * was drawn there before; emit("step", n) on a choice. given: what the model began from; text: what was written up to the
 * step; rest: how it goes on, which keeps its place unseen. before: the last tokens that the model began from, `hidden` more
 * stand before them; roles: who speaks from each of these on, "" where it goes on; tokens: all that were written, a step
 * each, counted from 1; notes: a line for each; step: the newest; playing: what comes later keeps its place and is not seen;
 * colour: of the newest token. */
export const draw = drawing(WrittenText);
