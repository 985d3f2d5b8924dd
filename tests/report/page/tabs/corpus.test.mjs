import assert from "node:assert/strict";
import { test } from "node:test";

import { remarkParts } from "../../../../src/spheremix/report/page/tabs/corpus.js";

test("a remark is cut where it names groups", () => {
  const text = "Groups found again: found (9 % found again) and film (31 % found again). Look.";
  const groups = [
    [4, "found (9 % found again)"],
    [0, "film (31 % found again)"],
  ];
  assert.deepEqual(remarkParts(text, groups), [
    { words: "Groups found again: ", group: -1 },
    { words: "found (9 % found again)", group: 4 },
    { words: " and ", group: -1 },
    { words: "film (31 % found again)", group: 0 },
    { words: ". Look.", group: -1 },
  ]);
});

test("a remark that names no group stays in one piece", () => {
  const whole = [{ words: "Words: some are kept.", group: -1 }];
  assert.deepEqual(remarkParts("Words: some are kept.", []), whole);
  assert.deepEqual(remarkParts("Words: some are kept.", [[1, "film"]]), whole);
});
