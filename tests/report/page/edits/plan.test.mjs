import assert from "node:assert/strict";
import { test } from "node:test";

import {
  applyEdits,
  idsOfCut,
  labelsAfter,
  recordOf,
} from "../../../../src/spheremix/report/page/edits/plan.js";
import { createGroupings } from "../../../../src/spheremix/report/page/groups/grouping.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent, smallTree } from "../small_content.mjs";

// Groups 0 and 1 are leaves 0 and 1; group 2 is node 4, of the leaves 2 and 3; node 5 has groups 0 and 1.
function small(more = {}) {
  const content = smallContent(
    [
      [0.9, 0.1, 0, 0.2],
      [0, 0.8, 0.1, 0.2],
      [0, 0, 0.9, 0.2],
    ],
    {
      run: "abc",
      documents: 6,
      tree: smallTree(),
      names: ["zero", "one", "two"],
      given_names: [],
      stability: { groups: [0.9, 0.5, 0.7] },
      rows: {
        indptr: Uint32Array.of(0, 1, 2, 3, 4, 5, 6),
        words: Uint16Array.of(0, 0, 1, 3, 2, 2),
        values: Float32Array.of(1, 1, 1, 1, 1, 1),
        scale: null,
        n_words: Uint32Array.of(1, 1, 1, 1, 1, 1),
      },
      ...more,
    },
  );
  content.labels.set([0, 0, 1, 2, 2, 2]);
  content.steps[0].sizes = [2, 1, 3];
  content.documents = {
    id: ["a", "b", "c", "d", "e", "f"],
    group: Uint16Array.of(0, 0, 1, 2, 2, 2),
    leaf: Uint16Array.of(0, 0, 1, 2, 3, 3),
  };
  return content;
}

function shown(content, list) {
  const plan = applyEdits(content, list);
  const grouping = createGroupings(content, createSteps(content), () => plan)({ cut: 0, step: 0 });
  return { plan, grouping, record: recordOf(content, plan) };
}

const brief = ({ groups }) => groups.map(({ id, size }) => [id, size]);

test("without edits the groups are those of the model", () => {
  const { plan, grouping, record } = shown(small(), []);
  assert.equal(plan.changed, false);
  assert.equal(grouping.exact, true);
  assert.equal(record.nodes, undefined);
  assert.deepEqual(brief(grouping), [
    [2, 3],
    [0, 2],
    [1, 1],
  ]);
});

test("a merge is the union: documents, size, the first number; others keep name, number and colour", () => {
  const content = small();
  const before = shown(content, []).grouping;
  const { grouping, record } = shown(content, [{ kind: "merge", groups: [1, 2] }]);
  assert.deepEqual(brief(grouping), [
    [1, 4],
    [0, 2],
  ]);
  assert.deepEqual([...grouping.labels], [0, 0, 1, 1, 1, 1]);
  assert.equal(grouping.byId.get(1).name(), "one + two");
  assert.deepEqual(grouping.byId.get(1).words.toSorted(), ["word1", "word2", "word3"]);
  assert.deepEqual(grouping.byId.get(1).colour, before.byId.get(1).colour);
  for (const key of ["colour", "size", "words", "stability"])
    assert.deepEqual(grouping.byId.get(0)[key], before.byId.get(0)[key]);
  assert.deepEqual(record.merge, [[1, 2]]);
  assert.equal(record.nodes, undefined);
  assert.equal(grouping.holderOf(2), 1);
});

test("groups that the tree joins have the name and the words of the tree", () => {
  const { grouping } = shown(small(), [{ kind: "merge", groups: [0, 1] }]);
  assert.equal(grouping.byId.get(0).name(), "node 5");
  assert.deepEqual(grouping.byId.get(0).words, ["word of 5"]);
});

test("a split has the two parts of the tree: the larger one keeps the number", () => {
  const { grouping, record } = shown(small(), [
    { kind: "split", group: 2 },
    { kind: "name", group: 6, name: "small" },
  ]);
  assert.deepEqual(brief(grouping), [
    [2, 2],
    [6, 1],
    [0, 2],
    [1, 1],
  ]);
  assert.deepEqual([...grouping.labels], [0, 0, 1, 6, 2, 2]);
  assert.equal(grouping.byId.get(2).name(), "node 3");
  assert.equal(grouping.byId.get(6).name(), "small");
  assert.deepEqual(record.nodes, [0, 1, 2, 3]);
  assert.deepEqual(record.names, { 2: "small" });
  assert.deepEqual(record.split, []);
});

test("the words of a part are those of its documents, within the words of its group", () => {
  const { grouping } = shown(small(), [{ kind: "split", group: 2 }]);
  const { step, content } = grouping.profile();
  const row = (id) => grouping.groups.findIndex((one) => one.id === id);
  const words = (id) => content.words.filter((_, j) => step.weight(row(id), j) !== 0);
  assert.deepEqual(words(6), ["word3"]); // of the document d
  assert.deepEqual(words(2), ["word2"]);
  assert.deepEqual(words(0), ["word0", "word1", "word3"]);
});

