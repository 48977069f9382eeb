// Which head of the page is open while the server's answers come late.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = new EventTarget();
const page = new EventTarget();
globalThis.addEventListener = page.addEventListener.bind(page);
const { opened } = await import("../../../inspector/components/opened.js");

const heads = { view: "text", lists: () => true, at: (place) => ({ place }), neighbour: () => null };

/** The head 2.1, which the server drew, and then the head 4.6, which the reader opened in the browser. */
function asked() {
  opened.settle();
  opened.heads = heads;
  opened.answered([2, 1], "text");
  assert.ok(opened.open([4, 6], () => {}));
}

test("an answer for a head that is no longer open is dropped", () => {
  asked();
  assert.equal(opened.answered([2, 1], "text"), false);
  assert.deepEqual(opened.place, [4, 6]);
  opened.settle();
});

test("after Back the head that the server draws is the open one", () => {
  asked();
  page.dispatchEvent(new Event("popstate"));
  assert.equal(opened.answered([2, 1], "text"), true);
  assert.deepEqual(opened.place, [2, 1]);
});
