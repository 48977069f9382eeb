// Which lines are drawn and which cells stand out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Filter, PLAIN, readLines } from "../../../inspector/components/head/filter.js";

const QUERIES = ["The", "cat"];
const KEYS = ["the", "cat", "Cat"];
const VALUES = [0.5, 0.2, 0.3, -0.4, NaN, 0.4];

function filter(options, segments = null) {
  const matrix = { queries: QUERIES, keys: KEYS, values: Float32Array.from(VALUES), size: 6, segments };
  return new Filter(matrix, { ...PLAIN, ...options });
}

const marks = (cells) => [...cells].join("");

test("the lines option is read as a link holds it", () => {
  assert.deepEqual(readLines("top3"), { top: 3 });
  assert.deepEqual(readLines("above0.05"), { above: 0.05 });
  assert.deepEqual(readLines("above2e-7"), { above: 2e-7 });
  assert.deepEqual([readLines(""), readLines("below1"), readLines("top")], [{}, {}, {}]);
});

test("without options every line is drawn and no cell recedes", () => {
  const all = filter({});
  assert.equal(all.bright, null);
  assert.ok(all.keeps({ query: 1, key: 2 }));
});

test("top keeps the strongest of each query by size, of equal weights the first, and no masked cell", () => {
  assert.equal(marks(filter({ lines: "top1" }).drawn), "100100");
  const two = filter({ lines: "top2" });
  assert.equal(marks(two.drawn), "101101");
  assert.ok(!two.keeps({ query: 0, key: 1 }));
  assert.equal(marks(filter({ lines: "top9" }).drawn), "111101");
});

test("above keeps what is at least so large, without its sign", () => {
  assert.equal(marks(filter({ lines: "above0.5" }).drawn), "100000");
  assert.equal(marks(filter({ lines: "above0.3" }).drawn), "101101");
});

test("a part of a token, in any case, names queries and keys", () => {
  const cats = filter({ tokens: "CA" });
  assert.deepEqual(cats.named, { queries: [false, true], keys: [false, true, true] });
  assert.equal(marks(cats.bright), "011111");
  assert.equal(marks(filter({ tokens: "the", lines: "top1" }).drawn), "100100");
});

test("between leaves the pairs of texts in this direction alone", () => {
  const segments = { queries: [0, 1], keys: [0, 0, 1] };
  const cells = Object.fromEntries(["ab", "ba", "a", "b"].map((way) => [way, marks(filter({ between: way }, segments).bright)]));
  assert.deepEqual(cells, { ab: "001000", ba: "000110", a: "110000", b: "000001" });
  assert.equal(marks(filter({ between: "ba", lines: "top1" }, segments).drawn), "000100");
  assert.equal(filter({ between: "ab" }).bright, null); // a single text has no pair
});