test("the weights of a union are those of the sum of its groups", () => {
  const content = small({ masses: [0.2, 0.1, 0.3] });
  const { grouping } = shown(content, [{ kind: "merge", groups: [0, 2] }]);
  const { step } = grouping.profile();
  const row = grouping.groups.findIndex(({ id }) => id === 0);
  const sum = [0.2 * 0.9, 0.2 * 0.1, 0.3 * 0.9, 0.2 * 0.2 + 0.3 * 0.2];
  const length = Math.hypot(...sum);
  sum.forEach((value, j) => assert.ok(Math.abs(step.weight(row, j) - value / length) < 0.02));
  assert.deepEqual(step.entry.n_only_here_words[row], 1); // word0: word1 is of group 1 too
});

test("a name that people gave stays with a merge and with the larger part; others are of the tree", () => {
  const content = small({ given_names: [2] });
  assert.equal(
    shown(content, [{ kind: "merge", groups: [1, 2] }])
      .grouping.byId.get(1)
      .name(),
    "two",
  );
  const { grouping } = shown(content, [{ kind: "split", group: 2 }]);
  assert.deepEqual([grouping.byId.get(2).name(), grouping.byId.get(6).name()], ["two", "node 2"]);
  const { record } = shown(content, [
    { kind: "name", group: 1, name: "mine" },
    { kind: "merge", groups: [1, 2] },
  ]);
  assert.deepEqual(record.names, { 1: "mine" });
});

test("a group without parts in the tree is split when it is fitted", () => {
  const { plan, record, grouping } = shown(small(), [{ kind: "split", group: 0 }]);
  assert.equal(plan.groups.find(({ id }) => id === 0).divided, true);
  assert.deepEqual(record.split, [0]);
  assert.equal(record.nodes, undefined);
  assert.equal(grouping.groups.length, 3);
});

test("documents move, and go with a merge of where they are", () => {
  const move = { kind: "move", documents: ["a", "unknown"], group: 2 };
  const { grouping, record } = shown(small(), [move]);
  assert.deepEqual([...grouping.labels], [2, 0, 1, 2, 2, 2]);
  assert.deepEqual(brief(grouping), [
    [2, 4],
    [0, 1],
    [1, 1],
  ]);
  assert.deepEqual(record.move, { a: 2 });
  const both = shown(small(), [move, { kind: "merge", groups: [1, 2] }]);
  assert.deepEqual([...both.grouping.labels], [1, 0, 1, 1, 1, 1]);
  assert.deepEqual(both.record.move, { a: 1 });
});

test("a word that is dropped is in no list", () => {
  const drop = { kind: "drop", word: "word3" };
  for (const list of [[drop], [drop, { kind: "merge", groups: [1, 2] }]]) {
    const { grouping } = shown(small(), list);
    assert.ok(grouping.groups.every(({ words }) => !words.includes("word3")));
  }
});

test("another number of groups comes first, and its groups are edited as all others", () => {
  const content = small();
  const fix = { kind: "cut", nodes: [4, 5] };
  assert.deepEqual(
    [...idsOfCut(content, [4, 5])],
    [
      [4, 2],
      [5, 0],
    ],
  );
  const { grouping, plan, record } = shown(content, [
    fix,
    { kind: "name", group: 0, name: "both" },
  ]);
  assert.equal(plan.cut, 2);
  assert.deepEqual(brief(grouping), [
    [2, 3],
    [0, 3],
  ]);
  assert.deepEqual(record.merge, [[0, 1]]); // in numbers of groups: no part of any is needed
  assert.deepEqual(record.names, { 0: "both" });
  const fine = shown(content, [
    { kind: "cut", nodes: [0, 1, 2, 3] },
    { kind: "merge", groups: [0, 6] },
  ]);
  assert.deepEqual(fine.record.nodes, [0, 1, 2, 3]);
  assert.deepEqual(fine.record.merge, [[0, 2]]);
  assert.deepEqual([...fine.grouping.labels], [0, 0, 1, 0, 2, 2]);
});

test("a cut that leaves documents out, or has them twice, is not used", () => {
  for (const nodes of [[4], [4, 5, 0], [6, 6], [99]]) {
    const { plan } = shown(small(), [{ kind: "cut", nodes }]);
    assert.deepEqual(plan.used, [false]);
    assert.equal(plan.changed, false);
  }
});

test("documents that belong nowhere stay there, unless they are moved", () => {
  const content = small();
  const plan = applyEdits(content, [
    { kind: "merge", groups: [0, 1] },
    { kind: "move", documents: ["f"], group: 0 },
  ]);
  assert.deepEqual([...labelsAfter(content, plan, [0, 0, 1, 2, 3, 3])], [0, 0, 0, 2, 3, 0]);
});

test("parts of a split go together again, and are divided again", () => {
  const split = { kind: "split", group: 2 };
  const again = shown(small(), [split, { kind: "merge", groups: [2, 6] }]);
  assert.deepEqual(brief(again.grouping), brief(shown(small(), []).grouping));
  assert.equal(again.plan.changed, false);
  assert.deepEqual(shown(small(), [split, split]).record.split, [3]);
});
