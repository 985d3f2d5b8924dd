import assert from "node:assert/strict";
import { test } from "node:test";

import { matchingWords } from "../../../../src/spheremix/report/page/app/search.js";

const words = ["banker", "bank", "embankment", "constructor", "ban"];

test("words that begin like this come first, the shortest first, then those that contain it", () => {
  assert.deepEqual(matchingWords(words, "bank", null), [1, 0, 2]);
  assert.deepEqual(matchingWords(words, "ba", null), [4, 1, 0]); // two letters: beginnings only
  assert.deepEqual(matchingWords(words, "zebra", null), []);
});

test("the word of an inflected form is found first, and once", () => {
  const forms = new Map([
    ["banks", 1],
    ["bank", 2],
    ["first", 0],
  ]);
  assert.deepEqual(matchingWords(words, "banks", forms), [1]);
  assert.deepEqual(matchingWords(words, "bank", forms), [2, 1, 0]);
  assert.deepEqual(matchingWords(words, "first", forms), [0]);
  assert.deepEqual(matchingWords(words, "constructor", forms), [3]);
});
