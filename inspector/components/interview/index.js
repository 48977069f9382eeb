// A question of an interview: a clock, and a field whose words outlast a reload. The page runs at its end alone.
import { View, drawing, element } from "../shared.js";
import { Clock, clockFace, saidBetween } from "./clock.js";
import { keepDraft, readDraft } from "./drafts.js";

const TICK = 250; // milliseconds
const storage = () => sessionStorage; // reading the name throws where it is blocked

class InterviewQuestion extends View {
  constructor(root, closed) {
    super(root, closed, "hl-interview");
    const line = element("div", "line");
    this.time = element("span", "time", { role: "timer" });
    this.pause = element("button", "", { type: "button" });
    this.state = element("span", "state", { "aria-live": "polite" });
    line.append(this.time, this.pause, this.state);
    this.field = element("textarea", "", { rows: "8", dir: "auto" });
    const buttons = element("div", "line");
    this.show = element("button", "main", { type: "button" });
    this.skip = element("button", "", { type: "button" });
    buttons.append(this.show, this.skip);
    this.box.append(line, this.field, buttons);
    this.pause.addEventListener("click", () => (this.clock.running ? this.stop() : this.start()));
    this.show.addEventListener("click", () => this.leave("done"));
    this.skip.addEventListener("click", () => this.leave("skipped"));
    this.field.addEventListener("input", () => this.keep());
    this.box.addEventListener("keydown", (event) => event.stopPropagation()); // the page has shortcuts of its own
    this.hide = () => this.keep();
    addEventListener("pagehide", this.hide);
  }

  update(data, emit) {
    Object.assign(this, { emit });
    const same = this.data?.interview === data.interview && this.data.number === data.number;
    this.data = data;
    const { words } = data;
    this.field.setAttribute("aria-label", words.field);
    this.field.maxLength = data.most;
    this.show.textContent = words.show;
    this.skip.textContent = words.skip;
    this.sentences = [
      { at: 60, said: words.minute },
      { at: 15, said: words.seconds },
      { at: 0, said: words.up },
    ];
    if (!same) {
      const draft = readDraft(storage, data.drafts, data.interview, data.number);
      this.field.value = draft.words ?? "";
      this.clock = new Clock(draft.left ?? data.seconds);
      this.before = this.clock.left;
      this.state.textContent = this.before <= 0 ? words.up : "";
      this.start();
      this.field.focus({ preventScroll: true });
    }
    this.tick();
  }

  start() {
    this.clock.start();
    this.timer ??= setInterval(() => this.tick(), TICK);
    if (this.state.textContent === this.data.words.paused) this.state.textContent = "";
    this.tick();
  }

  stop() {
    this.clock.pause();
    clearInterval(this.timer);
    this.timer = undefined;
    this.state.textContent = this.data.words.paused;
    this.keep();
    this.tick();
  }

  /** Shows the time; what a hearer must know is said once, not each second. */
  tick() {
    const { left } = this.clock, { words } = this.data;
    this.time.textContent = clockFace(left);
    this.time.setAttribute("aria-label", `${words.left}: ${clockFace(left)}`);
    this.pause.textContent = this.clock.running ? words.pause : words.goOn;
    const said = saidBetween(this.before, left, this.sentences);
    if (said) {
      this.state.textContent = said;
      this.keep();
    }
    this.before = left;
  }

  keep() {
    const draft = { words: this.field.value, left: Math.round(this.clock.left) };
    keepDraft(storage, this.data.drafts, this.data.interview, this.data.number, draft);
  }

  leave(how) {
    this.keep();
    this.emit("left", { number: this.data.number, words: this.field.value, how });
  }

  close() {
    clearInterval(this.timer);
    removeEventListener("pagehide", this.hide);
    super.close();
  }
}

/** Draws { interview, number, seconds, most, drafts, words } into `root`: the interview and the question that are open,
 * the time for it, the characters that the field takes, the key of the drafts, and the words of buttons and sentences.
 * Emits "left" with { number, words, how }, how: "done" or "skipped". */
export const draw = drawing(InterviewQuestion);
