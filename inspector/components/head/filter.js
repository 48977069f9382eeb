// What a reader chose to see of a head: which lines, between which texts, of which tokens.

export const PLAIN = { lines: "", between: "", tokens: "" };
/** The directions between a text (0) and its pair (1), as [query's, key's] text. */
export const BETWEEN = { ab: [0, 1], ba: [1, 0], a: [0, 0], b: [1, 1] };

/** "top3" -> { top: 3 }, "above0.05" -> { above: 0.05 }, else {}: all lines. */
export function readLines(lines) {
  const [, kind, number] = /^(top|above)([\d.e-]+)$/.exec(lines) ?? [];
  return kind ? { [kind]: Number(number) } : {};
}

export class Filter {
  constructor(matrix, { lines, between, tokens }) {
    this.matrix = matrix;
    const wanted = tokens.toLowerCase();
    const named = (all) => all.map((token) => !wanted || token.toLowerCase().includes(wanted));
    this.named = { queries: named(matrix.queries), keys: named(matrix.keys) };
    this.between = matrix.segments && BETWEEN[between];
    this.bright = tokens || this.between ? this.mark((query, key) => this.isBright(query, key)) : null;
    this.drawn = this.chooseLines(readLines(lines));
  }

  /** Whether the cell stands out in the heatmap. */
  isBright(query, key) {
    const { segments } = this.matrix;
    if (this.between && segments.queries[query] !== this.between[0]) return false;
    if (this.between && segments.keys[key] !== this.between[1]) return false;
    return this.named.queries[query] || this.named.keys[key];
  }

  /** Whether a line is drawn for the cell. */
  keeps({ query, key }) {
    return this.keepsAt(query * this.matrix.keys.length + key);
  }

  keepsAt(place) {
    return !this.drawn || this.drawn[place] === 1;
  }

  mark(passes) {
    const { queries, keys } = this.matrix;
    const marks = new Uint8Array(this.matrix.size);
    for (let query = 0, at = 0; query < queries.length; query++) {
      for (let key = 0; key < keys.length; key++, at++) marks[at] = passes(query, key, at) ? 1 : 0;
    }
    return marks;
  }

  chooseLines({ top, above }) {
    const { values } = this.matrix;
    const isBright = (at) => !this.bright || this.bright[at] === 1;
    if (above !== undefined) return this.mark((query, key, at) => isBright(at) && Math.abs(values[at]) >= above);
    return top === undefined ? this.bright : this.strongest(top, isBright);
  }

  /** The `most` strongest of each query; of equal ones the first. */
  strongest(most, isBright) {
    const { queries, keys, values } = this.matrix;
    const marks = new Uint8Array(this.matrix.size);
    for (let query = 0; query < queries.length; query++) {
      const best = []; // places, strongest first
      for (let at = query * keys.length; at < (query + 1) * keys.length; at++) {
        const size = Math.abs(values[at]);
        if (!(size > 0) || !isBright(at)) continue;
        let place = best.length;
        while (place > 0 && Math.abs(values[best[place - 1]]) < size) place--;
        if (place < most) best.splice(place, 0, at);
        if (best.length > most) best.pop();
      }
      for (const at of best) marks[at] = 1;
    }
    return marks;
  }
}
