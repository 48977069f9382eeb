// The meanings of the terms in a page's sentences. A term is a link of the page's Markdown, whose title is its meaning;
// a click shows the meaning below it, a second one, Escape or a click elsewhere takes it away.
import { clamp, element } from "../shared.js";

const GAP = 6; // pixels between a term and its meaning
const EDGE = 8; // pixels to the window's edge

export function mount({ data, parentElement }) {
  const isTerm = `a[href='${data.address}']`;
  const box = element("div", "hl-terms");
  const meaning = element("div", "meaning", { popover: "auto", role: "status" }); // the browser closes it on Escape
  const [name, text] = [element("strong"), element("span")];
  meaning.append(name, " ", text);
  box.append(meaning);
  parentElement.append(box);
  let shown = null; // the term whose meaning is open
  let pressed = null; // the same as the pointer went down, before the browser closed it

  const show = (term) => {
    shown = term;
    name.textContent = term.textContent;
    text.textContent = term.title;
    meaning.showPopover();
    const [anchor, { width, height }] = [term.getBoundingClientRect(), meaning.getBoundingClientRect()];
    const below = anchor.bottom + GAP;
    const top = below + height <= innerHeight - EDGE ? below : Math.max(EDGE, anchor.top - GAP - height);
    const left = clamp(anchor.left, EDGE, Math.max(EDGE, innerWidth - width - EDGE));
    Object.assign(meaning.style, { left: `${left}px`, top: `${top}px` });
  };
  const open = () => (meaning.matches(":popover-open") ? shown : null);
  const press = () => (pressed = open());
  const click = (event) => {
    const term = event.target.closest?.(isTerm);
    if (!term || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const again = term === (event.detail ? pressed : open()); // detail is 0 for a key
    if (again) hide();
    else show(term);
  };
  const hide = () => open() && meaning.hidePopover(); // as the page scrolls, it would stay behind
  document.addEventListener("pointerdown", press, { capture: true });
  document.addEventListener("click", click);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  return () => {
    document.removeEventListener("pointerdown", press, { capture: true });
    document.removeEventListener("click", click);
    document.removeEventListener("scroll", hide, { capture: true });
    box.remove();
  };
}
