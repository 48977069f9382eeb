// Which of its like a token is, and how that is written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords, ordinals, spelled } from "../../../inspector/components/head/names.js";

test("tokens that repeat are counted from 1, the others are 0", () => {
  assert.deepEqual(ordinals(["the", "cat", "the", "dog", "the"]), [1, 0, 2, 0, 3]);
  assert.deepEqual(ordinals([]), []);
  assert.deepEqual(ordinals(["constructor", "__proto__", "__proto__", ""]), [0, 1, 2, 0]);
});

test("of a decoder's query the token that it reads counts", () => {
  assert.deepEqual(ordinals(["the → cat", "cat → the", "the → …"]), [1, 0, 2]);
});

test("numbers end as in a sentence", () => {
  const written = { 0: "", 1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st" };
  for (const [number, text] of Object.entries({ ...written, 112: "112th", 1003: "1,003rd" })) {
    assert.equal(inWords(Number(number)), text);
  }
  assert.equal(spelled("lazy", 37), "lazy 37th");
  assert.equal(spelled("lazy", 0), "lazy");
});
