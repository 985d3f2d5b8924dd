import assert from "node:assert/strict";
import { test } from "node:test";

import {
  byShare,
  passagesOf,
  sharesOf,
} from "../../../../src/spheremix/report/page/documents/passages.js";

const passages = {
  document: Uint32Array.of(0, 1, 1, 1, 2),
  weight: Float32Array.of(1, 0.5, 0.125, 0.375, 1),
  n_documents: 5,
  n_grouped: 3,
  shares: Uint16Array.of(500, 9500, 2500, 7500, 10000, 0), // of two groups, in ten-thousandths
  labels: null,
  date: null,
};
const documents = { passages, group: Uint16Array.of(1, 1, 0, 1, 0) };

/** @param {[number, number][]} found @returns {[number, number][]} */
const rounded = (found) => found.map(([id, share]) => [id, Number(share.toFixed(9))]);

test("a passage knows the other passages of its document", () => {
  assert.deepEqual(passagesOf(passages, 0), { first: 0, end: 1 });
  for (const i of [1, 2, 3]) assert.deepEqual(passagesOf(passages, i), { first: 1, end: 4 });
  assert.deepEqual(passagesOf(passages, 4), { first: 4, end: 5 });
});

test("the shares of a document are those of the tables, whatever its passages are labelled", () => {
  assert.deepEqual(rounded(sharesOf(documents, documents.group, 2)), [
    [1, 0.75],
    [0, 0.25],
  ]);
  assert.deepEqual(rounded(sharesOf(documents, documents.group, 0)), [
    [1, 0.95],
    [0, 0.05],
  ]);
});

test("groups that are put together have the sums of the shares", () => {
  const labels = Uint16Array.of(7, 7, 7, 7, 7);
  assert.deepEqual(rounded(sharesOf(documents, labels, 3)), [[7, 1]]);
});

test("of a group that is divided, each part has its part of the share", () => {
  const labels = Uint16Array.of(4, 4, 9, 5, 9); // group 1 is 4 and 5, group 0 is 9
  assert.deepEqual(rounded(sharesOf(documents, labels, 1)), [
    [4, 0.428571429],
    [5, 0.321428571],
    [9, 0.25],
  ]);
  // Document 0 has no passage of group 0: its share goes where all passages of the group are.
  assert.deepEqual(rounded(sharesOf(documents, labels, 0)), [
    [4, 0.95],
    [9, 0.05],
    [5, 0],
  ]);
});

test("each document is listed once, the one with the largest share of its group first", () => {
  assert.deepEqual(byShare(documents, documents.group, [2, 4]), [4, 2]);
  assert.deepEqual(byShare(documents, documents.group, [3, 1, 0]), [0, 3]);
});
