// A chart of plotly as one SVG, and that as PNG.

const WIDE = 1920; // pixels of a PNG's width, at least
const EDGE = 12; // pixels around the chart
const XMLNS = "http://www.w3.org/2000/svg";
const OF_THE_POINTER = ".hoverlayer, .draglayer, .zoomlayer, .modebar, .selectionlayer, .scrollbar";

/** The class that Streamlit gives the element with this key. */
export const classOf = (key) => `st-key-${key.trim().replace(/[^a-zA-Z0-9_-]/g, "-")}`;

/** The page's fonts that `families` name, as rules that hold their files: a picture can fetch nothing. */
async function fonts(families) {
  const faces = [...document.styleSheets].flatMap(rulesOf).filter((rule) => {
    const upright = !/italic/.test(rule.style.fontStyle);
    return upright && families.includes(rule.style.fontFamily.replaceAll(/["']/g, ""));
  });
  const held = faces.map(async (rule) => {
    const [, address] = /url\("?([^")]+)"?\)/.exec(rule.style.src) ?? [];
    const file = await (await fetch(new URL(address, rule.parentStyleSheet.href ?? document.baseURI))).blob();
    return rule.cssText.replace(/src:[^;]+;/, `src: url(${await dataUrl(file)});`);
  });
  return (await Promise.all(held)).join("\n");
}

function rulesOf(sheet) {
  return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
}

const dataUrl = (blob) =>
  new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(blob);
  });

/** Joins the layers that plotly draws a chart in to one SVG, on the chart's background, with its fonts inside. */
export async function join(chart) {
  const [first, ...others] = chart.querySelectorAll("svg.main-svg");
  const { width, height } = first.getBoundingClientRect();
  const whole = first.cloneNode(true);
  for (const layer of others) whole.append(...layer.cloneNode(true).childNodes);
  for (const part of whole.querySelectorAll(OF_THE_POINTER)) part.remove();
  const families = new Set([...whole.querySelectorAll("text")].flatMap(({ style }) => named(style.fontFamily)));
  const style = document.createElementNS(XMLNS, "style");
  style.textContent = await fonts([...families]);
  const [wide, high] = [width + 2 * EDGE, height + 2 * EDGE];
  const box = { x: -EDGE, y: -EDGE, width: wide, height: high };
  const paper = setAll(document.createElementNS(XMLNS, "rect"), { ...box, fill: first.style.background || "none" });
  whole.prepend(style, paper);
  setAll(whole, { width: wide, height: high, viewBox: Object.values(box).join(" ") });
  whole.removeAttribute("class");
  whole.removeAttribute("style");
  return { text: new XMLSerializer().serializeToString(whole), width: wide, height: high };
}

const named = (families) => families.split(",").map((family) => family.trim().replaceAll(/["']/g, ""));

function setAll(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** A joined chart -> a PNG file, at least twice as large. */
export async function toPng({ text, width, height }) {
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await picture.decode();
  const times = Math.max(2, WIDE / width);
  const canvas = Object.assign(document.createElement("canvas"), {
    width: Math.round(width * times),
    height: Math.round(height * times),
  });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(picture.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
