// How the edges of a matrix are labelled and how its numbers are written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, columnLabels, roundStep, rowStep, spell } from "../../../inspector/components/matrix/labels.js";

test("labels that only count are spelled out from their range", () => {
  assert.deepEqual(spell({ start: 4, step: 2, count: 3 }), ["4", "6", "8"]);
  assert.deepEqual(spell(["⊢", "7"]), ["⊢", "7"]);
});

test("where a word does not fit over its column words are turned alike, single letters never", () => {
  assert.deepEqual(columnLabels([8, 18, 8], 20).turns, [0, 0, 0]);
  assert.deepEqual(columnLabels([8, 50, 18], 20).turns, [0, -45, -45]);
  assert.deepEqual(columnLabels([8, 50, 8], 14).turns, [0, -90, 0]);
});

test("narrow columns are labelled at round steps, numbers upright, with room between the labels", () => {
  const { step, turns } = columnLabels(Array(384).fill(22), 2);
  assert.equal(step, 20); // 32 pixels a label, 2 a column
  assert.ok(turns.every((turn) => turn === 0));
});

test("names of narrow columns are slanted, as often as rows have theirs, and tell how far they reach", () => {
  const { step, turns, over } = columnLabels(Array(72).fill(90), 5.2);
  assert.equal(step, rowStep(5.2));
  assert.ok(turns.every((turn) => turn === -45));
  const last = 70.5 * 5.2 + 90 * Math.SQRT1_2; // the end of the last label that is drawn, of column 70
  assert.ok(over >= last - 72 * 5.2 && over < last - 72 * 5.2 + 20);
  assert.equal(columnLabels([8, 50, 8], 14).over, 0); // on its side it stays over its column
  assert.ok(columnLabels(Array(100).fill(300), 3).height < 126); // a long label is cut at 126 pixels
});

test("the room over the plot holds the longest turned label", () => {
  assert.ok(columnLabels([8, 50], 14).height >= 50);
  assert.ok(columnLabels([8, 50], 20).height >= 50 * Math.SQRT1_2);
  assert.ok(columnLabels([8, 9], 20).height < 20);
});

test("steps are 1, 2, 5 times a power of ten, and rows leave room for a line", () => {
  assert.deepEqual([0.2, 1, 1.1, 3, 7, 11, 32].map(roundStep), [1, 1, 2, 5, 10, 20, 50]);
  assert.equal(rowStep(13), 1);
  assert.equal(rowStep(3), 5);
});

test("numbers have three significant digits and a true minus sign", () => {
  const written = { 0.017715061: "0.0177", 1: "1.00", 12345: "12,300", 0: "0", 4.5: "4.50" };
  for (const [value, text] of Object.entries(written)) assert.equal(brief(Number(value)), text);
  assert.equal(brief(-0.25), "−0.250");
  assert.equal(brief(0.25, true), "+0.250");
  assert.equal(brief(1.234e-7), "1.23e−7");
  assert.equal(brief(2.5e9), "2.50e9");
});
