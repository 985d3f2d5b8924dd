import assert from "node:assert/strict";
import { test } from "node:test";

import { matchingGroups, matchingWords } from "../../../../src/spheremix/report/page/app/search.js";

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

test("groups are found by their names, then by their words", () => {
  const group = (name, ...listed) => ({ name: () => name, words: listed });
  const groups = [group("Money", "bank", "stock"), group("the Bank", "x"), group("film", "actor")];
  assert.deepEqual(matchingGroups(groups, "bank"), [groups[1], groups[0]]);
  assert.deepEqual(matchingGroups(groups, "ank"), [groups[1]]); // words by their beginnings
});
