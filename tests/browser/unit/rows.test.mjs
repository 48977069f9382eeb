// Which tokens of a long text stand in the lines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { choose } from "../../../inspector/components/head/rows.js";

const SIZES = { queries: 9, keys: 9 };
const lines = (...places) => places.map(([query, key]) => ({ query, key }));

test("what fits is whole, and every line finds room", () => {
  const { rows, taken } = choose(lines([0, 8]), { queries: 3, keys: 9 }, 9);
  assert.deepEqual([rows.queries, rows.keys.length, rows.whole, taken], [[0, 1, 2], 9, true, 1]);
  assert.deepEqual([rows.place("keys", 8), rows.place("queries", 8), rows.count], [8, undefined, 9]);
});

test("the strongest lines give the rows, in the text's order, up to the first that finds no room", () => {
  const { rows, taken } = choose(lines([7, 0], [3, 0], [5, 0], [3, 8]), SIZES, 2);
  assert.deepEqual([rows.queries, rows.keys, taken], [[3, 7], [0, 8].slice(0, 1), 2]);
  assert.equal(rows.whole, false);
  assert.ok(rows.holds({ query: 7, key: 0 }) && !rows.holds({ query: 5, key: 0 }));
});

test("what must be there comes first, and what is left is filled without a line", () => {
  const { rows, taken } = choose(lines([4, 1], [4, 2]), SIZES, 3, { queries: [4] }, lines([8, 1], [0, 5], [2, 6]));
  assert.deepEqual([rows.queries, rows.keys, taken], [[0, 4, 8], [1, 2, 5], 2]);
});
