import assert from "node:assert/strict";
import { test } from "node:test";

import { contributionsOf } from "../../../../src/spheremix/report/page/documents/reader.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "../small_content.mjs";

const prototypes = [
  [0.5, 0, 0.25, 0],
  [0.125, 0.5, 0, 0],
];
const scored = createSteps(smallContent(prototypes, { kappas: [8, 4] }))(0);
const rows = {
  indptr: Uint32Array.of(0, 1, 4),
  words: Uint16Array.of(3, 0, 1, 2),
  values: Uint16Array.of(65535, 65535, 13107, 26214),
  scale: Float32Array.of(1, 0.5),
  n_words: Uint32Array.of(1, 9),
};

test("words of neither group are left out; without a rival its terms are zero", () => {
  const others = contributionsOf(rows, scored, 1, 0, 1).map(({ j, other }) => [
    j,
    other.toFixed(6),
  ]);
  assert.deepEqual(Object.fromEntries(others), { 0: "0.250000", 1: "0.200000", 2: "0.000000" });
  assert.deepEqual(contributionsOf(rows, scored, 0, 0, 1), []);
  const alone = contributionsOf(rows, scored, 1, 0, -1);
  assert.deepEqual(
    alone.map(({ j, other }) => [j, other]),
    [
      [0, 0],
      [2, 0],
    ],
  );
});

test("values without a scale are the coordinates themselves", () => {
  const plain = { ...rows, scale: null, values: Float32Array.of(0.5, -0.5, 0, 0) };
  const [term] = contributionsOf(plain, scored, 1, 0, -1);
  assert.deepEqual([term.j, term.x, term.own], [0, -0.5, -2]);
});
