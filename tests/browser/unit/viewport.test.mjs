// The part of a map that is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Viewport } from "../../../inspector/components/head/viewport.js";

const place = ({ query, key, rows, cols }) => [query, key, rows, cols];

test("it starts with the whole map and comes back to the whole map", () => {
  const viewport = new Viewport(100, 50);
  assert.ok(viewport.isWhole);
  assert.ok(viewport.isOf(100, 50) && !viewport.isOf(50, 100));
  viewport.zoom(2);
  assert.ok(!viewport.isWhole);
  viewport.reset();
  assert.deepEqual(place(viewport), [0, 0, 100, 50]);
});

test("a zoom keeps the cell under the pointer in its place", () => {
  const viewport = new Viewport(100, 100);
  viewport.zoom(2, { query: 80, key: 20 });
  assert.deepEqual(place(viewport), [40, 10, 50, 50]);
  assert.equal((80 - viewport.query) / viewport.rows, 80 / 100);
  assert.equal((20 - viewport.key) / viewport.cols, 20 / 100);
});

test("a zoom without a place keeps the middle, changes at least one cell, and ends at 6 cells and at the whole", () => {
  const viewport = new Viewport(100, 100);
  viewport.zoom(2);
  assert.deepEqual(place(viewport), [25, 25, 50, 50]);
  viewport.zoom(1.001);
  assert.deepEqual([viewport.rows, viewport.cols], [49, 49]);
  viewport.zoom(1000);
  assert.deepEqual([viewport.rows, viewport.cols], [6, 6]);
  viewport.zoom(0.0001);
  assert.deepEqual(place(viewport), [0, 0, 100, 100]);
});

test("a map of fewer than 6 cells cannot be zoomed", () => {
  const viewport = new Viewport(4, 100);
  viewport.zoom(10);
  assert.deepEqual([viewport.rows, viewport.cols], [4, 10]);
});

test("a move stops at the edges and returns what lies beyond them", () => {
  const viewport = new Viewport(100, 100);
  viewport.zoom(2, { query: 0, key: 0 });
  assert.deepEqual(viewport.move(-3, 10), { queries: -3, keys: 0 });
  assert.deepEqual(place(viewport), [0, 10, 50, 50]);
  assert.deepEqual(viewport.move(70, 0), { queries: 20, keys: 0 });
  assert.deepEqual(place(viewport), [50, 10, 50, 50]);
});

test("reveal makes the smallest move after which the viewport holds the cell", () => {
  const viewport = new Viewport(100, 100);
  viewport.zoom(2, { query: 0, key: 0 });
  viewport.reveal({ query: 49, key: 0 });
  assert.deepEqual(place(viewport), [0, 0, 50, 50]);
  viewport.reveal({ query: 50, key: 99 });
  assert.deepEqual(place(viewport), [1, 50, 50, 50]);
  assert.ok(viewport.holds({ query: 50, key: 99 }) && viewport.holds({ query: 1 }));
  assert.ok(!viewport.holds({ query: 0 }) && !viewport.holds({ key: 49 }));
});
