import assert from "node:assert/strict";
import { test } from "node:test";

import { clusterOrder, readTree } from "../../../src/spheremix/report/page/tree.js";
import { smallTree } from "./small_content.mjs";

test("a cut undoes the last merges, and its groups stand in the order of the leaves", () => {
  const { order, cut, leavesOf } = readTree(smallTree());
  assert.deepEqual(order, [3, 2, 0, 1]); // the branch of the largest cluster first
  assert.deepEqual(cut(1), [6]);
  assert.deepEqual(cut(2), [4, 5]);
  assert.deepEqual(cut(3), [4, 0, 1]);
  assert.deepEqual(cut(4), [3, 2, 0, 1]);
  assert.deepEqual(leavesOf(6), order);
  assert.deepEqual(leavesOf(5), [0, 1]);
});

test("the largest cluster is first, also where its branch is the smaller one", () => {
  const tree = { ...smallTree(), sizes: [4, 4, 2, 3, 5, 8, 13] };
  const { order, cut } = readTree(tree);
  assert.deepEqual(cut(3), [4, 0, 1]); // 5 documents, then 4 and 4
  assert.deepEqual(order, [3, 2, 0, 1]);
});

test("each cut has every leaf once", () => {
  const { cut, leavesOf } = readTree(smallTree());
  for (const m of [1, 2, 3, 4]) {
    const leaves = cut(m).flatMap(leavesOf);
    assert.equal(cut(m).length, m);
    assert.deepEqual(leaves.toSorted(), [0, 1, 2, 3]);
  }
});

test("clusters follow the leaves; one without documents comes last", () => {
  const tree = smallTree();
  const { order } = readTree(tree);
  assert.deepEqual(clusterOrder(tree, order, 4), [2, 0, 1, 3]);
});
