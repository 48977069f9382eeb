// The toolbar above the grid: the measure that sorts the heads, and a chip for each role, which shows its heads alone.
import { element, rove } from "../shared.js";

const MODEL = "as in the model";

export class Toolbar {
  /** `change(options)` with { sort, rising, only } on every choice. */
  constructor(parent, change) {
    this.box = element("div", "toolbar");
    this.sorting = element("label", "sorting");
    this.select = element("select");
    this.direction = element("button", "direction", { type: "button" });
    this.sorting.append("Sorted", this.select, this.direction);
    this.chips = element("div", "chips", { role: "group", "aria-label": "show only heads that attend to" });
    this.box.append(this.sorting, this.chips);
    this.restop = rove(this.chips);
    parent.append(this.box);
    const choose = (part) => change({ ...this.options, ...part });
    this.select.addEventListener("change", () => choose({ sort: this.select.value || null, rising: false }));
    this.direction.addEventListener("click", () => choose({ rising: !this.options.rising }));
    this.chips.addEventListener("click", ({ target }) => {
      const chosen = target.closest("button");
      if (!chosen) return;
      const { role } = chosen.dataset;
      const { only } = this.options;
      if (role === undefined) choose({ only: [] });
      else choose({ only: only.includes(role) ? only.filter((other) => other !== role) : [...only, role] });
    });
    // The page has shortcuts of its own.
    this.box.addEventListener("keydown", (event) => event.stopPropagation());
  }

  update({ measures, roles }, options, colours) {
    this.options = options;
    this.box.hidden = !measures && !roles;
    this.sorting.hidden = !measures;
    this.fillSelect(Object.keys(measures ?? {}));
    this.direction.hidden = !options.sort;
    this.direction.textContent = options.rising ? "smallest first" : "largest first";
    if (roles) this.fillChips(roles, colours);
  }

  fillSelect(names) {
    // Replaced only where they changed: the list may be open while the host draws.
    if (String(names) !== this.names) {
      this.names = String(names);
      const choice = (text, value) => Object.assign(element("option"), { textContent: text, value });
      this.select.replaceChildren(choice(MODEL, ""), ...names.map((name) => choice(`by ${name}`, name)));
    }
    this.select.value = this.options.sort ?? "";
  }

  /** A chip for each role that some head has, as the host orders them: how many heads do what. */
  fillChips({ names, meanings, does }, colours) {
    const focused = this.chips.getRootNode().activeElement?.dataset?.role;
    const roles = names.flat();
    const present = Object.keys(meanings).filter((role) => roles.includes(role));
    const chips = present.map((role) => {
      const chip = element("button", "chip", { type: "button", "data-role": role, title: meanings[role] });
      const pressed = this.options.only.includes(role);
      chip.setAttribute("aria-pressed", pressed);
      const dot = element("span", "dot");
      dot.style.background = colours[role] ?? "transparent";
      const count = roles.filter((other) => other === role).length;
      chip.append(dot, `${count} ${does[role][Number(count > 1)]}`);
      return chip;
    });
    if (this.options.only.length) {
      chips.push(Object.assign(element("button", "chip all", { type: "button" }), { textContent: "show all" }));
    }
    this.chips.replaceChildren(...chips);
    this.restop();
    // All chips are new elements; without this a press by keyboard would lose its place.
    if (focused) this.chips.querySelector(`[data-role="${CSS.escape(focused)}"]`)?.focus();
  }
}
