import assert from "node:assert/strict";
import { test } from "node:test";

import {
  byShare,
  passagesOf,
  sharesOf,
} from "../../../../src/spheremix/report/page/documents/passages.js";

const passages = {
  document: Uint32Array.of(0, 1, 1, 1, 4),
  weight: Float32Array.of(1, 0.5, 0.125, 0.375, 1),
  n_documents: 5,
};

test("a passage knows the other passages of its document", () => {
  assert.deepEqual(passagesOf(passages, 0), { first: 0, end: 1 });
  for (const i of [1, 2, 3]) assert.deepEqual(passagesOf(passages, i), { first: 1, end: 4 });
  assert.deepEqual(passagesOf(passages, 4), { first: 4, end: 5 });
});

test("the shares of a document are those of the words of its passages", () => {
  const labels = Uint8Array.of(2, 7, 3, 7, 0);
  assert.deepEqual(sharesOf(passages, labels, 2), [
    [7, 0.875],
    [3, 0.125],
  ]);
  assert.deepEqual(sharesOf(passages, labels, 4), [[0, 1]]);
});

test("each document is listed once, the one with the largest share of its group first", () => {
  const labels = Uint8Array.of(2, 7, 2, 7, 2);
  // Document 1 has 1/8 of group 2, documents 0 and 4 all of it: they stay as typical as they are.
  assert.deepEqual(byShare(passages, labels, [2, 4, 0]), [4, 0, 2]);
  assert.deepEqual(byShare(passages, labels, [3, 1]), [3]);
});
