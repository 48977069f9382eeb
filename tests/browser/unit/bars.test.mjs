// Bars around a zero line.
import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "../../../inspector/components/steps/bars.js";

test("bars begin at zero, share one scale, and fill the width", () => {
  const { zero, bars } = barsOf([-1, 3, 0, null]);
  assert.equal(zero, 0.25);
  assert.deepEqual(bars, [{ left: 0, width: 0.25 }, { left: 0.25, width: 0.75 }, { left: 0.25, width: 0 }, null]);
});

test("numbers of one sign start at an edge", () => {
  assert.deepEqual(barsOf([0.2, 0.8]).bars[1], { left: 0, width: 1 });
  assert.deepEqual(barsOf([-2, -4]).bars, [{ left: 0.5, width: 0.5 }, { left: 0, width: 1 }]);
  assert.deepEqual(barsOf([0, null]), { zero: 0, bars: [{ left: 0, width: 0 }, null] });
});
