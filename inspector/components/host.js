// The host of an HTML file. The page holds the messages in script elements, as base64. A click on the grid opens another
// head where the file holds all of them.
import { draw as drawGrid } from "./grid/index.js";
import { draw as drawHead } from "./head/index.js";
import { Heads, another, beside } from "./heads.js";

const read = (name) => {
  const holder = document.querySelector(`script.${name}`);
  return holder && Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
};
const [overview, every] = [read("grid"), read("every")];
const others = every && new Heads(every);
const view = drawHead(document.querySelector("#head"), read("head"), onHead);
const { layer, head: number } = view.header;
const frames = overview && drawGrid(document.querySelector("#grid"), overview, (name, { layer, head }) => open([layer, head]));
let shown = [layer, number];
frames?.select(shown);

function open(place) {
  const entry = others?.at(place);
  if (entry) drawHead(document.querySelector("#head"), another(view.header, entry), onHead);
  shown = entry ? place : shown;
  frames.select(shown);
  const [layer, number] = place;
  document.querySelector("#status").textContent = entry ? "" : `${frames.header.names[layer]}, head ${number} is not in this file`;
}

function onHead(name, value) {
  if (name === "step" && frames) open(others?.neighbour(shown, value) ?? beside(frames.header, shown, value));
}
