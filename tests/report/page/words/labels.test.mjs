import assert from "node:assert/strict";
import { test } from "node:test";

import { nameLines } from "../../../../src/spheremix/report/page/words/labels.js";

const context = { measureText: (text) => ({ width: 6 * text.length }) };
const lines = (name, height) => nameLines(context, name, 120, height, 12); // 20 letters a line

test("a name that fits stays on one line", () => {
  assert.deepEqual(lines("film actor", 60), ["film actor"]);
});

test("a long name goes on as many lines as its row has, and is cut only at the end of the last", () => {
  const name = "statistic hypothesis drawn at random";
  assert.deepEqual(lines(name, 42), ["statistic hypothesis", "drawn at random"]);
  assert.deepEqual(lines(name, 20), ["statistic hypothesi…"]);
  const long = `${name} then many more words`;
  assert.deepEqual(lines(long, 28), ["statistic hypothesis", "drawn at random the…"]);
});

test("one word that is too wide for a line is cut", () => {
  assert.deepEqual(lines("incomprehensibilities again", 42), ["incomprehensibiliti…", "again"]);
});
