// The numbers and sentences of one head.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Matrix } from "../../../inspector/components/head/matrix.js";
import { LEVELS, MASKED } from "../../../inspector/components/shared.js";

const HEADER = {
  ...{ queries: ["the", "cat"], keys: ["the", "cat", "sat"], vmax: 1, diverging: false, scale: "linear" },
  ...{ first: [0, 0], quantity: "weight", rows: null, segments: null, parts: [], whole: null },
};

/** A matrix of these maps, the first its values, with `after` as bytes behind them. */
function matrix(maps, header = {}, after = []) {
  const data = new Uint8Array([...new Uint8Array(Float32Array.from(maps.flat()).buffer), ...after]);
  return new Matrix({ ...HEADER, ...header }, data);
}

const said = (lines) => lines.map((line) => line.map((part) => part.value ?? part.token ?? part.aside ?? part).join(""));

test("values stand row by row, queries down and keys across", () => {
  const made = matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]]);
  assert.equal(made.at(0, 2), 0.75);
  assert.equal(made.at(1, 0), 0.5);
  assert.deepEqual(made.row(1).map(({ value }) => value), [0.5, 0.5, 0]);
  assert.deepEqual(made.column(1), [{ query: 0, key: 1, value: 0.25 }, { query: 1, key: 1, value: 0.5 }]);
  assert.equal(made.all().length, 6);
});

test("masked cells are in no row and no column, and have a level of their own", () => {
  const made = matrix([[1, NaN, NaN, 0.5, 0.5, NaN]]);
  assert.deepEqual(made.row(0), [{ query: 0, key: 0, value: 1 }]);
  assert.deepEqual(made.column(2), []);
  assert.deepEqual([...made.levels()], [LEVELS, MASKED, MASKED, LEVELS / 2, LEVELS / 2, MASKED]);
  assert.deepEqual(said(made.describe({ query: 0, key: 1 })), ["query 0 the → key 1 cat", "weight: masked"]);
});

test("a level is the share of vmax, its root on the square-root scale, around the middle where signed", () => {
  assert.deepEqual([...matrix([[0, 0.25, 1, 2, -1, 0.5]]).levels()], [0, 256, 1024, 1024, 0, 512]);
  assert.deepEqual([...matrix([[0, 0.25, 1, 2, -1, 0.09]], { scale: "sqrt" }).levels()], [0, 512, 1024, 1024, 0, 307]);
  const signed = matrix([[0, 0.25, 0.5, -0.5, -0.25, -9]], { diverging: true, vmax: 0.5 });
  assert.deepEqual([...signed.levels()], [512, 768, 1024, 0, 256, 0]);
});

test("a number is printed with the fewest digits that read back as the same float32", () => {
  const made = matrix([[0.1, 1 / 3, 1e-7, -0.1, 0, 1]]);
  assert.equal(made.exact(made.at(0, 0)), "0.1");
  assert.equal(Math.fround(Number(made.exact(made.at(0, 1)))), Math.fround(1 / 3));
  assert.equal(made.exact(made.at(0, 2)), "1e-7");
  assert.equal(made.exact(made.at(1, 0)), "−0.1");
  assert.equal(made.exact(0), "0");
  assert.equal(made.exact(NaN), "masked");
  assert.equal(matrix([[0, 0, 0, 0, 0, 0]], { diverging: true }).format(0.25, 3), "+0.250");
});

test("a cell tells its score, ln(weight) + offset, its rank and the entropy of the row", () => {
  const numbers = [[0, 0.25, 0.75, 0.5, 0.5, 0], [0.5623, 0.6931], [2, 1]]; // the map, entropies, offsets
  const made = matrix(numbers, { rows: { keys: 3 }, first: [10, 20] });
  assert.deepEqual(said(made.describe({ query: 0, key: 1 })), [
    "query 10 the → key 21 cat",
    "weight 0.250, rank 2 of 3 in its row",
    `score ${(Math.log(0.25) + 2).toPrecision(3)} before softmax`,
    "entropy of the row 0.562 nats",
    `exactly 0.25 · score ${(Math.log(0.25) + 2).toPrecision(5)} · entropy 0.5623`,
  ]);
  assert.match(said(made.describe({ query: 1, key: 2 }))[2], /^masked, or its score is too low/);
  const part = matrix(numbers, { rows: { keys: 900 } });
  assert.match(said(part.describe({ query: 0, key: 1 }))[1], /rank 2 of 3 in sight$/);
  const coarse = matrix([...numbers.slice(0, 2), [NaN, NaN]], { rows: { keys: 3 } });
  assert.deepEqual(said(coarse.describe({ query: 0, key: 1 })).slice(2), [
    "entropy of the row 0.562 nats",
    "exactly 0.25 · entropy 0.5623",
  ]);
});

