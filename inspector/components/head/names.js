// Tokens that stand more than once in a text are told apart by which of their like they are, as in sentences: the 37th.
import { element, fillToken, plain } from "../shared.js";

const PREDICTED = " → "; // between the token that a decoder's query reads and the token that it predicts
const ENDS = { 1: "st", 2: "nd", 3: "rd" };
const { format } = new Intl.NumberFormat("en"); // made once: toLocaleString looks the language up for every number

/** Which of its like each token is, from 1; 0 for a token that stands once. Of a decoder's query the read token counts. */
export function ordinals(labels) {
  const read = labels.map((label) => label.split(PREDICTED)[0]);
  const counts = new Map();
  const nth = read.map((token) => counts.set(token, (counts.get(token) ?? 0) + 1).get(token));
  return nth.map((number, at) => (counts.get(read[at]) > 1 ? number : 0));
}

/** 37 -> "37th"; "" for 0. */
export function inWords(ordinal) {
  if (!ordinal) return "";
  const teens = [11, 12, 13].includes(ordinal % 100);
  return `${format(ordinal)}${(!teens && ENDS[ordinal % 10]) || "th"}`;
}

/** The text that `fillNamed` writes. */
export const spelled = (token, ordinal) => [plain(token), inWords(ordinal)].filter(Boolean).join(" ");

/** Fills `holder` with a token and, small, with which of its like it is; `index`: its place in the text, before it. */
export function fillNamed(holder, token, ordinal, index) {
  const [read, ...predicted] = token.split(PREDICTED);
  const small = (text) => Object.assign(element("span", "nth"), { textContent: text });
  const name = (text) => {
    const part = element("span");
    fillToken(part, text);
    return part;
  };
  if (!ordinal && index === undefined) return fillToken(holder, token);
  const before = index === undefined ? [] : [small(`${index} `)];
  if (!ordinal) return holder.replaceChildren(...before, name(token));
  const after = predicted.length ? [PREDICTED, name(predicted.join(PREDICTED))] : [];
  holder.replaceChildren(...before, name(read), small(` ${inWords(ordinal)}`), ...after);
}
