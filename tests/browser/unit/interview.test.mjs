// The clock of an interview and its drafts, without a browser: time is a number, storage a map.
import assert from "node:assert/strict";

import { Clock, clockFace, saidBetween } from "../../../inspector/components/interview/clock.js";
import { keepDraft, readDraft } from "../../../inspector/components/interview/drafts.js";

assert.deepEqual([120, 119.2, 67, 59.9, 1, 0.2, 0, -0.5, -1, -65].map(clockFace), [
  ...["2:00", "2:00", "1:07", "1:00", "0:01", "0:01", "0:00", "0:00", "−0:01", "−1:05"],
]);

let now = 5000;
const clock = new Clock(120, () => now);
now += 60_000;
assert.equal(clock.left, 120); // it has not started
clock.start();
now += 30_000;
assert.equal(clock.left, 90);
clock.start(); // a second time changes nothing
clock.pause();
now += 600_000;
assert.equal(clock.left, 90);
assert.equal(clock.running, false);
clock.start();
now += 95_500; // a tab in the background ticks rarely: time has passed all the same
assert.equal(clock.left, -5.5);

const sentences = [{ at: 60, said: "minute" }, { at: 15, said: "seconds" }, { at: 0, said: "up" }];
assert.equal(saidBetween(60.2, 60.0, sentences), "minute");
assert.equal(saidBetween(60.0, 59.8, sentences), ""); // once
assert.equal(saidBetween(120, 61, sentences), "");
assert.equal(saidBetween(80, 10, sentences), "seconds"); // of several the last alone
assert.equal(saidBetween(0.1, -0.1, sentences), "up");
assert.equal(saidBetween(-0.1, -0.3, sentences), "");

const storage = (text) => {
  const items = new Map(text === undefined ? [] : [["key", text]]);
  return () => ({ getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value) });
};
const kept = storage();
assert.deepEqual(readDraft(kept, "key", "1.5", 16), {});
assert.equal(keepDraft(kept, "key", "1.5", 16, { words: "Because.", left: 80 }), true);
keepDraft(kept, "key", "1.5", 27, { words: "", left: 120 });
assert.deepEqual(readDraft(kept, "key", "1.5", 16), { words: "Because.", left: 80 });
assert.deepEqual(readDraft(kept, "key", "1.6", 16), {}); // another interview
keepDraft(kept, "key", "1.6", 3, { words: "New.", left: 1 });
assert.deepEqual(readDraft(kept, "key", "1.5", 16), {});

for (const text of ["{", "null", "5", '"x"', "[]", '{"interview":"1.5"}', '{"interview":"1.5","drafts":null}', '{"interview":"1.5","drafts":{"16":7}}']) {
  const hostile = storage(text);
  assert.deepEqual(readDraft(hostile, "key", "1.5", 16), {}, text);
  assert.equal(keepDraft(hostile, "key", "1.5", 16, { words: "w", left: 3 }), true, text);
  assert.deepEqual(readDraft(hostile, "key", "1.5", 16), { words: "w", left: 3 }, text);
}
const long = storage(JSON.stringify({ interview: "1.5", drafts: { 16: { words: "x".repeat(9000), left: "9" }, 3: { left: 1e9 } } }));
assert.deepEqual(readDraft(long, "key", "1.5", 16), { words: "x".repeat(4000) });
assert.deepEqual(readDraft(long, "key", "1.5", 3), {});

const blocked = () => {
  throw new Error("SecurityError");
};
assert.deepEqual(readDraft(blocked, "key", "1.5", 16), {});
assert.equal(keepDraft(blocked, "key", "1.5", 16, {}), false);
