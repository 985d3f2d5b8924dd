import assert from "node:assert/strict";
import { test } from "node:test";

import { largestOf, smoothed, stepsPath } from "../../../src/spheremix/report/page/time_drawing.js";

test("every period is a step as high as its number", () => {
  assert.equal(
    stepsPath([1, 0, 2], 30, 10, 2),
    "M0,10L0.00,5.00L10.00,5.00L10.00,10.00L20.00,10.00L20.00,0.00L30.00,0.00L30,10Z",
  );
});

test("of more periods than pixels, the largest of each pixel is kept", () => {
  const values = new Array(231).fill(0);
  for (const i of [0, 77, 230]) values[i] = 5;
  const seen = largestOf(values, 64);
  assert.equal(seen.length, 64);
  assert.equal(seen.filter((value) => value === 5).length, 3);
  assert.deepEqual(largestOf([1, 2], 64), [1, 2]);
});

test("smoothing is the mean with the neighbours that there are", () => {
  assert.deepEqual(smoothed([3, 0, 0, 6], 1), [1.5, 1, 2, 3]);
  assert.deepEqual(smoothed([3, 0], 0), [3, 0]);
});
