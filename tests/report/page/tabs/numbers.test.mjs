import assert from "node:assert/strict";
import { test } from "node:test";

import { lowestOf, streams } from "../../../../src/spheremix/report/page/tabs/numbers.js";

test("streams count the documents of each pair of groups", () => {
  const from = { labels: Uint8Array.of(0, 0, 1, 1, 1) };
  const to = { labels: Uint8Array.of(3, 3, 3, 4, 4) };
  assert.deepEqual(streams(from, to), [
    { from: 0, to: 3, n: 2 },
    { from: 1, to: 3, n: 1 },
    { from: 1, to: 4, n: 2 },
  ]);
});

test("a criterion that is not known of a candidate does not make it the lowest", () => {
  const candidates = [{ bic: 5 }, { bic: null }, { bic: 4 }].map((criteria) => ({ criteria }));
  assert.equal(lowestOf(candidates, "bic"), 4);
  assert.equal(lowestOf([{ criteria: { bic: null } }], "bic"), null);
});
