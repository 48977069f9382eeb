// How the edges of a matrix are labelled: every label where there is room, upright where it fits.

const LINE = 13; // pixels from one label to the next, at least
const SLANTED = 18; // pixels a column needs for a slanted label; below, it stands upright on its side
const GAP = 10; // pixels between two labels in a line
export const LONGEST = 126; // pixels of a label before it is cut
const LETTER = 13; // pixels of a single letter, at most
const WORD = 40; // pixels of a number, at most
const SLANT = Math.SQRT1_2; // of its length, the height of a slanted label

/** Labels of the header: a list, or { start, step, count } for numbers, which are spelled out here. */
export function spell(labels) {
  if (Array.isArray(labels)) return labels;
  return Array.from({ length: labels.count }, (_, index) => String(labels.start + labels.step * index));
}

/** The smallest of 1, 2, 5, 10, 20, ... that is `least` or more. */
export function roundStep(least) {
  for (let ten = 1; ; ten *= 10) for (const times of [1, 2, 5]) if (times * ten >= least) return times * ten;
}

/** Every how many rows of `cell` pixels a label stands. */
export const rowStep = (cell) => roundStep(LINE / cell);

/** How columns of `cell` pixels are labelled, whose labels are `widths` pixels wide: { step, turns, height, over }.
 * turns: of each label, in degrees. Where a word does not fit over its column all words are turned alike; a single letter
 * never is, so that a mark such as ⊢ reads as what it is. height: pixels that the labels take; over: those that slanted
 * labels reach beyond the last column. */
export function columnLabels(widths, cell) {
  const lengths = widths.map((width) => Math.min(width, LONGEST));
  const upright = { turns: lengths.map(() => 0), height: LINE + 3, over: 0 };
  if (lengths.every((length) => length + 2 <= cell)) return { step: 1, ...upright };
  if (cell >= LINE) return { step: 1, ...turned(lengths, cell, cell >= SLANTED ? -45 : -90) };
  const longest = Math.max(...lengths);
  const step = roundStep((longest > WORD ? SLANTED : longest + GAP) / cell); // words in a line would be two in all
  return { step, ...(longest > WORD ? turned(lengths, cell, -45, step) : upright) };
}

function turned(lengths, cell, turn, step = 1) {
  const turns = lengths.map((length) => (length <= LETTER ? 0 : turn));
  const seen = lengths.map((length, at) => (turns[at] && at % step === 0 ? length : 0));
  const height = turn === -45 ? Math.max(...seen) * SLANT + LINE : Math.max(...seen) + 6;
  const ends = seen.map((length, at) => length * SLANT + LINE - (lengths.length - at - 0.5) * cell);
  return { turns, height: Math.ceil(height), over: turn === -45 ? Math.ceil(Math.max(0, ...ends)) : 0 };
}

/** The pixels left of the plot: for the longest row label, at most LONGEST or a fifth of the `whole`. */
export const rowRoom = (widths, whole) => Math.ceil(Math.min(Math.max(LONGEST, whole / 5), Math.max(...widths))) + 10;

const grouped = new Intl.NumberFormat("en-US", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });

/** Three significant digits: 0.123, 4.50, 12,300, 1.23e−7; a sign only below zero, or where `signed`. */
export function brief(value, signed = false) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const plain = size >= 1e-4 && size < 1e6;
  const digits = plain ? grouped.format(size) : size.toExponential(2).replace("e+", "e").replace("-", "−");
  return (value < 0 ? "−" : signed ? "+" : "") + digits;
}
