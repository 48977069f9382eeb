// The host of an HTML file, set after the modules `grid` and `head`. The page holds their messages in script elements,
// as base64. A click on the grid opens another head where the file holds that head.
const decode = (holder) => Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
const read = (name) => [...document.querySelectorAll(`script.${name}`)].map(decode);
const lengthOf = (bytes) => new DataView(bytes.buffer).getUint32(0, true);
const header = (bytes) => JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + lengthOf(bytes))));
const named = ({ layer, head }) => `${layer}.${head}`;

const heads = [...read("head"), ...read("other")].map((bytes) => ({ bytes, ...header(bytes) }));
const byName = new Map(heads.map((entry) => [named(entry), entry]));
const [overview] = read("grid");
const { heads: per, names } = overview ? header(overview) : { heads: 0, names: [] };
let shown = heads[0];
let view;

function show(next) {
  document.querySelector("#status").textContent = "";
  shown = next;
  head.draw(document.querySelector("#head"), shown.bytes, onHead);
  view?.select([shown.layer, shown.head]);
}

function open(place) {
  if (byName.has(named(place))) return show(byName.get(named(place)));
  view?.select([shown.layer, shown.head]);
  document.querySelector("#status").textContent = `${names[place.layer]}, head ${place.head} is not in this file`;
}

function onHead(name, value) {
  if (name !== "step" || !per) return;
  const next = shown.layer * per + shown.head + value;
  if (next >= 0) open({ layer: Math.floor(next / per), head: next % per });
}

if (overview) view = grid.draw(document.querySelector("#grid"), overview, (name, place) => open(place));
show(shown);
