import assert from "node:assert/strict";
import { test } from "node:test";

import {
  createGroupings,
  nearestGroup,
  nowhereGroup,
  placeOf,
} from "../../../../src/spheremix/report/page/groups/grouping.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent, smallTree } from "../small_content.mjs";

const K = 3;

function content() {
  const small = smallContent(
    [
      [0.9, 0.1, 0],
      [0, 0.8, 0.1],
      [0.2, 0, 0.9],
    ],
    { documents: 6, tree: smallTree() },
  );
  small.model.has_nowhere = true;
  small.labels = Uint8Array.of(0, 0, 1, K, K, 2);
  small.documents = {
    id: ["a", "b", "c", "d", "e", "f"],
    group: Uint16Array.of(0, 0, 1, K, K, 2),
    second_group: Uint16Array.of(1, 1, 0, 2, 0, 1),
    leaf: Uint16Array.of(0, 0, 1, 4, 4, 2), // 4: no leaf
    posterior: new Float32Array(6),
    margin: new Float32Array(6),
    log_odds: new Float32Array(6),
    cosine: new Float32Array(6),
  };
  return small;
}

test("documents that belong nowhere are an entry beside the groups, at the end of the list", () => {
  const small = content();
  const groupsAt = createGroupings(small, createSteps(small));
  for (const cut of [0, 2]) {
    const found = groupsAt({ cut, step: 0 });
    assert.equal(found.groups.length, cut || K);
    assert.equal(found.nowhere.size, 2);
    assert.equal(found.listed.at(-1), found.nowhere);
    assert.equal(found.byId.get(found.labels[3]).name(), "belongs nowhere");
    assert.ok(!found.groups.some(({ id }) => id === found.nowhere.id));
  }
  const [few, many] = [groupsAt({ cut: 2, step: 0 }), groupsAt({ cut: 0, step: 0 })];
  assert.equal(nearestGroup(few, few.nowhere.id, many), many.nowhere.id);
});

test("without them there is no such entry", () => {
  assert.equal(nowhereGroup({ model: { has_nowhere: false } }, K, Uint8Array.of(0, 1)), null);
  assert.equal(nowhereGroup({ model: { has_nowhere: true } }, K, Uint8Array.of(0, 1)).size, 0);
});

test("the rival is the second group, or the one a document has left at this step", () => {
  const at = (label) => ({ labels: Uint8Array.of(label), K });
  const documents = { group: Uint16Array.of(0), second_group: Uint16Array.of(2) };
  assert.deepEqual(placeOf(documents, at(0), 0), { k: 0, rival: 2 });
  assert.deepEqual(placeOf(documents, at(1), 0), { k: 1, rival: 0 });
  assert.deepEqual(placeOf({ ...documents, second_group: null }, at(0), 0), { k: 0, rival: -1 });
});

test("a document that belongs nowhere is explained by the group that is nearest", () => {
  const at = (label) => ({ labels: Uint8Array.of(label), K });
  const lost = { group: Uint16Array.of(K), second_group: Uint16Array.of(2) };
  assert.deepEqual(placeOf(lost, at(K), 0), { k: 2, rival: -1 });
  assert.deepEqual(placeOf(lost, at(2), 0), { k: 2, rival: -1 }); // at this step it has a group
  assert.deepEqual(placeOf(lost, at(1), 0), { k: 1, rival: 2 });
  const kept = { group: Uint16Array.of(0), second_group: Uint16Array.of(2) };
  assert.deepEqual(placeOf(kept, at(K), 0), { k: 0, rival: -1 });
});