test("a query tells where it attends most, a key from where it gets most", () => {
  const made = matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]]);
  assert.deepEqual(said(made.describe({ query: 0 })), ["query 0 the: ", "attends most to key 2 sat, 0.750"]);
  assert.deepEqual(said(made.describe({ key: 1 })), ["key 1 cat: ", "gets most from query 1 cat, 0.500"]);
  assert.deepEqual(said(matrix([Array(6).fill(NaN)]).describe({ query: 0 })), ["query 0 the: ", "all masked"]);
});

test("printed are the five strongest, by size, from a twentieth of vmax on", () => {
  const made = matrix([[0.04, 0.9, -0.95, 0.05, 0.2, 0.3]]);
  assert.deepEqual(made.strongest(made.all()).map(({ value }) => Number(value.toFixed(2))), [-0.95, 0.9, 0.3, 0.2, 0.05]);
  assert.equal(matrix([[1, 1, 1, 1, 1, 1]]).strongest(made.all().concat(made.all())).length, 5);
});

test("the maps of several heads and the picture of the whole follow the mean", () => {
  const maps = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12], [13, 14, 15, 16, 17, 18]];
  const header = { parts: [{ name: "head 1" }, { name: "head 2" }], whole: { queries: 9, keys: 9, rows: 1, cols: 2 } };
  const made = matrix([...maps, [1, 2, 3, 4]], { ...header, rows: { keys: 3 } }, [200, 100]);
  assert.deepEqual(made.parts.map(({ values }) => [...values]), maps.slice(1));
  assert.deepEqual([...made.whole.picture], [200, 100]);
  assert.match(said(made.describe({ query: 1, key: 2 })).join("|"), /\|head 1 12.0\|head 2 18.0/);
});

test("what stands out is every entry that is not zero, or the strongest of them, among how many", () => {
  const every = { keepsAt: () => true };
  const made = matrix([[0, 0.25, 0.75, NaN, 0.5, -0.6]]);
  const values = ({ entries }) => entries.map(({ query, key, value }) => [query, key, Math.fround(value)]);
  const all = [[0, 2, 0.75], [1, 2, Math.fround(-0.6)], [1, 1, 0.5], [0, 1, 0.25]];
  assert.deepEqual(values(made.outstanding(every, { all: 4, most: 1 })), all);
  const two = made.outstanding(every, { all: 3, most: 2 });
  assert.deepEqual([values(two), two.among], [all.slice(0, 2), 4]);
  const kept = made.outstanding({ keepsAt: (at) => at === 1 || at === 0 }, { all: 9, most: 1 });
  assert.deepEqual([values(kept), kept.among], [all.slice(3), 1]);
  const alike = matrix([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]).outstanding(every, { all: 2, most: 3 });
  assert.deepEqual([alike.entries.length, alike.among], [3, 6]);
});

test("a token that stands more than once is told with its number, in a window with that of the whole text", () => {
  const twice = { queries: ["the", "the"], keys: ["the", "the", "sat"] };
  const values = [[0, 0.25, 0.75, 0.5, 0.5, 0]];
  assert.equal(said(matrix(values, twice).describe({ query: 1, key: 2 }))[0], "query 1 the (2nd) → key 2 sat");
  const ordinals = { queries: [36, 37], keys: [11, 12, 0] };
  const window = matrix(values, { ...twice, ordinals, first: [70, 40] });
  assert.equal(said(window.describe({ query: 1, key: 0 }))[0], "query 71 the (37th) → key 40 the (11th)");
});

test("what the sentence names is told: a cell with its weight, a column by its key", () => {
  assert.equal(matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]]).describeMarked(), "");
  const cell = matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]], { marked: [0, 2], first: [10, 20] });
  assert.equal(cell.describeMarked(), "marked, for the sentence names it: query 10 ‘the’ → key 22 ‘sat’, weight 0.750");
  const column = matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]], { marked: [null, 1] });
  assert.equal(column.describeMarked(), "marked, for the sentence names it: key 1 ‘cat’");
  const both = matrix([[0, 0.25, 0.75, 0.5, 0.5, 0]], { marked: [null, 1], picked: [0, 2] });
  const chosen = "chosen: query 0 ‘the’ → key 2 ‘sat’, weight 0.750";
  assert.equal(both.describeMarked(), `marked, for the sentence names it: key 1 ‘cat’, ${chosen}`);
});
