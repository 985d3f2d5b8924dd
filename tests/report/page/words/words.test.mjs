import assert from "node:assert/strict";
import { test } from "node:test";

import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import * as words from "../../../../src/spheremix/report/page/words/words.js";
import { drawer, smallContent } from "../small_content.mjs";

// Word 0 is in all groups, 1 in two, 2 and 3 in the first, 4 in the last, 5 in none.
const prototypes = [
  [0.1, 0.2, 0.4, -0.8, 0, 0],
  [0.3, 0.1, 0, 0, 0, 0],
  [0.2, 0, 0, 0, 0.9, 0],
];
const content = smallContent(prototypes);
const step = createSteps(content)(0);

test("words are of one group only, shared or common, the most characteristic first", () => {
  assert.deepEqual(words.onlyHereWords(content, step, 0, 9), [3, 2]);
  assert.deepEqual(words.onlyHereWords(content, step, 1, 9), []);
  assert.deepEqual(words.sharedWords(content, step, 0, 9), [1]);
  assert.deepEqual(words.commonWords(content, step, 2, 9), [0]);
  const roles = [0, 1, 2, 3, 4, 5].map((j) => words.roleOf(step, j, 0));
  assert.deepEqual(roles, ["common", "shared", "own", "own", "other", "none"]);
  assert.deepEqual(words.sharers(step, 1), [0, 1]);
});

test("the most characteristic words depend on how much of a word is in the group", () => {
  const weighted = smallContent(prototypes, { masses: [0.2, 0.3, 0.5] });
  assert.deepEqual(words.characteristicWords(weighted, createSteps(weighted)(0), 0, 3), [3, 2, 1]);
  assert.deepEqual(words.characteristicWords(content, step, 2, 9), [4, 0]);
});

test("a word of few documents is not listed as one of this group only", () => {
  const bounded = smallContent(prototypes, { only_here: Uint8Array.of(0, 0, 1, 0, 1, 0) });
  const first = createSteps(bounded)(0);
  assert.deepEqual(words.onlyHereWords(bounded, first, 0, 9), [2]);
  assert.deepEqual(words.onlyHereWords(bounded, first, 0, 9, true), [3, 2]);
});

test("of equal weights, those that stay longer on the path come first", () => {
  const equal = smallContent([[1, 1, 1, 1]], {
    exit_betas: Float32Array.of(1, Infinity, 2, Infinity),
  });
  const found = words.rankedWords(equal, createSteps(equal)(0), 0, () => true);
  assert.deepEqual(found, [1, 3, 2, 0]);
});

test("a few of many words are the first of all of them", () => {
  const draw = drawer(3);
  const row = Array.from({ length: 500 }, () => Math.fround(Math.round(20 * draw()) / 20));
  const many = smallContent([row]);
  const only = createSteps(many)(0);
  const every = words.rankedWords(many, only, 0, () => true);
  const slow = [...row.keys()].filter((j) => row[j]).sort((a, b) => row[b] - row[a] || a - b);
  assert.deepEqual(every, slow);
  for (const limit of [1, 5, 30, 400])
    assert.deepEqual(
      words.rankedWords(many, only, 0, () => true, limit),
      every.slice(0, limit),
    );
});
