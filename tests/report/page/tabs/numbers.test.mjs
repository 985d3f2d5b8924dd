import assert from "node:assert/strict";
import { test } from "node:test";

import { streams } from "../../../../src/spheremix/report/page/tabs/numbers.js";

test("streams count the documents of each pair of groups", () => {
  const from = { labels: Uint8Array.of(0, 0, 1, 1, 1) };
  const to = { labels: Uint8Array.of(3, 3, 3, 4, 4) };
  assert.deepEqual(streams(from, to), [
    { from: 0, to: 3, n: 2 },
    { from: 1, to: 3, n: 1 },
    { from: 1, to: 4, n: 2 },
  ]);
});
