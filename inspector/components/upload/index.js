// A button that chooses a small text file. What is larger than it may be is not read, and the server is told so.
import { View, drawing, element } from "../shared.js";

class Upload extends View {
  constructor(root, closed) {
    super(root, closed, "hl-upload");
    this.button = element("button", "", { type: "button" });
    this.input = element("input", "", { type: "file", hidden: "" });
    this.button.addEventListener("click", () => this.input.click());
    this.input.addEventListener("change", () => this.read(this.input.files[0]));
    this.box.append(this.button, this.input);
  }

  update(data, emit) {
    Object.assign(this, { data, emit });
    this.button.textContent = data.words;
    this.input.accept = data.accept;
  }

  async read(file) {
    if (!file) return;
    this.input.value = ""; // so that the same file can be chosen again
    const large = file.size > this.data.most;
    this.emit("file", large ? { text: "", large } : { text: await file.text(), large });
  }
}

/** Draws { words, accept, most } into `root`: the button's words, the endings, the bytes that a file may have. */
export const draw = drawing(Upload);
