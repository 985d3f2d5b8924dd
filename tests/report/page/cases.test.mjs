// What the library and the page compute both, against one table; the library's half runs in pytest.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { certaintyText } from "../../../src/spheremix/report/page/groups/certainty.js";
import { createGroupings } from "../../../src/spheremix/report/page/groups/grouping.js";
import { groupColour } from "../../../src/spheremix/report/page/lib/colours.js";
import { createSteps } from "../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "./small_content.mjs";

const cases = JSON.parse(readFileSync(new URL("../../common/page_cases.json", import.meta.url)));

for (const { about, weights, places } of cases.places)
  test(`places of colours: ${about}`, () => {
    const content = smallContent(
      weights.map((_, k) => [1 / (k + 1)]),
      { weights },
    );
    const { byId } = createGroupings(content, createSteps(content))({ cut: 0, step: 0 });
    places.forEach(([number, shade], k) =>
      assert.deepEqual(byId.get(k).colour, groupColour(number, shade), `group ${k}`),
    );
  });

test("the palette of groups on white", () => {
  const shown = cases.palette.map((_, number) => groupColour(number).light);
  assert.deepEqual(shown, cases.palette);
});

test("how surely a document is in its group", () => {
  for (const [group, second, odds, stays, said] of cases.certainty) {
    const content = {
      model: { n_groups: 2 },
      names: ["apples", "boats"],
      stability: { documents: Float32Array.of(stays), n_replicates: 20 },
    };
    const documents = {
      group: Uint16Array.of(group < 0 ? 2 : group),
      second_group: Uint16Array.of(second),
      log_odds: Float32Array.of(odds),
    };
    assert.equal(certaintyText(content, documents, 0), said, `${odds} ${stays}`);
  }
});

test("the order of groups and words, and how characteristic words are", () => {
  for (const { prototypes, weights, masses, groups, words, blocks, scores } of cases.order) {
    const step = createSteps(smallContent(prototypes, { weights, masses }))(0);
    assert.deepEqual(step.groups, groups);
    assert.deepEqual([...step.order], words);
    assert.deepEqual(
      step.blocks.map((one) => [one.start, one.stop, one.groups]),
      blocks,
    );
    scores.forEach((row, k) =>
      row.forEach((score, j) => assert.ok(Math.abs(step.scores(k)[j] - score) < 1e-8)),
    );
  }
});
