import assert from "node:assert/strict";
import { test } from "node:test";

import { createSteps, groupsOf } from "../../../../src/spheremix/report/page/words/steps.js";
import { drawer, smallContent } from "../small_content.mjs";

// The order of the paper, word by word: number of groups, which groups, then weight.
function slowOrder(prototypes, groups) {
  const W = prototypes[0].length;
  const described = Array.from({ length: W }, (_, j) => {
    const pattern = groups.map((k) => (prototypes[k][j] ? "1" : "0")).join("");
    const count = pattern.replaceAll("0", "").length;
    return {
      j,
      count,
      pattern,
      weight: prototypes.reduce((sum, row) => sum + Math.abs(row[j]), 0),
    };
  });
  return described
    .sort(
      (a, b) =>
        b.count - a.count ||
        (a.pattern < b.pattern ? 1 : a.pattern > b.pattern ? -1 : 0) ||
        b.weight - a.weight ||
        a.j - b.j,
    )
    .map(({ j }) => j);
}

function randomPrototypes(K, W, share, seed) {
  const draw = drawer(seed);
  const rows = Array.from({ length: K }, () =>
    Array.from({ length: W }, () => (draw() < share ? Math.fround(draw() - 0.3) : 0)),
  );
  rows[0][0] = 0.5;
  return rows;
}

for (const [K, W, share] of [
  [1, 5, 0.5],
  [3, 40, 0.4],
  [6, 80, 0.5],
  [50, 120, 0.97], // more groups than one number has bits
]) {
  test(`${W} words of ${K} groups stand in the order of the paper`, () => {
    const prototypes = randomPrototypes(K, W, share, K);
    const weights = Array.from({ length: K }, (_, k) => ((k * 7) % K) + 1);
    const step = createSteps(smallContent(prototypes, { weights }))(0);
    const byWeight = [...weights.keys()].sort((a, b) => weights[b] - weights[a] || a - b);
    assert.deepEqual(step.groups, byWeight);
    assert.deepEqual([...step.order], slowOrder(prototypes, byWeight));
    step.order.forEach((j, place) => assert.equal(step.places[j], place));
    assert.deepEqual(
      step.shownCounts,
      prototypes.map((row) => row.filter(Boolean).length),
    );
  });
}

test("blocks of words that as many groups have are one range", () => {
  const step = createSteps(smallContent(randomPrototypes(4, 60, 0.5, 9)))(0);
  const groups = groupsOf(step);
  assert.deepEqual(
    groups.map(({ count }) => count),
    [...new Set(step.blocks.map(({ count }) => count))],
  );
  assert.equal(groups.at(-1).stop, 60);
});

test("weights are exact at the chosen step and squares of levels elsewhere", () => {
  const content = smallContent([[0.5, -0.02, 0]]);
  const chosen = createSteps(content)(0);
  assert.equal(chosen.weight(0, 1), Math.fround(-0.02));
  const other = createSteps({ ...content, chosen: 1 })(0);
  assert.equal(other.weight(0, 0), 0.5);
  const level = content.values[1];
  assert.equal(other.weight(0, 1), -0.5 * (level / 127) ** 2);
  assert.equal(other.weight(0, 2), 0);
});

test("a step is read once, with the groups of its documents", () => {
  const content = smallContent([[1], [1]], { documents: 3 });
  content.steps.push(content.steps[0]);
  content.values = Int8Array.of(127, 127, 127, 0);
  content.labels = Uint8Array.of(0, 0, 1, 1, 1, 0);
  const stepOf = createSteps(content);
  assert.equal(stepOf(1), stepOf(1));
  assert.deepEqual([...stepOf(1).labels], [1, 1, 0]);
  assert.deepEqual(stepOf(1).shownCounts, [1, 0]);
  assert.equal(createSteps({ ...content, labels: null })(0).labels.length, 0);
});
