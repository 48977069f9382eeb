// The packed message, pixels and tokens.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MASKED, clamp, fit, paint, pieces, plain, unpack } from "../../../inspector/components/shared.js";

globalThis.devicePixelRatio = 1;

function message(header, data, shift = 0) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = (4 + text.length + 3) & ~3;
  const whole = new Uint8Array(shift + start + data.length).subarray(shift);
  new DataView(whole.buffer, shift).setUint32(0, text.length, true);
  whole.set(text, 4);
  whole.set(data, start);
  return whole;
}

test("a message is read whatever the length of its header and wherever its bytes lie", () => {
  const numbers = Float32Array.of(0.25, -1);
  for (const text of ["", "a", "ab", "abc", "ü€😀"]) {
    for (const shift of [0, 1, 2, 3, 4]) {
      const { header, data } = unpack(message({ text }, new Uint8Array(numbers.buffer), shift));
      assert.deepEqual(header, { text });
      assert.equal(data.byteOffset % 4, 0);
      assert.deepEqual(new Float32Array(data.buffer, data.byteOffset, 2), numbers);
    }
  }
});

test("cells are square and whole, unless there are far more columns than rows", () => {
  const room = { width: 400, height: 400, largest: 40 };
  assert.deepEqual(fit({ rows: 13, columns: 13 }, room), [30, 30]);
  assert.deepEqual(fit({ rows: 3, columns: 4 }, room), [40, 40]);
  assert.deepEqual(fit({ rows: 7, columns: 100 }, room), [4, 40]);
  assert.deepEqual(fit({ rows: 800, columns: 800 }, room), [0.5, 0.5]);
});

test("cells have a width where the place is narrower than what stands beside them", () => {
  for (const width of [10, 0, -60]) {
    const [across, down] = fit({ rows: 13, columns: 13 }, { width, height: 400, largest: 40 });
    assert.ok(across >= 1 && down >= 1);
  }
});

test("clamp keeps a value between two others", () => {
  assert.deepEqual([-1, 3, 9].map((value) => clamp(value, 0, 5)), [0, 3, 5]);
});

test("a token is shown with nothing invisible in it, marks and spaces dimmed", () => {
  assert.deepEqual(pieces("##ing"), [["##", true], ["ing", false]]);
  assert.deepEqual(pieces("␣cat"), [["␣", true], ["cat", false]]);
  assert.deepEqual(pieces(".↵"), [[".", false], ["↵", true]]);
  assert.deepEqual(pieces(" a"), [["␣", true], ["a", false]]);
  assert.deepEqual(pieces(""), [["(empty)", true]]);
  assert.equal(plain("a\u200bb"), "aU+200Bb");
  assert.equal(plain("\n"), "U+000A");
  assert.equal(plain("👨‍👩‍👧"), "👨‍👩‍👧");
  assert.equal(plain("\u0301"), "◌\u0301");
});

/** The levels of a map as painted into `width` by `height` pixels. */
function painted(levels, rows, cols, width, height, zero = 0) {
  const colours = Uint32Array.from({ length: 1025 }, (_, level) => level);
  const image = { width, data: new Uint8ClampedArray(4 * width * height) };
  const palette = { colours, zero, hatch: 5000, paper: 6000 };
  paint(image, { x: 0, y: 0, width, height }, Int16Array.from(levels), 0, rows, cols, palette);
  return [...new Uint32Array(image.data.buffer)];
}

test("a pixel over several cells has the cell farthest from zero", () => {
  assert.deepEqual(painted([1, 2, 3, 4], 2, 2, 2, 2), [1, 2, 3, 4]);
  assert.deepEqual(painted([1, 2, 3, 4], 2, 2, 1, 1), [4]);
  assert.deepEqual(painted([0, 0, 0, 900, 0, 0, 0, 0, 0], 3, 3, 2, 2), [900, 0, 900, 0]);
  assert.deepEqual(painted([500, 540], 1, 2, 1, 1, 512), [540]);
  assert.deepEqual(painted([480, 540], 1, 2, 1, 1, 512), [480]);
});

test("a cell over several pixels fills them, and a masked cell is hatched", () => {
  assert.deepEqual(painted([7], 1, 1, 2, 2), [7, 7, 7, 7]);
  assert.deepEqual(painted([MASKED], 1, 1, 3, 1), [5000, 6000, 6000]);
  assert.deepEqual(painted([MASKED, 3], 1, 2, 1, 1), [3]);
});
