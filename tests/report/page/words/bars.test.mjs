import assert from "node:assert/strict";
import { test } from "node:test";

import { createSteps } from "../../../../src/spheremix/report/page/words/steps.js";
import { smallContent } from "../small_content.mjs";
import { useStandIn } from "../stand_in.mjs";

useStandIn();
const { apart, commonScale, wordBars } =
  await import("../../../../src/spheremix/report/page/words/bars.js");

const content = smallContent([
  [0.8, 0.4, 0, 0.1],
  [0, 0.2, 0.5, 0.1],
]);
const step = createSteps(content)(0);

test("bars of all groups have one scale: the largest weight of any", () => {
  const scale = commonScale(step);
  assert.ok(Math.abs(scale - 0.8) < 1e-6);
  const app = { content, state: { now: {} } };
  const widths = (k, words) =>
    wordBars(app, step, k, words, scale, null).children.map((line) =>
      Math.round(Number.parseFloat(line.children[1].children[0].style.width)),
    );
  assert.deepEqual(widths(0, [0, 1]), [100, 50]);
  assert.deepEqual(widths(1, [2, 1]), [62, 25]);
});

test("two groups are set apart by the words whose weights differ most", () => {
  assert.deepEqual(apart(step, 0, 1), { here: [0, 1], there: [2] });
  assert.deepEqual(apart(step, 1, 0), { here: [2], there: [0, 1] });
});
