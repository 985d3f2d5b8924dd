import assert from "node:assert/strict";
import { test } from "node:test";

import {
  createGroupings,
  nearestGroup,
} from "../../../../src/spheremix/report/page/groups/grouping.js";
import { groupOrder, readTree } from "../../../../src/spheremix/report/page/groups/tree.js";
import { groupColour } from "../../../../src/spheremix/report/page/lib/colours.js";
import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent, smallTree } from "../small_content.mjs";

function grouped() {
  const content = smallContent(
    [
      [0.9, 0.1, 0, 0.2],
      [0, 0.8, 0.1, 0.2],
      [0, 0, 0.9, 0.2],
    ],
    {
      documents: 6,
      tree: smallTree(),
      names: ["zero", "one", "two"],
      stability: { groups: [0.9, 0.5, 0.7] },
    },
  );
  content.labels.set([0, 0, 1, 2, 2, 2]);
  content.documents = { leaf: Uint16Array.of(0, 0, 1, 2, 3, 3) };
  return { content, groupsAt: createGroupings(content, createSteps(content)) };
}

test("without a cut the groups are the groups, in the order of the tree", () => {
  const { groupsAt } = grouped();
  const { exact, groups, labels } = groupsAt({ cut: 0, step: 0 });
  assert.equal(exact, true);
  assert.deepEqual(
    groups.map(({ id }) => id),
    [2, 0, 1],
  );
  assert.deepEqual([...labels], [0, 0, 1, 2, 2, 2]);
  assert.deepEqual(groups[1].words.slice(0, 1), ["word0"]);
  assert.equal(groups[1].stability, 0.9);
});

test("groups of a run that was brought up to date keep their colours", () => {
  const { content, groupsAt } = grouped();
  const before = groupsAt({ cut: 0, step: 0 }).groups.map(({ colour }) => colour);
  content.edits = {
    colours: [
      [4, 0],
      [2, 1],
      [7, 0],
    ],
  };
  const again = createGroupings(content, createSteps(content));
  const { groups } = again({ cut: 0, step: 0 });
  assert.deepEqual(
    groups.map(({ id, colour }) => [id, colour]),
    [2, 0, 1].map((k) => [k, groupColour(...content.edits.colours[k])]),
  );
  assert.notDeepEqual(
    groups.map(({ colour }) => colour),
    before,
  );
  assert.deepEqual(again({ cut: 2, step: 0 }).byId.get(4).colour, groupColour(7, 0));
});

test("a node that is a group has its name, as it is now", () => {
  const { content, groupsAt } = grouped();
  const { exact, byId } = groupsAt({ cut: 2, step: 0 });
  assert.equal(exact, false);
  content.names[2] = "renamed";
  assert.equal(byId.get(4).name(), "renamed");
  assert.equal(byId.get(5).name(), "node 5");
});

test("groups together have the colour of the first of them, parts have shades of theirs", () => {
  const { groupsAt } = grouped();
  const colours = (cut) =>
    new Map(groupsAt({ cut, step: 0 }).groups.map(({ id, colour }) => [id, colour]));
  const [whole, pair, fine] = [colours(0), colours(2), colours(4)];
  assert.deepEqual(pair.get(4), whole.get(2)); // the same group
  assert.deepEqual(pair.get(5), whole.get(0)); // groups 0 and 1 together
  assert.deepEqual(fine.get(3), whole.get(2)); // the first part of group 2
  assert.deepEqual(fine.get(2), groupColour(2, 1)); // its other part
  assert.deepEqual([fine.get(0), fine.get(1)], [whole.get(0), whole.get(1)]);
});

test("another number of groups goes to the group with most of the documents", () => {
  const { groupsAt } = grouped();
  const groups = groupsAt({ cut: 0, step: 0 });
  const pair = groupsAt({ cut: 2, step: 0 });
  assert.equal(nearestGroup(groups, 1, pair), 5);
  assert.equal(nearestGroup(pair, 5, groups), 0); // two of its three documents
  assert.equal(nearestGroup(pair, 99, groups), 2); // nobody's: the first one
});

test("a cut undoes the last merges, and its groups stand in the order of the leaves", () => {
  const { order, cut, leavesOf } = readTree(smallTree());
  assert.deepEqual(order, [3, 2, 0, 1]); // the branch of the largest group first
  assert.deepEqual(cut(1), [6]);
  assert.deepEqual(cut(2), [4, 5]);
  assert.deepEqual(cut(3), [4, 0, 1]);
  assert.deepEqual(cut(4), [3, 2, 0, 1]);
  assert.deepEqual(leavesOf(6), order);
  assert.deepEqual(leavesOf(5), [0, 1]);
});

test("the largest group is first, also where its branch is the smaller one", () => {
  const tree = { ...smallTree(), sizes: [4, 4, 2, 3, 5, 8, 13] };
  const { order, cut } = readTree(tree);
  assert.deepEqual(cut(3), [4, 0, 1]); // 5 documents, then 4 and 4
  assert.deepEqual(order, [3, 2, 0, 1]);
});

test("groups follow the leaves; one without documents comes last", () => {
  const tree = smallTree();
  const { order } = readTree(tree);
  assert.deepEqual(groupOrder(tree, order, 4), [2, 0, 1, 3]);
});
