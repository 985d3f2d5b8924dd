import assert from "node:assert/strict";
import { test } from "node:test";

import {
  axisTicks,
  largestOf,
  linePath,
  smoothed,
  stepsPath,
} from "../../../../src/spheremix/report/page/lib/drawing.js";

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

test("smoothing is the mean with all neighbours, and the ends have none", () => {
  assert.deepEqual(smoothed([3, 0, 0, 6], 1), [null, 1, 2, null]);
  assert.deepEqual(smoothed([3, 0], 0), [3, 0]);
  assert.deepEqual(smoothed([3, 0], 1), [null, null]);
  assert.equal(stepsPath([null, 2], 20, 10, 2), stepsPath([0, 2], 20, 10, 2));
});

function monthsFrom(year, month, n) {
  return Array.from({ length: n }, (_, i) => {
    const at = 12 * year + month - 1 + i;
    return `${Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`;
  });
}

test("the axis of months is marked at January, that of years at round years", () => {
  assert.deepEqual(axisTicks(monthsFrom(2001, 11, 30), 16), [
    { at: 2, text: "2002" },
    { at: 14, text: "2003" },
    { at: 26, text: "2004" },
  ]);
  const few = axisTicks(monthsFrom(2001, 11, 120), 4).map(({ text }) => text);
  assert.deepEqual(few, ["2005", "2010"]);
  const years = Array.from({ length: 60 }, (_, i) => String(1951 + i));
  const marks = axisTicks(years, 16).map(({ text }) => text);
  assert.deepEqual(marks.slice(0, 3), ["1955", "1960", "1965"]);
});

test("months of one year are marked by their names", () => {
  assert.deepEqual(axisTicks(monthsFrom(2020, 3, 6), 4), [
    { at: 0, text: "2020-03" },
    { at: 3, text: "2020-06" },
  ]);
  assert.deepEqual(axisTicks([], 4), []);
});

test("a curve has a gap where there is no value, and what rises far above is cut off", () => {
  assert.equal(linePath([0, 0.5, 1], [1, null, 0], 10, 10, false), "M0.0,0.0M10.0,10.0");
  assert.equal(linePath([0, 0.5, 1], [0, 1, 2], 10, 10, false), "M0.0,10.0L5.0,5.0L10.0,0.0");
  assert.equal(linePath([0, 1], [null, null], 10, 10, true), "");
  const cut = linePath([0, 0.25, 0.5, 0.75, 1], [4, 2, 0, 4, 104], 10, 10, true);
  assert.equal(cut.split("L").at(-1), "10.0,-250.0");
});
