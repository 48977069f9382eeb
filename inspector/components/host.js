// The host of an HTML file, set after the modules `grid`, `head` and `heads`. The page holds their messages in script
// elements, as base64. A click on the grid opens another head where the file holds all of them.
const read = (name) => {
  const holder = document.querySelector(`script.${name}`);
  return holder && Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
};
const [overview, every] = [read("grid"), read("every")];
const others = every && new heads.Heads(every);
const view = head.draw(document.querySelector("#head"), read("head"), onHead);
const { layer, head: number } = view.header;
const frames = overview && grid.draw(document.querySelector("#grid"), overview, (name, { layer, head }) => open([layer, head]));
let shown = [layer, number];
frames?.select(shown);

function open(place) {
  const entry = others?.at(place);
  if (entry) head.draw(document.querySelector("#head"), heads.another(view.header, entry), onHead);
  shown = entry ? place : shown;
  frames.select(shown);
  const [layer, number] = place;
  document.querySelector("#status").textContent = entry ? "" : `${frames.header.names[layer]}, head ${number} is not in this file`;
}

function onHead(name, value) {
  if (name === "step" && frames) open(others?.neighbour(shown, value) ?? beside(shown, value));
}

/** The place before or after, of heads that are not in the file. */
function beside(place, by) {
  const { layers, heads, widths } = frames.header;
  const row = (layer) => Array.from({ length: widths?.[layer] ?? heads }, (_, head) => [layer, head]);
  const places = Array.from({ length: layers }, (_, layer) => row(layer)).flat();
  const at = places.findIndex((other) => String(other) === String(place));
  return places[(at + by + places.length) % places.length];
}
