// The way from a key of the page to the chart that is drawn there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { classOf } from "../../../inspector/components/snapshot/picture.js";

test("a key becomes the class that Streamlit gives the chart's element", () => {
  assert.equal(classOf("by-layer"), "st-key-by-layer");
  assert.equal(classOf(" why vectors.2 "), "st-key-why-vectors-2");
});
