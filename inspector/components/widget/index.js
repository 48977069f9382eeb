// The host of a notebook's cell. What the reader opens is told to Python, which answers with the head's message.
import { draw as drawGrid } from "../grid/index.js";
import { draw as drawHead } from "../head/index.js";
import { beside } from "../heads.js";
import { element, readTheme } from "../shared.js";

const ANSWER = 5000; // milliseconds that Python has to answer
const CLEAR = ["transparent", "rgba(0, 0, 0, 0)"];

/** Draws all heads and the open one into `el`; grid: the message of the grid. Returns what ends it. */
export function draw({ model, el, grid }) {
  const root = element("div", "hl-widget");
  // Keys are the view's while it has the focus: JupyterLab would take a letter for a command.
  const isCommand = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;
  root.addEventListener("keydown", (event) => isCommand(event) || event.stopPropagation());
  const [frame, place, status] = ["frames", "head", "status"].map((name) => element("div", name));
  status.setAttribute("role", "status");
  const parts = element("div", "parts");
  parts.append(frame, place);
  root.append(parts, status);
  el.append(root);
  colour(root);

  const frames = drawGrid(frame, grid, (name, { layer, head }) => name === "open" && open([layer, head]));
  let view = null;
  let waiting = null;

  /** Draws the head that Python sent. */
  function show() {
    clearTimeout(waiting);
    status.textContent = "";
    view = drawHead(place, bytesOf(model.get("_open")), onHead);
    frames.select(shown());
  }

  const shown = () => [view.header.layer, view.header.head];

  function open([row, head]) {
    const { layer, refused } = model.get("_rows")[row];
    clearTimeout(waiting);
    const back = (told) => {
      status.textContent = told;
      frames.select(shown());
    };
    if (refused) return back(refused);
    if (String([row, head]) === String(shown())) return show();
    frames.select([row, head]);
    model.set("_row", row);
    model.set("head", [layer, head]);
    model.save_changes();
    waiting = setTimeout(() => back(model.get("_unanswered")), ANSWER);
  }

  function onHead(name, value) {
    if (name === "step") open(beside(frames.header, shown(), value));
    if (name === "choose") tell(value.queries);
    if (name === "pan") {
      model.set("_corner", [value.query, value.key]);
      model.save_changes();
    }
  }

  /** Tells Python the query that was pinned last; a query's place is counted in the whole text. */
  let pinned = [];
  function tell(queries) {
    const [fresh] = queries.filter((query) => !pinned.includes(query));
    pinned = queries;
    const query = fresh ?? queries.at(-1);
    model.set("query", query === undefined ? null : view.header.first[0] + query);
    model.save_changes();
  }

  /** Pins the query that Python chose, alone. */
  function pin() {
    const query = model.get("query");
    const at = query === null ? null : query - view.header.first[0];
    const isThere = at === null ? pinned.length === 0 : pinned.includes(at);
    if (isThere || at < 0 || at >= view.header.queries.length) return;
    pinned = at === null ? [] : [at];
    view.choose(pinned);
  }

  const recolour = () => {
    colour(root);
    frames.arrange();
    view.layout();
  };
  show();
  pin();
  for (const still of document.querySelectorAll(`.headlight-still-${model.get("_still")}`)) still.style.display = "none";
  model.on("change:_open", show);
  model.on("change:query", pin);
  const turned = new MutationObserver(() => requestAnimationFrame(recolour));
  for (const holder of [document.documentElement, document.body]) turned.observe(holder, { attributes: true });
  return () => {
    clearTimeout(waiting);
    turned.disconnect();
    model.off("change:_open", show);
    model.off("change:query", pin);
    frames.close();
    view.close();
    root.remove();
  };
}

const bytesOf = (held) => new Uint8Array(held.buffer, held.byteOffset, held.byteLength);

/** Takes the notebook's colours, whatever it calls them: those of the text and of the first background around it. */
function colour(root) {
  root.removeAttribute("style");
  let holder = root;
  while (holder && CLEAR.includes(getComputedStyle(holder).backgroundColor)) {
    holder = holder.parentElement ?? holder.getRootNode().host;
  }
  root.style.setProperty("--st-text-color", getComputedStyle(root).color);
  const isBright = readTheme(root).ink.every((channel) => channel > 127);
  const paper = holder ? getComputedStyle(holder).backgroundColor : isBright ? "black" : "white";
  root.style.setProperty("--st-background-color", paper);
  root.dataset.mode = readTheme(root).mode;
}
