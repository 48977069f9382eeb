// The numbers under a colour bar.
import assert from "node:assert/strict";
import { test } from "node:test";
import { roundParts } from "../../../inspector/components/head/colourbar.js";

const numbers = (vmax, most) => roundParts(vmax, most).map((part) => Number((part * vmax).toPrecision(3)));

test("they are round, begin at zero and do not pass the end of the scale", () => {
  assert.deepEqual(numbers(1, 4), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(numbers(0.5, 2), [0, 0.25, 0.5]);
  assert.deepEqual(numbers(0.746, 4), [0, 0.2, 0.4, 0.6]);
  assert.deepEqual(numbers(0.538, 2), [0, 0.5]);
  assert.deepEqual(numbers(12.3, 4), [0, 5, 10]);
  assert.deepEqual(numbers(3e-7, 4), [0, 1e-7, 2e-7, 3e-7]);
});
